//===- CallGraph.cpp - what calls must be for a program to end ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/CallGraph.h"

#include "frontend/TTOps.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilebridge::tt;

namespace {
/// Depth-first search with a stack of its own: a long chain of calls must not
/// exhaust the thread's.
class CallVerifier {
public:
  explicit CallVerifier(ModuleOp module) : symbols(module) {
    module.walk([&](CallOp call) {
      if (auto caller = call->getParentOfType<FuncOp>())
        callsOf[caller].push_back(call);
    });
  }

  LogicalResult verifyFrom(FuncOp root) {
    if (finished.contains(root))
      return success();
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[func, next] = stack.back();
      ArrayRef<CallOp> calls = callsOf[func];
      if (next == calls.size()) {
        finished.insert(func);
        stack.pop_back();
        continue;
      }
      if (failed(follow(calls[next++])))
        return failure();
    }
    return success();
  }

private:
  LogicalResult follow(CallOp call) {
    auto callee = symbols.lookup<FuncOp>(call.getCallee());
    if (!callee)
      return call.emitError()
             << "calls '" << call.getCallee() << "', which is no tt.func";
    if (callee.isExternal()) {
      InFlightDiagnostic diag = call.emitError()
                                << "calls '" << callee.getName()
                                << "', which has no body";
      diag.attachNote(callee.getLoc()) << "it is declared here";
      return diag;
    }
    if (finished.contains(callee))
      return success();
    auto *entry = llvm::find_if(
        stack, [&](const Frame &frame) { return frame.func == callee; });
    if (entry == stack.end()) {
      stack.push_back({callee, 0});
      return success();
    }
    return reportCircle(call, callee, entry);
  }

  struct Frame {
    FuncOp func;
    size_t next;
  };

  /// The last call closes the circle; those before lead around it.
  LogicalResult reportCircle(CallOp last, FuncOp callee, const Frame *entry) {
    InFlightDiagnostic diag = last.emitError()
                              << "recursion is not supported: '"
                              << stack.back().func.getName() << "' calls '"
                              << callee.getName() << "', which led here";
    for (const Frame *frame = entry; frame + 1 != stack.end(); ++frame) {
      CallOp call = callsOf[frame->func][frame->next - 1];
      diag.attachNote(call.getLoc()) << "'" << FuncOp(frame->func).getName()
                                     << "' calls '" << call.getCallee() << "'";
    }
    diag.attachNote(callee.getLoc())
        << "'" << callee.getName() << "' begins here; write a loop instead";
    return diag;
  }

  SymbolTable symbols;
  DenseMap<Operation *, SmallVector<CallOp>> callsOf;
  llvm::DenseSet<Operation *> finished;
  SmallVector<Frame> stack;
};
} // namespace

LogicalResult tilebridge::frontend::verifyCalls(ModuleOp module) {
  CallVerifier verifier(module);
  for (auto func : module.getOps<FuncOp>())
    if (failed(verifier.verifyFrom(func)))
      return failure();
  return success();
}
