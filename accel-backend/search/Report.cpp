//===- Report.cpp - what was decided, as JSON -----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/Report.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/AccessText.h"
#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/Lifetimes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/search/Model.h"
#include "accel-backend/search/Passes.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELREPORTPASS
#include "accel-backend/search/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;
namespace json = llvm::json;

static std::string textOf(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream out(text);
  print(out);
  return text;
}

static json::Value placeOf(Location loc) {
  std::string line = placeIn(loc);
  return line.empty() ? json::Value(nullptr) : json::Value(line);
}

static json::Object bufferOf(const Lifetime &life) {
  AllocOp alloc = life.op;
  auto type = cast<MemRefType>(alloc.getMemref().getType());
  auto memory = cast<MemoryAttr>(type.getMemorySpace());
  std::string shape = textOf([&](llvm::raw_ostream &out) {
    llvm::interleave(type.getShape(), out, "x");
    out << (type.getRank() ? "x" : "") << type.getElementType();
  });
  json::Object buffer{{"type", std::move(shape)},
                      {"memory", memory.getName().getValue()},
                      {"bytes", int64_t(bytesOf(type))},
                      {"first_use", life.begin},
                      {"last_use", life.end},
                      {"line", placeOf(alloc.getLoc())}};
  if (auto reason = alloc->getAttrOfType<StringAttr>(spilledAttr))
    buffer["spilled"] = reason.getValue();
  if (std::optional<uint64_t> offset = alloc.getOffset())
    buffer["offset"] = int64_t(*offset);
  return buffer;
}

static json::Object numbers(const std::map<std::string, double> &values) {
  json::Object object;
  for (const auto &[name, value] : values)
    object[name] = value;
  return object;
}

json::Object tilebridge::accel::report(func::FuncOp kernel,
                                       const Target &target) {
  json::Array buffers;
  std::map<std::string, double> used;
  for (const Lifetime &life : lifetimesOf(kernel)) {
    buffers.push_back(bufferOf(life));
    AllocOp alloc = life.op;
    auto type = cast<MemRefType>(alloc.getMemref().getType());
    double &end = used[cast<MemoryAttr>(type.getMemorySpace()).getName().str()];
    end = std::max(end, double(alloc.getOffset().value_or(0)) + bytesOf(type));
  }
  Estimate expected = estimate(kernel, target);
  json::Array transfers;
  kernel.walk([&](Operation *op) {
    std::optional<ArrayRef<int64_t>> multicast;
    Value dest;
    if (auto copy = dyn_cast<CopyOp>(op)) {
      dest = copy.getDest(), multicast = copy.getMulticast();
    } else if (auto start = dyn_cast<CopyStartOp>(op)) {
      dest = start.getDest(), multicast = start.getMulticast();
    } else {
      return;
    }
    json::Object transfer = AccessText(op).json();
    transfer["type"] =
        textOf([&](llvm::raw_ostream &out) { out << dest.getType(); });
    transfer["multicast"] =
        json::Array(multicast.value_or(ArrayRef<int64_t>()));
    transfer["asynchronous"] = isa<CopyStartOp>(op);
    transfers.push_back(std::move(transfer));
  });
  json::Object result{
      {"kernel", kernel.getName()},
      {"target", target.name},
      {"buffers", std::move(buffers)},
      {"merge", json::Array(mergeOf(kernel))},
      {"bytes_used", numbers(used)},
      {"transfers", std::move(transfers)},
      {"bytes_read", numbers(expected.bytesRead)},
      {"bytes_written", numbers(expected.bytesWritten)},
      {"multicast_saved_bytes", expected.multicastSavedBytes},
      {"expected_cycles", expected.cycles},
      {"expected_microseconds", expected.cycles / target.clockGHz / 1000},
      {"lower_bounds_cycles", numbers(expected.terms)}};
  kernel.walk([&](ProgramOp program) {
    result["assignment"] =
        stringifyAssignmentKind(program.getAssignment().getKind());
  });
  return result;
}

namespace {
struct AccelReportPass : accel::impl::AccelReportPassBase<AccelReportPass> {
  using AccelReportPassBase::AccelReportPassBase;

  void runOnOperation() override {
    json::Array all;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kernelAttr))
        continue;
      FailureOr<std::optional<Target>> target = targetOf(kernel);
      if (failed(target))
        return signalPassFailure();
      if (*target)
        all.push_back(report(kernel, **target));
    }
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
    if (!file) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
    file->os() << llvm::formatv("{0:2}\n", json::Value(std::move(all)));
    file->keep();
  }
};
} // namespace
