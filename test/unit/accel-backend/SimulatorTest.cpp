//===- SimulatorTest.cpp - function and time of lowered kernels -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/simulator/Simulate.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {

/// 2 by 4 PEs; figures that tests change.
Target machine() {
  Target target;
  target.name = "machine";
  target.grid = {2, 4};
  Memory dram, local;
  dram.name = "dram";
  dram.scope = Scope::Chip;
  dram.bytes = uint64_t(1) << 30;
  dram.readBytesPerCycle = dram.writeBytesPerCycle = 64;
  dram.latencyCycles = 100;
  local.name = "local";
  local.scope = Scope::Pe;
  local.bytes = 1 << 18;
  local.readBytesPerCycle = local.writeBytesPerCycle = 256;
  local.latencyCycles = 4;
  target.memories = {dram, local};
  target.tensorsIn = "dram";
  DmaEngine engine;
  engine.name = "dma";
  engine.paths = {{"dram", "local"}, {"local", "dram"}};
  engine.maxDims = 3;
  engine.queueDepth = 4;
  engine.bytesPerCycle = 32;
  engine.setupCycles = 10;
  engine.multicast = Lines::Both;
  target.engines = {engine};
  target.reduction = {Lines::Both, {"add", "max"}, 32, 5};
  ComputeUnit matrix, vector;
  matrix.name = "matrix";
  matrix.rates["matmul"]["any"] = 512;
  matrix.operandsIn = {"local"};
  vector.name = "vector";
  vector.rates["any"]["any"] = 16;
  vector.operandsIn = {"local"};
  target.units = {matrix, vector};
  return target;
}

struct SimulatorTest : ::testing::Test {
  SimulatorTest() {
    context.loadDialect<AccelDialect, arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, memref::MemRefDialect,
                        scf::SCFDialect, linalg_ext::LinalgExtDialect>();
  }

  /// Runs a kernel of one array argument, %x, whose body this is.
  Stats run(const std::string &body, const Target &target,
            std::vector<float> &x, SimOptions options = {}) {
    std::string text = R"(
!chip = memref<?xf32, strided<[1], offset: ?>>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %row = accel.pe_id 0 : index
  %column = accel.pe_id 1 : index
)" + body + "\n  return\n}\n";
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(bool(module)) << text;
    uint64_t slot = reinterpret_cast<uint64_t>(x.data());
    reference::MemoryRange memory{x.data(), x.size() * 4, 0};
    SimLaunch launch;
    launch.slots = slot;
    launch.memory = memory;
    SimOutcome outcome = simulate(*module, target, launch, options);
    EXPECT_FALSE(outcome.isError);
    return outcome.stats;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

/// Each PE copies 1024 floats in, eight times over.
const char *const kCopies = R"(
  %a = accel.alloc : memref<1024xf32, #accel.memory<"local">>
  %from = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : !chip to memref<1024xf32, strided<[1], offset: ?>>
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    accel.copy %from to %a MULTICAST : (memref<1024xf32, strided<[1], offset: ?>>, memref<1024xf32, #accel.memory<"local">>) -> ()
  })";

std::string copies(const std::string &multicast) {
  std::string text = kCopies;
  text.replace(text.find("MULTICAST"), 9, multicast);
  return text;
}

TEST_F(SimulatorTest, TransfersShareThePortOfTheirMemory) {
  std::vector<float> x(1024, 1);
  Stats stats = run(copies(""), machine(), x);
  // 8 PEs read 8 times 4096 bytes at 64 bytes a cycle.
  EXPECT_EQ(stats.memories[0].bytesRead, 8u * 8 * 4096);
  EXPECT_EQ(stats.rooflineTerms()["dram"], 8 * 8 * 4096 / 64);
  EXPECT_GE(stats.cycles, 8 * 8 * 4096 / 64);
  EXPECT_LE(stats.cycles, 8 * 8 * 4096 / 64 + 2 * (100 + 4 + 10 + 128));
}

TEST_F(SimulatorTest, MulticastReadsOnceForALine) {
  std::vector<float> x(1024, 1);
  Target target = machine();
  Stats alone = run(copies(""), target, x);
  for (auto [coordinates, fan] :
       {std::pair("1", 4), std::pair("0", 2), std::pair("0, 1", 8)}) {
    Stats line =
        run(copies(std::string("multicast [") + coordinates + "]"), target, x);
    EXPECT_EQ(line.memories[0].bytesRead * fan, alone.memories[0].bytesRead);
    EXPECT_EQ(line.memories[0].bytesRead + line.multicastSavedBytes,
              alone.memories[0].bytesRead);
    EXPECT_EQ(line.memories[1].bytesWritten, alone.memories[1].bytesWritten);
    EXPECT_LE(line.cycles, alone.cycles);
  }
}

/// Copies of blocks into `depth` buffers run ahead of work on them.
std::string pipelined(int depth, int steps, int size) {
  std::string n = std::to_string(size), body;
  std::string local = "memref<" + n + "xf32, #accel.memory<\"local\">>";
  std::string view = "memref<" + n + "xf32, strided<[1], offset: ?>>";
  body += "  %from = memref.reinterpret_cast %x to offset: [0], sizes: [" + n +
          "], strides: [1] : !chip to " + view + "\n";
  for (int i = 0; i < depth; ++i)
    body += "  %b" + std::to_string(i) + " = accel.alloc : " + local + "\n";
  auto start = [&](int step) {
    std::string buffer = "%b" + std::to_string(step % depth);
    body += "  %t" + std::to_string(step) + " = accel.copy_start %from to " +
            buffer + " : (" + view + ", " + local + ") -> !accel.token\n";
  };
  for (int i = 0; i < depth; ++i)
    start(i);
  for (int i = 0; i < steps; ++i) {
    std::string buffer = "%b" + std::to_string(i % depth);
    body += "  accel.wait %t" + std::to_string(i) + "\n";
    body += "  linalg.exp ins(" + buffer + " : " + local + ") outs(" + buffer +
            " : " + local + ")\n";
    if (i + depth < steps)
      start(i + depth);
  }
  return body;
}

TEST_F(SimulatorTest, TimeFallsWithBandwidthComputeAndDepth) {
  std::vector<float> x(1024, 1);
  double before = INFINITY;
  for (int depth : {1, 2, 3, 4}) {
    Stats stats = run(pipelined(depth, 16, 1024), machine(), x);
    for (const auto &[name, term] : stats.rooflineTerms())
      EXPECT_GE(stats.cycles, term) << name;
    EXPECT_LE(stats.cycles, before) << depth;
    before = stats.cycles;
  }
  before = INFINITY;
  for (double bandwidth : {8, 16, 64, 256, 1024}) {
    Target target = machine();
    target.memories[0].readBytesPerCycle = bandwidth;
    target.memories[0].writeBytesPerCycle = bandwidth;
    Stats stats = run(pipelined(2, 16, 1024), target, x);
    EXPECT_LE(stats.cycles, before) << bandwidth;
    before = stats.cycles;
  }
  before = INFINITY;
  for (double rate : {1, 4, 16, 64, 256}) {
    Target target = machine();
    target.units[1].rates["any"]["any"] = rate;
    Stats stats = run(pipelined(2, 16, 1024), target, x);
    EXPECT_LE(stats.cycles, before) << rate;
    before = stats.cycles;
  }
}

TEST_F(SimulatorTest, TwoBuffersHideTransfersThatTakeAsLongAsTheWork) {
  std::vector<float> x(1024, 1);
  Target target = machine();
  target.grid = {1, 1};
  target.memories[0].latencyCycles = 0;
  // 4096 bytes at 32 a cycle are 128 cycles; 1024 elements at 8 are 128.
  target.units[1].rates["any"]["any"] = 8;
  double one = run(pipelined(1, 32, 1024), target, x).cycles;
  double two = run(pipelined(2, 32, 1024), target, x).cycles;
  EXPECT_GE(one / two, 1.6);
}

TEST_F(SimulatorTest, PesReduceALine) {
  std::vector<float> x(64, 0);
  for (std::string algorithm : {"chain", "tree"}) {
    run(R"(
  %a = accel.alloc : memref<8xf32, #accel.memory<"local">>
  %i = arith.index_cast %column : index to i32
  %f = arith.sitofp %i : i32 to f32
  linalg.fill ins(%f : f32) outs(%a : memref<8xf32, #accel.memory<"local">>)
  accel.reduce_line add %a along [1] to %c1 algorithm )" +
            algorithm + R"( : memref<8xf32, #accel.memory<"local">>
  %is = arith.cmpi eq, %column, %c1 : index
  scf.if %is {
    %c8 = arith.constant 8 : index
    %at = arith.muli %row, %c8 : index
    %to = memref.reinterpret_cast %x to offset: [%at], sizes: [8], strides: [1] : !chip to memref<8xf32, strided<[1], offset: ?>>
    accel.copy %a to %to : (memref<8xf32, #accel.memory<"local">>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  })",
        machine(), x);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(x[i], 6);
    EXPECT_EQ(x[16], 0);
    x.assign(64, 0);
  }
}

TEST_F(SimulatorTest, ProductsAreThoseOfTheMachine) {
  constexpr int64_t m = 5, n = 7, k = 9;
  std::vector<float> x(m * k + k * n + m * n);
  std::mt19937 random(1);
  for (float &one : x)
    one = float(random() % 1000) / 100 - 5;
  std::vector<float> given = x;
  Stats stats = run(R"(
  %a = accel.alloc : memref<5x9xf32, #accel.memory<"local">>
  %b = accel.alloc : memref<9x7xf32, #accel.memory<"local">>
  %c = accel.alloc : memref<5x7xf32, #accel.memory<"local">>
  %va = memref.reinterpret_cast %x to offset: [0], sizes: [5, 9], strides: [9, 1] : !chip to memref<5x9xf32, strided<[9, 1], offset: ?>>
  %vb = memref.reinterpret_cast %x to offset: [45], sizes: [9, 7], strides: [7, 1] : !chip to memref<9x7xf32, strided<[7, 1], offset: ?>>
  %vc = memref.reinterpret_cast %x to offset: [108], sizes: [5, 7], strides: [7, 1] : !chip to memref<5x7xf32, strided<[7, 1], offset: ?>>
  accel.copy %va to %a : (memref<5x9xf32, strided<[9, 1], offset: ?>>, memref<5x9xf32, #accel.memory<"local">>) -> ()
  accel.copy %vb to %b : (memref<9x7xf32, strided<[7, 1], offset: ?>>, memref<9x7xf32, #accel.memory<"local">>) -> ()
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x7xf32, #accel.memory<"local">>)
  linalg.matmul ins(%a, %b : memref<5x9xf32, #accel.memory<"local">>, memref<9x7xf32, #accel.memory<"local">>) outs(%c : memref<5x7xf32, #accel.memory<"local">>)
  accel.copy %c to %vc : (memref<5x7xf32, #accel.memory<"local">>, memref<5x7xf32, strided<[7, 1], offset: ?>>) -> ()
)",
                    machine(), x);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum = std::fma(given[i * k + p], given[m * k + p * n + j], sum);
      EXPECT_EQ(x[m * k + k * n + i * n + j], sum);
    }
  EXPECT_EQ(stats.units[0].operations, 8 * 2.0 * m * n * k);
}

TEST_F(SimulatorTest, BarriersMakePesMeet) {
  std::vector<float> x(1024, 1);
  Target target = machine();
  target.barrierCycles = 1000;
  Stats stats = run("accel.barrier [0, 1]", target, x);
  EXPECT_GE(stats.cycles, 1000);
  EXPECT_GE(stats.syncCycles, 8 * 1000);
}

TEST_F(SimulatorTest, ALimitOfInstructionsEndsLoops) {
  std::vector<float> x(4, 0);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
func.func @f(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = []} {
  %true = arith.constant true
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  return
})",
                                                             &context);
  ASSERT_TRUE(bool(module));
  SimLaunch launch;
  SimOptions options;
  options.mostInstructions = 1000;
  EXPECT_TRUE(simulate(*module, machine(), launch, options).isError);
  EXPECT_NE(message.find("has run 1000 instructions"), std::string::npos);
}

} // namespace
