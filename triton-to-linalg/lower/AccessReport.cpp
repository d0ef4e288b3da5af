//===- AccessReport.cpp - what became of an access, told as a remark ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/AccessReport.h"

#include "frontend/Reader.h"
#include "frontend/TTOps.h"
#include "triton-to-linalg/analysis/SourceText.h"
#include "triton-to-linalg/bridge/AccessNote.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
namespace keys = tilebridge::ttl::access_remark;
using Arg = remark::detail::Remark::Arg;

bool ttl::wantsAccessReports(Operation *op) {
  return op->getContext()->getRemarkEngine();
}

void ttl::describeOffset(AccessReport &report, Value base,
                         const TensorForm &offset, bool isSplit) {
  if (!wantsAccessReports(report.op))
    return;
  report.base = nameOf(base);
  report.offset = textOf(offset.uniform);
  for (auto [dim, term] : llvm::enumerate(offset.terms)) {
    bool isUneven = term.kind == DimTerm::Kind::Lanes;
    if (isUneven && isSplit && term.linear && term.linear->inner) {
      std::string lane = "i" + std::to_string(dim),
                  inner = std::to_string(term.linear->inner);
      report.strides.push_back(
          (term.linear->outer ? textOf(term.linear->outer) : "?") + " for " +
          lane + " // " + inner + ", " + textOf(term.linear->stride) + " for " +
          lane + " % " + inner +
          (term.linear->exchangesHalves
               ? " ^ " + std::to_string(term.linear->inner / 2)
               : ""));
      continue;
    }
    report.strides.push_back(term.stride ? textOf(term.stride)
                             : isUneven  ? "?"
                                         : "0");
  }
}

/// "load" for `tt.load`, "descriptor_load", ...
static StringRef nameOfAccess(Operation *op) {
  return op->getName().stripDialect();
}

static void emitDiagnostic(const AccessReport &report) {
  InFlightDiagnostic diagnostic =
      mlir::emitRemark(report.op->getLoc())
      << (report.fallback.empty() ? report.form : report.fallback) << ": "
      << report.reason.text;
  Operation *cause = report.reason.op;
  if (cause && cause != report.op && !isa<UnknownLoc>(cause->getLoc()))
    diagnostic.attachNote(cause->getLoc()) << "because of this operation";
}

Location ttl::locationOf(const AccessReport &report) {
  Location loc = report.op->getLoc();
  if (report.reason.text.empty())
    return loc;
  linalg_ext::AccessNote note{
      (report.fallback.empty() ? report.form : report.fallback).str(),
      report.reason.text,
      {}};
  if (Operation *cause = report.reason.op; cause && cause != report.op) {
    note.cause = describe(cause);
    if (frontend::placeOf(cause->getLoc()))
      note.cause += " at " + frontend::formatLocation(cause->getLoc());
  }
  return linalg_ext::withAccessNote(loc, note);
}

void ttl::reportAccess(const AccessReport &report) {
  bool isStructured = report.reason.text.empty();
  if (!isStructured)
    emitDiagnostic(report);
  Operation *op = report.op;
  if (!wantsAccessReports(op))
    return;
  Builder builder(op->getContext());
  StringRef function;
  if (auto parent = op->getParentOfType<FunctionOpInterface>())
    function = parent.getName();
  auto options = remark::RemarkOpts::name("access")
                     .category(keys::category)
                     .function(function);
  auto remark = isStructured ? remark::passed(op->getLoc(), options)
                             : remark::missed(op->getLoc(), options);
  if (!remark)
    return;
  auto texts = [&](ArrayRef<std::string> strings) -> Attribute {
    return builder.getArrayAttr(
        llvm::map_to_vector(strings, [&](const std::string &text) {
          return Attribute(builder.getStringAttr(text));
        }));
  };
  SmallVector<int64_t> shape;
  if (auto tensor = dyn_cast<RankedTensorType>(report.type))
    shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  remark << Arg(keys::operation, nameOfAccess(op))
         << Arg(keys::form, report.form)
         << Arg(keys::shape, Attribute(builder.getI64ArrayAttr(shape)))
         << Arg(keys::element, getElementTypeOrSelf(report.type))
         << Arg(keys::base, report.base) << Arg(keys::offset, report.offset)
         << Arg(keys::strides, texts(report.strides))
         << Arg(keys::mask, texts(report.mask));
  if (!report.fallback.empty())
    remark << Arg(keys::fallback, report.fallback);
  if (isStructured)
    return;
  remark << Arg(keys::reason, report.reason.text);
  if (Operation *cause = report.reason.op) {
    remark << Arg(keys::causeOp, describe(cause));
    remark << Arg(keys::causeLoc,
                  Attribute(static_cast<LocationAttr>(cause->getLoc())));
  }
}

void ttl::reportAccess(Operation *op, StringRef form, Type type, Value base,
                       ValueRange indices) {
  if (!wantsAccessReports(op))
    return;
  AccessReport report;
  report.op = op;
  report.form = form;
  report.type = type;
  while (auto add = base.getDefiningOp<tt::AddPtrOp>()) {
    std::string offset = textOf(add.getOffset());
    report.offset =
        report.offset.empty() ? offset : offset + " + " + report.offset;
    base = add.getPtr();
  }
  report.base = nameOf(base);
  if (!indices.empty())
    report.offset =
        "[" +
        llvm::join(llvm::map_range(indices,
                                   [](Value v) {
                                     return isa<RankedTensorType>(v.getType())
                                                ? std::string("?")
                                                : textOf(v);
                                   }),
                   ", ") +
        "]";
  reportAccess(report);
}
