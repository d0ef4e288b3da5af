//===- RootsTest.cpp - ops that bring their own loops, run ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

std::string pointer(const std::string &type) {
  return "memref<?x" + type + ", strided<[1], offset: ?>>";
}

std::string tensor(const std::vector<int64_t> &shape, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// A kernel: "%name: type" pointers, then a body.
std::string
kernel(const std::vector<std::pair<std::string, std::string>> &pointers,
       const std::string &body) {
  std::string text = "func.func @k(";
  for (auto &[name, type] : pointers)
    text += "%" + name + ": " + pointer(type) + ", ";
  return text +
         "%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) "
         "attributes {tilebridge.kernel} {\n"
         "  %c0 = arith.constant 0 : index\n" +
         body + "  return\n}\n";
}

/// Loads all of a pointer as a block.
std::string load(const std::string &name, const std::string &from,
                 const std::vector<int64_t> &shape, const std::string &type) {
  std::string sizes, strides, mem;
  int64_t stride = 1;
  std::string strideList;
  for (size_t i = shape.size(); i-- > 0;) {
    sizes = std::to_string(shape[i]) + (sizes.empty() ? "" : ", ") + sizes;
    strideList =
        std::to_string(stride) + (strideList.empty() ? "" : ", ") + strideList;
    mem = std::to_string(shape[i]) + "x" + mem;
    stride *= shape[i];
  }
  std::string view =
      "memref<" + mem + type + ", strided<[" + strideList + "], offset: ?>>";
  return "  %" + name + "_v = memref.reinterpret_cast %" + from +
         " to offset: [%c0], sizes: [" + sizes + "], strides: [" + strideList +
         "] : " + pointer(type) + " to " + view + "\n  %" + name +
         " = bufferization.to_tensor %" + name + "_v : " + view + " to " +
         tensor(shape, type) + "\n";
}

std::string storeTo(const std::string &value, const std::string &to,
                    const std::vector<int64_t> &shape,
                    const std::string &type) {
  std::string text = load("unused_" + to, to, shape, type);
  text = text.substr(0, text.find('\n') + 1);
  std::string view = text.substr(text.rfind(" to ") + 4);
  view.pop_back();
  return text + "  bufferization.materialize_in_destination %" + value +
         " in writable %unused_" + to + "_v : (" + tensor(shape, type) + ", " +
         view + ") -> ()\n";
}

TEST(Scan, SumsAlongEveryDimension) {
  for (auto shape : {std::vector<int64_t>{64},
                     {4},
                     {16},
                     {8, 32},
                     {3, 5},
                     {2, 3, 20},
                     {1, 1}})
    for (size_t dim = 0; dim < shape.size(); ++dim)
      for (bool reverse : {false, true}) {
        std::string type = tensor(shape, "f32");
        CompiledKernel k(kernel({{"x", "f32"}, {"y", "f32"}},
                                load("t", "x", shape, "f32") +
                                    "  %s = linalg_ext.scan(%t) dimension = " +
                                    std::to_string(dim) +
                                    (reverse ? " reverse" : "") +
                                    " {\n  ^bb0(%a: f32, %b: f32):\n    %0 = "
                                    "arith.addf %a, %b : f32\n"
                                    "    linalg_ext.yield %0 : f32\n  } : (" +
                                    type + ") -> " + type + "\n" +
                                    storeTo("s", "y", shape, "f32")));
        ASSERT_TRUE(k);
        int64_t size = 1, inner = 1;
        for (size_t i = 0; i < shape.size(); ++i)
          size *= shape[i], inner *= i > dim ? shape[i] : 1;
        std::vector<float> x(size), y(size), want(size);
        for (int64_t i = 0; i < size; ++i)
          x[i] = i * 7 % 11;
        for (int64_t i = 0; i < size; ++i) {
          int64_t at = i / inner % shape[dim];
          for (int64_t j = 0; j < shape[dim]; ++j)
            if (reverse ? j >= at : j <= at)
              want[i] += x[i + (j - at) * inner];
        }
        k.run({slot(x.data()), slot(y.data())});
        EXPECT_EQ(y, want) << "dimension " << dim << " of " << type
                           << (reverse ? " reverse" : "");
      }
}

/// x -> a * x + b, composed: not commutative, two operands, as a linear
/// recurrence needs it.
TEST(Scan, ComposesInOrder) {
  std::vector<int64_t> shape = {2, 32};
  std::string type = tensor(shape, "i32");
  for (bool reverse : {false, true}) {
    CompiledKernel k(
        kernel({{"x", "i32"}, {"y", "i32"}, {"p", "i32"}, {"q", "i32"}},
               load("t", "x", shape, "i32") + load("u", "y", shape, "i32") +
                   "  %r:2 = linalg_ext.scan(%t, %u) dimension = 1 " +
                   (reverse ? "reverse " : "") +
                   "{\n  ^bb0(%a0: i32, %b0: i32, %a1: i32, %b1: i32):\n    %a "
                   "= arith.muli %a0, %a1 : i32\n"
                   "    %m = arith.muli %b0, %a1 : i32\n    %b = arith.addi "
                   "%m, %b1 : i32\n"
                   "    linalg_ext.yield %a, %b : i32, i32\n  } : (" +
                   type + ", " + type + ") -> (" + type + ", " + type + ")\n" +
                   storeTo("r#0", "p", shape, "i32") +
                   storeTo("r#1", "q", shape, "i32")));
    ASSERT_TRUE(k);
    std::vector<int32_t> x(64), y(64), p(64), q(64), wantP(64), wantQ(64);
    for (int i = 0; i < 64; ++i)
      x[i] = i % 3 + 1, y[i] = i % 5 - 2;
    for (int row = 0; row < 2; ++row) {
      uint32_t a = 1, b = 0;
      for (int i = 0; i < 32; ++i) {
        int at = row * 32 + (reverse ? 31 - i : i);
        b = b * x[at] + y[at];
        a *= x[at];
        wantP[at] = a, wantQ[at] = b;
      }
    }
    k.run({slot(x.data()), slot(y.data()), slot(p.data()), slot(q.data())});
    EXPECT_EQ(p, wantP);
    EXPECT_EQ(q, wantQ);
  }
}

TEST(Indexed, HistogramCountsOnlyBinsAndMask) {
  std::vector<int64_t> shape = {128};
  CompiledKernel k(
      kernel({{"x", "i32"}, {"y", "i32"}},
             load("t", "x", shape, "i32") +
                 "  %zero = arith.constant dense<3> : tensor<128xi32>\n  "
                 "%empty = tensor.empty() : tensor<128xi1>\n"
                 "  %m = linalg.generic {indexing_maps = [affine_map<(i) -> "
                 "(i)>, affine_map<(i) -> (i)>, "
                 "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} "
                 "ins(%t, %zero : tensor<128xi32>, "
                 "tensor<128xi32>) outs(%empty : tensor<128xi1>) {\n  ^bb0(%a: "
                 "i32, %b: i32, %o: i1):\n"
                 "    %c = arith.cmpi ne, %a, %b : i32\n    linalg.yield %c : "
                 "i1\n  } -> tensor<128xi1>\n"
                 "  %h = linalg_ext.histogram %t, %m : tensor<128xi32>, "
                 "tensor<128xi1> -> tensor<8xi32>\n" +
                 storeTo("h", "y", {8}, "i32")));
  ASSERT_TRUE(k);
  std::vector<int32_t> x(128), y(8, -1), want(8);
  for (int i = 0; i < 128; ++i) {
    x[i] = i * 13 % 11 - 1; // -1 and 8, 9 are no bins.
    if (x[i] >= 0 && x[i] < 8 && x[i] != 3)
      ++want[x[i]];
  }
  k.run({slot(x.data()), slot(y.data())});
  EXPECT_EQ(y, want);
}

TEST(Indexed, GatherAlong) {
  CompiledKernel k(kernel({{"x", "f32"}, {"i", "i32"}, {"y", "f32"}},
                          load("t", "x", {4, 16}, "f32") +
                              load("u", "i", {4, 8}, "i32") +
                              "  %g = linalg_ext.gather_along %t[%u] dimension "
                              "= 1 : tensor<4x16xf32>, tensor<4x8xi32> -> "
                              "tensor<4x8xf32>\n" +
                              storeTo("g", "y", {4, 8}, "f32")));
  ASSERT_TRUE(k);
  std::vector<float> x(64), y(32), want(32);
  std::vector<int32_t> index(32);
  std::iota(x.begin(), x.end(), 0);
  for (int i = 0; i < 32; ++i) {
    index[i] = i == 5 ? -1 : i == 6 ? 99 : i * 5 % 16;
    want[i] = x[i / 8 * 16 + (i == 5 || i == 6 ? 15 : index[i])];
  }
  k.run({slot(x.data()), slot(index.data()), slot(y.data())});
  EXPECT_EQ(y, want);
}

struct Rmw {
  const char *kind;
  int64_t (*apply)(int64_t, int64_t);
};

template <typename T> void checkRmw(const Rmw &rmw, const std::string &type) {
  SCOPED_TRACE(std::string(rmw.kind) + " " + type);
  std::string t = tensor({32}, type);
  CompiledKernel k(kernel(
      {{"o", "i64"}, {"v", type}, {"x", type}, {"old", type}},
      load("a", "o", {32}, "i64") + load("b", "v", {32}, type) +
          "  %r = linalg_ext.atomic_rmw " + rmw.kind +
          " acq_rel gpu %x[%a], %b : (" + pointer(type) + ", tensor<32xi64>, " +
          t + ") -> " + t + "\n" + storeTo("r", "old", {32}, type)));
  ASSERT_TRUE(k);
  std::vector<int64_t> offsets(32);
  std::vector<T> v(32), x(8), old(32), wantX, wantOld(32);
  std::mt19937 random(1);
  for (int i = 0; i < 32; ++i)
    offsets[i] = random() % 8, v[i] = T(int(random() % 200) - 100);
  for (int i = 0; i < 8; ++i)
    x[i] = T(int(random() % 200) - 100);
  wantX = x;
  for (int i = 0; i < 32; ++i) {
    wantOld[i] = wantX[offsets[i]];
    wantX[offsets[i]] = T(rmw.apply(wantX[offsets[i]], v[i]));
  }
  k.run(
      {slot(offsets.data()), slot(v.data()), slot(x.data()), slot(old.data())});
  EXPECT_EQ(x, wantX);
  EXPECT_EQ(old, wantOld);
}

TEST(Atomics, IntegersOfEveryWidth) {
  const Rmw kinds[] = {
      {"add", [](int64_t a, int64_t b) { return a + b; }},
      {"and", [](int64_t a, int64_t b) { return a & b; }},
      {"or", [](int64_t a, int64_t b) { return a | b; }},
      {"xor", [](int64_t a, int64_t b) { return a ^ b; }},
      {"max", [](int64_t a, int64_t b) { return std::max(a, b); }},
      {"min", [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"exch", [](int64_t, int64_t b) { return b; }}};
  for (const Rmw &rmw : kinds) {
    checkRmw<int8_t>(rmw, "i8");
    checkRmw<int16_t>(rmw, "i16");
    checkRmw<int32_t>(rmw, "i32");
    checkRmw<int64_t>(rmw, "i64");
  }
  const Rmw unsignedKinds[] = {
      {"umax", [](int64_t a, int64_t b) { return std::max(a, b); }},
      {"umin", [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"inc", [](int64_t a, int64_t b) { return a >= b ? 0 : a + 1; }},
      {"dec",
       [](int64_t a, int64_t b) { return a == 0 || a > b ? b : a - 1; }}};
  for (const Rmw &rmw : unsignedKinds) {
    checkRmw<uint8_t>(rmw, "i8");
    checkRmw<uint32_t>(rmw, "i32");
  }
  checkRmw<float>({"fadd", [](int64_t a, int64_t b) { return a + b; }}, "f32");
  checkRmw<double>({"fadd", [](int64_t a, int64_t b) { return a + b; }}, "f64");
}

/// Two threads add ones to a counter in narrow floats: nothing is lost, and the
/// sum stays at the last exact integer.
TEST(Atomics, NarrowFloatsLoseNothing) {
  for (const char *type : {"f16", "bf16"}) {
    CompiledKernel k(
        kernel({{"x", type}},
               std::string("  %one = arith.constant 1.0 : ") + type +
                   "\n  %o = arith.constant 1 : i64\n  %r = "
                   "linalg_ext.atomic_rmw fadd relaxed "
                   "gpu %x[%o], %one : (" +
                   pointer(type) + ", i64, " + type + ") -> " + type + "\n"));
    ASSERT_TRUE(k);
    uint16_t x[3] = {};
    std::vector<uint64_t> slots = {slot(&x[0])};
    uint32_t count = type[0] == 'f' ? 1000 : 100;
    std::thread other([&] { k.run(slots, {count, 1, 1}); });
    k.run(slots, {count, 1, 1});
    other.join();
    // 2000 in f16, 200 in bf16.
    EXPECT_EQ(x[1], type[0] == 'f' ? 0x67d0 : 0x4348) << type;
    EXPECT_EQ(x[0], 0);
    EXPECT_EQ(x[2], 0);
  }
}

TEST(Atomics, CompareAndSwapLoadAndStoreUnderMasks) {
  for (const char *type : {"i32", "f32", "i8", "bf16", "f64"}) {
    std::string t = tensor({8}, type);
    CompiledKernel k(kernel(
        {{"x", type}, {"c", type}, {"v", type}, {"old", type}, {"seen", type}},
        load("cmp", "c", {8}, type) + load("val", "v", {8}, type) +
            "  %o = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : "
            "tensor<8xi32>\n"
            "  %m = arith.constant dense<[1, 1, 0, 1, 0, 1, 1, 0]> : "
            "tensor<8xi1>\n"
            "  %r = linalg_ext.atomic_cas acq_rel gpu %x[%o], %cmp, %val : (" +
            pointer(type) + ", tensor<8xi32>, " + t + ", " + t + ") -> " + t +
            "\n" + storeTo("r", "old", {8}, type) +
            "  %l = linalg_ext.atomic_load acquire gpu %x[%o] mask %m : (" +
            pointer(type) + ", tensor<8xi32>, tensor<8xi1>) -> " + t + "\n" +
            storeTo("l", "seen", {8}, type) +
            "  linalg_ext.atomic_store release gpu %cmp into %x[%o] mask %m : "
            "(" +
            t + ", " + pointer(type) +
            ", tensor<8xi32>, tensor<8xi1>) -> ()\n"));
    ASSERT_TRUE(k);
    // Bytes that mean something in any type; compared as bits.
    size_t size = std::string(type) == "i8"     ? 1
                  : std::string(type) == "bf16" ? 2
                  : std::string(type) == "f64"  ? 8
                                                : 4;
    auto fill = [&](int seed) {
      std::vector<uint8_t> bytes(8 * size);
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = uint8_t((i / size + 1) * seed);
      return bytes;
    };
    std::vector<uint8_t> x = fill(3), before = x, compare = fill(5),
                         value = fill(7), old(8 * size), seen(8 * size);
    for (int lane : {1, 2, 6}) // These match.
      std::copy_n(x.begin() + lane * size, size, compare.begin() + lane * size);
    k.run({slot(x.data()), slot(compare.data()), slot(value.data()),
           slot(old.data()), slot(seen.data())});
    const bool mask[8] = {true, true, false, true, false, true, true, false};
    for (int lane = 0; lane < 8; ++lane)
      for (size_t i = lane * size; i < (lane + 1) * size; ++i) {
        bool matches = lane == 1 || lane == 2 || lane == 6;
        uint8_t swapped = matches ? value[i] : before[i];
        EXPECT_EQ(old[i], before[i]) << type << " lane " << lane;
        EXPECT_EQ(seen[i], mask[lane] ? swapped : 0)
            << type << " lane " << lane;
        EXPECT_EQ(x[i], mask[lane] ? compare[i] : swapped)
            << type << " lane " << lane;
      }
  }
}

/// The operand was loaded from the memory that the op changes.
TEST(Atomics, OperandsAreReadFirst) {
  CompiledKernel k(kernel(
      {{"x", "i32"}}, load("t", "x", {4}, "i32") +
                          "  %o = arith.constant dense<[1, 2, 3, 0]> : "
                          "tensor<4xi64>\n  %r = linalg_ext.atomic_rmw exch "
                          "relaxed gpu %x[%o], %t : (" +
                          pointer("i32") +
                          ", tensor<4xi64>, tensor<4xi32>) -> "
                          "tensor<4xi32>\n"));
  ASSERT_TRUE(k);
  std::vector<int32_t> x = {10, 11, 12, 13};
  k.run({slot(x.data())});
  EXPECT_EQ(x, (std::vector<int32_t>{13, 10, 11, 12}));
}

TEST(HostCalls, PrintsElementsWithTheirPlace) {
  CompiledKernel k(kernel({{"x", "f32"}},
                          load("t", "x", {2, 12}, "f32") +
                              "  %n = arith.constant -7 : i32\n"
                              "  linalg_ext.print \" n: 100% \" programs(%px, "
                              "%py, %pz) values(%n) signed = [true] : i32\n"
                              "  linalg_ext.print \" h: \" programs(%px, %py, "
                              "%pz) values(%n) signed = [false] hex : i32\n"
                              "  linalg_ext.print \" t: \" programs(%px, %py, "
                              "%pz) values(%t) signed = [true] : "
                              "tensor<2x12xf32>\n"));
  ASSERT_TRUE(k);
  std::vector<float> x(24, 0.5f);
  k.run({slot(x.data())}, {1, 2, 1}, 1, 2);
  EXPECT_EQ(k.printed.substr(0, k.printed.find(" t: ")),
            "pid (0, 1, 0) idx () n: 100% -7\n"
            "pid (0, 1, 0) idx () h: 0xfffffff9\n"
            "pid (0, 1, 0) idx (0,  0)");
  EXPECT_EQ(std::count(k.printed.begin(), k.printed.end(), '\n'), 26);
  EXPECT_NE(k.printed.find("pid (0, 1, 0) idx (1, 11) t: 0.500000\n"),
            std::string::npos)
      << k.printed;
}

TEST(HostCalls, AFailedAssertionEndsTheRange) {
  CompiledKernel k(kernel({{"x", "i32"}}, R"mlir(
  %two = arith.constant 2 : i32
  %ok = arith.cmpi ne, %px, %two : i32
  linalg_ext.assert %ok, "two is not allowed" : i1 loc("file.py":12:3)
  %i = arith.index_cast %px : i32 to index
  %one = arith.constant 1 : i32
  memref.store %one, %x[%i] : memref<?xi32, strided<[1], offset: ?>>
)mlir"));
  ASSERT_TRUE(k);
  std::vector<int32_t> x(4);
  k.run({slot(x.data())}, {4, 1, 1});
  EXPECT_EQ(k.failure,
            "file.py:12:3: device-side assert failed: two is not allowed\n");
  EXPECT_EQ(x, (std::vector<int32_t>{1, 1, 0, 0}));
  k.run({slot(x.data())}, {4, 1, 1}, 3, 4);
  EXPECT_EQ(x, (std::vector<int32_t>{1, 1, 0, 1}));
}

TEST(HostCalls, AssertsEveryElement) {
  CompiledKernel k(kernel(
      {{"x", "i8"}}, load("t", "x", {16}, "i8") +
                         "  %e = tensor.empty() : tensor<16xi1>\n"
                         "  %m = linalg.generic {indexing_maps = "
                         "[affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
                         "iterator_types = [\"parallel\"]} ins(%t : "
                         "tensor<16xi8>) outs(%e : tensor<16xi1>) {\n"
                         "  ^bb0(%a: i8, %o: i1):\n    %z = arith.constant 0 : "
                         "i8\n    %c = arith.cmpi eq, %a, %z : i8\n"
                         "    linalg.yield %c : i1\n  } -> tensor<16xi1>\n"
                         "  linalg_ext.assert %m, \"zero\" : tensor<16xi1>\n"));
  ASSERT_TRUE(k);
  std::vector<int8_t> x(16);
  k.run({slot(x.data())});
  EXPECT_EQ(k.failure, "");
  x[13] = 1;
  k.run({slot(x.data())});
  EXPECT_NE(k.failure.find(": zero\n"), std::string::npos);
}

TEST(Matmul, OfTheBridge) {
  for (bool batch : {false, true}) {
    std::vector<int64_t> a = {16, 8}, b = {8, 32}, c = {16, 32};
    if (batch)
      for (auto *shape : {&a, &b, &c})
        shape->insert(shape->begin(), 3);
    CompiledKernel k(kernel(
        {{"a", "f16"}, {"b", "f16"}, {"c", "f32"}},
        load("ta", "a", a, "f16") + load("tb", "b", b, "f16") +
            load("tc", "c", c, "f32") + "  %r = linalg." +
            (batch ? "batch_matmul" : "matmul") +
            " ins(%ta, %tb : " + tensor(a, "f16") + ", " + tensor(b, "f16") +
            ") outs(%tc : " + tensor(c, "f32") + ") -> " + tensor(c, "f32") +
            "\n" + storeTo("r", "c", c, "f32")));
    ASSERT_TRUE(k);
    int n = batch ? 3 : 1;
    std::vector<uint16_t> x(n * 128, 0x3c00), y(n * 256, 0x4000);
    std::vector<float> z(n * 512, 1);
    x[n * 128 - 1] = 0;
    k.run({slot(x.data()), slot(y.data()), slot(z.data())});
    for (int i = 0; i < n * 512; ++i)
      ASSERT_EQ(z[i], i / 32 == n * 16 - 1 ? 15 : 17) << i;
  }
}

/// Small ones are in the code, large ones in the executable's data; a buffer
/// that is updated in place leaves them alone.
TEST(Roots, ConstantsOfManyValues) {
  for (int64_t n : {60, 1000, 5000, 12288}) {
    SCOPED_TRACE(n);
    auto number = [](int64_t i) { return int(i * 7 % 1001 - 500); };
    const std::vector<std::pair<std::string, uint8_t>> floats = {
        {"1.0", 0x38}, {"-2.0", 0xc0}, {"0.5", 0x30}};
    std::string integers, f8, booleans;
    for (int64_t i = 0; i < n; ++i) {
      std::string comma = i ? ", " : "";
      integers += comma + std::to_string(number(i));
      f8 += comma + floats[i % 3].first;
      booleans += comma + (i % 3 ? "true" : "false");
    }
    std::string size = std::to_string(n), slice = std::to_string(n / 2);
    CompiledKernel kernel(::kernel(
        {{"x", "i32"}, {"y", "f8E4M3FN"}, {"z", "i32"}},
        "  %a = arith.constant dense<[" + integers + "]> : tensor<" + size +
            "xi32>\n  %b = arith.constant dense<[" + f8 + "]> : tensor<" +
            size + "xf8E4M3FN>\n  %m = arith.constant dense<[" + booleans +
            "]> : tensor<" + size + "xi1>\n  %e = tensor.empty() : tensor<" +
            size + "xi32>\n" +
            "  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
            "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%m "
            ": tensor<" +
            size + "xi1>) outs(%e : tensor<" + size +
            "xi32>) {\n  ^bb0(%p: i1, %o: i32):\n    %i = arith.extui %p : i1 "
            "to i32\n    linalg.yield %i : i32\n  } -> tensor<" +
            size + "xi32>\n" + "  %h = tensor.extract_slice %w[0] [" + slice +
            "] [1] : tensor<" + size + "xi32> to tensor<" + slice +
            "xi32>\n  %c = tensor.insert_slice %h into %a[0] [" + slice +
            "] [1] : tensor<" + slice + "xi32> into tensor<" + size +
            "xi32>\n" + storeTo("c", "x", {n}, "i32") +
            storeTo("b", "y", {n}, "f8E4M3FN") +
            storeTo("w", "z", {n}, "i32")));
    ASSERT_TRUE(kernel);
    std::vector<int32_t> x(n), z(n);
    std::vector<uint8_t> y(n);
    for (int run = 0; run < 2; ++run) {
      kernel.run({slot(x.data()), slot(y.data()), slot(z.data())});
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(x[i], i < n / 2 ? i % 3 != 0 : number(i)) << i;
        ASSERT_EQ(y[i], floats[i % 3].second) << i;
        ASSERT_EQ(z[i], i % 3 != 0) << i;
      }
    }
  }
}

} // namespace
