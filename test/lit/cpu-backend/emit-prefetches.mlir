// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=1048576 prefetch-bytes=1048576" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=1048576 prefetch-bytes=1048576 two-fmas" --canonicalize --cse | FileCheck %s --check-prefix=TWO

// A loop over blocks of 4 rows of 256 floats, 4 KiB: rows of the second block from here are asked for, and in the last two
// iterations those of the next program, if the launch reads at least 1 MiB, 256 blocks.
// With two multiply-adds a cycle nothing is asked for.
// TWO-LABEL: func.func @columns(
// TWO-NOT: memref.prefetch {{.*}}, read
// TWO-LABEL: func.func @carried(
// TWO-NOT: memref.prefetch
// TWO-LABEL: func.func @in_order(
// TWO: memref.prefetch {{.*}}, read
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[STRIDE:[a-z0-9]+]]: index, %[[ID:[a-z0-9]+]]: i32,
// CHECK: scf.for %[[I:.*]] = %c0 to %[[N]] step %c4
// CHECK: %[[GROWTH:.*]] = arith.muli %[[STRIDE]], %c4
// CHECK: %[[IS_LARGE:.*]] = arith.cmpi sge, %{{.*}}, %c256 : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[I]]
// CHECK: %[[IS_INSIDE:.*]] = arith.cmpi sgt, %[[LEFT]], %c8
// CHECK: %[[HERE:.*]] = arith.muli %[[STRIDE]], %c8
// CHECK: %[[MOST:.*]] = arith.minsi %[[COUNT:[0-9]+]], %c2
// CHECK: %[[BACK:.*]] = arith.subi %[[COUNT]], %[[MOST]]
// CHECK: %[[ALL:.*]] = arith.muli %[[GROWTH]], %[[BACK]]
// CHECK: %[[NEXT:.*]] = arith.subi %c1, %[[ALL]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[ID]], %c1_i32
// CHECK: %[[IS_PROGRAM:.*]] = arith.cmpi slt, %[[AFTER]]
// CHECK: %[[IS_LOOP:.*]] = arith.cmpi sgt, %[[COUNT]], %c1
// CHECK: %[[HAS_NEXT:.*]] = arith.andi %[[IS_PROGRAM]], %[[IS_LOOP]]
// CHECK: %[[DISTANCE:.*]] = arith.select %[[IS_INSIDE]], %[[HERE]], %[[NEXT]]
// CHECK: %[[EITHER:.*]] = arith.ori %[[IS_INSIDE]], %[[HAS_NEXT]]
// CHECK: %[[ASKS:.*]] = arith.andi %[[IS_LARGE]], %[[EITHER]] : i1
// CHECK: scf.if %[[ASKS]] {
// CHECK: arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK-COUNT-2: memref.prefetch %{{.*}}, read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: }
func.func @columns(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x256xf32>
  %id = arith.index_cast %px : i32 to index
  %sum = scf.for %i = %c0 to %n step %c4 iter_args(%acc = %zero) -> tensor<4x256xf32> {
    %row = arith.muli %i, %stride : index
    %at = arith.addi %row, %id : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [4, 256], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<4x256xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<4x256xf32, strided<[?, 1], offset: ?>> to tensor<4x256xf32>
    %y = arith.addf %acc, %t : tensor<4x256xf32>
    scf.yield %y : tensor<4x256xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [4, 256], strides: [256, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<4x256xf32, strided<[256, 1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<4x256xf32>, memref<4x256xf32, strided<[256, 1], offset: ?>>) -> ()
  return
}

// -----

// An offset that the loop carries.
// CHECK-LABEL: func.func @carried(
// CHECK: scf.for
// CHECK: memref.prefetch
func.func @carried(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %stride: i32,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %width = arith.index_cast %stride : i32 to index
  %id = arith.index_cast %px : i32 to index
  %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %from = %c0) -> (tensor<8x64xf32>, i32) : i32 {
    %at = arith.index_cast %from : i32 to index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 64], strides: [%width, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x64xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<8x64xf32, strided<[?, 1], offset: ?>> to tensor<8x64xf32>
    %y = arith.addf %acc, %t : tensor<8x64xf32>
    %next = arith.addi %from, %stride : i32
    scf.yield %y, %next : tensor<8x64xf32>, i32
  }
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [8, 64], strides: [64, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x64xf32, strided<[64, 1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<8x64xf32>, memref<8x64xf32, strided<[64, 1], offset: ?>>) -> ()
  return
}

// -----

// One row is read in order, and a block that is the same in each iteration is there: neither is asked for.
// CHECK-LABEL: func.func @in_order(
// CHECK-NOT: memref.prefetch {{.*}}, read
func.func @in_order(%x: memref<?xf32, strided<[1], offset: ?>>, %z: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                    %n: index, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %id = arith.index_cast %px : i32 to index
  %zero = arith.constant dense<0.0> : tensor<4x1024xf32>
  %same = memref.reinterpret_cast %z to offset: [%id], sizes: [4, 1024], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<4x1024xf32, strided<[?, 1], offset: ?>>
  %sum = scf.for %i = %c0 to %n step %c1024 iter_args(%acc = %zero) -> tensor<4x1024xf32> {
    %in = memref.reinterpret_cast %x to offset: [%i], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<1024xf32, strided<[1], offset: ?>> to tensor<1024xf32>
    %u = bufferization.to_tensor %same : memref<4x1024xf32, strided<[?, 1], offset: ?>> to tensor<4x1024xf32>
    %empty = tensor.empty() : tensor<4x1024xf32>
    %wide = linalg.broadcast ins(%t : tensor<1024xf32>) outs(%empty : tensor<4x1024xf32>) dimensions = [0]
    %v = arith.addf %wide, %u : tensor<4x1024xf32>
    %y = arith.addf %acc, %v : tensor<4x1024xf32>
    scf.yield %y : tensor<4x1024xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [4, 1024], strides: [1024, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<4x1024xf32, strided<[1024, 1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<4x1024xf32>, memref<4x1024xf32, strided<[1024, 1], offset: ?>>) -> ()
  return
}

// -----

// No loop: rows that are apart are those of a tile, and two of 4 KiB are asked for ahead, in program id + 2.
// CHECK-LABEL: func.func @tile(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %[[ID:[a-z0-9]+]]: i32,
// CHECK-DAG: %[[DISTANCE:.*]] = arith.muli %[[STRIDE]], %c64
// CHECK-DAG: %[[LATER:.*]] = arith.addi %[[ID]], %c2_i32
// CHECK-DAG: arith.cmpi slt, %[[LATER]]
// CHECK-DAG: arith.cmpi sgt, %[[STRIDE]], %c32
// CHECK: scf.if
// CHECK: memref.prefetch
func.func @tile(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c32 = arith.constant 32 : index
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c32 : index
  %at = arith.muli %row, %stride : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
  %y = arith.addf %t, %t : tensor<32x32xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// The id is that along y: those programs follow one another where x has one.
// CHECK-LABEL: func.func @tile_along_y(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: i32, %[[ID:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32, %[[NX:[a-z0-9]+]]: i32, %[[NY:[a-z0-9]+]]: i32,
// CHECK-DAG: %[[ALONE:.*]] = arith.cmpi eq, %[[NX]], %c1_i32
// CHECK-DAG: %[[DISTANCE:.*]] = arith.muli %[[STRIDE]], %c64
// CHECK-DAG: %[[LATER:.*]] = arith.addi %[[ID]], %c2_i32
// CHECK-DAG: %[[EXISTS:.*]] = arith.cmpi slt, %[[LATER]], %[[NY]]
// CHECK-DAG: arith.andi %[[EXISTS]], %[[ALONE]]
// CHECK: scf.if
// CHECK: memref.prefetch
func.func @tile_along_y(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                        %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c32 = arith.constant 32 : index
  %id = arith.index_cast %py : i32 to index
  %row = arith.muli %id, %c32 : index
  %at = arith.muli %row, %stride : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
  %y = arith.addf %t, %t : tensor<32x32xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// A kernel with an order of its own: x or z, whichever counts fastest.
// CHECK-LABEL: func.func @tile_in_order(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32, %[[Z:[a-z0-9]+]]: i32,
// CHECK: %[[AXIS:.*]] = call @order
// CHECK-DAG: %[[IS_X:.*]] = arith.cmpi eq, %[[AXIS]], %c0_i32
// CHECK-DAG: %[[IS_Z:.*]] = arith.cmpi eq, %[[AXIS]], %c2_i32
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %[[STRIDE]], %c32
// CHECK: arith.select %[[IS_Z]], %c32, %[[ROWS]]
// CHECK: memref.prefetch
func.func private @order(memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, index, i32, i32, i32, i32, i32, i32) -> i32
func.func @tile_in_order(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                         %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel, tilebridge.order = @order} {
  %c32 = arith.constant 32 : index
  %idX = arith.index_cast %px : i32 to index
  %idZ = arith.index_cast %pz : i32 to index
  %row = arith.muli %idX, %c32 : index
  %column = arith.muli %idZ, %c32 : index
  %rowAt = arith.muli %row, %stride : index
  %at = arith.addi %rowAt, %column : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
  %y = arith.addf %t, %t : tensor<32x32xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// A tile that is transposed on the way is asked for while the one before is read.
// TWO-LABEL: func.func @transpose(
// TWO-COUNT-16: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-LABEL: func.func @transpose(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.if
// CHECK-COUNT-16: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: vector.shuffle
func.func @transpose(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c32 = arith.constant 32 : index
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c32 : index
  %at = arith.muli %row, %stride : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
  %empty = tensor.empty() : tensor<32x32xf32>
  %y = linalg.transpose ins(%t : tensor<32x32xf32>) outs(%empty : tensor<32x32xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %y in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// The second time that a program goes over its row, the next program's is asked for, if that is 8 KiB away or more; the third time
// the one behind it, and the fourth time none. CPUs with two multiply-adds a cycle ask for rows of up to 16 KiB into the first cache.
// TWO-LABEL: func.func @again(
// TWO-COUNT-2: memref.prefetch %{{.*}}, read, locality<3>, data
// CHECK-LABEL: func.func @again(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %[[ID:[a-z0-9]+]]: i32,
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: }
// CHECK: %[[NEXT:.*]] = arith.addi %[[ID]], %c1_i32
// CHECK: arith.cmpi slt, %[[NEXT]]
// CHECK: %[[UP:.*]] = arith.addi %[[STRIDE]], %c2048 : index
// CHECK: arith.cmpi uge, %[[UP]], %c4096 : index
// CHECK: %[[DISTANCE:.*]] = arith.select %{{.*}}, %[[STRIDE]], %c0
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK: memref.prefetch
// CHECK: }
// CHECK-DAG: %[[SECOND:.*]] = arith.addi %[[ID]], %c2_i32
// CHECK-DAG: arith.cmpi slt, %[[SECOND]]
// CHECK-DAG: %[[TWICE:.*]] = arith.muli %[[STRIDE]], %c2 : index
// CHECK: %[[FURTHER:.*]] = arith.select %{{.*}}, %[[TWICE]], %c0
// CHECK: scf.for
// CHECK: arith.addi %{{.*}}, %[[FURTHER]]
// CHECK: memref.prefetch
// CHECK: }
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @again(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %stride : index
  %low = arith.constant dense<0x7FC00000> : tensor<1xf32>
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 4096], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x4096xf32, strided<[4096, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [1, 4096], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x4096xf32, strided<[4096, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1x4096xf32, strided<[4096, 1], offset: ?>> to tensor<1x4096xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %top = linalg.reduce { arith.maxnumf } ins(%t : tensor<1x4096xf32>) outs(%low : tensor<1xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<1x4096xf32>
  %tops = linalg.broadcast ins(%top : tensor<1xf32>) outs(%empty : tensor<1x4096xf32>) dimensions = [1]
  %d = arith.subf %t, %tops : tensor<1x4096xf32>
  %sum = linalg.reduce { arith.addf } ins(%d : tensor<1x4096xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<1xf32>) outs(%empty : tensor<1x4096xf32>) dimensions = [1]
  %e = arith.subf %t, %sums : tensor<1x4096xf32>
  %least = linalg.reduce { arith.addf } ins(%e : tensor<1x4096xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  %leasts = linalg.broadcast ins(%least : tensor<1xf32>) outs(%empty : tensor<1x4096xf32>) dimensions = [1]
  %y = arith.mulf %t, %leasts : tensor<1x4096xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<1x4096xf32>, memref<1x4096xf32, strided<[4096, 1], offset: ?>>) -> ()
  return
}

// -----

// Of rows of 4 KiB the one behind the next is asked for; the next one where there is no such row, but not where they follow one
// another.
// CHECK-LABEL: func.func @page(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %[[ID:[a-z0-9]+]]: i32,
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: }
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[ID]], %c1_i32
// CHECK-DAG: %[[SECOND:.*]] = arith.addi %[[ID]], %c2_i32
// CHECK-DAG: %[[TWICE:.*]] = arith.muli %[[STRIDE]], %c2 : index
// CHECK: %[[NEARER:.*]] = arith.select %{{.*}}, %[[STRIDE]], %c0 : index
// CHECK: %[[DISTANCE:.*]] = arith.select %{{.*}}, %[[TWICE]], %[[NEARER]] : index
// CHECK: scf.for
// CHECK: arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK: memref.prefetch
// CHECK: }
// CHECK: arith.muli %[[STRIDE]], %c3 : index
// CHECK: scf.for
// CHECK: memref.prefetch
// CHECK: return
func.func @page(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %stride : index
  %low = arith.constant dense<0x7FC00000> : tensor<1xf32>
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 1024], strides: [1024, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x1024xf32, strided<[1024, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [1, 1024], strides: [1024, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x1024xf32, strided<[1024, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1x1024xf32, strided<[1024, 1], offset: ?>> to tensor<1x1024xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %top = linalg.reduce { arith.maxnumf } ins(%t : tensor<1x1024xf32>) outs(%low : tensor<1xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<1x1024xf32>
  %tops = linalg.broadcast ins(%top : tensor<1xf32>) outs(%empty : tensor<1x1024xf32>) dimensions = [1]
  %d = arith.subf %t, %tops : tensor<1x1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%d : tensor<1x1024xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<1xf32>) outs(%empty : tensor<1x1024xf32>) dimensions = [1]
  %y = arith.mulf %t, %sums : tensor<1x1024xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<1x1024xf32>, memref<1x1024xf32, strided<[1024, 1], offset: ?>>) -> ()
  return
}

// -----

// Sums of 8 rows of 256 floats, in pieces, that are not interleaved. Where rows follow one another in memory, what stands 3 KiB
// behind is asked for, else the next piece.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[STRIDE:[a-z0-9]+]]: index,
// CHECK: scf.for %[[I:.*]] = %c0 to %[[N]] step %c256
// CHECK: scf.if
// CHECK: } else {
// CHECK: %[[IS_INSIDE:.*]] = arith.cmpi sgt, %{{.*}}, %c256
// CHECK: %[[LATER:.*]] = arith.select %{{.*}}, %{{.*}}, %c0 : index
// CHECK: %[[IS_APART:.*]] = arith.cmpi sgt, %[[STRIDE]], %c256
// CHECK: %[[DISTANCE:.*]] = arith.select %[[IS_APART]], %[[LATER]], %c768 : index
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK-NEXT: memref.prefetch
// The maxima of the same: the pieces only.
// CHECK-LABEL: func.func @row_maxima(
// CHECK-NOT: %c768
// CHECK: memref.prefetch
// CHECK-NOT: %c768
// CHECK: return
// Those that begin with a number are found as quickly as sums.
// CHECK-LABEL: func.func @number_maxima(
// CHECK: %[[AHEAD:.*]] = arith.select %{{.*}}, %{{.*}}, %c768 : index
// CHECK: scf.if
// CHECK-NEXT: arith.addi %{{.*}}, %[[AHEAD]]
// CHECK-NEXT: memref.prefetch
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %sums = scf.for %i = %c0 to %n step %c256 iter_args(%acc = %zero) -> tensor<8xf32> {
    %at = arith.addi %start, %i : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 256], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x256xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<8x256xf32, strided<[?, 1], offset: ?>> to tensor<8x256xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<8x256xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}
func.func @row_maxima(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                      %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %low = arith.constant dense<0x7FC00000> : tensor<8xf32>
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %tops = scf.for %i = %c0 to %n step %c256 iter_args(%acc = %low) -> tensor<8xf32> {
    %at = arith.addi %start, %i : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 256], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x256xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<8x256xf32, strided<[?, 1], offset: ?>> to tensor<8x256xf32>
    %part = linalg.reduce { arith.maxnumf } ins(%t : tensor<8x256xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
    %y = arith.maxnumf %acc, %part : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %tops in writable %out : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}
func.func @number_maxima(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                         %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %tops = scf.for %i = %c0 to %n step %c256 iter_args(%acc = %low) -> tensor<8xf32> {
    %at = arith.addi %start, %i : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 256], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x256xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<8x256xf32, strided<[?, 1], offset: ?>> to tensor<8x256xf32>
    %part = linalg.reduce { arith.maxnumf } ins(%t : tensor<8x256xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
    %y = arith.maxnumf %acc, %part : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %tops in writable %out : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// The sum of a long row: what stands 3 KiB behind is asked for.
// CHECK-LABEL: func.func @long_row(
// CHECK: %[[IS_LARGE:.*]] = arith.cmpi sge, %{{.*}}, %c64 : index
// CHECK: scf.for
// CHECK: scf.if %[[IS_LARGE]]
// CHECK-NEXT: arith.addi %{{.*}}, %c768
// CHECK-NEXT: memref.prefetch %{{.*}}, read, locality<2>, data
// The same row in each program is in a cache.
// CHECK-LABEL: func.func @same_row(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @long_row(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %stride : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 4096], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x4096xf32, strided<[4096, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1x4096xf32, strided<[4096, 1], offset: ?>> to tensor<1x4096xf32>
  %sum = linalg.reduce { arith.addf } ins(%t : tensor<1x4096xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}
func.func @same_row(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %from: index,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %in = memref.reinterpret_cast %x to offset: [%from], sizes: [1, 4096], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x4096xf32, strided<[4096, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1x4096xf32, strided<[4096, 1], offset: ?>> to tensor<1x4096xf32>
  %sum = linalg.reduce { arith.addf } ins(%t : tensor<1x4096xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A loop over rows of 2 KiB asks for the next one; over the pieces of a row it does not, but for 3 KiB ahead of narrow ones
// (not on CPUs that do half of a 512-bit multiply-add a cycle).
// CHECK-LABEL: func.func @row_by_row(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %[[ID:[a-z0-9]+]]: i32,
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: arith.addi %{{.*}}, %[[STRIDE]]
// CHECK-NEXT: memref.prefetch
// CHECK-LABEL: func.func @pieces(
// CHECK-NOT: memref.prefetch
// CHECK-LABEL: func.func @narrow_pieces(
// CHECK-NOT: memref.prefetch
// CHECK: return
// TWO-LABEL: func.func @narrow_pieces(
// TWO: %[[AHEAD:.*]] = arith.addi %{{.*}}, %c1536
// TWO-NEXT: memref.prefetch %{{.*}}[%[[AHEAD]]], read, locality<2>, data
// TWO: return
func.func @row_by_row(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %id = arith.index_cast %px : i32 to index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<1xf32> {
    %at = arith.muli %i, %stride : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 512], strides: [512, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x512xf32, strided<[512, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<1x512xf32, strided<[512, 1], offset: ?>> to tensor<1x512xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<1x512xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<1xf32>
    scf.yield %y : tensor<1xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}
func.func @pieces(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %id = arith.index_cast %px : i32 to index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<1xf32> {
    %at = arith.muli %i, %c512 : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 512], strides: [512, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1x512xf32, strided<[512, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<1x512xf32, strided<[512, 1], offset: ?>> to tensor<1x512xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<1x512xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<1xf32>
    scf.yield %y : tensor<1xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}
func.func @narrow_pieces(%x: memref<?xf16, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %id = arith.index_cast %px : i32 to index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<1xf32> {
    %at = arith.muli %i, %c512 : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 512], strides: [512, 1] : memref<?xf16, strided<[1], offset: ?>> to memref<1x512xf16, strided<[512, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<1x512xf16, strided<[512, 1], offset: ?>> to tensor<1x512xf16>
    %w = arith.extf %t : tensor<1x512xf16> to tensor<1x512xf32>
    %part = linalg.reduce { arith.addf } ins(%w : tensor<1x512xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<1xf32>
    scf.yield %y : tensor<1xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A store in between, which may overlap the row, changes nothing about that: the row, or a copy of it, is read, and the next
// program's is asked for.
// CHECK-LABEL: func.func @guarded(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %[[ID:[a-z0-9]+]]: i32,
// CHECK: memref.store
// CHECK: %[[DISTANCE:.*]] = arith.select %{{.*}}, %[[STRIDE]], %c0
// CHECK: scf.for
// CHECK: arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK: memref.prefetch
// CHECK: return
func.func @guarded(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %r: memref<?xf32>, %stride: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %stride : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [4096], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<4096xf32, strided<[1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [4096], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<4096xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<4096xf32, strided<[1], offset: ?>> to tensor<4096xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%t : tensor<4096xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %s = tensor.extract %sum[] : tensor<f32>
  memref.store %s, %r[%id] : memref<?xf32>
  %sums = tensor.splat %s : tensor<4096xf32>
  %y = arith.mulf %t, %sums : tensor<4096xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<4096xf32>, memref<4096xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A row that runs backwards asks for what stands 2 KiB before it, where nobody knows what the next program reads.
// CHECK-LABEL: func.func @backwards(
// CHECK: %[[BEFORE:.*]] = arith.select %{{.*}}, %c-512, %c0
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c63
// CHECK: %[[THERE:.*]] = arith.addi %[[LAST]], %[[BEFORE]]
// CHECK: memref.prefetch %{{.*}}[%[[THERE]]], read, locality<2>, data
// CHECK: vector.load %{{.*}}[%[[LAST]]]
// CHECK: vector.shuffle
func.func @backwards(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c256 = arith.constant 256 : index
  %rest = arith.remsi %px, %n : i32
  %id = arith.index_cast %px : i32 to index
  %column = arith.index_cast %rest : i32 to index
  %from = arith.muli %column, %c256 : index
  %to = arith.muli %id, %c256 : index
  %in = memref.reinterpret_cast %x to offset: [%from], sizes: [256], strides: [-1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[-1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%to], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<256xf32, strided<[-1], offset: ?>> to tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}
