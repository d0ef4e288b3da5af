// Positions in the loops that an op of linalg reduces over: each row's sum of the columns' numbers, times the row's.
// RUN: tilebridge run %s --target=accel:grid-1x1 --grid 1 --arg i32[3] --show | FileCheck %s
// CHECK: argument 0: i32[3]: 0, 10, 20

!ptr = memref<?xi32, strided<[1], offset: ?>>
!local = memref<3xi32, #accel.memory<"local">>
#in = affine_map<(k, i) -> (k)>
#out = affine_map<(k, i) -> (i)>
func.func @f(%p: !ptr, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*i32"]} {
  %zero = arith.constant 0 : i32
  %k = accel.alloc : memref<5xi32, #accel.memory<"local">>
  %sum = accel.alloc : !local
  linalg.fill ins(%zero : i32) outs(%k : memref<5xi32, #accel.memory<"local">>)
  linalg.fill ins(%zero : i32) outs(%sum : !local)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]}
      ins(%k : memref<5xi32, #accel.memory<"local">>) outs(%sum : !local) {
  ^bb0(%x: i32, %acc: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %product = arith.muli %i, %j : index
    %0 = arith.index_cast %product : index to i32
    %1 = arith.addi %acc, %0 : i32
    %2 = arith.addi %1, %x : i32
    linalg.yield %2 : i32
  }
  %view = memref.reinterpret_cast %p to offset: [0], sizes: [3], strides: [1] : !ptr to memref<3xi32, strided<[1], offset: ?>>
  accel.copy %sum to %view : (!local, memref<3xi32, strided<[1], offset: ?>>) -> ()
  return
}
