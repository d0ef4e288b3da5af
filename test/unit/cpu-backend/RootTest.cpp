//===- RootTest.cpp - square roots of f64 next to half-integers -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

const char *kKernel = R"mlir(
!all = memref<?xf64, strided<[1], offset: ?>>
func.func @roots(%a: !all, %roots: !all, %reciprocals: !all, %n: i64,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %end = arith.index_cast %n : i64 to index
  scf.for %i = %c0 to %end step %c16 {
    %x = vector.load %a[%i] : !all, vector<16xf64>
    %y = math.sqrt %x : vector<16xf64>
    vector.store %y, %roots[%i] : !all, vector<16xf64>
    %z = math.rsqrt %x : vector<16xf64>
    vector.store %z, %reciprocals[%i] : !all, vector<16xf64>
  }
  return
}
)mlir";

using Wide = unsigned __int128;

/// The numbers whose square is `wanted` modulo 2^bits, for one that is 1 modulo
/// 8: bit by bit, as each is one modulo half of it.
std::vector<Wide> rootsModulo(Wide wanted, int bits) {
  std::vector<Wide> roots = {1, 3, 5, 7};
  for (int n = 4; n <= bits; ++n) {
    Wide modulus = Wide(1) << n;
    std::vector<Wide> next;
    for (Wide root : roots)
      for (Wide candidate : {root, root + modulus / 4, root + modulus / 2})
        if ((candidate * candidate - wanted) % modulus == 0 &&
            !llvm::is_contained(next, candidate % modulus))
          next.push_back(candidate % modulus);
    roots = std::move(next);
  }
  return roots;
}

/// All x of 53 bits whose root, in units of its last place, has a square that
/// is (k + 1/2)^2 - (j + 1/4) with an integer k and |j| <= 64: these have the
/// roots that are hardest to round. Up to powers of four.
std::vector<double> hardRoots() {
  std::vector<double> numbers;
  for (int j = -64; j <= 64; j += 2) {
    Wide wanted =
        static_cast<Wide>(static_cast<__int128>(1 + 4 * j)) % (Wide(1) << 54);
    for (Wide odd : rootsModulo(wanted, 54)) // 2 * k + 1
      for (Wide value : {odd, odd + (Wide(1) << 54)}) {
        Wide k = value / 2, square = k * k + k - Wide(__int128(j));
        bool isLarge = square >> 105 != 0;
        if (k >> 52 == 1 && square % (Wide(1) << (isLarge ? 53 : 52)) == 0)
          numbers.push_back(std::ldexp(double(uint64_t(square >> 52)), -52));
      }
  }
  return numbers;
}

TEST(Root, F64IsCorrectlyRounded) {
  std::vector<double> in;
  std::vector<double> hard = hardRoots();
  EXPECT_GT(hard.size(), 60u);
  for (double number : hard)
    for (int power = -1074; power < 1024; power += 2)
      in.push_back(std::ldexp(number, power));
  std::mt19937_64 random(1);
  for (int i = 0; i < 1 << 20; ++i) {
    uint64_t bits = random();
    double any;
    std::memcpy(&any, &bits, sizeof any);
    in.push_back(any);
    // Around squares.
    double root = static_cast<double>(bits >> 38);
    in.push_back(root * root);
    in.push_back(std::nextafter(root * root, 0));
    in.push_back(std::nextafter(root * root, INFINITY));
  }
  for (double special : {0.0, -0.0, 1.0, -1.0, 0x1p-1074, -0x1p-1074, 0x1p-900,
                         0x1.fffffffffffffp-901, 0x1.fffffffffffffp1023})
    in.push_back(special);
  for (double special : {double(INFINITY), double(-INFINITY), double(NAN)})
    in.push_back(special);
  in.resize(in.size() / 16 * 16 + 16, 2.0);
  for (const char *target : {"cpu", "cpu:x86-64-v3"}) {
    SCOPED_TRACE(target);
    auto parsed = CpuTarget::parse(target);
    ASSERT_TRUE(static_cast<bool>(parsed));
    double limit = parsed->hasRootEstimates ? 1.01 : 1.5;
    CompiledKernel kernel(kKernel, target);
    ASSERT_TRUE(kernel);
    std::vector<double> roots(in.size()), reciprocals(in.size());
    kernel.run({slot(in.data()), slot(roots.data()), slot(reciprocals.data()),
                in.size()});
    size_t wrong = 0, far = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      double root = std::sqrt(in[i]);
      bool isSame = std::isnan(root)
                        ? std::isnan(roots[i])
                        : root == roots[i] &&
                              std::signbit(root) == std::signbit(roots[i]);
      if (!isSame && ++wrong < 5)
        ADD_FAILURE() << "root of " << in[i] << ": " << roots[i];
      long double exact = 1 / std::sqrt(static_cast<long double>(in[i]));
      if (std::isnan(root) ? std::isnan(reciprocals[i])
                           : exact == reciprocals[i])
        continue;
      int exponent;
      std::frexp(static_cast<double>(exact), &exponent);
      long double off =
          std::abs(reciprocals[i] - exact) / std::ldexp(1.0L, exponent - 53);
      if (!(off <= limit) && ++far < 5)
        ADD_FAILURE() << "1 / root of " << in[i] << ": " << reciprocals[i];
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(far, 0u);
  }
}

} // namespace
