/*===- SmallFloat.h - rounding to 16-bit floats -----------------*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* C, because Python's launcher includes it too.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_RUNTIME_SMALLFLOAT_H
#define TILEBRIDGE_RUNTIME_SMALLFLOAT_H

#include <stdint.h>
#include <string.h>

/* The IEEE format with a sign, `exponent_bits` and `fraction_bits` (16 in all)
 * nearest to `value`, ties to even. Directly from double: rounding to float in
 * between would round twice. */
static inline uint16_t tb_round_to_small(double value, int exponent_bits,
                                         int fraction_bits) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  uint16_t sign = (uint16_t)(bits >> 63 << 15);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
  if (exponent == 0x7ff)
    return (uint16_t)(sign | infinity |
                      (fraction ? 1 << (fraction_bits - 1) : 0));

  int bias = (1 << (exponent_bits - 1)) - 1;
  int target = exponent - 1023 + bias;
  int dropped = 52 - fraction_bits;
  uint64_t significand = fraction | (exponent ? UINT64_C(1) << 52 : 0);
  if (target <= 0) {
    dropped += 1 - target;
    target = 0;
    if (dropped > 54)
      return sign;
  } else {
    significand &= (UINT64_C(1) << 52) - 1;
  }
  uint64_t kept = significand >> dropped;
  uint64_t rest = significand & ((UINT64_C(1) << dropped) - 1);
  uint64_t half = UINT64_C(1) << (dropped - 1);
  /* A carry out of the fraction moves into the exponent, which is what it
   * should do; it may reach infinity. */
  uint64_t result = ((uint64_t)target << fraction_bits) + kept;
  if (rest > half || (rest == half && (kept & 1)))
    ++result;
  if (target >= (1 << exponent_bits) - 1 || result >= infinity)
    return (uint16_t)(sign | infinity);
  return (uint16_t)(sign | result);
}

#endif
