//===- Scratchpads.cpp - memories of PEs, and what is in their bytes ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Scratchpads.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace tilebridge::accel {

Scratchpads::Scratchpads(const Target &target)
    : target(target), used(target.memories.size(), 0),
      extents(target.memories.size(), 0) {
  for (const Memory &memory : target.memories)
    instances.emplace_back(memory.scope == Scope::Pe
                               ? target.instances(memory.scope)
                               : target.grid.count());
}

uint64_t Scratchpads::bytesOfPe(const Memory &memory) const {
  return memory.bytes /
         uint64_t(target.grid.count() /
                  std::max<int64_t>(target.instances(memory.scope), 1));
}

// Whether the host can hold what the simulator knows of so many bytes.
static bool canHold(uint64_t bytes) {
  constexpr uint64_t perByte = 4;
  if (bytes > SIZE_MAX / perByte)
    return false;
  // A compiler may leave out a malloc whose memory nobody uses.
  std::error_code error;
  llvm::sys::MemoryBlock probe = llvm::sys::Memory::allocateMappedMemory(
      bytes * perByte, nullptr,
      llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE, error);
  if (!error)
    llvm::sys::Memory::releaseMappedMemory(probe);
  return !error;
}

FailureOr<unsigned> Scratchpads::addBuffer(Buffer buffer, bool hasOffset,
                                           uint64_t alignment) {
  const Memory &memory = target.memories[buffer.memory];
  uint64_t &end = used[buffer.memory];
  if (!hasOffset) {
    buffer.offset =
        llvm::alignTo(end, std::max(alignment, memory.alignmentBytes));
    end = buffer.offset + buffer.bytes;
  }
  if (buffer.offset % memory.alignmentBytes)
    return buffer.op->emitError("begins at byte ")
           << buffer.offset << " of the memory '" << memory.name
           << "', which is not a multiple of its alignment of "
           << memory.alignmentBytes;
  uint64_t most = bytesOfPe(memory);
  if (buffer.bytes > most || buffer.offset > most - buffer.bytes)
    return buffer.op->emitError("takes ")
           << buffer.bytes << " bytes from byte " << buffer.offset
           << " of the memory '" << memory.name << "', which has " << most
           << (most == memory.bytes ? "" : " for each PE");
  uint64_t &extent = extents[buffer.memory];
  if (buffer.offset + buffer.bytes > extent) {
    extent = buffer.offset + buffer.bytes;
    if (!canHold(extent))
      return buffer.op->emitError("takes ")
             << buffer.bytes << " bytes of the memory '" << memory.name
             << "', more than this computer has for the simulator";
  }
  if (buffers.size() >= UINT16_MAX - 1)
    return buffer.op->emitError("is one buffer too many for the simulator");
  buffers.push_back(buffer);
  return unsigned(buffers.size());
}

Scratchpads::Bytes &Scratchpads::instanceOf(unsigned memory, int64_t row,
                                            int64_t column) {
  Bytes &bytes = instances[memory][row * target.grid.columns + column];
  if (bytes.data)
    return bytes;
  // Zeroed pages cost nothing before they are touched.
  size_t size = std::max<uint64_t>(extents[memory], 1);
  auto zeroed = [](size_t count, size_t element) {
    void *memory = std::calloc(count, element);
    if (!memory)
      llvm::report_bad_alloc_error("scratchpads of the simulator");
    return memory;
  };
  bytes.data.reset(static_cast<char *>(zeroed(size, 1)));
  bytes.owners.reset(static_cast<uint16_t *>(zeroed(size, 2)));
  bytes.flights.reset(static_cast<uint8_t *>(zeroed(size, 1)));
  return bytes;
}

uint64_t Scratchpads::addressOf(int number, int64_t row, int64_t column) {
  const Buffer &one = buffer(number);
  const Bytes &bytes = instanceOf(one.memory, row, column);
  uint64_t address = reinterpret_cast<uint64_t>(bytes.data.get()) + one.offset;
  byAddress[address] = &bytes;
  return address;
}

const Scratchpads::Bytes *Scratchpads::find(int, uint64_t base) const {
  return byAddress.lookup(base);
}

Fault Scratchpads::forEachRun(
    int number, uint64_t base, const Region &region,
    llvm::function_ref<Fault(const Bytes &, uint64_t, uint64_t)> access) const {
  const Buffer &one = buffer(number);
  const Bytes &bytes = *find(number, base);
  Fault fault = Fault::None;
  region.forEachRun([&](uint64_t address, uint64_t count) {
    uint64_t at = address - base; // Wraps around below the buffer.
    if (at > one.bytes || count > one.bytes - at)
      fault = Fault::OutOfBounds;
    else
      fault = access(bytes, one.offset + at, count);
    return fault == Fault::None;
  });
  return fault;
}

Fault Scratchpads::allocate(int number, int64_t row, int64_t column) {
  const Buffer &one = buffer(number);
  Bytes &bytes = instanceOf(one.memory, row, column);
  const uint8_t *flights = bytes.flights.get() + one.offset;
  for (uint64_t i = 0; i < one.bytes; ++i)
    if (flights[i])
      return flights[i] & 1 ? Fault::Arriving : Fault::Leaving;
  std::memset(bytes.owners.get() + one.offset, 0, one.bytes * 2);
  return Fault::None;
}

Fault Scratchpads::checkRead(int number, uint64_t base,
                             const Region &region) const {
  return forEachRun(
      number, base, region,
      [number](const Bytes &bytes, uint64_t at, uint64_t count) {
        const uint8_t *flights = bytes.flights.get() + at;
        const uint16_t *owners = bytes.owners.get() + at;
        // Without a branch in it, the loop is one over vectors.
        unsigned arriving = 0, foreign = 0;
        for (uint64_t i = 0; i < count; ++i) {
          arriving |= flights[i];
          foreign |= unsigned(owners[i] ^ number);
        }
        if (arriving & 1)
          return Fault::Arriving;
        if (!foreign)
          return Fault::None;
        bool isUndefined = std::count(owners, owners + count, 0) != 0;
        return isUndefined ? Fault::Undefined : Fault::Overwritten;
      });
}

Fault Scratchpads::checkWrite(int number, uint64_t base,
                              const Region &region) const {
  return forEachRun(
      number, base, region,
      [](const Bytes &bytes, uint64_t at, uint64_t count) {
        const uint8_t *flights = bytes.flights.get() + at;
        unsigned any = 0;
        for (uint64_t i = 0; i < count; ++i)
          any |= flights[i];
        return !any ? Fault::None : any & 1 ? Fault::Arriving : Fault::Leaving;
      });
}

void Scratchpads::define(int number, uint64_t base, const Region &region) {
  forEachRun(number, base, region,
             [number](const Bytes &bytes, uint64_t at, uint64_t count) {
               std::fill_n(bytes.owners.get() + at, count, uint16_t(number));
               return Fault::None;
             });
}

void Scratchpads::undefine(int number, uint64_t base, const Region &region) {
  forEachRun(number, base, region,
             [](const Bytes &bytes, uint64_t at, uint64_t count) {
               std::fill_n(bytes.owners.get() + at, count, uint16_t(0));
               return Fault::None;
             });
}

void Scratchpads::markReading(int number, uint64_t base, const Region &region,
                              int change) {
  forEachRun(number, base, region,
             [change](const Bytes &bytes, uint64_t at, uint64_t count) {
               uint8_t *flights = bytes.flights.get() + at;
               for (uint64_t i = 0; i < count; ++i)
                 flights[i] = uint8_t(flights[i] + 2 * change);
               return Fault::None;
             });
}

void Scratchpads::markWriting(int number, uint64_t base, const Region &region,
                              int change) {
  forEachRun(number, base, region,
             [change](const Bytes &bytes, uint64_t at, uint64_t count) {
               uint8_t *flights = bytes.flights.get() + at;
               for (uint64_t i = 0; i < count; ++i)
                 flights[i] = uint8_t(flights[i] + change);
               return Fault::None;
             });
}

} // namespace tilebridge::accel
