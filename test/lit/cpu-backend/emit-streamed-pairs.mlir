// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=4096" --canonicalize --cse | FileCheck %s --check-prefix=PAIRS
// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s --check-prefix=CACHED
// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 stream-bytes=4096" --canonicalize --cse | FileCheck %s --check-prefix=HALF

// What is written around the caches is written two lines at a time, where registers are many: 64 elements of 2 bytes.
// An exponential has fewer lanes otherwise.
// PAIRS-LABEL: func.func @exponential(
// PAIRS: math.exp {{.*}} : vector<64xf32>
// PAIRS: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true} : {{.*}}, vector<64xbf16>
// CACHED-LABEL: func.func @exponential(
// CACHED: math.exp {{.*}} : vector<32xf32>
// HALF-LABEL: func.func @exponential(
// HALF-NOT: vector<64xf32>
func.func @exponential(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xbf16, strided<[1], offset: ?>>,
                       %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c1024 = arith.constant 1024 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [1024], strides: [1] : memref<?xbf16, strided<[1], offset: ?>> to memref<1024xbf16, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1024xf32, strided<[1], offset: ?>> to tensor<1024xf32>
  %e = math.exp %t : tensor<1024xf32>
  %y = arith.truncf %e : tensor<1024xf32> to tensor<1024xbf16>
  bufferization.materialize_in_destination %y in writable %out : (tensor<1024xbf16>, memref<1024xbf16, strided<[1], offset: ?>>) -> ()
  return
}
