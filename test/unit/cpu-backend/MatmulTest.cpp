//===- MatmulTest.cpp - matrix products, against a plain loop -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "CompiledKernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <random>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

struct Case {
  int64_t m, n, k;
  const char *lhs, *rhs, *acc; ///< element types
  /// Strides of a and b are arguments of the kernel; "1" where the type says
  /// so: "?1", "1?", "??".
  const char *lhsStrides = "?1", *rhsStrides = "?1";
};

std::string layout(const char *strides) {
  std::string text = "strided<[";
  return text + strides[0] + ", " + strides[1] + "], offset: ?>";
}

std::string matrix(int64_t rows, int64_t columns, const char *type,
                   const std::string &layoutText) {
  return "memref<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "x" + type + ", " + layoutText + ">";
}

/// c += a * b, `repeat` times over.
std::string kernelText(const Case &c) {
  auto pointer = [](const char *type) {
    return std::string("memref<?x") + type + ", strided<[1], offset: ?>>";
  };
  std::string a = matrix(c.m, c.k, c.lhs, layout(c.lhsStrides)),
              b = matrix(c.k, c.n, c.rhs, layout(c.rhsStrides));
  std::string acc = "memref<" + std::to_string(c.m) + "x" +
                    std::to_string(c.n) + "x" + c.acc + ">";
  auto cast = [](const std::string &name, const std::string &source,
                 const std::string &to, int64_t rows, int64_t columns,
                 const char *strides) {
    auto stride = [&](int i) {
      return strides[i] == '?' ? "%s" + name + std::to_string(i)
                               : std::string("1");
    };
    return "    %v" + name + " = memref.reinterpret_cast %" + name +
           " to offset: [%c0], sizes: [" + std::to_string(rows) + ", " +
           std::to_string(columns) + "], strides: [" + stride(0) + ", " +
           stride(1) + "] : " + source + " to " + to + "\n";
  };
  return "func.func @matmul(%a: " + pointer(c.lhs) + ", %b: " + pointer(c.rhs) +
         ", %c: " + pointer(c.acc) +
         ", %sa0: index, %sa1: index, %sb0: index, %sb1: index, %repeat: index"
         ", %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) "
         "attributes {tilebridge.kernel} {\n"
         "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
         "  scf.for %i = %c0 to %repeat step %c1 {\n" +
         cast("a", pointer(c.lhs), a, c.m, c.k, c.lhsStrides) +
         cast("b", pointer(c.rhs), b, c.k, c.n, c.rhsStrides) +
         "    %vc = memref.reinterpret_cast %c to offset: [0], sizes: [" +
         std::to_string(c.m) + ", " + std::to_string(c.n) + "], strides: [" +
         std::to_string(c.n) + ", 1] : " + pointer(c.acc) + " to " + acc +
         "\n" + "    linalg.matmul ins(%va, %vb : " + a + ", " + b +
         ") outs(%vc : " + acc + ")\n" + "  }\n  return\n}\n";
}

void lowerMatmuls(mlir::ModuleOp module, int64_t vectorBits) {
  module.getContext()
      ->loadDialect<mlir::arith::ArithDialect, mlir::vector::VectorDialect,
                    mlir::scf::SCFDialect>();
  llvm::SmallVector<mlir::linalg::MatmulOp> ops;
  module.walk([&](mlir::linalg::MatmulOp op) { ops.push_back(op); });
  for (mlir::linalg::MatmulOp op : ops) {
    mlir::ImplicitLocOpBuilder b(op.getLoc(), op);
    MatmulSettings settings;
    settings.target.vectorBits = vectorBits;
    auto allocate = [&](mlir::MemRefType type) -> mlir::Value {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(
          &op->getParentOfType<mlir::func::FuncOp>().getBody().front());
      return mlir::memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
    };
    emitMatmulLoops(b, op.getDpsInputs()[0], op.getDpsInputs()[1],
                    op.getDpsInits()[0], settings, allocate);
    op.erase();
  }
}

/// Small integers: every type holds them, and every sum is exact.
template <typename T> T store(const char *type, int value) {
  if constexpr (!std::is_same_v<T, uint16_t> && !std::is_same_v<T, uint8_t>) {
    return T(value);
  } else {
    float f = value;
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if (value == 0)
      return 0;
    std::string name = type;
    if (name == "bf16")
      return bits >> 16;
    int sign = bits >> 31, exponent = int(bits >> 23 & 255) - 127;
    uint32_t fraction = bits & 0x7fffff;
    if (name == "f16")
      return sign << 15 | (exponent + 15) << 10 | fraction >> 13;
    if (name == "f8E5M2")
      return sign << 7 | (exponent + 15) << 2 | fraction >> 21;
    return sign << 7 | (exponent + 7) << 3 | fraction >> 20; // f8E4M3FN
  }
}

template <typename A, typename B, typename C>
void check(const Case &c, const char *target = "cpu") {
  SCOPED_TRACE(std::to_string(c.m) + "x" + std::to_string(c.n) + "x" +
               std::to_string(c.k) + " " + c.lhs + " " + c.rhs + " " + c.acc +
               " " + c.lhsStrides + " " + c.rhsStrides + " " + target);
  llvm::Expected<CpuTarget> parsed = CpuTarget::parse(target);
  ASSERT_TRUE(bool(parsed));
  CompiledKernel kernel(kernelText(c), target, [&](mlir::ModuleOp module) {
    lowerMatmuls(module, parsed->vectorBits);
  });
  ASSERT_TRUE(kernel);
  // A stride that the type leaves open is tried as that of rows, of columns,
  // and of neither.
  for (int variant = 0; variant < 3; ++variant) {
    auto pick = [&](const char *strides, int64_t rows,
                    int64_t columns) -> std::pair<int64_t, int64_t> {
      bool byColumns = strides[0] == '1' || (strides[1] == '?' && variant == 1);
      int64_t one =
          strides[0] == '?' && strides[1] == '?' && variant == 2 ? 2 : 1;
      if (byColumns)
        return {one, rows * one + 3};
      return {columns * one + 3, one};
    };
    auto [sa0, sa1] = pick(c.lhsStrides, c.m, c.k);
    auto [sb0, sb1] = pick(c.rhsStrides, c.k, c.n);
    std::vector<A> a(c.m * sa0 + c.k * sa1 + 1, store<A>(c.lhs, 3));
    std::vector<B> b(c.k * sb0 + c.n * sb1 + 1, store<B>(c.rhs, 3));
    std::vector<C> acc(c.m * c.n);
    std::vector<int> left(c.m * c.k), right(c.k * c.n), want(c.m * c.n);
    std::mt19937 random(variant);
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t k = 0; k < c.k; ++k)
        a[i * sa0 + k * sa1] =
            store<A>(c.lhs, left[i * c.k + k] = int(random() % 5) - 2);
    for (int64_t k = 0; k < c.k; ++k)
      for (int64_t j = 0; j < c.n; ++j)
        b[k * sb0 + j * sb1] =
            store<B>(c.rhs, right[k * c.n + j] = int(random() % 5) - 2);
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        int sum = int(random() % 7) - 3;
        acc[i * c.n + j] = store<C>(c.acc, sum);
        for (int64_t k = 0; k < c.k; ++k)
          sum += left[i * c.k + k] * right[k * c.n + j];
        want[i * c.n + j] = sum;
      }
    kernel.run({slot(a.data()), slot(b.data()), slot(acc.data()), uint64_t(sa0),
                uint64_t(sa1), uint64_t(sb0), uint64_t(sb1), 1});
    for (int64_t i = 0; i < c.m * c.n; ++i)
      ASSERT_EQ(acc[i], store<C>(c.acc, want[i]))
          << "element " << i / c.n << ", " << i % c.n << " variant " << variant;
  }
}

TEST(Matmul, ShapesOfF32) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 32},
                         {16, 16, 16},
                         {1, 1, 1},
                         {1, 64, 32},
                         {64, 1, 32},
                         {17, 1, 5},
                         {3, 5, 7},
                         {128, 256, 16},
                         {2, 8, 64},
                         {33, 47, 20},
                         {16, 4, 16},
                         {32, 128, 1}})
    for (const char *target : {"cpu", "cpu:x86-64-v3", "cpu:x86-64"})
      check<float, float, float>({m, n, k, "f32", "f32", "f32"}, target);
}

TEST(Matmul, StridesOfF32) {
  for (const char *lhs : {"?1", "1?", "??"})
    for (const char *rhs : {"?1", "1?", "??"})
      for (auto [m, n, k] :
           {std::array<int64_t, 3>{32, 64, 32}, {19, 35, 21}, {4, 8, 4}})
        check<float, float, float>({m, n, k, "f32", "f32", "f32", lhs, rhs});
}

TEST(Matmul, Types) {
  for (const char *strides : {"?1", "1?"})
    for (auto [m, n, k] : {std::array<int64_t, 3>{32, 32, 32}, {17, 40, 9}}) {
      check<double, double, double>(
          {m, n, k, "f64", "f64", "f64", strides, strides});
      check<float, float, double>(
          {m, n, k, "f32", "f32", "f64", strides, strides});
      check<uint16_t, uint16_t, float>(
          {m, n, k, "f16", "f16", "f32", strides, strides});
      check<uint16_t, uint16_t, uint16_t>(
          {m, n, k, "f16", "f16", "f16", strides, strides});
      check<uint16_t, uint16_t, float>(
          {m, n, k, "bf16", "bf16", "f32", strides, strides});
      check<uint8_t, uint8_t, float>(
          {m, n, k, "f8E5M2", "f8E5M2", "f32", strides, strides});
      check<uint8_t, uint8_t, float>(
          {m, n, k, "f8E4M3FN", "f8E5M2", "f32", strides, strides});
      check<int8_t, int8_t, int32_t>(
          {m, n, k, "i8", "i8", "i32", strides, strides});
      check<int16_t, int16_t, int32_t>(
          {m, n, k, "i16", "i16", "i32", strides, strides});
      check<int32_t, int32_t, int32_t>(
          {m, n, k, "i32", "i32", "i32", strides, strides});
      check<int64_t, int64_t, int64_t>(
          {m, n, k, "i64", "i64", "i64", strides, strides});
    }
}

TEST(Matmul, CodeDoesNotGrowWithTheBlock) {
  auto size = [](int64_t side) {
    Case c{side, side, side, "f32", "f32", "f32"};
    return compile(kernelText(c), "cpu:znver4",
                   [&](mlir::ModuleOp module) { lowerMatmuls(module, 512); })
        .size();
  };
  EXPECT_NEAR(size(64), size(256), 1024);
}

/// A measurement, not a test: prints the rate of blocks that lie in the cache.
TEST(Matmul, DISABLED_Rate) {
  for (Case c : {Case{64, 64, 32, "f32", "f32", "f32"},
                 Case{128, 128, 32, "f32", "f32", "f32"},
                 Case{64, 64, 64, "f32", "f32", "f32", "?1", "1?"},
                 Case{16, 64, 64, "f32", "f32", "f32"},
                 Case{64, 64, 32, "bf16", "bf16", "f32"},
                 Case{64, 64, 32, "f16", "f16", "f32"},
                 Case{64, 64, 32, "f8E4M3FN", "f8E4M3FN", "f32"},
                 Case{64, 64, 32, "i8", "i8", "i32"},
                 Case{1, 256, 256, "f32", "f32", "f32"}}) {
    llvm::Expected<CpuTarget> target = CpuTarget::host();
    ASSERT_TRUE(bool(target));
    auto t0 = std::chrono::steady_clock::now();
    CompiledKernel kernel(kernelText(c), "cpu", [&](mlir::ModuleOp module) {
      lowerMatmuls(module, target->vectorBits);
    });
    ASSERT_TRUE(kernel);
    auto t1 = std::chrono::steady_clock::now();
    std::vector<double> a(1 << 16), b(1 << 16), acc(1 << 16);
    uint64_t lhs0 = c.k, rhs0 = c.rhsStrides[0] == '1' ? 1 : c.n,
             rhs1 = c.rhsStrides[0] == '1' ? c.k : 1;
    uint64_t repeat = uint64_t(4e9 / (2.0 * c.m * c.n * c.k));
    double best = 0;
    for (int i = 0; i < 5; ++i) {
      std::clock_t start =
          std::clock(); // Of this process, for the machine may be busy.
      kernel.run({slot(a.data()), slot(b.data()), slot(acc.data()), lhs0, 1,
                  rhs0, rhs1, repeat});
      double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
      best = std::max(best, 2.0 * c.m * c.n * c.k * repeat / seconds / 1e9);
    }
    MatmulTile tile = MatmulTile::choose(c.m, c.n, target->vectorBits / 32,
                                         target->vectorBits);
    std::printf("%lldx%lldx%lld %s %s: %.1f Gop/s, tile %lld x %lld x %lld, "
                "compiled in %.0f ms\n",
                (long long)c.m, (long long)c.n, (long long)c.k, c.lhs,
                c.rhsStrides, best, (long long)tile.rows,
                (long long)tile.vectors, (long long)tile.lanes,
                std::chrono::duration<double>(t1 - t0).count() * 1e3);
  }
}

TEST(Matmul, TilesOfSixteenRegisters) {
  auto tile = [](int64_t m, int64_t n) {
    MatmulTile chosen = MatmulTile::choose(m, n, /*nativeLanes=*/8, 256);
    EXPECT_LE(chosen.rows * chosen.vectors + chosen.vectors + 1, 15);
    EXPECT_LE(chosen.rows, m);
    return std::pair(chosen.rows, chosen.vectors);
  };
  // What is left over of 64 rows by sixes are four: enough sums at once.
  EXPECT_EQ(tile(64, 64), std::pair(int64_t(6), int64_t(2)));
  EXPECT_EQ(tile(128, 128), std::pair(int64_t(6), int64_t(2)));
  // Blocks of few rows may not be full.
  for (int64_t m : {1, 2, 3, 4, 7, 16, 32})
    EXPECT_LE(tile(m, 64).first, 4);
  for (int64_t m : {5, 33, 61, 1000})
    for (int64_t n : {1, 8, 12, 24, 40, 56, 1000})
      tile(m, n);
}

} // namespace
