// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit="vector-bits=512 prefetch-bytes=16777216" -canonicalize -cse | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit="vector-bits=512" -canonicalize -cse | FileCheck %s --check-prefix=NEVER

// Which page is next is read for the next iteration, if there is one, and all rows of its block are asked for, two lines each.
// CHECK-LABEL: func.func @pages
// CHECK-SAME: {{.*}}, %[[FROM:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index, %[[STEP:[a-z0-9]+]]: index
// CHECK: scf.for %[[I:[a-z0-9]+]] = %[[FROM]] to %[[END]] step %[[STEP]]
// CHECK: memref.load %[[TABLE:[a-z0-9]+]][%[[I]]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[I]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[STEP]], %[[LEFT]]
// CHECK: %[[ASKS:.*]] = arith.andi %[[EXISTS]]
// CHECK: scf.if %[[ASKS]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %[[STEP]]
// CHECK: memref.load %[[TABLE]][%[[NEXT]]]
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK-COUNT-2: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.load
// NEVER-NOT: memref.prefetch
func.func @pages(%x: memref<?xf32, strided<[1], offset: ?>>, %table: memref<?xindex, strided<[1], offset: ?>>, %from: index, %to: index, %by: index,
                 %out: memref<8x32xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %sum = scf.for %i = %from to %to step %by iter_args(%acc = %zero) -> (tensor<8x32xf32>) {
    %page = memref.load %table[%i] : memref<?xindex, strided<[1], offset: ?>>
    %at = arith.muli %page, %c512 : index
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 32], strides: [64, 1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<8x32xf32, strided<[64, 1], offset: ?>>
    %block = bufferization.to_tensor %view : memref<8x32xf32, strided<[64, 1], offset: ?>> to tensor<8x32xf32>
    %power = math.exp %block : tensor<8x32xf32>
    %next = arith.addf %acc, %power : tensor<8x32xf32>
    scf.yield %next : tensor<8x32xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  return
}

// The CPU gets to the next iterations itself.
// CHECK-LABEL: func.func @short
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @short(%x: memref<?xf32, strided<[1], offset: ?>>, %table: memref<?xindex, strided<[1], offset: ?>>, %to: index,
                 %out: memref<64xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = scf.for %i = %c0 to %to step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %at = memref.load %table[%i] : memref<?xindex, strided<[1], offset: ?>>
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %block = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %next = arith.addf %acc, %block : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// A place that is carried; one that a branch decides; one that no table says.
// CHECK-LABEL: func.func @others
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @others(%x: memref<?xf32, strided<[1], offset: ?>>, %table: memref<?xindex, strided<[1], offset: ?>>, %to: index, %is: i1, %fixed: index,
                  %out: memref<64xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum, %last = scf.for %i = %c0 to %to step %c1 iter_args(%acc = %zero, %at = %c0) -> (tensor<64xf32>, index) {
    %page = memref.load %table[%at] : memref<?xindex, strided<[1], offset: ?>>
    %view = memref.reinterpret_cast %x to offset: [%page], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %block = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %chosen = scf.if %is -> (index) {
      %other = memref.load %table[%i] : memref<?xindex, strided<[1], offset: ?>>
      scf.yield %other : index
    } else {
      scf.yield %c0 : index
    }
    %view2 = memref.reinterpret_cast %x to offset: [%chosen], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %block2 = bufferization.to_tensor %view2 : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %same = memref.load %table[%fixed] : memref<?xindex, strided<[1], offset: ?>>
    %view3 = memref.reinterpret_cast %x to offset: [%same], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %block3 = bufferization.to_tensor %view3 : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %power = math.exp %block : tensor<64xf32>
    %next = arith.addf %acc, %power : tensor<64xf32>
    %next2 = arith.addf %next, %block2 : tensor<64xf32>
    %next3 = arith.addf %next2, %block3 : tensor<64xf32>
    scf.yield %next3, %page : tensor<64xf32>, index
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// Rows whose numbers the loop reads: those of the next iteration are read up to the end that they have there, and the
// rows' lines are asked for.
// CHECK-LABEL: func.func @tokens
// CHECK-SAME: {{.*}}, %[[END:[a-z0-9]+]]: index
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0 to %[[END]] step %c8
// CHECK: scf.if
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c8
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[NEXT]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[NEXT]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c8
// CHECK: scf.for %[[R:[a-z0-9]+]] = %c0 to %c8
// CHECK: arith.cmpi slt, %[[R]], %[[COUNT]]
// CHECK: arith.addi %[[PLACE]], %[[R]]
// CHECK-COUNT-4: memref.prefetch {{.*}}memref<2147483647xf32
// CHECK-NOT: memref.prefetch
// CHECK: scf.for
func.func @tokens(%x: memref<?x64xf32, strided<[64, 1], offset: ?>>, %table: memref<?xi64, strided<[1], offset: ?>>, %to: index,
                  %out: memref<64xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = scf.for %i = %c0 to %to step %c8 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %left = arith.subi %to, %i : index
    %count = arith.minsi %left, %c8 : index
    %part = memref.subview %table[%i] [%count] [1] : memref<?xi64, strided<[1], offset: ?>> to memref<?xi64, strided<[1], offset: ?>>
    %known = bufferization.to_tensor %part : memref<?xi64, strided<[1], offset: ?>> to tensor<?xi64>
    %rest = arith.subi %c8, %count : index
    %rows = tensor.pad %known low[0] high[%rest] {
    ^bb0(%at: index):
      tensor.yield %none : i64
    } : tensor<?xi64> to tensor<8xi64>
    %block = linalg_ext.gather_rows %x[%rows] dim 0
        : (memref<?x64xf32, strided<[64, 1], offset: ?>>, tensor<8xi64>) -> tensor<8x64xf32>
    %power = math.exp %block : tensor<8x64xf32>
    %next = linalg.reduce ins(%power : tensor<8x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [0]
      (%in: f32, %init: f32) {
        %added = arith.addf %in, %init : f32
        linalg.yield %added : f32
      }
    scf.yield %next : tensor<64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// Numbers that depend on the iteration in another way than by where they are read, too.
// CHECK-LABEL: func.func @moved
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0
// CHECK: scf.if
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c8
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[NEXT]] : index to i64
// CHECK: scf.for
// CHECK: arith.addi %{{.*}}, %[[NUMBER]] {{.*}}: i64
// CHECK-COUNT-4: memref.prefetch {{.*}}memref<2147483647xf32
func.func @moved(%x: memref<?x64xf32, strided<[64, 1], offset: ?>>, %table: memref<?xi64, strided<[1], offset: ?>>, %to: index,
                 %out: memref<64xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = scf.for %i = %c0 to %to step %c8 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %part = memref.subview %table[%i] [8] [1] : memref<?xi64, strided<[1], offset: ?>> to memref<8xi64, strided<[1], offset: ?>>
    %known = bufferization.to_tensor %part : memref<8xi64, strided<[1], offset: ?>> to tensor<8xi64>
    %number = arith.index_cast %i : index to i64
    %all = tensor.splat %number : tensor<8xi64>
    %rows = arith.addi %known, %all : tensor<8xi64>
    %block = linalg_ext.gather_rows %x[%rows] dim 0
        : (memref<?x64xf32, strided<[64, 1], offset: ?>>, tensor<8xi64>) -> tensor<8x64xf32>
    %power = math.exp %block : tensor<8x64xf32>
    %next = linalg.reduce ins(%power : tensor<8x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [0]
      (%in: f32, %init: f32) {
        %added = arith.addf %in, %init : f32
        linalg.yield %added : f32
      }
    scf.yield %next : tensor<64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// A page of four tokens each: where the table is read is computed from indices alone.
// CHECK-LABEL: func.func @pages_of_tokens
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0
// CHECK: scf.if
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c8
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[NEXT]] : index to i64
// CHECK: scf.for
// CHECK: arith.addi %[[NUMBER]], %{{.*}} : i64
// CHECK: arith.divsi
// CHECK-COUNT-4: memref.prefetch {{.*}}memref<2147483647xf32
func.func @pages_of_tokens(%x: memref<?x64xf32, strided<[64, 1], offset: ?>>, %table: memref<?xi64, strided<[1], offset: ?>>, %to: index,
                 %out: memref<64xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %four = arith.constant 4 : i64
  %e = tensor.empty() : tensor<8xi64>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = scf.for %i = %c0 to %to step %c8 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %number = arith.index_cast %i : index to i64
    %all = tensor.splat %number : tensor<8xi64>
    %places = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%all : tensor<8xi64>) outs(%e : tensor<8xi64>) {
    ^bb0(%in: i64, %o: i64):
      %lane = linalg.index 0 : index
      %behind = arith.index_cast %lane : index to i64
      %at = arith.addi %in, %behind : i64
      %page = arith.divsi %at, %four : i64
      linalg.yield %page : i64
    } -> tensor<8xi64>
    %rows = linalg_ext.gather %table[%places] : (memref<?xi64, strided<[1], offset: ?>>, tensor<8xi64>) -> tensor<8xi64>
    %block = linalg_ext.gather_rows %x[%rows] dim 0
        : (memref<?x64xf32, strided<[64, 1], offset: ?>>, tensor<8xi64>) -> tensor<8x64xf32>
    %power = math.exp %block : tensor<8x64xf32>
    %next = linalg.reduce ins(%power : tensor<8x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [0]
      (%in: f32, %init: f32) {
        %added = arith.addf %in, %init : f32
        linalg.yield %added : f32
      }
    scf.yield %next : tensor<64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// What a table says where to read another one at may change until then.
// CHECK-LABEL: func.func @twice
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: return
func.func @twice(%x: memref<?x64xf32, strided<[64, 1], offset: ?>>, %table: memref<?xi64, strided<[1], offset: ?>>, %to: index,
                 %out: memref<64xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = scf.for %i = %c0 to %to step %c8 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %part = memref.subview %table[%i] [8] [1] : memref<?xi64, strided<[1], offset: ?>> to memref<8xi64, strided<[1], offset: ?>>
    %known = bufferization.to_tensor %part : memref<8xi64, strided<[1], offset: ?>> to tensor<8xi64>
    %rows = linalg_ext.gather %table[%known] : (memref<?xi64, strided<[1], offset: ?>>, tensor<8xi64>) -> tensor<8xi64>
    %block = linalg_ext.gather_rows %x[%rows] dim 0
        : (memref<?x64xf32, strided<[64, 1], offset: ?>>, tensor<8xi64>) -> tensor<8x64xf32>
    %power = math.exp %block : tensor<8x64xf32>
    %next = linalg.reduce ins(%power : tensor<8x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [0]
      (%in: f32, %init: f32) {
        %added = arith.addf %in, %init : f32
        linalg.yield %added : f32
      }
    scf.yield %next : tensor<64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
