//===- MathTest.cpp - elementary functions against f64 --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

/// A kernel that applies `op` to n elements, `lanes` at a time (1: scalars).
std::string mapKernel(const std::string &op, const std::string &type, int lanes,
                      int operands, const std::string &flags = "") {
  std::string value =
      lanes == 1 ? type : "vector<" + std::to_string(lanes) + "x" + type + ">";
  std::string pointer = "memref<?x" + type + ", strided<[1], offset: ?>>";
  std::string load = lanes == 1 ? "memref.load" : "vector.load",
              store = lanes == 1 ? "memref.store" : "vector.store";
  std::string to =
      lanes == 1 ? " : " + pointer : " : " + pointer + ", " + value;
  std::string text = "func.func @map(%a: " + pointer + ", %b: " + pointer +
                     ", %out: " + pointer + R"mlir(, %n: i64,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %end = arith.index_cast %n : i64 to index
  %step = arith.constant )mlir" +
                     std::to_string(lanes) +
                     " : index\n  scf.for %i = %c0 to %end step %step {\n";
  text += "    %x = " + load + " %a[%i]" + to + "\n";
  text += "    %w = " + load + " %b[%i]" + to + "\n";
  text += "    %y = " + op + (operands == 2 ? " %x, %w" : " %x") + flags +
          " : " + value + "\n";
  text += "    " + store + " %y, %out[%i]" + to + "\n  }\n  return\n}\n";
  return text;
}

/// Distance in units of the last place of f32 (of its denormals near zero); 0
/// for equal specials.
double ulps(float got, double want) {
  if (std::isnan(want))
    return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got))
    return INFINITY;
  float nearest = static_cast<float>(want);
  if (std::isinf(got) || std::isinf(nearest))
    return got == nearest ? 0 : INFINITY;
  int exponent;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

double ulps(double got, double want) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) == std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(want))
    return got == want ? 0 : INFINITY;
  int exponent;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent - 53, -1074));
}

struct Function {
  const char *op;
  double (*unary)(double);
  double (*binary)(double, double);
  double limit; ///< largest error in units in the last place
};

const Function kInline[] = {{"math.exp", std::exp, nullptr, 1.5},
                            {"math.exp2", std::exp2, nullptr, 1.5},
                            {"math.log", std::log, nullptr, 1.5},
                            {"math.log2", std::log2, nullptr, 1.5}};
/// Where AVX-512 looks up tables.
const Function kByTables[] = {{"math.exp", std::exp, nullptr, 1},
                              {"math.exp2", std::exp2, nullptr, 1},
                              {"math.log", std::log, nullptr, 0.8},
                              {"math.log2", std::log2, nullptr, 0.9},
                              {"math.log10", std::log10, nullptr, 0.81},
                              {"math.erf", std::erf, nullptr, 0.65},
                              {"math.tanh", std::tanh, nullptr, 0.75}};
const Function kOthers[] = {
    {"math.sin", std::sin, nullptr, 4},
    {"math.cos", std::cos, nullptr, 4},
    {"math.tan", std::tan, nullptr, 4},
    {"math.tanh", std::tanh, nullptr, 4},
    {"math.erf", std::erf, nullptr, 4},
    {"math.sinh", std::sinh, nullptr, 4},
    {"math.cosh", std::cosh, nullptr, 4},
    {"math.atan", std::atan, nullptr, 4},
    {"math.asin", std::asin, nullptr, 4},
    {"math.acos", std::acos, nullptr, 4},
    {"math.log1p", std::log1p, nullptr, 4},
    {"math.expm1", std::expm1, nullptr, 4},
    {"math.log10", std::log10, nullptr, 4},
    {"math.cbrt", std::cbrt, nullptr, 4},
    {"math.powf", nullptr, std::pow, 4},
    {"math.atan2", nullptr, std::atan2, 4},
    {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, nullptr, 1.5},
    {"math.sqrt", std::sqrt, nullptr, 0.5},
    // Not the C library's: for that a signaling NaN is no missing value.
    {"arith.maxnumf", nullptr,
     [](double x, double y) { return x > y || std::isnan(y) ? x : y; }, 0},
    {"arith.minnumf", nullptr,
     [](double x, double y) { return x < y || std::isnan(y) ? x : y; }, 0},
};

template <typename T> std::vector<T> inputs(size_t count, unsigned seed) {
  std::vector<T> values = {T(0),
                           T(-0.0),
                           T(1),
                           T(-1),
                           T(INFINITY),
                           T(-INFINITY),
                           T(NAN),
                           T(0.5),
                           T(2),
                           T(88.7),
                           T(-103.9),
                           T(89),
                           T(128),
                           T(-149),
                           T(-150),
                           T(1e-40),
                           T(-1e-40),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::lowest(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::denorm_min(),
                           T(709.7),
                           T(-745)};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  while (values.size() < count) {
    uint64_t bits = random();
    T any;
    std::memcpy(&any, &bits, sizeof any);
    values.push_back(any);
    values.push_back(T(normal(random)));
    values.push_back(T(std::exp(4 * normal(random))));
  }
  values.resize(count);
  return values;
}

template <typename T>
void check(const Function &function, int lanes, const char *target) {
  SCOPED_TRACE(std::string(function.op) + " lanes " + std::to_string(lanes) +
               " " + target);
  CompiledKernel kernel(mapKernel(function.op, sizeof(T) == 4 ? "f32" : "f64",
                                  lanes, function.unary ? 1 : 2),
                        target);
  ASSERT_TRUE(kernel);
  size_t n = 40320;
  std::vector<T> a = inputs<T>(n, 1), b = inputs<T>(n, 2), out(n);
  if (function.binary)
    for (size_t i = 0; i < 23 * 23; ++i) // All pairs of special values.
      a[i] = inputs<T>(23, 1)[i / 23], b[i] = inputs<T>(23, 1)[i % 23];
  kernel.run({slot(a.data()), slot(b.data()), slot(out.data()), n});
  double worst = 0;
  for (size_t i = 0; i < n; ++i) {
    double want =
        function.unary ? function.unary(a[i]) : function.binary(a[i], b[i]);
    double error = ulps(out[i], want);
    if (error > worst) {
      worst = error;
      EXPECT_LE(error, function.limit + (sizeof(T) == 8 ? 1 : 0))
          << a[i] << ", " << b[i] << ": " << out[i] << " and not " << want;
    }
  }
}

TEST(Math, InlineFunctionsOfF32) {
  for (const Function &function : kInline)
    for (int lanes : {1, 4, 8, 16, 48})
      check<float>(function, lanes, "cpu");
}

TEST(Math, InlineFunctionsOfF32WithoutAvx512) {
  for (const Function &function : kInline)
    check<float>(function, 16, "cpu:x86-64-v3");
}

/// Several vectors take a short cut where none of their lanes over- or
/// underflows: it gives the same bits.
TEST(Math, PowersOfSeveralVectors) {
  for (auto [op, most] :
       {std::pair("math.exp", 87.0f), {"math.exp2", 125.0f}}) {
    CompiledKernel one(mapKernel(op, "f32", 8, 1), "cpu:x86-64-v3"),
        several(mapKernel(op, "f32", 32, 1), "cpu:x86-64-v3");
    ASSERT_TRUE(one && several);
    size_t n = 1 << 16;
    std::vector<float> x(n), expected(n), got(n);
    std::mt19937 random(3);
    const float ends[] = {most, -most, 1.03f * most, -1.03f * most};
    for (size_t i = 0; i < n; ++i)
      x[i] = std::uniform_real_distribution<float>(-most, most)(random);
    // One such lane in every second step.
    for (size_t i = 0; i < n; i += 64)
      x[i + random() % 32] = ends[random() % 4];
    for (size_t i = 0; i < n; i += 1024)
      x[i + 32] = i % 2048 ? NAN : -INFINITY;
    one.run({slot(x.data()), slot(x.data()), slot(expected.data()), n});
    several.run({slot(x.data()), slot(x.data()), slot(got.data()), n});
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(llvm::bit_cast<uint32_t>(expected[i]),
                llvm::bit_cast<uint32_t>(got[i]))
          << op << " of " << x[i];
  }
}

TEST(Math, InlineFunctionsOfF32WithoutFma) {
  for (const Function &function : kInline)
    check<float>(function, 4, "cpu:x86-64");
}

/// Every bit pattern with a stride that is odd, so that all exponents and many
/// mantissas are seen. Numbers of a larger size than `most` are not looked at.
void checkAllOfF32(const Function &function, float most = INFINITY) {
  const char *stride = std::getenv("TILEBRIDGE_TEST_STRIDE");
  uint64_t step = stride ? std::strtoull(stride, nullptr, 10) : 4099;
  CompiledKernel kernel(mapKernel(function.op, "f32", 64, 1));
  ASSERT_TRUE(kernel);
  double worst = 0;
  float where = 0;
  std::vector<float> in(1 << 12), out(1 << 12);
  for (uint64_t start = 0; start < (uint64_t(1) << 32);
       start += step * in.size()) {
    for (size_t i = 0; i < in.size(); ++i) {
      uint32_t bits = static_cast<uint32_t>(start + i * step);
      std::memcpy(&in[i], &bits, 4);
    }
    kernel.run({slot(in.data()), slot(in.data()), slot(out.data()), in.size()});
    for (size_t i = 0; i < in.size(); ++i) {
      double error = ulps(out[i], function.unary(in[i]));
      if (error > worst && !(std::abs(in[i]) > most))
        worst = error, where = in[i];
    }
  }
  EXPECT_LE(worst, function.limit) << function.op << " at " << where;
  testing::Test::RecordProperty(function.op, std::to_string(worst));
  if (stride)
    std::printf("%s: %.3f ulp at %a\n", function.op, worst, where);
}

TEST(Math, InlineFunctionsOverAllOfF32) {
  for (const Function &function : kInline)
    checkAllOfF32(function);
}

TEST(Math, FunctionsByTables) {
  auto host = CpuTarget::host();
  ASSERT_TRUE(static_cast<bool>(host));
  if (host->vectorBits < 512)
    GTEST_SKIP() << "this CPU has no AVX-512";
  for (const Function &function : kByTables) {
    // With and without a mask for what underflows.
    for (const char *target : {"cpu,+sse4a", "cpu,-sse4a"})
      for (int lanes : {16, 48})
        check<float>(function, lanes, target);
    checkAllOfF32(function);
  }
}

/// Exponentials whose results are rounded to f16 or bf16: their error relative
/// to the result, which is 2^-149 at least where that is no normal number.
void checkApproximate(const Function &function, const char *flags, int lanes,
                      const char *target) {
  SCOPED_TRACE(std::string(function.op) + flags + " lanes " +
               std::to_string(lanes) + " " + target);
  const char *stride = std::getenv("TILEBRIDGE_TEST_STRIDE");
  uint64_t step = stride ? std::strtoull(stride, nullptr, 10) : 8191;
  CompiledKernel kernel(mapKernel(function.op, "f32", lanes, 1, flags), target);
  ASSERT_TRUE(kernel);
  double worst = 0;
  float where = 0;
  std::vector<float> in = inputs<float>(1 << 12, 1), out(1 << 12);
  in.back() = 0x1.91c05p+39f; // of which the table's way makes a factor of 0
  auto look = [&] {
    kernel.run({slot(in.data()), slot(in.data()), slot(out.data()), in.size()});
    for (size_t i = 0; i < in.size(); ++i) {
      double want = function.unary(in[i]), error = 0;
      constexpr double most = std::numeric_limits<float>::max();
      if (std::signbit(out[i]) && !std::isnan(want))
        error = INFINITY;
      else if (std::isnan(want) || want == 0 || want == INFINITY)
        error = ulps(out[i], want) == 0 ? 0 : INFINITY;
      else if (want > most * (1 - function.limit)) // may be infinite or not
        error = std::max(most * (1 - 2 * function.limit) - out[i], 0.0);
      else
        error = std::max(std::abs(out[i] - want) - 0x1p-149, 0.0) / want;
      if (!(error <= worst))
        worst = error, where = in[i];
    }
  };
  look();
  for (uint64_t start = 0; start < (uint64_t(1) << 32);
       start += step * in.size()) {
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = llvm::bit_cast<float>(static_cast<uint32_t>(start + i * step));
    look();
  }
  EXPECT_LE(worst, function.limit) << "at " << where;
  if (stride)
    std::printf("%s%s %d %s: 2^%.2f at %a\n", function.op, flags, lanes, target,
                std::log2(worst), where);
}

TEST(Math, ApproximateExponentials) {
  auto host = CpuTarget::host();
  ASSERT_TRUE(static_cast<bool>(host));
  bool hasTables = host->vectorBits >= 512;
  for (Function function : {kInline[0], kInline[1]})
    for (bool forBf16 : {false, true}) {
      const char *flags =
          forBf16 ? " fastmath<afn> {tilebridge.for_bf16}" : " fastmath<afn>";
      function.limit = 0x1p-18;
      for (auto [lanes, target] : {std::pair(64, "cpu:x86-64-v3"),
                                   {8, "cpu:x86-64-v3"},
                                   {4, "cpu:x86-64-v2"},
                                   {16, "cpu:x86-64-v2"}})
        checkApproximate(function, flags, lanes, target);
      function.limit = forBf16 && hasTables ? 0x1p-15 : 0x1p-18;
      // With and without a mask for what underflows.
      for (const char *target : {"cpu,+sse4a", "cpu,-sse4a"})
        for (int lanes : {16, 64})
          checkApproximate(function, flags, lanes, target);
    }
}

TEST(Math, RootsOverAllOfF32) {
  auto host = CpuTarget::host();
  ASSERT_TRUE(static_cast<bool>(host));
  checkAllOfF32({"math.sqrt", std::sqrt, nullptr, 0.5});
  checkAllOfF32({"math.rsqrt", [](double x) { return 1 / std::sqrt(x); },
                 nullptr, host->hasRootEstimates ? 1 : 1.5});
}

/// Inline up to 40000, beyond it the C library's.
TEST(Math, SinesOverAllOfF32) {
  const Function functions[] = {{"math.sin", std::sin, nullptr, 0.9},
                                {"math.cos", std::cos, nullptr, 0.9}};
  for (Function function : functions) {
    for (const char *target : {"cpu", "cpu:x86-64-v3"})
      for (int lanes : {16, 48}) {
        Function rough = function;
        rough.limit = 4;
        check<float>(rough, lanes, target);
      }
    checkAllOfF32(function, 40000);
    function.limit = 4;
    checkAllOfF32(function);
  }
}

TEST(Math, VectorFunctionsOfF32) {
  for (const Function &function : kOthers)
    for (int lanes : {1, 3, 16, 40})
      check<float>(function, lanes, "cpu");
}

TEST(Math, VectorFunctionsOfF64) {
  for (const Function &function : kOthers)
    for (int lanes : {1, 8, 20})
      check<double>(function, lanes, "cpu");
  for (const Function &function : kInline)
    check<double>(function, 16, "cpu");
}

TEST(Math, NarrowerVectors) {
  for (const char *target : {"cpu:x86-64-v3", "cpu:x86-64"})
    for (const Function &function : {kOthers[0], kOthers[4], kOthers[14]})
      check<float>(function, 16, target);
}

} // namespace
