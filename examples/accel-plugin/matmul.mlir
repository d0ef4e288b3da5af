// The product of two 64x64 matrices of f16 by 2x2 PEs with 32x32 each, as the compiler leaves it: parts of A go to all PEs of a
// row at once, parts of B to all PEs of a column; A has two buffers, of which one is filled while the other is used.
#local = #accel.memory<"local">
!pointer = memref<?xf16, strided<[1], offset: ?>>
!a_view = memref<32x32xf16, strided<[64, 1], offset: ?>>
!a_slot = memref<32x32xf16, strided<[32, 1], offset: ?>, #local>
func.func @matmul(%a: !pointer loc("a"), %b: !pointer loc("b"), %c: memref<?xf32, strided<[1], offset: ?>> loc("c"),
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp16", "*fp16", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c2048 = arith.constant 2048 : index
  %zero = arith.constant 0.0 : f32
  %a_tiles = accel.alloc {offset = 0} : memref<2x32x32xf16, #local> loc("a_tiles")
  %b_tile = accel.alloc {offset = 4096} : memref<32x32xf16, #local> loc("b_tile")
  %sums = accel.alloc {offset = 6144} : memref<32x32xf32, #local> loc("sums")
  %x, %y, %z, %active = accel.program %c0 counts(%nx, %ny, %nz) {assignment = #accel.assignment<grid : [0, 1]>}
  %i = arith.index_cast %x : i32 to index
  %j = arith.index_cast %y : i32 to index
  %row = arith.muli %i, %c2048 : index loc("row")
  %column = arith.muli %j, %c32 : index loc("column")
  linalg.fill ins(%zero : f32) outs(%sums : memref<32x32xf32, #local>)
  %slot0 = memref.subview %a_tiles[%c0, 0, 0] [1, 32, 32] [1, 1, 1] : memref<2x32x32xf16, #local> to !a_slot
  %slot1 = memref.subview %a_tiles[%c1, 0, 0] [1, 32, 32] [1, 1, 1] : memref<2x32x32xf16, #local> to !a_slot
  %first = memref.reinterpret_cast %a to offset: [%row], sizes: [32, 32], strides: [64, 1] : !pointer to !a_view
  %t0 = accel.copy_start %first to %slot0 multicast [1] : (!a_view, !a_slot) -> !accel.token
  %last:3 = scf.for %k = %c0 to %c2 step %c1 iter_args(%token = %t0, %now = %slot0, %then = %slot1)
      -> (!accel.token, !a_slot, !a_slot) {
    %next = arith.addi %k, %c1 : index
    %more = arith.cmpi slt, %next, %c2 : index
    %started = scf.if %more -> (!accel.token) {
      %step = arith.muli %next, %c32 : index
      %from = arith.addi %row, %step : index
      %view = memref.reinterpret_cast %a to offset: [%from], sizes: [32, 32], strides: [64, 1] : !pointer to !a_view
      %t = accel.copy_start %view to %then multicast [1] : (!a_view, !a_slot) -> !accel.token
      scf.yield %t : !accel.token
    } else {
      %none = accel.completed : !accel.token
      scf.yield %none : !accel.token
    }
    %down = arith.muli %k, %c2048 : index
    %at = arith.addi %down, %column : index
    %b_view = memref.reinterpret_cast %b to offset: [%at], sizes: [32, 32], strides: [64, 1] : !pointer to !a_view
    accel.copy %b_view to %b_tile multicast [0] : (!a_view, memref<32x32xf16, #local>) -> ()
    accel.wait %token
    linalg.matmul ins(%now, %b_tile : !a_slot, memref<32x32xf16, #local>) outs(%sums : memref<32x32xf32, #local>)
    scf.yield %started, %then, %now : !accel.token, !a_slot, !a_slot
  }
  accel.wait %last#0
  %corner = arith.addi %row, %column : index
  %out = memref.reinterpret_cast %c to offset: [%corner], sizes: [32, 32], strides: [64, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[64, 1], offset: ?>>
  scf.if %active {
    accel.copy %sums to %out : (memref<32x32xf32, #local>, memref<32x32xf32, strided<[64, 1], offset: ?>>) -> ()
  }
  return
}
