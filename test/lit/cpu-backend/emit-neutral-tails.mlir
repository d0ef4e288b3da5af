// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// The squares of what is masked are zeros: the loop ends with the row and one element, whose zero makes 0.0 of a sum of -0.0.
// CHECK-LABEL: func.func @squares(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[END:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} to %[[END]] step
// CHECK: vector.maskedload
func.func @squares(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<f32, strided<[], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %outside : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %y = arith.mulf %a, %a : f32
    linalg.yield %y : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// Squares that are not zero are added.
// CHECK-LABEL: func.func @ones(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: scf.for %{{.*}} to %c1024 step
// CHECK: vector.maskedload
func.func @ones(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<f32, strided<[], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 1.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %outside : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %y = arith.mulf %a, %a : f32
    linalg.yield %y : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// exp(0) is 1.
// CHECK-LABEL: func.func @powers(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: scf.for %{{.*}} to %c1024 step
// CHECK: vector.maskedload
func.func @powers(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<f32, strided<[], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %outside : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// A maximum takes one number once or a hundred times.
// CHECK-LABEL: func.func @largest(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[END:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} to %[[END]] step
// CHECK: vector.maskedload
func.func @largest(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<f32, strided<[], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %outside : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<0x7FC00000> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %y = arith.negf %a : f32
    linalg.yield %y : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.maxnumf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// exp(-inf - m) is 0 or, for all lanes alike, NaN; and the weights are stored as far as the row goes.
// CHECK-LABEL: func.func @weights(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[END:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} to %[[END]] step
// CHECK: vector.maskedload
// CHECK: math.exp
func.func @weights(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %m: f32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0xFF800000 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %outside : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %y = tensor.splat %m : tensor<1024xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded, %y : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %sum = tensor.extract %r[] : tensor<f32>
  %sums = tensor.splat %sum : tensor<1024xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%v, %sums : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<1024xf32>
  %out = memref.reinterpret_cast %o to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %slice = tensor.extract_slice %w[0] [%size] [1] : tensor<1024xf32> to tensor<?xf32>
  %place = memref.subview %out[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %slice in writable %place : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Of lanes that each subtract a number of their own, some may be NaN and others not.
// CHECK-LABEL: func.func @each_its_own(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: scf.for %{{.*}} to %c1024 step
// CHECK: vector.maskedload
// CHECK: math.exp
func.func @each_its_own(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %m: f32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0xFF800000 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %outside : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %yin = memref.reinterpret_cast %x to offset: [1024], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %y = bufferization.to_tensor %yin : memref<1024xf32, strided<[1], offset: ?>> to tensor<1024xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded, %y : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %sum = tensor.extract %r[] : tensor<f32>
  %sums = tensor.splat %sum : tensor<1024xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%v, %sums : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<1024xf32>
  %out = memref.reinterpret_cast %o to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %slice = tensor.extract_slice %w[0] [%size] [1] : tensor<1024xf32> to tensor<?xf32>
  %place = memref.subview %out[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %slice in writable %place : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// All weights are stored.
// CHECK-LABEL: func.func @all_stored(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: scf.for %{{.*}} to %c1024 step
// CHECK: vector.maskedload
// CHECK: math.exp
func.func @all_stored(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %m: f32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0xFF800000 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %outside : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %y = tensor.splat %m : tensor<1024xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded, %y : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %sum = tensor.extract %r[] : tensor<f32>
  %sums = tensor.splat %sum : tensor<1024xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%v, %sums : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<1024xf32>
  %out = memref.reinterpret_cast %o to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %w in writable %out : (tensor<1024xf32>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A selection by the mask of the load gives zeros behind the row.
// CHECK-LABEL: func.func @same_mask(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[END:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} to %[[END]] step
func.func @same_mask(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<f32, strided<[], offset: ?>>, %n: i32, %k: i32, %m: f32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %ints = tensor.empty() : tensor<1024xi32>
  %bits = tensor.empty() : tensor<1024xi1>
  %at = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%ints : tensor<1024xi32>) {
  ^bb0(%a: i32):
    %j = linalg.index 0 : index
    %c = arith.index_cast %j : index to i32
    linalg.yield %c : i32
  } -> tensor<1024xi32>
  %inside = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%at : tensor<1024xi32>) outs(%bits : tensor<1024xi1>) {
  ^bb0(%a: i32, %b: i1):
    %c = arith.cmpi slt, %a, %n : i32
    linalg.yield %c : i1
  } -> tensor<1024xi1>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded, %inside : tensor<1024xf32>, tensor<1024xi1>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: i1, %c: f32):
    %d = arith.subf %a, %m : f32
    %e = arith.select %b, %d, %zero : f32
    linalg.yield %e : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// One by another number may not.
// CHECK-LABEL: func.func @other_mask(
// CHECK: scf.for
// CHECK: vector.load
// CHECK: scf.for %{{.*}} to %c1024 step
func.func @other_mask(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<f32, strided<[], offset: ?>>, %n: i32, %k: i32, %m: f32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<1024xf32>
  %ints = tensor.empty() : tensor<1024xi32>
  %bits = tensor.empty() : tensor<1024xi1>
  %at = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%ints : tensor<1024xi32>) {
  ^bb0(%a: i32):
    %j = linalg.index 0 : index
    %c = arith.index_cast %j : index to i32
    linalg.yield %c : i32
  } -> tensor<1024xi32>
  %inside = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%at : tensor<1024xi32>) outs(%bits : tensor<1024xi1>) {
  ^bb0(%a: i32, %b: i1):
    %c = arith.cmpi slt, %a, %k : i32
    linalg.yield %c : i1
  } -> tensor<1024xi1>
  %v = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%padded, %inside : tensor<1024xf32>, tensor<1024xi1>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: i1, %c: f32):
    %d = arith.subf %a, %m : f32
    %e = arith.select %b, %d, %zero : f32
    linalg.yield %e : f32
  } -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// Rows of a block that need not be there, which are zeros then, and a selection that leaves -inf behind the end that each row has, if it is
// there: the loop ends with that, and within the row nothing is selected.
// CHECK-LABEL: func.func @missing_rows(
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[ROWS:[a-z0-9]+]]: index
// CHECK: %[[SIZE:.*]] = arith.minsi %{{.*}}, %c1024
// CHECK: scf.for
// CHECK: %[[ROW_END:.*]] = arith.select %{{.*}}, %[[SIZE]], %c0
// CHECK: scf.for
// CHECK-NOT: arith.select
// CHECK: arith.maximumf
// CHECK: %[[LAST:.*]] = arith.maxsi %[[SIZE]], %{{.*}}
// CHECK: %[[BEHIND:.*]] = arith.addi %[[LAST]], %c1
// CHECK: %[[END:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} to %[[END]] step
// CHECK: vector.maskedload
// CHECK: arith.select
func.func @missing_rows(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<4xf32>, %n: i32, %rows: index,
                        %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0.0 : f32
  %low = arith.constant dense<0xFF800000> : tensor<4x1024xf32>
  %init = arith.constant dense<0xFF800000> : tensor<4xf32>
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [4, 1024], strides: [1024, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<4x1024xf32, strided<[1024, 1], offset: ?>>
  %box = memref.subview %in[0, 0] [%rows, %size] [1, 1] : memref<4x1024xf32, strided<[1024, 1], offset: ?>> to memref<?x?xf32, strided<[1024, 1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?x?xf32, strided<[1024, 1], offset: ?>> to tensor<?x?xf32>
  %below = arith.subi %c4, %rows : index
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0, 0] high[%below, %rest] {
  ^bb0(%i: index, %j: index):
    tensor.yield %outside : f32
  } : tensor<?x?xf32> to tensor<4x1024xf32>
  %ints = tensor.empty() : tensor<1024xi32>
  %range = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%ints : tensor<1024xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<1024xi32>
  %ends = tensor.splat %n : tensor<1024xi32>
  %mask = arith.cmpi slt, %range, %ends : tensor<1024xi32>
  %bits = tensor.empty() : tensor<4x1024xi1>
  %all = linalg.broadcast ins(%mask : tensor<1024xi1>) outs(%bits : tensor<4x1024xi1>) dimensions = [0]
  %v = arith.select %all, %padded, %low : tensor<4x1024xi1>, tensor<4x1024xf32>
  %r = linalg.reduce { arith.maximumf } ins(%v : tensor<4x1024xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  bufferization.materialize_in_destination %r in writable %o : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// Rows that are added up one above the other end with those that are read, and one of zeros.
// CHECK-LABEL: func.func @rows_of_zeros(
// CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c1024
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[LAST:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} = %c0 to %[[LAST]] step %c1
func.func @rows_of_zeros(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32, strided<[1], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024, 64], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024x64xf32, strided<[4096, 1]>>
  %box = memref.subview %in[0, 0] [%size, 64] [1, 1] : memref<1024x64xf32, strided<[4096, 1]>> to memref<?x64xf32, strided<[4096, 1]>>
  %t = bufferization.to_tensor %box : memref<?x64xf32, strided<[4096, 1]>> to tensor<?x64xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0, 0] high[%rest, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %outside : f32
  } : tensor<?x64xf32> to tensor<1024x64xf32>
  %init = arith.constant dense<0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%padded : tensor<1024x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Rows of ones are all added.
// CHECK-LABEL: func.func @rows_of_ones(
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c1
func.func @rows_of_ones(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32, strided<[1], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 1.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024, 64], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024x64xf32, strided<[4096, 1]>>
  %box = memref.subview %in[0, 0] [%size, 64] [1, 1] : memref<1024x64xf32, strided<[4096, 1]>> to memref<?x64xf32, strided<[4096, 1]>>
  %t = bufferization.to_tensor %box : memref<?x64xf32, strided<[4096, 1]>> to tensor<?x64xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0, 0] high[%rest, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %outside : f32
  } : tensor<?x64xf32> to tensor<1024x64xf32>
  %init = arith.constant dense<0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%padded : tensor<1024x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
