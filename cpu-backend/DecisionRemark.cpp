//===- DecisionRemark.cpp - the remarks of the CPU's cost model -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilebridge::cpu;
namespace keys = tilebridge::cpu::decision_remark;
using Arg = remark::detail::Remark::Arg;

Decision &Decision::fact(StringRef key, int64_t value) {
  return fact(key, Builder(loc.getContext()).getI64IntegerAttr(value));
}

Decision &Decision::fact(StringRef key, ArrayRef<int64_t> values) {
  return fact(key, Builder(loc.getContext()).getI64ArrayAttr(values));
}

Decision &Decision::fact(StringRef key, StringRef value) {
  return fact(key, Builder(loc.getContext()).getStringAttr(value));
}

void Decision::report(const Twine &text) const {
  if (!isWanted(loc.getContext()))
    return;
  auto remark = remark::passed(
      loc, remark::RemarkOpts::name("decision").category(keys::category));
  if (!remark)
    return;
  remark << Arg(keys::kind, kind) << Arg(keys::text, text.str());
  for (auto [key, value] : facts)
    remark << Arg(key, value);
}

std::string tilebridge::cpu::shapeText(ArrayRef<int64_t> shape, Type element) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(shape, out, "x");
  if (element)
    out << (shape.empty() ? "" : "x") << element;
  return text;
}
