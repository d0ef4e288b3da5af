//===- accel_kernel.h - what the text of emitted kernels uses ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// C++ around the C interface of accel_abi.h: types of elements, transfers as
// one statement, the programs of a PE.
#pragma once

#include "accel_abi.h"
#include "accel_numbers.h"

#include <initializer_list>

// A kernel has all parameters of its signature and the ids of programs, be they
// constants of the launch or of no use to it.
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

namespace accel {

/// The number of an element type; 15 is none.
template <class T> constexpr accel_type type_of = accel_type(15);
template <> inline constexpr accel_type type_of<bool> = ACCEL_BOOL;
template <> inline constexpr accel_type type_of<int8_t> = ACCEL_I8;
template <> inline constexpr accel_type type_of<int16_t> = ACCEL_I16;
template <> inline constexpr accel_type type_of<int32_t> = ACCEL_I32;
template <> inline constexpr accel_type type_of<int64_t> = ACCEL_I64;
template <> inline constexpr accel_type type_of<f16> = ACCEL_F16;
template <> inline constexpr accel_type type_of<bf16> = ACCEL_BF16;
template <> inline constexpr accel_type type_of<float> = ACCEL_F32;
template <> inline constexpr accel_type type_of<double> = ACCEL_F64;
template <> inline constexpr accel_type type_of<f8e5m2> = ACCEL_F8E5M2;
template <> inline constexpr accel_type type_of<f8e4m3fn> = ACCEL_F8E4M3FN;
template <>
inline constexpr accel_type type_of<f8e4m3b11fnuz> = ACCEL_F8E4M3B11FNUZ;
template <> inline constexpr accel_type type_of<f8e4m3fnuz> = ACCEL_F8E4M3FNUZ;
template <> inline constexpr accel_type type_of<f8e5m2fnuz> = ACCEL_F8E5M2FNUZ;

/// A list of one number a dimension.
using list = std::initializer_list<int64_t>;
inline void assign(int64_t (&array)[ACCEL_MAX_RANK], list values,
                   int64_t factor = 1) {
  int at = 0;
  for (int64_t value : values)
    array[at++] = value * factor;
}

/// A transfer, described word by word: `transfer("k.py:3").box({64, n}).from(x,
/// {k, 1}).to(buffer, {64, 1}).start(pe)`. Strides are elements.
class transfer {
public:
  explicit transfer(const char *where) {
    dma.struct_size = sizeof(dma);
    dma.where = where;
  }
  transfer &box(list sizes) {
    dma.rank = uint32_t(sizes.size());
    assign(dma.sizes, sizes);
    return *this;
  }
  template <class T> transfer &from(const T *source, list strides) {
    dma.source = source;
    dma.type = type_of<T>;
    assign(dma.source_strides, strides, sizeof(T));
    return *this;
  }
  template <class T> transfer &to(T *dest, list strides) {
    dma.dest = dest;
    assign(dma.dest_strides, strides, sizeof(T));
    return *this;
  }
  /// Where the box begins in dest.
  transfer &low(list low) {
    assign(dma.low, low);
    return *this;
  }
  /// What all of dest outside of the box becomes.
  template <class T> transfer &pad(const T &value, list dest_sizes) {
    dma.pad = &value;
    assign(dma.dest_sizes, dest_sizes);
    return *this;
  }
  template <class T>
  transfer &rows(const T *rows, int64_t stride, unsigned dim) {
    dma.rows = rows;
    dma.rows_stride = stride * int64_t(sizeof(T));
    dma.rows_bytes = sizeof(T);
    dma.rows_dim = dim;
    return *this;
  }
  transfer &scatter() {
    dma.flags |= ACCEL_DMA_SCATTER;
    return *this;
  }
  transfer &mask(const bool *mask, list strides) {
    dma.mask = reinterpret_cast<const uint8_t *>(mask);
    assign(dma.mask_strides, strides);
    return *this;
  }
  transfer &accumulate(accel_kind kind) {
    dma.flags |= ACCEL_DMA_ACCUMULATE;
    dma.kind = kind;
    return *this;
  }
  transfer &multicast(uint32_t along) {
    dma.multicast = along;
    return *this;
  }
  accel_token start(accel_pe *pe) const { return accel_dma_nd_async(pe, &dma); }

private:
  accel_dma dma = {};
};

/// c += a * b; strides are elements.
struct sizes {
  int64_t m, n, k;
};
struct strides {
  int64_t outer, inner;
};
template <class A, class B, class C>
void matmul(accel_pe *pe, sizes of, const A *a, strides of_a, const B *b,
            strides of_b, C *c, strides of_c, bool is_unsigned = false) {
  accel_matmul_arguments all = {};
  all.struct_size = sizeof(all);
  all.a_type = type_of<A>, all.b_type = type_of<B>, all.c_type = type_of<C>;
  all.is_unsigned = is_unsigned;
  all.m = of.m, all.n = of.n, all.k = of.k;
  all.a = a, all.b = b, all.c = c;
  all.a_strides[0] = of_a.outer * int64_t(sizeof(A)),
  all.a_strides[1] = of_a.inner * int64_t(sizeof(A));
  all.b_strides[0] = of_b.outer * int64_t(sizeof(B)),
  all.b_strides[1] = of_b.inner * int64_t(sizeof(B));
  all.c_strides[0] = of_c.outer * int64_t(sizeof(C)),
  all.c_strides[1] = of_c.inner * int64_t(sizeof(C));
  accel_matmul(pe, &all);
}

template <class T>
void reduce_line(accel_pe *pe, accel_kind kind, T *buffer, list sizes,
                 list strides, uint32_t along, int64_t target,
                 uint32_t algorithm, const char *where) {
  accel_reduction all = {};
  all.struct_size = sizeof(all);
  all.rank = uint32_t(sizes.size());
  all.type = type_of<T>;
  all.kind = kind;
  all.buffer = buffer;
  assign(all.sizes, sizes);
  assign(all.strides, strides, sizeof(T));
  all.along = along;
  all.algorithm = algorithm;
  all.target = target;
  all.where = where;
  accel_reduce_line(pe, &all);
}

/// Atomic accesses; the old value is what they give.
template <class T>
T atomic(accel_pe *pe, accel_action action, accel_order order, T *address,
         T value) {
  T old = T();
  accel_atomic(pe, action, order, type_of<T>, address, &value, nullptr, &old);
  return old;
}
template <class T>
T atomic_cas(accel_pe *pe, accel_order order, T *address, T compare, T value) {
  T old = T();
  accel_atomic(pe, ACCEL_ATOMIC_CAS, order, type_of<T>, address, &value,
               &compare, &old);
  return old;
}
template <class T> T atomic_load(accel_pe *pe, accel_order order, T *address) {
  T old = T();
  accel_atomic(pe, ACCEL_ATOMIC_LOAD, order, type_of<T>, address, nullptr,
               nullptr, &old);
  return old;
}
template <class T>
void atomic_store(accel_pe *pe, accel_order order, T *address, T value) {
  accel_atomic(pe, ACCEL_ATOMIC_STORE, order, type_of<T>, address, &value,
               nullptr, nullptr);
}

/// A buffer in a memory of the target.
template <class T> T *buffer(void *memory, int64_t offset) {
  return reinterpret_cast<T *>(static_cast<char *>(memory) + offset);
}

//===----------------------------------------------------------------------===//
// The programs of a PE
//===----------------------------------------------------------------------===//

/// The ids of a program; of one that exists, also where it is not active.
struct program {
  int32_t x, y, z;
  bool active;
};
/// The launch grid.
struct counts {
  int32_t x, y, z;
  int64_t all() const { return int64_t(x) * y * z; }
};

inline program program_of(counts of, int64_t number, bool active) {
  return {int32_t(number % of.x), int32_t(number / of.x % of.y),
          int32_t(number / of.x / of.y), active};
}
/// The last one stands in where there is none.
inline program linear_program(counts of, int64_t number) {
  bool active = number < of.all();
  return program_of(of, active ? number : of.all() - 1, active);
}
/// PE p runs program step * PEs + p.
inline program interleaved_program(accel_pe *pe, int64_t step, counts of) {
  int64_t number =
      accel_pe_row(pe) * accel_pe_columns(pe) + accel_pe_column(pe);
  return linear_program(of, step * accel_pe_rows(pe) * accel_pe_columns(pe) +
                                number);
}
/// PE p runs program p * steps + step, for steps below `steps`.
inline program blocked_program(accel_pe *pe, int64_t step, counts of,
                               int64_t steps) {
  int64_t number =
      accel_pe_row(pe) * accel_pe_columns(pe) + accel_pe_column(pe);
  program result = linear_program(of, number * steps + step);
  result.active = result.active && step < steps;
  return result;
}
/// Dimensions of the launch grid go over the rows and columns of PEs, -1: none
/// does.
inline program grid_program(accel_pe *pe, int64_t step, counts of, int rows_dim,
                            int columns_dim) {
  int64_t sizes[3] = {of.x, of.y, of.z}, steps[3];
  for (int d = 0; d < 3; ++d) {
    int64_t pes = d == rows_dim      ? accel_pe_rows(pe)
                  : d == columns_dim ? accel_pe_columns(pe)
                                     : 1;
    steps[d] = (sizes[d] + pes - 1) / pes;
  }
  int64_t ids[3] = {step % steps[0], step / steps[0] % steps[1],
                    step / steps[0] / steps[1]};
  bool active = ids[2] < steps[2] && (rows_dim >= 0 || accel_pe_row(pe) == 0) &&
                (columns_dim >= 0 || accel_pe_column(pe) == 0);
  if (rows_dim >= 0)
    ids[rows_dim] = ids[rows_dim] * accel_pe_rows(pe) + accel_pe_row(pe);
  if (columns_dim >= 0)
    ids[columns_dim] =
        ids[columns_dim] * accel_pe_columns(pe) + accel_pe_column(pe);
  for (int d = 0; d < 3; ++d) {
    active = active && ids[d] < sizes[d];
    ids[d] = ids[d] < sizes[d] ? ids[d] : sizes[d] - 1;
  }
  return {int32_t(ids[0]), int32_t(ids[1]), int32_t(ids[2]), active};
}
/// An entry for each step, row and column; -1 - p: none, and p stands in.
inline program table_program(accel_pe *pe, int64_t step, counts of,
                             const int32_t *table, int64_t steps) {
  if (step >= steps)
    return program_of(of, 0, false);
  int64_t number =
      (step * accel_pe_rows(pe) + accel_pe_row(pe)) * accel_pe_columns(pe) +
      accel_pe_column(pe);
  int64_t entry = table[number];
  return entry < 0 ? program_of(of, -1 - entry, false)
                   : program_of(of, entry, true);
}

} // namespace accel
