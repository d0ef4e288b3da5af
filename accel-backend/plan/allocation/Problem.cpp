//===- Problem.cpp - where buffers lie in a scratchpad --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/allocation/Problem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tilebridge::accel::allocation;
using llvm::formatv;

std::string Problem::check() const {
  if (!banks)
    return "a memory has at least one bank";
  for (const Buffer &buffer : buffers) {
    if (!buffer.alignment)
      return formatv("{0}: an alignment of 0 bytes", buffer.name);
    if (buffer.begin >= buffer.end)
      return formatv("{0}: is needed from {1} until before {2}", buffer.name,
                     buffer.begin, buffer.end);
    if (buffer.bank && *buffer.bank >= banks)
      return formatv("{0}: bank {1} of {2}", buffer.name, *buffer.bank, banks);
  }
  return "";
}

// The first time at which the most bytes are needed, and how many. That is when
// a buffer begins: between two such times buffers only end.
static std::pair<int64_t, uint64_t>
fullestTime(llvm::ArrayRef<Buffer> buffers) {
  // When they begin and end, those that end first at each time.
  llvm::SmallVector<std::tuple<int64_t, bool, uint64_t>> events;
  events.reserve(2 * buffers.size());
  for (const Buffer &buffer : buffers) {
    if (buffer.begin >= buffer.end)
      continue;
    events.push_back({buffer.begin, true, buffer.bytes});
    events.push_back({buffer.end, false, buffer.bytes});
  }
  llvm::sort(events);
  uint64_t now = 0, most = 0;
  int64_t when = events.empty() ? 0 : std::get<0>(events.front());
  for (auto [time, begins, bytes] : events) {
    now = begins ? now + bytes : now - bytes;
    if (now <= most)
      continue;
    most = now;
    when = time;
  }
  return {when, most};
}

uint64_t Problem::lowerBound() const { return fullestTime(buffers).second; }

llvm::SmallVector<unsigned> Problem::fullest() const {
  llvm::SmallVector<unsigned> indices;
  int64_t time = fullestTime(buffers).first;
  for (auto [index, buffer] : llvm::enumerate(buffers))
    if (buffer.begin <= time && time < buffer.end)
      indices.push_back(index);
  return indices;
}

static bool overlaps(uint64_t begin, uint64_t bytes, uint64_t otherBegin,
                     uint64_t otherBytes) {
  return begin < otherBegin + otherBytes && otherBegin < begin + bytes;
}

std::string tilebridge::accel::allocation::verify(const Problem &problem,
                                                  const Placement &placement) {
  llvm::ArrayRef<Buffer> buffers = problem.buffers;
  if (placement.offsets.size() != buffers.size())
    return formatv("{0} offsets for {1} buffers", placement.offsets.size(),
                   buffers.size());
  uint64_t last = 0;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    uint64_t offset = placement.offsets[index];
    if (offset % buffer.alignment)
      return formatv("{0}: offset {1} is not a multiple of {2}", buffer.name,
                     offset, buffer.alignment);
    if (buffer.bytes > problem.capacity ||
        offset > problem.capacity - buffer.bytes)
      return formatv("{0}: bytes {1} to {2} of a memory of {3}", buffer.name,
                     offset, offset + buffer.bytes, problem.capacity);
    last = std::max(last, offset + buffer.bytes);
    for (unsigned other = 0; other < index; ++other)
      if (buffer.livesWith(buffers[other]) &&
          overlaps(offset, buffer.bytes, placement.offsets[other],
                   buffers[other].bytes))
        return formatv("{0} at {1} and {2} at {3} overlap while both are "
                       "needed",
                       buffers[other].name, placement.offsets[other],
                       buffer.name, offset);
    bool inBank =
        !buffer.bank ||
        (offset >= *buffer.bank * problem.bankBytes() &&
         offset + buffer.bytes <= (*buffer.bank + 1) * problem.bankBytes());
    if (inBank == llvm::is_contained(placement.elsewhere, unsigned(index)))
      return formatv("{0}: {1} in bank {2}", buffer.name,
                     inBank ? "is" : "is not", buffer.bank.value_or(0));
  }
  if (last != placement.bytes)
    return formatv("the last buffer ends at {0} and not at {1}", last,
                   placement.bytes);
  return "";
}
