// RUN: tilebridge-opt %s -tilebridge-verify-bridge | FileCheck %s

// One function with a form of everything that docs/bridge-ir.md has.

#id = affine_map<(d0, d1) -> (d0, d1)>
!pointer = memref<?xf16, strided<[1], offset: ?>>
!view = memref<64x32xf16, strided<[?, 1], offset: ?>>
!box = memref<?x?xf16, strided<[?, 1], offset: ?>>

// CHECK-LABEL: func.func @everything
func.func @everything(%p: !pointer {tilebridge.divisibility = 16 : i32}, %n: i32,
                      %d: memref<?x?xf32, strided<[?, ?], offset: ?>>, %nan: i1, %c: i1,
                      %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp16", "i32", "tensordesc<fp32[8, 8]>", "i1"]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %size = arith.index_cast %n : i32 to index
  %view = memref.reinterpret_cast %p to offset: [%size], sizes: [64, 32], strides: [%size, 1] : !pointer to !view
  %box = memref.subview %view[0, 0] [%size, %size] [1, 1] : !view to !box
  %in = bufferization.to_tensor %box : !box to tensor<?x?xf16>
  %t = tensor.pad %in low[%c0, %c0] high[%size, %size] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<?x?xf16> to tensor<64x32xf16>
  %empty = tensor.empty() : tensor<64x32xf16>
  %sum = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<64x32xf16>) outs(%empty : tensor<64x32xf16>) {
  ^bb0(%a: f16, %o: f16):
    %s = arith.addf %a, %zero : f16
    linalg.yield %s : f16
  } -> tensor<64x32xf16>
  %r = scf.for %i = %px to %n step %nx iter_args(%a = %sum) -> (tensor<64x32xf16>) : i32 {
    %b = scf.if %c -> (tensor<64x32xf16>) {
      scf.yield %a : tensor<64x32xf16>
    } else {
      %poison = ub.poison : tensor<64x32xf16>
      scf.yield %poison : tensor<64x32xf16>
    }
    scf.yield %b : tensor<64x32xf16>
  }
  %x = func.call @helper(%n, %px, %py, %pz, %nx, %ny, %nz) : (i32, i32, i32, i32, i32, i32, i32) -> i32
  %part = tensor.extract_slice %r[%c0, %c0] [%size, %size] [1, 1] : tensor<64x32xf16> to tensor<?x?xf16>
  bufferization.materialize_in_destination %part in writable %box : (tensor<?x?xf16>, !box) -> ()
  linalg_ext.assert %c, "done" : i1
  return
}

func.func private @helper(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) -> i32 {
  return %n : i32
}
