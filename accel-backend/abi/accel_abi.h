/*===- accel_abi.h - what emitted kernels call ------------------*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* The interface between a kernel that `tilebridge compile --emit=cpp` wrote and
the machine that it runs on. The maker
|* of an accelerator implements these functions; abi/reference/ does so on the
host, for tests. Nothing else is needed: this file
|* includes only what the language itself brings.
|*
|* One instance of the kernel's entry runs on each processing element (PE), all
of them at once. All functions take the
|* PE that they run on, and are called by that PE only. Addresses are those of
the PE: of its own scratchpads, and of the
|* memory that all share, where the kernel's arguments are. No function returns
an error: an implementation that meets one
|* ends the launch.
|*
|* Types, enumerators and fields only grow, at the end; ACCEL_ABI_VERSION is
counted up with each such change.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_ACCEL_ABI_H
#define TILEBRIDGE_ACCEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACCEL_ABI_VERSION 1u
/* Dimensions of a transfer before it is cut into what the target's descriptors
 * have. */
#define ACCEL_MAX_RANK 8

/* A processing element while it runs a kernel. Only the implementation knows
 * what is in it. */
typedef struct accel_pe accel_pe;

/* A transfer that is under way; ACCEL_COMPLETED is none, and may be waited for
 * any number of times. */
typedef uint64_t accel_token;
#define ACCEL_COMPLETED 0u

/* Elements as they lie in memory, little-endian. A boolean is a byte, 0 or 1.
 */
typedef enum accel_type {
  ACCEL_BOOL = 0,
  ACCEL_I8 = 1, /* integers have no sign: what is done with them has */
  ACCEL_I16 = 2,
  ACCEL_I32 = 3,
  ACCEL_I64 = 4,
  ACCEL_F16 = 5,
  ACCEL_BF16 = 6,
  ACCEL_F32 = 7,
  ACCEL_F64 = 8,
  ACCEL_F8E5M2 = 9,
  ACCEL_F8E4M3FN = 10,
  ACCEL_F8E4M3B11FNUZ = 11,
  ACCEL_F8E4M3FNUZ = 12,
  ACCEL_F8E5M2FNUZ = 13
} accel_type;

/* How two elements become one. MAX and MIN of floats give NaN where one of the
 * two is NaN, MAXNUM and MINNUM the other. */
typedef enum accel_kind {
  ACCEL_ADD = 0,
  ACCEL_MUL = 1,
  ACCEL_MAX = 2,
  ACCEL_MIN = 3,
  ACCEL_UMAX = 4,
  ACCEL_UMIN = 5,
  ACCEL_MAXNUM = 6,
  ACCEL_MINNUM = 7,
  ACCEL_AND = 8,
  ACCEL_OR = 9,
  ACCEL_XOR = 10
} accel_kind;

/* Which PEs act together: those that differ from this one only in the
 * coordinates named. */
#define ACCEL_ALONG_COLUMN                                                     \
  1u                       /* the row differs: all PEs of this PE's column     \
                            */
#define ACCEL_ALONG_ROW 2u /* the column differs: all PEs of its row */

/*===-- The grid ----------------------------------------------------------===*/

int64_t accel_pe_row(accel_pe *pe);
int64_t accel_pe_column(accel_pe *pe);
int64_t accel_pe_rows(accel_pe *pe);
int64_t accel_pe_columns(accel_pe *pe);

/*===-- Memory ------------------------------------------------------------===*/

/* Where a memory of the target begins, by the name that its description has:
 * the instance that this PE uses. Of a memory that PEs share, as buffers are in
 * that a PE's own memory has no room for, it is a range of this PE's alone. The
 * kernel places its buffers at offsets from it and uses no more bytes of it
 * than accel_kernel says. (A kernel that was lowered without a target calls its
 * local memory "local".) */
void *accel_memory(accel_pe *pe, const char *name);

/*===-- Transfers ---------------------------------------------------------===*/

#define ACCEL_DMA_SCATTER 1u /* rows index dest, not source */
#define ACCEL_DMA_ACCUMULATE                                                   \
  2u /* `kind` combines each element with what is in dest, at once: where PEs, \
      * or elements of a transfer, meet, none is lost, in an order that is not \
      * said */

/* One transfer: element [i, j, ..] of the source goes to dest[low + i, low + j,
 * ..], for all positions below `sizes`. Strides are bytes, from one position to
 * the next of each dimension; they may be 0 or negative. */
typedef struct accel_dma {
  uint32_t struct_size; /* sizeof(accel_dma) of the header that the kernel was
                           compiled with */
  uint32_t rank;        /* 1 to ACCEL_MAX_RANK */
  uint32_t type;        /* accel_type */
  uint32_t flags;       /* ACCEL_DMA_... */
  const void *source;
  void *dest;
  int64_t sizes[ACCEL_MAX_RANK]; /* any of them may be 0 */
  int64_t source_strides[ACCEL_MAX_RANK];
  int64_t dest_strides[ACCEL_MAX_RANK];
  /* Padding. `pad` is one element (copied by the call), or null: what is in
   * dest outside of the box stays as it is. Otherwise dest has `dest_sizes`
   * elements, and all of those outside of the box become the pad. */
  const void *pad;
  int64_t dest_sizes[ACCEL_MAX_RANK];
  int64_t low[ACCEL_MAX_RANK];
  /* Indices, or null: position r of dimension `rows_dim` is read at source +
   * rows[r] * source_strides[rows_dim] (with ACCEL_DMA_SCATTER written at dest
   * + rows[r] * dest_strides[rows_dim]). Of equal rows that are written the
   * last wins. */
  const void *rows;
  int64_t rows_stride;
  uint32_t rows_bytes; /* 4 or 8, signed */
  uint32_t rows_dim;
  /* Which elements take part (bytes, 0 or 1), or null. With rows the mask has
   * their one dimension, mask_strides[0]. What does not take part is not read;
   * its place becomes the pad, or stays. */
  const uint8_t *mask;
  int64_t mask_strides[ACCEL_MAX_RANK];
  uint32_t kind; /* accel_kind, with ACCEL_DMA_ACCUMULATE */
  /* ACCEL_ALONG_...: all PEs of the line start the same sequence of such
   * transfers with the same source and sizes; the source is read once and
   * written to the dest of each. 0: of this PE alone. */
  uint32_t multicast;
  /* "kernel.py:27:14", for messages and traces; never null. */
  const char *where;
} accel_dma;

/* Starts a transfer. Until it was waited for, the source, rows and mask do not
 * change, and dest is not touched. When in between memory is read and written
 * is open. The struct may go away when the function returns. */
accel_token accel_dma_nd_async(accel_pe *pe, const accel_dma *transfer);
/* Returns when the transfer is complete. Each token but ACCEL_COMPLETED is
 * waited for exactly once. */
void accel_wait(accel_pe *pe, accel_token token);

/*===-- PEs together ------------------------------------------------------===*/

/* Returns when all PEs of the line have called it; what they wrote to shared
 * memory before is seen by all of them. */
void accel_barrier(accel_pe *pe, uint32_t along, const char *where);

#define ACCEL_CHAIN                                                            \
  0u /* combined in the order of the PEs' numbers in the line */
#define ACCEL_TREE                                                             \
  1u /* neighbours first: (0 1) (2 3), then ((0 1) (2 3)), ... */

typedef struct accel_reduction {
  uint32_t struct_size;
  uint32_t rank;
  uint32_t type; /* accel_type */
  uint32_t kind; /* accel_kind */
  void *buffer;  /* of this PE */
  int64_t sizes[ACCEL_MAX_RANK];
  int64_t strides[ACCEL_MAX_RANK]; /* bytes */
  uint32_t along;                  /* ACCEL_ALONG_... */
  uint32_t algorithm;              /* ACCEL_CHAIN or ACCEL_TREE */
  int64_t target; /* who gets the result: its number in the line, counted row by
                     row; -1: all. The other buffers are undefined */
  const char *where;
} accel_reduction;

/* All PEs of the line call it with the same values, but for the buffer. */
void accel_reduce_line(accel_pe *pe, const accel_reduction *reduction);

/*===-- Atomic accesses to shared memory ----------------------------------===*/

typedef enum accel_action {
  ACCEL_ATOMIC_AND = 1,
  ACCEL_ATOMIC_OR = 2,
  ACCEL_ATOMIC_XOR = 3,
  ACCEL_ATOMIC_ADD = 4,
  ACCEL_ATOMIC_FADD = 5,
  ACCEL_ATOMIC_MAX = 6,
  ACCEL_ATOMIC_MIN = 7,
  ACCEL_ATOMIC_UMAX = 8,
  ACCEL_ATOMIC_UMIN = 9,
  ACCEL_ATOMIC_EXCHANGE = 10,
  ACCEL_ATOMIC_INC = 11, /* old >= value ? 0 : old + 1, unsigned */
  ACCEL_ATOMIC_DEC =
      12, /* old == 0 || old > value ? value : old - 1, unsigned */
  ACCEL_ATOMIC_CAS = 13, /* old == compare (its bits) ? value : old */
  ACCEL_ATOMIC_LOAD = 14,
  ACCEL_ATOMIC_STORE = 15
} accel_action;

typedef enum accel_order {
  ACCEL_RELAXED = 1,
  ACCEL_ACQUIRE = 2,
  ACCEL_RELEASE = 3,
  ACCEL_ACQ_REL = 4
} accel_order;

/* One element of shared memory. `value`, `compare` and `old` are elements in
 * the PE's own memory; null where the action has none (or `old` is not wanted).
 */
void accel_atomic(accel_pe *pe, accel_action action, accel_order order,
                  accel_type type, void *address, const void *value,
                  const void *compare, void *old);

/*===-- Compute -----------------------------------------------------------===*/

/* c += a * b on the PE's own memory: a is m by k, b k by n, c m by n, any
 * strides (bytes). Elements are widened to the type of c before they are
 * multiplied, and added in the order of k (the reference rounds a product and
 * its addition once in f32 and f64); where they are `is_unsigned`, integers are
 * widened with zeros. */
typedef struct accel_matmul_arguments {
  uint32_t struct_size;
  uint32_t a_type, b_type, c_type; /* accel_type */
  uint32_t is_unsigned;
  uint32_t reserved;
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t a_strides[2], b_strides[2], c_strides[2];
} accel_matmul_arguments;

void accel_matmul(accel_pe *pe, const accel_matmul_arguments *arguments);

/*===-- The host ----------------------------------------------------------===*/

/* Nanoseconds from an arbitrary start; does not go back. */
int64_t accel_clock(accel_pe *pe);
/* Lines that the kernel prints; `text` ends in a newline. */
void accel_print(accel_pe *pe, const char *text);
/* Ends the launch: `where` is the place of the assertion in the kernel's
 * source. May return, if the machine cannot stop a PE. */
void accel_assert_failed(accel_pe *pe, const char *message, const char *where);

/*===-- What a compiled kernel exports ------------------------------------===*/

/* One argument: what a pointer points to is in shared memory; integers are sign
 * extended, floats have their own bits, in the low bytes. A tensor descriptor
 * is base, sizes, strides (in elements) and a boolean, each one an argument. */
typedef union accel_argument {
  void *pointer;
  int64_t integer;
  uint64_t bits;
  float f32;
  double f64;
} accel_argument;

/* How much of a memory the kernel uses. */
typedef struct accel_memory_use {
  const char *name;
  uint64_t bytes;
} accel_memory_use;

/* The kernel NAME is exported as accel_kernel_NAME. */
typedef struct accel_kernel {
  uint32_t abi_version; /* ACCEL_ABI_VERSION of the header that it was compiled
                           with */
  uint32_t argument_count;
  const char *name;
  const char *target; /* the description it was lowered for */
  /* As Triton writes types, one a argument: "*fp32 *fp32 i32". */
  const char *signature;
  /* The grid of PEs that it must run on; 0: any. */
  uint32_t rows, columns;
  /* The launch grid that it was lowered for; 0: any. */
  uint32_t grid[3];
  uint32_t memory_count;
  const accel_memory_use *memories;
  /* Runs this PE's programs of a launch of so many. Called once on each PE. */
  void (*entry)(accel_pe *pe, const accel_argument *arguments,
                int32_t programs_x, int32_t programs_y, int32_t programs_z);
} accel_kernel;

#ifdef __cplusplus
}
#endif
#endif
