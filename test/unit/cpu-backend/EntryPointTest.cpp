//===- EntryPointTest.cpp - a compiled kernel, loaded and run -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"

#include "gtest/gtest.h"

#include <thread>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

const char *kWhere = R"mlir(
func.func @where(%out: memref<?xi32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32,
                 %nz: i32) attributes {tilebridge.kernel, tilebridge.signature = ["*i32"]} {
  %c100 = arith.constant 100 : i32
  %row = arith.muli %pz, %ny : i32
  %row2 = arith.addi %row, %py : i32
  %at = arith.muli %row2, %nx : i32
  %at2 = arith.addi %at, %px : i32
  %i = arith.index_cast %at2 : i32 to index
  %zy = arith.muli %pz, %c100 : i32
  %zy2 = arith.addi %zy, %py : i32
  %zyx = arith.muli %zy2, %c100 : i32
  %zyx2 = arith.addi %zyx, %px : i32
  memref.store %zyx2, %out[%i] : memref<?xi32, strided<[1], offset: ?>>
  return
})mlir";

TEST(EntryPoint, WalksTheGridWithXFastest) {
  CompiledKernel kernel(kWhere);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel.executable->abi_version, TB_EXECUTABLE_ABI_VERSION);
  EXPECT_EQ(kernel.executable->scratch_bytes, 0u);
  for (auto [begin, end] :
       {std::pair<int64_t, int64_t>{0, 30}, {7, 23}, {29, 30}, {5, 5}}) {
    std::vector<int32_t> out(30, -1);
    kernel.run({slot(out.data())}, {2, 5, 3}, begin, end);
    for (int32_t i = 0; i < 30; ++i)
      EXPECT_EQ(out[i], i < begin || i >= end
                            ? -1
                            : (i / 10 * 100 + i / 2 % 5) * 100 + i % 2)
          << i;
  }
}

const char *kTiles = R"mlir(
func.func @tiles(%out: memref<?xi32, strided<[1], offset: ?>>, %n: i32, %step: i32, %px: i32, %py: i32, %pz: i32,
                 %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel, tilebridge.signature = ["*i32", "i32", "i32"]} {
  %row = arith.muli %pz, %ny : i32
  %row2 = arith.addi %row, %py : i32
  %at = arith.muli %row2, %n : i32
  scf.for %tile = %px to %n step %step : i32 {
    %at2 = arith.addi %at, %tile : i32
    %i = arith.index_cast %at2 : i32 to index
    memref.store %tile, %out[%i] : memref<?xi32, strided<[1], offset: ?>>
  }
  return
})mlir";

/// A launch counts tiles, if each is some program's; else programs.
TEST(EntryPoint, TilesOfProgramsAreProgramsOfTheLaunch) {
  CompiledKernel kernel(kTiles);
  ASSERT_TRUE(kernel);
  ASSERT_TRUE(kernel.executable->programs);
  constexpr int32_t n = 7, most = n * 6;
  struct Launch {
    std::array<uint32_t, 3> grid;
    int32_t tiles, step;
    int64_t programs;
  };
  for (const Launch &launch : {
           Launch{{3, 1, 1}, 7, 3, 7},
           Launch{{3, 2, 3}, 7, 3, 42},
           Launch{{9, 2, 1}, 7, 3, 14}, // each tile, by its own program
           Launch{{2, 2, 1}, 7, 3, 4},  // not tiles 2 and 5
           Launch{{4, 1, 1}, 7, 3, 4},  // tiles 3 and 6 twice
           Launch{{3, 2, 1}, 0, 3, 0},
           Launch{{3, 2, 1}, -5, 3, 0},
       }) {
    std::vector<int32_t> wanted(most, -1);
    std::vector<uint64_t> slots = {0, slot(launch.tiles), slot(launch.step)};
    auto [nx, ny, nz] = launch.grid;
    for (uint32_t batch = 0; batch < ny * nz; ++batch)
      for (uint32_t x = 0; x < nx; ++x)
        for (auto at = int32_t(x); at < launch.tiles; at += launch.step)
          wanted[int32_t(batch) * launch.tiles + at] = at;
    std::vector<int32_t> out(most, -1);
    slots[0] = slot(out.data());
    tb_launch_v1 asked{slots.data(), {nx, ny, nz}, 0, nullptr};
    EXPECT_EQ(kernel.executable->programs(&asked), launch.programs);
    for (int64_t begin = 0; begin < launch.programs; begin += 5)
      kernel.run(slots, launch.grid, begin,
                 std::min<int64_t>(begin + 5, launch.programs));
    EXPECT_EQ(out, wanted) << nx << ' ' << ny << ' ' << nz;
  }
}

TEST(EntryPoint, ProgramsOfOthersAreTheGrid) {
  CompiledKernel kernel(kWhere);
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(kernel.executable->programs);
}

TEST(EntryPoint, ManifestNamesTheKernelAndTheMachine) {
  CompiledKernel kernel(kWhere);
  ASSERT_TRUE(kernel);
  std::string manifest = kernel.executable->manifest;
  EXPECT_NE(manifest.find(R"({"name":"where","signature":["*i32"],"target":")"),
            std::string::npos)
      << manifest;
  EXPECT_NE(manifest.find(R"("compiler":"tilebridge )"), std::string::npos)
      << manifest;
}

TEST(EntryPoint, PassesScalarsOfEveryWidth) {
  CompiledKernel kernel(R"mlir(
    func.func @scalars(%out: memref<?xf64, strided<[1], offset: ?>>, %b: i1, %i8: i8, %i64: i64, %h: f16, %f: f32, %d: f64,
                       %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp64", "i1", "i8", "i64", "fp16", "fp32", "fp64"]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %v0 = arith.uitofp %b : i1 to f64
      %v1 = arith.sitofp %i8 : i8 to f64
      %v2 = arith.sitofp %i64 : i64 to f64
      %v3 = arith.extf %h : f16 to f64
      %v4 = arith.extf %f : f32 to f64
      memref.store %v0, %out[%c0] : memref<?xf64, strided<[1], offset: ?>>
      memref.store %v1, %out[%c1] : memref<?xf64, strided<[1], offset: ?>>
      memref.store %v2, %out[%c2] : memref<?xf64, strided<[1], offset: ?>>
      memref.store %v3, %out[%c3] : memref<?xf64, strided<[1], offset: ?>>
      memref.store %v4, %out[%c4] : memref<?xf64, strided<[1], offset: ?>>
      memref.store %d, %out[%c5] : memref<?xf64, strided<[1], offset: ?>>
      return
    })mlir");
  ASSERT_TRUE(kernel);
  double out[6] = {};
  kernel.run({slot(&out[0]), 1, slot<int8_t>(-5), slot<int64_t>(-1234567890123),
              slot<uint16_t>(0x3e00), slot(0.25f), slot(0.1)});
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], -5);
  EXPECT_EQ(out[2], -1234567890123.0);
  EXPECT_EQ(out[3], 1.5);
  EXPECT_EQ(out[4], 0.25);
  EXPECT_EQ(out[5], 0.1);
}

TEST(EntryPoint, PassesDescriptorsAndScratch) {
  CompiledKernel kernel(R"mlir(
    func.func @transposed(%in: memref<?x?xf32, strided<[?, ?], offset: ?>>, %nan: i1,
                          %out: memref<?xf32, strided<[1], offset: ?>>,
                          %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32,
                          %scratch: memref<?xi8> {tilebridge.scratch}, %launch: !llvm.ptr {tilebridge.launch})
        attributes {tilebridge.kernel, tilebridge.signature = ["tensordesc<fp32[4, 4]>", "*fp32"],
                    tilebridge.scratch_bytes = 4096 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %rows = memref.dim %in, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %cols = memref.dim %in, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %tmp = memref.view %scratch[%c0][] : memref<?xi8> to memref<64xf32>
      scf.for %i = %c0 to %rows step %c1 {
        scf.for %j = %c0 to %cols step %c1 {
          %v = memref.load %in[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
          %r = arith.muli %i, %cols : index
          %k = arith.addi %r, %j : index
          memref.store %v, %tmp[%k] : memref<64xf32>
          %w = memref.load %tmp[%k] : memref<64xf32>
          memref.store %w, %out[%k] : memref<?xf32, strided<[1], offset: ?>>
        }
      }
      return
    })mlir");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel.executable->scratch_bytes, 4096u);
  std::vector<float> in = {0, 1, 2, 3, 4, 5}, out(6, -1);
  // A 3x2 matrix, stored column by column.
  kernel.run({slot(in.data()), 3, 2, 1, 3, 0, slot(out.data())});
  EXPECT_EQ(out, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(EntryPoint, AKernelMayHaveTheNameOfAFunctionOfC) {
  CompiledKernel kernel(R"mlir(
    func.func @sinf(%x: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel} {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : memref<?xf32, strided<[1], offset: ?>>
      %s = math.sin %v : f32
      memref.store %s, %x[%c0] : memref<?xf32, strided<[1], offset: ?>>
      return
    })mlir");
  ASSERT_TRUE(kernel);
  float x = 1;
  kernel.run({slot(&x)});
  EXPECT_FLOAT_EQ(x, 0.841470985f);
  EXPECT_NE(std::string(kernel.executable->manifest).find("\"sinf\""),
            std::string::npos);
}

TEST(EntryPoint, ThreadsCompileAtOnce) {
  std::string alone = compile(kWhere);
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string &result : results)
    threads.emplace_back([&result] { result = compile(kWhere); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &result : results)
    EXPECT_EQ(result, alone);
}

TEST(EntryPoint, EqualInputGivesEqualBytes) {
  std::string first = compile(kWhere), second = compile(kWhere);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, second);
}

TEST(Target, NamesAreChecked) {
  EXPECT_TRUE(bool(CpuTarget::parse("cpu:x86-64-v3")));
  llvm::Expected<CpuTarget> avx2 = CpuTarget::parse("cpu:x86-64-v3");
  ASSERT_TRUE(bool(avx2));
  EXPECT_EQ(avx2->vectorBits, 256u);
  llvm::Expected<CpuTarget> avx512 = CpuTarget::parse("cpu:znver4");
  ASSERT_TRUE(bool(avx512));
  EXPECT_EQ(avx512->vectorBits, 512u);
  llvm::Expected<CpuTarget> without = CpuTarget::parse("cpu:znver4,-avx512f");
  ASSERT_TRUE(bool(without));
  EXPECT_EQ(without->vectorBits, 256u);
  for (const char *wrong : {"gpu", "cpu:nonsense", "cpu,+nonsense", "cpu,avx2",
                            "", "cpu:", "cpu:,-avx512f"}) {
    llvm::Expected<CpuTarget> target = CpuTarget::parse(wrong);
    EXPECT_FALSE(bool(target)) << wrong;
    if (!target)
      llvm::consumeError(target.takeError());
  }
  llvm::Expected<CpuTarget> accel = CpuTarget::parse("accel:tiny-16kb");
  ASSERT_FALSE(bool(accel));
  EXPECT_NE(llvm::toString(accel.takeError()).find("tilebridge_load_accel"),
            std::string::npos);
}

} // namespace
