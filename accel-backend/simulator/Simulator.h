//===- Simulator.h - one launch while it runs -------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/simulator/Code.h"
#include "accel-backend/simulator/Scratchpads.h"
#include "accel-backend/simulator/Simulate.h"
#include "accel-backend/simulator/Trace.h"
#include "accel-backend/simulator/Transfer.h"
#include "reference/Program.h"

#include <deque>
#include <limits>
#include <memory>
#include <queue>
#include <random>

namespace tilebridge::accel {

using Frame = llvm::DenseMap<mlir::Value, reference::Datum>;

/// What a PE does after an instruction.
enum class Step {
  Next,   // goes on
  Jumped, // goes on, its place is set already
  Parked, // runs this instruction again when it is woken
  Failed  // reported
};

struct LoopState {
  __int128 at = 0, upper = 0;
  int64_t step = 0;
};

/// One processing element.
struct Pe {
  int64_t number = 0, row = 0, column = 0;
  std::unique_ptr<reference::Program> program;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<size_t> callers; // instructions to return to
  std::vector<LoopState> loops;
  size_t at = 0;
  double time = 0;
  uint64_t instructions = 0;
  bool isDone = false;
  /// Where it was parked, for what is said about a deadlock.
  std::string waitsFor;
  std::optional<double> parkedSince;
  /// The transfer of a copy that waits for itself.
  std::optional<size_t> ownTransfer;
  /// The collective that it has arrived at.
  std::optional<size_t> ownCollective;
  /// How many multicasts and collectives it began, by line.
  llvm::DenseMap<int64_t, uint64_t> sequence;
  double waitCycles = 0, syncCycles = 0;
  std::vector<double> unitCycles;
};

/// A port of an instance of a memory: requests are served in their order.
struct Port {
  double freeAt = 0, busy = 0;
  /// When what asks at `time` has all its bytes.
  double serve(double time, double cycles) {
    freeAt = std::max(freeAt, time) + cycles;
    busy += cycles;
    return freeAt;
  }
};

struct Engine {
  unsigned kind = 0; // number in the target
  int64_t number = 0;
  std::deque<size_t> queue; // transfers; the first one is under way or waits
  bool isBusy = false;
  double busy = 0;
  std::vector<Pe *> waiters; // for a place in the queue
};

/// PEs of a line that do one thing together.
struct Group {
  mlir::Operation *op = nullptr;
  size_t members = 0;
  std::vector<size_t> arrived; // PEs or transfers
  double last = 0;
  bool isDone = false;
};

class Simulator {
public:
  Simulator(const Target &target, const SimLaunch &launch,
            const SimOptions &options, SimOutcome &outcome);

  mlir::LogicalResult run(mlir::func::FuncOp kernel);

private:
  using Executor = Step (Simulator::*)(Pe &, mlir::Operation *);
  enum class EventKind { Resume, EngineFree, Complete, Land };
  struct Event {
    double time;
    uint64_t number; // what was scheduled first goes first
    EventKind kind;
    size_t what;
    bool operator<(const Event &other) const {
      return std::pair(other.time, other.number) < std::pair(time, number);
    }
  };

  //===--------------------------------------------------------------------===//
  // Simulator.cpp
  //===--------------------------------------------------------------------===//
  mlir::LogicalResult prepare(mlir::func::FuncOp kernel);
  mlir::LogicalResult placeBuffers(mlir::ModuleOp module);
  void startPes(mlir::func::FuncOp kernel);
  mlir::LogicalResult handle(const Event &event);
  mlir::LogicalResult finish();
  void countAccesses();
  mlir::LogicalResult reportDeadlock();
  void schedule(double time, EventKind kind, size_t what);
  void resumeAt(Pe &pe, double time);
  /// Whether something happens before the PE's time; it is then scheduled.
  bool letOthersGoFirst(Pe &pe);
  mlir::InFlightDiagnostic error(const Pe &pe, mlir::Operation *op) const;

  //===--------------------------------------------------------------------===//
  // Interpreter.cpp
  //===--------------------------------------------------------------------===//
  mlir::LogicalResult runPe(Pe &pe);
  Step execute(Pe &pe, const Instruction &instruction, Executor executor);
  Step beginFor(Pe &pe, const Instruction &instruction);
  Step nextFor(Pe &pe, const Instruction &instruction);
  Step testWhile(Pe &pe, const Instruction &instruction);
  Step call(Pe &pe, const Instruction &instruction);
  Step finishCall(Pe &pe, mlir::Operation *op);
  Step jump(Pe &pe, size_t target);
  void assign(Pe &pe, mlir::ValueRange to, mlir::ValueRange from);
  Executor executorOf(mlir::Operation *op);
  /// An op of the reference's, which takes one operation of the scalar unit.
  Step evaluateScalar(Pe &pe, mlir::Operation *op);
  Step evaluateFree(Pe &pe, mlir::Operation *op);
  Step evaluateHost(Pe &pe, mlir::Operation *op);
  Step executePeId(Pe &pe, mlir::Operation *op);
  Step executePeCount(Pe &pe, mlir::Operation *op);
  Step executeProgram(Pe &pe, mlir::Operation *op);
  Step executeUnknown(Pe &pe, mlir::Operation *op);
  Step executeNothing(Pe &, mlir::Operation *) { return Step::Next; }

  //===--------------------------------------------------------------------===//
  // Views.cpp
  //===--------------------------------------------------------------------===//
  Step executeAlloc(Pe &pe, mlir::Operation *op);
  Step executeLoad(Pe &pe, mlir::Operation *op);
  Step executeStore(Pe &pe, mlir::Operation *op);
  Step executeExpandShape(Pe &pe, mlir::Operation *op);
  Step executeCollapseShape(Pe &pe, mlir::Operation *op);
  Step executeAtomic(Pe &pe, mlir::Operation *op);
  Step executeScalarAtomic(Pe &pe, mlir::Operation *op);
  bool isScratch(mlir::Value memref) const;
  unsigned memoryOf(mlir::Value memref, const reference::View &view) const;
  /// Reports a fault of an access.
  Step report(Pe &pe, mlir::Operation *op, Fault fault, mlir::Value memref,
              const reference::View &view);
  /// Checks and does the bookkeeping of a block's read or write.
  bool checkBlock(Pe &pe, mlir::Operation *op, mlir::Value memref, bool reads,
                  bool writes);
  /// Whether the region is in the launch's array; reports.
  bool checkChip(Pe &pe, mlir::Operation *op, const reference::View &view,
                 const Region &region, llvm::StringRef verb);
  reference::Datum readBlock(Pe &pe, mlir::Value memref);
  void writeBlock(Pe &pe, mlir::Value memref, const reference::Lanes &lanes);

  //===--------------------------------------------------------------------===//
  // Transfers.cpp
  //===--------------------------------------------------------------------===//
  Step executeCopy(Pe &pe, mlir::Operation *op);
  Step executeCopyStart(Pe &pe, mlir::Operation *op);
  Step executeCompleted(Pe &pe, mlir::Operation *op);
  Step executeWait(Pe &pe, mlir::Operation *op);
  /// Starts the transfer of an op; parks the PE where no engine takes it.
  Step start(Pe &pe, mlir::Operation *op, size_t &number);
  /// Parks the PE until the transfer is complete, then ends it.
  Step await(Pe &pe, mlir::Operation *op, size_t number);
  void endWait(Pe &pe, double before);
  bool readOperands(Pe &pe, mlir::Operation *op, Transfer &transfer);
  bool checkTransfer(Pe &pe, Transfer &transfer);
  bool checkDescriptor(Pe &pe, const Transfer &transfer);
  /// Of ranges that do not begin or end at the engine's alignment.
  uint64_t chargedBytes(const Region &region, uint64_t alignment) const;
  void charge(Transfer &transfer) const;
  void mark(Transfer &transfer, int change);
  bool land(Transfer &transfer);

  //===--------------------------------------------------------------------===//
  // Engines.cpp
  //===--------------------------------------------------------------------===//
  Engine *chooseEngine(Pe &pe, unsigned from, unsigned to,
                       const DmaEngine *&kind);
  void tryStart(Engine &engine, double time);
  void begin(llvm::ArrayRef<size_t> together, double time);
  Port &readPort(unsigned memory, const Pe &pe);
  Port &writePort(unsigned memory, const Pe &pe);
  /// When bytes have passed through a memory's port; counts them.
  double pass(unsigned memory, const Pe &pe, double time, uint64_t bytes,
              bool isWrite, llvm::StringRef what,
              std::optional<uint64_t> charged = std::nullopt);
  size_t portNumber(unsigned memory, const Pe &pe) const;

  //===--------------------------------------------------------------------===//
  // Collectives.cpp
  //===--------------------------------------------------------------------===//
  Step executeBarrier(Pe &pe, mlir::Operation *op);
  Step executeReduceLine(Pe &pe, mlir::Operation *op);
  /// The group of this PE's next collective along coordinates; -1: the sequence
  /// of another PE of the line differs, which is reported.
  std::optional<size_t> join(Pe &pe, mlir::Operation *op,
                             llvm::ArrayRef<int64_t> coordinates,
                             size_t member);
  int64_t lineOf(const Pe &pe, llvm::ArrayRef<int64_t> coordinates) const;
  size_t sizeOfLine(llvm::ArrayRef<int64_t> coordinates) const;
  /// Parks until all are there; then `finish` runs once.
  Step gather(Pe &pe, mlir::Operation *op, llvm::ArrayRef<int64_t> coordinates,
              llvm::function_ref<bool(Group &, double &until)> finish);
  bool checkMulticast(Pe &pe, const Transfer &transfer);
  bool combineLine(mlir::Operation *op, Group &group, double &until);

  //===--------------------------------------------------------------------===//
  // Compute.cpp, Matmul.cpp, Cost.cpp
  //===--------------------------------------------------------------------===//
  Step executeLinalg(Pe &pe, mlir::Operation *op);
  Step executeCompute(Pe &pe, mlir::Operation *op);
  bool multiply(Pe &pe, mlir::Operation *op);
  /// From here on a block is defined.
  void defineBlock(Pe &pe, mlir::Value memref);
  /// Lets the PE's time pass for work on blocks, and counts it.
  void spend(Pe &pe, mlir::Operation *op, const Work &work,
             llvm::ArrayRef<mlir::Value> reads,
             llvm::ArrayRef<mlir::Value> writes);

  const Target &target;
  const SimLaunch &launch;
  const SimOptions &options;
  SimOutcome &outcome;
  mlir::func::FuncOp kernel;
  /// Whether each of its transfers is to be one descriptor.
  bool isLegalized = false;
  Code code;
  std::vector<Executor> executors; // one an instruction
  Scratchpads scratchpads;
  llvm::DenseMap<mlir::Operation *, int> bufferOf;
  reference::Launch referenceLaunch;
  std::unique_ptr<reference::LaunchState> state;
  std::vector<std::unique_ptr<Pe>> pes;
  std::vector<unsigned> memoryOfArray; // by the launch's arrays
  unsigned chipMemory = 0;             // of what is in none of them

  std::priority_queue<Event> events;
  uint64_t scheduled = 0;
  std::deque<Transfer> transfers;
  std::vector<Engine> engines;
  std::vector<size_t> engineBase; // first engine of a kind
  std::vector<std::vector<Port>> readPorts, writePorts;
  std::deque<Group> groups;
  llvm::DenseMap<std::pair<int64_t, uint64_t>, size_t> groupOf;
  std::mt19937_64 random;
  llvm::DenseMap<mlir::Operation *, Work> costs;
  /// How many transfers an op was, and their bytes.
  llvm::DenseMap<mlir::Operation *, std::pair<uint64_t, uint64_t>> moves;
  Trace trace;
};

} // namespace tilebridge::accel
