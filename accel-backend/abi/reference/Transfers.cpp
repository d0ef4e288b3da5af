//===- Transfers.cpp - DMA of the reference implementation ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>

namespace accel {

unsigned bytesOf(uint32_t type) {
  static const unsigned bytes[] = {1, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1, 1, 1, 1};
  return type < sizeof(bytes) / sizeof(*bytes) ? bytes[type] : 0;
}

/// All positions of a box, the last dimension fastest.
template <class Function>
static void forEach(uint32_t rank, const int64_t *sizes, Function function) {
  int64_t at[ACCEL_MAX_RANK] = {};
  if (std::any_of(sizes, sizes + rank, [](int64_t size) { return size <= 0; }))
    return;
  while (true) {
    function(at);
    int64_t d = int64_t(rank) - 1;
    while (d >= 0 && ++at[d] == sizes[d])
      at[d--] = 0;
    if (d < 0)
      return;
  }
}

namespace {

/// Moves the bytes of one transfer.
class Mover {
public:
  Mover(accel_pe *pe, const Pending &transfer)
      : pe(pe), dma(transfer.dma), pad(transfer.pad),
        bytes(bytesOf(transfer.dma.type)) {}

  void run() {
    forEach(dma.rank, dma.sizes, [&](const int64_t *at) { move(at); });
    if (dma.pad)
      forEach(dma.rank, dma.dest_sizes, [&](const int64_t *at) { fill(at); });
  }

private:
  bool takesPart(const int64_t *at) const {
    if (!dma.mask)
      return true;
    int64_t offset = 0;
    if (dma.rows)
      offset = at[dma.rows_dim] * dma.mask_strides[0];
    else
      for (uint32_t d = 0; d < dma.rank; ++d)
        offset += at[d] * dma.mask_strides[d];
    return dma.mask[offset] != 0;
  }
  int64_t row(int64_t position) const {
    const char *row =
        static_cast<const char *>(dma.rows) + position * dma.rows_stride;
    int32_t narrow;
    int64_t wide;
    if (dma.rows_bytes == 4)
      return std::memcpy(&narrow, row, 4), narrow;
    return std::memcpy(&wide, row, 8), wide;
  }
  void *address(const void *base, const int64_t *at, const int64_t *strides,
                const int64_t *low, bool isIndexed) const {
    int64_t offset = 0;
    for (uint32_t d = 0; d < dma.rank; ++d) {
      bool isRow = isIndexed && d == dma.rows_dim;
      offset += (isRow ? row(at[d]) : at[d] + (low ? low[d] : 0)) * strides[d];
    }
    return static_cast<char *>(const_cast<void *>(base)) + offset;
  }

  void move(const int64_t *at) {
    if (!takesPart(at))
      return;
    bool scatters = dma.flags & ACCEL_DMA_SCATTER;
    void *from = address(dma.source, at, dma.source_strides, nullptr,
                         dma.rows && !scatters);
    void *to =
        address(dma.dest, at, dma.dest_strides, dma.low, dma.rows && scatters);
    pe->machine->check(pe, dma.where, from, bytes);
    pe->machine->check(pe, dma.where, to, bytes);
    if (dma.flags & ACCEL_DMA_ACCUMULATE)
      combine(dma.type, dma.kind, to, from);
    else
      std::memmove(to, from, bytes);
  }

  /// Pads one element of dest, unless it was moved to.
  void fill(const int64_t *at) {
    int64_t inBox[ACCEL_MAX_RANK];
    bool isInside = true;
    for (uint32_t d = 0; d < dma.rank; ++d) {
      inBox[d] = at[d] - dma.low[d];
      isInside = isInside && inBox[d] >= 0 && inBox[d] < dma.sizes[d];
    }
    if (isInside && takesPart(inBox))
      return;
    void *to = address(dma.dest, at, dma.dest_strides, nullptr, false);
    pe->machine->check(pe, dma.where, to, bytes);
    std::memcpy(to, &pad, bytes);
  }

  accel_pe *pe;
  const accel_dma &dma;
  uint64_t pad;
  unsigned bytes;
};

} // namespace

void land(accel_pe *pe, const Pending &transfer) { Mover(pe, transfer).run(); }

void joinMulticast(accel_pe *pe, Pending &transfer) {
  Machine &machine = *pe->machine;
  const accel_dma &dma = transfer.dma;
  uint32_t along = dma.multicast;
  transfer.sequence = pe->multicasts[along]++;
  Meeting &meeting =
      machine.multicasts[{along, machine.lineOf(pe, along), transfer.sequence}];
  if (meeting.arrived.empty())
    meeting.first = dma;
  meeting.arrived.push_back(pe);
  const accel_dma &first = meeting.first;
  bool isSame = first.source == dma.source && first.rank == dma.rank &&
                first.type == dma.type;
  for (uint32_t d = 0; isSame && d < dma.rank; ++d)
    isSame = first.sizes[d] == dma.sizes[d] &&
             first.source_strides[d] == dma.source_strides[d];
  if (!isSame)
    machine.fail(
        pe, dma.where,
        "multicast " + std::to_string(transfer.sequence) +
            " of a line has another source or other sizes than on PE (" +
            std::to_string(meeting.arrived.front()->row) + ", " +
            std::to_string(meeting.arrived.front()->column) +
            "), where it is that of " + first.where);
}

bool isReady(accel_pe *pe, const Pending &transfer) {
  uint32_t along = transfer.dma.multicast;
  if (!along)
    return true;
  Machine &machine = *pe->machine;
  auto &meeting =
      machine.multicasts[{along, machine.lineOf(pe, along), transfer.sequence}];
  return meeting.arrived.size() == machine.lineSize(along);
}

void landSome(accel_pe *pe) {
  Machine &machine = *pe->machine;
  if (!machine.launch->seed)
    return;
  for (auto &[token, transfer] : pe->pending)
    if (transfer.dma.where && machine.random() % 4 == 0 &&
        isReady(pe, transfer)) {
      land(pe, transfer);
      transfer.dma.multicast = 0;
      transfer.dma.rank = 0; // nothing is left to do
    }
}

} // namespace accel

using namespace accel;

accel_token accel_dma_nd_async(accel_pe *pe, const accel_dma *dma) {
  Machine &machine = *pe->machine;
  landSome(pe);
  const char *where = dma->where ? dma->where : "<a transfer without a place>";
  if (dma->struct_size < sizeof(accel_dma))
    machine.fail(pe, where, "struct_size is less than that of version 1");
  if (dma->rank < 1 || dma->rank > ACCEL_MAX_RANK || !bytesOf(dma->type))
    machine.fail(pe, where,
                 "a transfer of " + std::to_string(dma->rank) +
                     " dimensions and type " + std::to_string(dma->type));
  if (dma->rows && (dma->rows_dim >= dma->rank ||
                    (dma->rows_bytes != 4 && dma->rows_bytes != 8)))
    machine.fail(pe, where, "rows of a dimension or size that there is not");
  if (dma->multicast > 3)
    machine.fail(pe, where, "multicast along coordinates that there are not");
  Pending transfer;
  transfer.dma = *dma;
  transfer.dma.where = where;
  if (dma->pad)
    std::memcpy(&transfer.pad, dma->pad, bytesOf(dma->type));
  if (dma->multicast)
    joinMulticast(pe, transfer);
  pe->pending[++pe->lastToken] = transfer;
  return pe->lastToken;
}

void accel_wait(accel_pe *pe, accel_token token) {
  if (token == ACCEL_COMPLETED)
    return;
  Machine &machine = *pe->machine;
  landSome(pe);
  auto found = pe->pending.find(token);
  if (found == pe->pending.end())
    machine.fail(pe, nullptr,
                 "token " + std::to_string(token) +
                     (token > pe->lastToken ? " is of no transfer"
                                            : " was waited for before"));
  Pending transfer = found->second;
  if (transfer.dma.multicast)
    machine.wait(
        pe, [=] { return isReady(pe, transfer); },
        "the other PEs of its line to start the multicast of " +
            std::string(transfer.dma.where));
  // It may have landed while others ran.
  found = pe->pending.find(token);
  transfer = found->second;
  pe->pending.erase(found);
  if (transfer.dma.rank)
    land(pe, transfer);
}
