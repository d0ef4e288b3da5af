// RUN: not tilebridge-opt %s --tilebridge-cpu-emit="exchange-bytes=4" 2>&1 | FileCheck %s --check-prefix=EXCHANGE
// RUN: not tilebridge-opt %s --tilebridge-cpu-emit="vector-bits=48" 2>&1 | FileCheck %s --check-prefix=VECTOR

// EXCHANGE: error: exchange-bytes must be 8 or 16
// VECTOR: error: vector-bits must be a power of two, 64 at least
func.func @empty() {
  return
}
