//===- Lines.cpp - what PEs do together, and atomic accesses --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace accel {

template <class T> static T combined(uint32_t kind, T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    switch (kind) {
    case ACCEL_ADD:
      return add(x, y);
    case ACCEL_MUL:
      return mul(x, y);
    case ACCEL_MAX:
      return maxs(x, y);
    case ACCEL_MIN:
      return mins(x, y);
    case ACCEL_UMAX:
      return maxu(x, y);
    case ACCEL_UMIN:
      return minu(x, y);
    case ACCEL_AND:
      return T(x & y);
    case ACCEL_OR:
      return T(x | y);
    default:
      return T(x ^ y);
    }
  } else {
    switch (kind) {
    case ACCEL_ADD:
      return x + y;
    case ACCEL_MUL:
      return x * y;
    case ACCEL_MAX:
      return maximum(x, y);
    case ACCEL_MIN:
      return minimum(x, y);
    case ACCEL_MAXNUM:
      return maxnum(x, y);
    default:
      return minnum(x, y);
    }
  }
}

/// Calls the function with a value of a type's C++ type.
template <class Function>
static void withType(uint32_t type, Function function) {
  switch (type) {
  case ACCEL_BOOL:
    return function(bool());
  case ACCEL_I8:
    return function(int8_t());
  case ACCEL_I16:
    return function(int16_t());
  case ACCEL_I32:
    return function(int32_t());
  case ACCEL_I64:
    return function(int64_t());
  case ACCEL_F16:
    return function(f16());
  case ACCEL_BF16:
    return function(bf16());
  case ACCEL_F32:
    return function(float());
  case ACCEL_F64:
    return function(double());
  case ACCEL_F8E5M2:
    return function(f8e5m2());
  case ACCEL_F8E4M3FN:
    return function(f8e4m3fn());
  case ACCEL_F8E4M3B11FNUZ:
    return function(f8e4m3b11fnuz());
  case ACCEL_F8E4M3FNUZ:
    return function(f8e4m3fnuz());
  case ACCEL_F8E5M2FNUZ:
    return function(f8e5m2fnuz());
  }
}

void combine(uint32_t type, uint32_t kind, void *into, const void *with) {
  withType(type, [&](auto zero) {
    auto x = zero, y = zero;
    std::memcpy(&x, into, sizeof(x));
    std::memcpy(&y, with, sizeof(y));
    x = combined(kind, x, y);
    std::memcpy(into, &x, sizeof(x));
  });
}

/// The elements of all PEs at one position, combined in the algorithm's order.
static void combineAll(std::vector<char *> elements,
                       const accel_reduction &how) {
  size_t step = 1;
  if (how.algorithm == ACCEL_TREE) {
    for (; step < elements.size(); step *= 2)
      for (size_t i = 0; i + step < elements.size(); i += 2 * step)
        combine(how.type, how.kind, elements[i], elements[i + step]);
    return;
  }
  for (size_t i = 1; i < elements.size(); ++i)
    combine(how.type, how.kind, elements[0], elements[i]);
}

static char *element(const accel_reduction &buffer, const int64_t *at) {
  int64_t offset = 0;
  for (uint32_t d = 0; d < buffer.rank; ++d)
    offset += at[d] * buffer.strides[d];
  return static_cast<char *>(buffer.buffer) + offset;
}

/// Called by the last one of a line, while the others wait.
static void reduce(Meeting &meeting) {
  // In the order of their numbers.
  std::vector<size_t> order(meeting.arrived.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    const accel_pe *a = meeting.arrived[x], *b = meeting.arrived[y];
    return std::make_pair(a->row, a->column) <
           std::make_pair(b->row, b->column);
  });
  const accel_reduction &how = meeting.reductions.front();
  int64_t count = 1, at[ACCEL_MAX_RANK];
  for (uint32_t d = 0; d < how.rank; ++d)
    count *= how.sizes[d];
  unsigned bytes = bytesOf(how.type);
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (uint32_t d = how.rank; d-- > 0; rest /= how.sizes[d])
      at[d] = rest % how.sizes[d];
    std::vector<char *> places;
    std::vector<uint64_t> values(order.size());
    std::vector<char *> elements;
    for (size_t i = 0; i < order.size(); ++i) {
      places.push_back(element(meeting.reductions[order[i]], at));
      elements.push_back(reinterpret_cast<char *>(&values[i]));
      std::memcpy(elements[i], places[i], bytes);
    }
    combineAll(elements, how);
    for (size_t i = 0; i < places.size(); ++i)
      if (how.target < 0 || how.target == int64_t(i))
        std::memcpy(places[i], elements[0], bytes);
      else
        std::memset(places[i], 0xff, bytes);
  }
}

/// Meets the other PEs of a line; true for the one that comes last.
static Meeting *meet(accel_pe *pe, uint32_t along, const accel_reduction *what,
                     const char *where) {
  Machine &machine = *pe->machine;
  landSome(pe);
  if (along < 1 || along > 3)
    machine.fail(pe, where, "a line along coordinates that there are not");
  uint64_t line = machine.lineOf(pe, along);
  Meeting &meeting = machine.meetings[{along, line, pe->meetings[along]++}];
  meeting.arrived.push_back(pe);
  if (what)
    meeting.reductions.push_back(*what);
  if (meeting.arrived.size() < machine.lineSize(along)) {
    machine.wait(
        pe, [&meeting] { return meeting.isDone; },
        "the other PEs of its line at " + std::string(where));
    return nullptr;
  }
  if (!meeting.reductions.empty() &&
      meeting.reductions.size() != meeting.arrived.size())
    machine.fail(
        pe, where,
        "a PE of the line is at a barrier, another one at a reduction");
  return &meeting;
}

template <class T>
static T acted(accel_action action, T old, T value, T compare) {
  if constexpr (std::is_integral_v<T>) {
    switch (action) {
    case ACCEL_ATOMIC_AND:
      return T(old & value);
    case ACCEL_ATOMIC_OR:
      return T(old | value);
    case ACCEL_ATOMIC_XOR:
      return T(old ^ value);
    case ACCEL_ATOMIC_ADD:
      return add(old, value);
    case ACCEL_ATOMIC_MAX:
      return maxs(old, value);
    case ACCEL_ATOMIC_MIN:
      return mins(old, value);
    case ACCEL_ATOMIC_UMAX:
      return maxu(old, value);
    case ACCEL_ATOMIC_UMIN:
      return minu(old, value);
    case ACCEL_ATOMIC_INC:
      return ule(value, old) ? T(0) : add(old, T(1));
    case ACCEL_ATOMIC_DEC:
      return old == T(0) || ult(value, old) ? value : sub(old, T(1));
    default:
      break;
    }
  } else {
    switch (action) {
    case ACCEL_ATOMIC_FADD:
      return old + value;
    case ACCEL_ATOMIC_MAX:
      return maxnum(old, value);
    case ACCEL_ATOMIC_MIN:
      return minnum(old, value);
    default:
      break;
    }
  }
  switch (action) {
  case ACCEL_ATOMIC_CAS:
    return std::memcmp(&old, &compare, sizeof(T)) == 0 ? value : old;
  case ACCEL_ATOMIC_LOAD:
    return old;
  default:
    return value;
  }
}

} // namespace accel

using namespace accel;

void accel_barrier(accel_pe *pe, uint32_t along, const char *where) {
  if (Meeting *meeting = meet(pe, along, nullptr, where))
    meeting->isDone = true;
}

void accel_reduce_line(accel_pe *pe, const accel_reduction *reduction) {
  if (Meeting *meeting =
          meet(pe, reduction->along, reduction, reduction->where)) {
    reduce(*meeting);
    meeting->isDone = true;
  }
}

void accel_atomic(accel_pe *pe, accel_action action, accel_order,
                  accel_type type, void *address, const void *value,
                  const void *compare, void *old) {
  // A program may wait in a loop for what another one writes.
  pe->machine->takeTurns(pe);
  landSome(pe);
  pe->machine->check(pe, nullptr, address, bytesOf(type));
  withType(type, [&](auto zero) {
    auto before = zero, operand = zero, expected = zero;
    std::memcpy(&before, address, sizeof(before));
    if (value)
      std::memcpy(&operand, value, sizeof(operand));
    if (compare)
      std::memcpy(&expected, compare, sizeof(expected));
    auto after = acted(action, before, operand, expected);
    std::memcpy(address, &after, sizeof(after));
    if (old)
      std::memcpy(old, &before, sizeof(before));
  });
}

int64_t accel_clock(accel_pe *) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void accel_print(accel_pe *pe, const char *text) {
  const accel_reference_launch *launch = pe->machine->launch;
  if (launch->print)
    launch->print(launch->print_state, text);
  else
    std::fputs(text, stdout);
}

void accel_assert_failed(accel_pe *pe, const char *message, const char *where) {
  pe->machine->fail(pe, where, message);
}
