//===- ExternInteger.cpp - libdevice's functions of integers --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/ExternFunctions.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static Value constantLike(ImplicitLocOpBuilder &b, Value like, int64_t number) {
  return arith::ConstantIntOp::create(b, like.getType(), number);
}

/// An integer as one of another width, its bits read as unsigned.
static Value resize(ImplicitLocOpBuilder &b, Value x, Type type) {
  unsigned from = x.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtUIOp::create(b, type, x);
  return from > to ? Value(arith::TruncIOp::create(b, type, x)) : x;
}

/// The number of bits set, or of zeros at an end.
template <typename Op> static Value count(ExternCall c) {
  return resize(c.b, Op::create(c.b, c.in[0]), c.result);
}

/// The position of the lowest bit set, counted from 1; 0 if there is none.
static Value findFirstSet(ExternCall c) {
  Value x = c.in[0], zero = constantLike(c.b, x, 0);
  Value place = arith::AddIOp::create(
      c.b, math::CountTrailingZerosOp::create(c.b, x), constantLike(c.b, x, 1));
  Value none = arith::CmpIOp::create(c.b, arith::CmpIPredicate::eq, x, zero);
  place = arith::SelectOp::create(c.b, none, zero, place);
  return resize(c.b, place, c.result);
}

static Value mulHigh(ExternCall c) {
  return mulHighUnsigned(c.b, c.b.getLoc(), c.in[0], c.in[1]);
}

/// The upper half of a signed product: that of the unsigned one, less the other
/// factor for each that is negative.
static Value mulHighSigned(ExternCall c) {
  Type type = c.in[0].getType();
  Value shift = constantLike(c.b, c.in[0], type.getIntOrFloatBitWidth() - 1);
  Value high = mulHigh(c);
  for (auto [factor, other] :
       {std::pair(c.in[0], c.in[1]), {c.in[1], c.in[0]}}) {
    Value sign = arith::ShRSIOp::create(c.b, factor, shift);
    Value less = arith::AndIOp::create(c.b, sign, other);
    high = arith::SubIOp::create(c.b, high, less);
  }
  return high;
}

/// The product of the lower 24 bits of each, its lower 32 bits.
template <typename ShiftBack> static Value mul24(ExternCall c) {
  SmallVector<Value> low;
  for (Value x : c.in) {
    Value distance = constantLike(c.b, x, 8);
    Value up = arith::ShLIOp::create(c.b, x, distance);
    low.push_back(ShiftBack::create(c.b, up, distance));
  }
  return arith::MulIOp::create(c.b, low[0], low[1]);
}

/// |x - y| + z.
template <typename Max, typename Min> static Value sad(ExternCall c) {
  Value more = Max::create(c.b, c.in[0], c.in[1]);
  Value less = Min::create(c.b, c.in[0], c.in[1]);
  return arith::AddIOp::create(c.b, arith::SubIOp::create(c.b, more, less),
                               c.in[2]);
}

/// (x + y) / 2, or (x + y + 1) / 2, without the overflow: the bits that both
/// have (or that any has), and half of those in which they differ.
template <typename Shift, bool up> static Value average(ExternCall c) {
  Value differ = arith::XOrIOp::create(c.b, c.in[0], c.in[1]);
  Value half = Shift::create(c.b, differ, constantLike(c.b, differ, 1));
  if (up)
    return arith::SubIOp::create(
        c.b, arith::OrIOp::create(c.b, c.in[0], c.in[1]), half);
  return arith::AddIOp::create(
      c.b, arith::AndIOp::create(c.b, c.in[0], c.in[1]), half);
}

/// The bits in reverse order: neighbours change places, then pairs of bits, and
/// so on.
static Value reverseBits(ExternCall c) {
  Value x = c.in[0];
  unsigned width = x.getType().getIntOrFloatBitWidth();
  for (unsigned distance = 1; distance < width; distance *= 2) {
    APInt lower =
        APInt::getSplat(width, APInt::getLowBitsSet(2 * distance, distance));
    Value mask =
        arith::ConstantOp::create(c.b, c.b.getIntegerAttr(x.getType(), lower));
    Value by = constantLike(c.b, x, distance);
    Value down =
        arith::AndIOp::create(c.b, arith::ShRUIOp::create(c.b, x, by), mask);
    Value up =
        arith::ShLIOp::create(c.b, arith::AndIOp::create(c.b, x, mask), by);
    x = arith::OrIOp::create(c.b, down, up);
  }
  return x;
}

/// Four of the eight bytes of y:x, each chosen by the lower 3 bits of a nibble
/// of the third operand.
static Value permuteBytes(ExternCall c) {
  Type i64 = c.b.getI64Type();
  Value low = arith::ExtUIOp::create(c.b, i64, c.in[0]);
  Value high = arith::ExtUIOp::create(c.b, i64, c.in[1]);
  Value both = arith::OrIOp::create(
      c.b, low, arith::ShLIOp::create(c.b, high, constantLike(c.b, high, 32)));
  Value selector = arith::ExtUIOp::create(c.b, i64, c.in[2]);
  Value result = constantLike(c.b, both, 0);
  for (int64_t byte = 0; byte < 4; ++byte) {
    // Three bits, and times eight: bits of a nibble, moved to 3 and up.
    Value nibble = arith::ShRUIOp::create(
        c.b, arith::ShLIOp::create(c.b, selector, constantLike(c.b, both, 3)),
        constantLike(c.b, both, 4 * byte));
    Value bit =
        arith::AndIOp::create(c.b, nibble, constantLike(c.b, both, 0x38));
    Value picked =
        arith::AndIOp::create(c.b, arith::ShRUIOp::create(c.b, both, bit),
                              constantLike(c.b, both, 0xff));
    result = arith::OrIOp::create(
        c.b, result,
        arith::ShLIOp::create(c.b, picked, constantLike(c.b, both, 8 * byte)));
  }
  return arith::TruncIOp::create(c.b, c.result, result);
}

void ttl::addIntegerExterns(ExternTable &functions) {
  functions["abs"] = {"ii", externUnary<math::AbsIOp>};
  functions["llabs"] = {"ll", externUnary<math::AbsIOp>};
  functions["iabs"] = {"II", externUnary<math::AbsIOp>};
  functions["min"] = {"iii", externBinary<arith::MinSIOp>};
  functions["llmin"] = {"lll", externBinary<arith::MinSIOp>};
  functions["umin"] = {"iii", externBinary<arith::MinUIOp>};
  functions["ullmin"] = {"lll", externBinary<arith::MinUIOp>};
  functions["max"] = {"iii", externBinary<arith::MaxSIOp>};
  functions["llmax"] = {"lll", externBinary<arith::MaxSIOp>};
  functions["umax"] = {"iii", externBinary<arith::MaxUIOp>};
  functions["ullmax"] = {"lll", externBinary<arith::MaxUIOp>};
  functions["clz"] = {"ii", count<math::CountLeadingZerosOp>};
  functions["clzll"] = {"il", count<math::CountLeadingZerosOp>};
  functions["popc"] = {"ii", count<math::CtPopOp>};
  functions["popcll"] = {"il", count<math::CtPopOp>};
  // AMD's; Triton gives the second a result of 64 bits.
  functions["clz_u32"] = {"ii", count<math::CountLeadingZerosOp>};
  functions["clz_u64"] = {"Il", count<math::CountLeadingZerosOp>};
  functions["popcount_u32"] = {"ii", count<math::CtPopOp>};
  functions["popcount_u64"] = {"Il", count<math::CtPopOp>};
  functions["ffs"] = {"ii", findFirstSet};
  functions["ffsll"] = {"il", findFirstSet};
  functions["brev"] = {"ii", reverseBits};
  functions["brevll"] = {"ll", reverseBits};
  functions["byte_perm"] = {"iiii", permuteBytes};
  functions["mulhi"] = {"iii", mulHighSigned};
  functions["mul64hi"] = {"lll", mulHighSigned};
  functions["umulhi"] = {"iii", mulHigh};
  functions["umul64hi"] = {"lll", mulHigh};
  functions["mul24"] = {"iii", mul24<arith::ShRSIOp>};
  functions["umul24"] = {"iii", mul24<arith::ShRUIOp>};
  functions["sad"] = {"iiii", sad<arith::MaxSIOp, arith::MinSIOp>};
  functions["usad"] = {"iiii", sad<arith::MaxUIOp, arith::MinUIOp>};
  functions["hadd"] = {"iii", average<arith::ShRSIOp, false>};
  functions["uhadd"] = {"iii", average<arith::ShRUIOp, false>};
  functions["rhadd"] = {"iii", average<arith::ShRSIOp, true>};
  functions["urhadd"] = {"iii", average<arith::ShRUIOp, true>};
}
