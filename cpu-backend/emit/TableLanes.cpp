//===- TableLanes.cpp - lanes that are picked from a small table ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A permutation whose order is in a register picks a vector from one register,
// or with AVX-512 from two, in a cycle, where a gather takes two for each lane.
// From more registers than that lanes are picked from both halves, and a bit of
// their numbers decides. Without VBMI bytes are picked in groups of 16, and
// without AVX-512 so are halves of 16 bits; AVX2 permutes words of 32 bits.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/TableLanes.h"

#include "cpu-backend/emit/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Of a shuffle of bytes within 128 bits.
static constexpr int64_t bytesOfGroup = 16;

static unsigned bitsOf(Value lanes) {
  return cast<VectorType>(lanes.getType()).getElementTypeBitWidth();
}

static int64_t lanesOf(Value lanes) {
  return cast<VectorType>(lanes.getType()).getNumElements();
}

int64_t TableLanes::mostEntries(const EmitTarget &target, unsigned bits) {
  // Of CPUs that are not x86 none has vectors of more than 128 bits here.
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, bits) || target.vectorBits < 256)
    return 0;
  // Bytes without VBMI are looked up as words.
  if (target.vectorBits == 512)
    return bits == 8    ? 256
           : bits == 16 ? 512
           : bits == 64 ? 32
           // A gather is as quick as 16 registers on Intel's CPUs.
           : target.hasTwoFmas ? 128
                               : 256;
  return bits == 8 ? 128 : bits == 64 ? 16 : 32;
}

Value TableLanes::call(StringRef name, ValueRange operands, Type type) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name),
                                       operands)
      ->getResult(0);
}

Value TableLanes::shuffled(Value lanes, ArrayRef<int64_t> order) {
  return vector::ShuffleOp::create(b, loc, lanes, lanes, order);
}

Value TableLanes::constant(Type vector, int64_t value) {
  auto type = cast<VectorType>(vector);
  auto number = APInt(64, value).trunc(type.getElementTypeBitWidth());
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, number));
}

Value TableLanes::withWidth(Value numbers, unsigned bits) {
  auto type = cast<VectorType>(numbers.getType());
  Type wanted = type.clone(b.getIntegerType(bits));
  if (type.getElementType().isIndex())
    return arith::IndexCastOp::create(b, loc, wanted, numbers);
  if (bitsOf(numbers) > bits)
    return arith::TruncIOp::create(b, loc, wanted, numbers);
  return bitsOf(numbers) < bits
             ? arith::ExtUIOp::create(b, loc, wanted, numbers).getResult()
             : numbers;
}

/// Bytes are shuffled within 128 bits.
bool TableLanes::isByBytes(Value lanes) const {
  return bitsOf(lanes) == 8 &&
         !(target.vectorBits == 512 && target.hasByteLookups);
}

Value TableLanes::lookUp(Value table, Value numbers) {
  auto type = cast<VectorType>(table.getType());
  Type element = type.getElementType();
  Type number = b.getIntegerType(element.getIntOrFloatBitWidth());
  if (element != number)
    table = arith::BitcastOp::create(b, loc, type.clone(number), table);
  Value result = lookUpIntegers(table, numbers);
  if (element != number)
    result = arith::BitcastOp::create(
        b, loc, cast<VectorType>(result.getType()).clone(element), result);
  return result;
}

/// Each number is those of both halves of the element, which are picked apart.
Value TableLanes::lookUpHalves(Value table, Value numbers) {
  unsigned bits = bitsOf(table) / 2;
  Type half = b.getIntegerType(bits);
  auto halves = [&](Value lanes) {
    return VectorType::get({2 * lanesOf(lanes)}, half);
  };
  Value narrow = withWidth(numbers, bits);
  Value low =
      arith::ShLIOp::create(b, loc, narrow, constant(narrow.getType(), 1));
  Value high = arith::OrIOp::create(b, loc, low, constant(narrow.getType(), 1));
  Value picked =
      lookUpIntegers(vector::BitCastOp::create(b, loc, halves(table), table),
                     vector::InterleaveOp::create(b, loc, low, high));
  return vector::BitCastOp::create(
      b, loc, VectorType::get({lanesOf(numbers)}, b.getIntegerType(2 * bits)),
      picked);
}

Value TableLanes::lookUpIntegers(Value table, Value numbers) {
  unsigned bits = bitsOf(table);
  int64_t size = lanesOf(table), lanes = lanesOf(numbers);
  bool isWide = target.vectorBits == 512;
  if (!isWide && (bits == 16 || bits == 64))
    return lookUpHalves(table, numbers);
  if (isWide && isByBytes(table) && size > bytesOfGroup) {
    auto words = [&](Value bytes) {
      return cast<VectorType>(bytes.getType()).clone(b.getI16Type());
    };
    Value result = lookUpIntegers(
        arith::ExtUIOp::create(b, loc, words(table), table), numbers);
    return arith::TruncIOp::create(
        b, loc, VectorType::get({lanes}, b.getI8Type()), result);
  }
  int64_t whole = target.vectorBits / bits,
          entries = isByBytes(table) ? bytesOfGroup : whole;
  SmallVector<Value> registers;
  for (int64_t first = 0; first < size; first += entries) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < whole; ++lane) {
      int64_t from = first + lane % entries;
      order.push_back(from < size ? from : vector::ShuffleOp::kPoisonIndex);
    }
    registers.push_back(shuffled(table, order));
  }
  numbers = withWidth(numbers, bits);
  SmallVector<Value> parts;
  for (int64_t first = 0; first < lanes; first += whole) {
    SmallVector<int64_t> order;
    for (int64_t lane = first; lane < first + whole; ++lane)
      order.push_back(lane < lanes ? lane : vector::ShuffleOp::kPoisonIndex);
    parts.push_back(pick(registers, entries,
                         lanes == whole ? numbers : shuffled(numbers, order)));
  }
  if (lanes < whole)
    return shuffled(parts.front(),
                    llvm::to_vector(llvm::seq<int64_t>(0, lanes)));
  return joinLanes(b, loc, parts);
}

/// From registers of so many entries each, to the lanes of one register.
Value TableLanes::pick(ArrayRef<Value> registers, int64_t entries,
                       Value numbers) {
  Type type = numbers.getType();
  unsigned bits = bitsOf(numbers);
  bool isWide = target.vectorBits == 512;
  if (registers.size() == 1) {
    Value from = registers.front();
    if (isByBytes(numbers))
      return call(isWide ? "llvm.x86.avx512.pshuf.b.512"
                         : "llvm.x86.avx2.pshuf.b",
                  {from, numbers}, type);
    return call(!isWide      ? "llvm.x86.avx2.permd"
                : bits == 8  ? "llvm.x86.avx512.permvar.qi.512"
                : bits == 16 ? "llvm.x86.avx512.permvar.hi.512"
                : bits == 32 ? "llvm.x86.avx512.permvar.si.512"
                             : "llvm.x86.avx512.permvar.di.512",
                {from, numbers}, type);
  }
  if (registers.size() == 2 && isWide && !isByBytes(numbers))
    return call(bits == 8    ? "llvm.x86.avx512.vpermi2var.qi.512"
                : bits == 16 ? "llvm.x86.avx512.vpermi2var.hi.512"
                : bits == 32 ? "llvm.x86.avx512.vpermi2var.d.512"
                             : "llvm.x86.avx512.vpermi2var.q.512",
                {registers[0], numbers, registers[1]}, type);
  size_t half = llvm::PowerOf2Ceil(registers.size()) / 2;
  Value low = pick(registers.take_front(half), entries, numbers),
        high = pick(registers.drop_front(half), entries, numbers);
  Value bit = arith::AndIOp::create(
      b, loc, numbers, constant(type, static_cast<int64_t>(half) * entries));
  Value isHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit,
                                       constant(type, 0));
  return arith::SelectOp::create(b, loc, isHigh, high, low);
}
