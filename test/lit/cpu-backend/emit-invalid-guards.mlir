// A plan that is not tilebridge-cpu-plan's: a store that guards a load which there is not.
// RUN: tilebridge-opt %s --verify-diagnostics --tilebridge-cpu-emit

func.func @no_load(%out: memref<16xf32, strided<[1]>>) {
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  // expected-error@+1 {{'tilebridge.guards' names no load before it; tilebridge-cpu-plan writes it}}
  bufferization.materialize_in_destination %zero in writable %out {tilebridge.guards = array<i64: 3>} : (tensor<16xf32>, memref<16xf32, strided<[1]>>) -> ()
  return
}
