//===- Scratchpads.h - memories of PEs, and what is in their bytes --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/simulator/Region.h"
#include "accel-backend/target/Target.h"

#include "mlir/IR/Operation.h"

#include <memory>
#include <vector>

namespace tilebridge::accel {

/// A buffer of the lowered kernel: one for each accel.alloc.
struct Buffer {
  mlir::Operation *op = nullptr;
  unsigned memory = 0; // number in the target
  uint64_t offset = 0, bytes = 0;
};

/// What is wrong with an access to a scratchpad.
enum class Fault {
  None,
  OutOfBounds, // of its buffer
  Undefined,   // reads what was never written
  Overwritten, // reads what another buffer in the same place wrote
  Arriving,    // touches what a transfer is writing
  Leaving      // writes what a transfer is reading
};

/// The scratchpads of all PEs. Each byte knows the buffer that it was written
/// through, and the transfers that read or write it.
class Scratchpads {
public:
  explicit Scratchpads(const Target &target);

  /// Numbers buffers from 1; places those that have no offset yet. Reports what
  /// does not fit.
  mlir::FailureOr<unsigned> addBuffer(Buffer buffer, bool hasOffset,
                                      uint64_t alignment);
  const Buffer &buffer(int number) const { return buffers[number - 1]; }

  /// The buffer's bytes of a PE.
  uint64_t addressOf(int buffer, int64_t row, int64_t column);
  /// Its contents are undefined again. Arriving or Leaving where a transfer
  /// still uses them.
  Fault allocate(int buffer, int64_t row, int64_t column);

  Fault checkRead(int buffer, uint64_t base, const Region &region) const;
  Fault checkWrite(int buffer, uint64_t base, const Region &region) const;
  void define(int buffer, uint64_t base, const Region &region);
  /// What a reduction leaves undefined.
  void undefine(int buffer, uint64_t base, const Region &region);
  /// A transfer begins (+1) or ends (-1) to read or to write.
  void markReading(int buffer, uint64_t base, const Region &region, int change);
  void markWriting(int buffer, uint64_t base, const Region &region, int change);

private:
  struct Bytes {
    std::unique_ptr<char, decltype(&std::free)> data{nullptr, &std::free};
    std::unique_ptr<uint16_t, decltype(&std::free)> owners{nullptr, &std::free};
    /// Bit 0: being written; the others count what reads.
    std::unique_ptr<uint8_t, decltype(&std::free)> flights{nullptr, &std::free};
  };
  /// Of a memory that PEs share each of them has a part of its own.
  Bytes &instanceOf(unsigned memory, int64_t row, int64_t column);
  uint64_t bytesOfPe(const Memory &memory) const;
  const Bytes *find(int buffer, uint64_t base) const;
  /// Calls `access` with offsets in the instance's bytes.
  Fault forEachRun(
      int buffer, uint64_t base, const Region &region,
      llvm::function_ref<Fault(const Bytes &, uint64_t at, uint64_t bytes)>
          access) const;

  const Target &target;
  std::vector<Buffer> buffers;
  std::vector<uint64_t> used; // by memory, for buffers without an offset
  /// By memory: where the last buffer of a PE ends.
  std::vector<uint64_t> extents;
  std::vector<std::vector<Bytes>> instances;
  llvm::DenseMap<uint64_t, const Bytes *> byAddress;
};

} // namespace tilebridge::accel
