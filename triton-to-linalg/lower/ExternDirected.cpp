//===- ExternDirected.cpp - arithmetic that rounds up, down, or to zero ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/lower/ExternFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using arith::RoundingMode;

namespace {

/// The functions of libdevice that `function` of linalg_ext.directed is.
template <RoundingMode mode> struct Rounded {
  static Value make(ExternCall c, StringRef function, ValueRange operands) {
    return linalg_ext::DirectedOp::create(c.b, c.result, function, mode,
                                          operands);
  }
  static Value add(ExternCall c) { return make(c, "add", c.in); }
  static Value sub(ExternCall c) { return make(c, "sub", c.in); }
  static Value mul(ExternCall c) { return make(c, "mul", c.in); }
  static Value div(ExternCall c) { return make(c, "div", c.in); }
  static Value fma(ExternCall c) { return make(c, "fma", c.in); }
  static Value sqrt(ExternCall c) { return make(c, "sqrt", c.in); }
  static Value truncate(ExternCall c) { return make(c, "truncf", c.in); }
  static Value fromSigned(ExternCall c) { return make(c, "sitofp", c.in); }
  static Value fromUnsigned(ExternCall c) { return make(c, "uitofp", c.in); }
  static Value reciprocal(ExternCall c) {
    Value one = arith::ConstantOp::create(c.b, c.b.getFloatAttr(c.result, 1.0));
    return make(c, "div", {one, c.in[0]});
  }

  static void addTo(ExternTable &functions, StringRef suffix) {
    auto add = [&](StringRef name, const char *types,
                   Value (*build)(ExternCall)) {
      functions[(name + suffix).str()] = {types, build};
    };
    add("fadd_", "fff", Rounded::add);
    add("dadd_", "ddd", Rounded::add);
    add("fsub_", "fff", sub);
    add("dsub_", "ddd", sub);
    add("fmul_", "fff", mul);
    add("dmul_", "ddd", mul);
    add("fdiv_", "fff", div);
    add("ddiv_", "ddd", div);
    add("fmaf_", "ffff", fma);
    add("fma_", "dddd", fma);
    add("fsqrt_", "ff", sqrt);
    add("dsqrt_", "dd", sqrt);
    add("frcp_", "ff", reciprocal);
    add("drcp_", "dd", reciprocal);
    add("double2float_", "fd", truncate);
    add("int2float_", "fi", fromSigned);
    add("uint2float_", "fi", fromUnsigned);
    add("ll2float_", "fl", fromSigned);
    add("ull2float_", "fl", fromUnsigned);
    add("ll2double_", "dl", fromSigned);
    add("ull2double_", "dl", fromUnsigned);
  }
};

} // namespace

void ttl::addDirectedExterns(ExternTable &functions) {
  Rounded<RoundingMode::downward>::addTo(functions, "rd");
  Rounded<RoundingMode::upward>::addTo(functions, "ru");
  Rounded<RoundingMode::toward_zero>::addTo(functions, "rz");
}
