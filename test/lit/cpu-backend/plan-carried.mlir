// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The sums over rows are computed in the loops of the row's reduction: the row is read where it lies, and no loops
// follow the store.
// CHECK-LABEL: func.func @sums_over_rows
func.func @sums_over_rows(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<64xf32>
  %sums = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64xf32> {
    %row = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    // CHECK: to_tensor %{{.*}} {tilebridge.plan = "inline"}
    %value = bufferization.to_tensor %row : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    // CHECK: linalg.reduce {{.*}} {tilebridge.nest = 0 : i64}
    %total = linalg.reduce { arith.addf } ins(%value : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    // CHECK: attrs =  {tilebridge.nest = 0 : i64, tilebridge.plan = "buffer"}
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: arith.addf
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%sum, %value : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %number = tensor.extract %total[] : tensor<f32>
    %numbers = tensor.splat %number : tensor<64xf32>
    %less = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%value, %numbers : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %out = memref.subview %y[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %less in writable %out : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    scf.yield %next : tensor<64xf32>
  }
  return %sums : tensor<64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What the loop brought is read once more after its next value would be in its place: that is computed at the end.
// CHECK-LABEL: func.func @old_value
func.func @old_value(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %low = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<64xf32>
  %sums = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64xf32> {
    %row = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %value = bufferization.to_tensor %row : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    // CHECK: linalg.generic {{.*}} attrs =  {tilebridge.plan = "inline"}
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: arith.addf
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%sum, %value : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %top = linalg.reduce { arith.maxnumf } ins(%next : tensor<64xf32>) outs(%low : tensor<f32>) dimensions = [0]
    %number = tensor.extract %top[] : tensor<f32>
    %numbers = tensor.splat %number : tensor<64xf32>
    %both = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%sum, %numbers : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %out = memref.subview %y[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %both in writable %out : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    scf.yield %next : tensor<64xf32>
  }
  return %sums : tensor<64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Nothing else has such loops.
// CHECK-LABEL: func.func @alone
func.func @alone(%x: memref<?x64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %sums = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64xf32> {
    %row = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %value = bufferization.to_tensor %row : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    // CHECK: linalg.generic {{.*}} attrs =  {tilebridge.plan = "inline"}
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%sum, %value : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  return %sums : tensor<64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What both next values are computed from costs much, but one nest computes both: nobody reads it from memory.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: memref<?x64xf32>, %n: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %product = %zeros) -> (tensor<64xf32>, tensor<64xf32>) {
    %row = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %value = bufferization.to_tensor %row : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    // CHECK: linalg.generic {{.*}} attrs =  {tilebridge.plan = "inline"}
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: math.exp
    %costly = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%value : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    // CHECK: attrs =  {tilebridge.nest = 0 : i64, tilebridge.plan = "buffer"}
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: arith.addf
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%sum, %costly : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    // CHECK: attrs =  {tilebridge.nest = 0 : i64, tilebridge.plan = "buffer"}
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: arith.mulf
    %times = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%product, %costly : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %next, %times : tensor<64xf32>, tensor<64xf32>
  }
  return %sums#0, %sums#1 : tensor<64xf32>, tensor<64xf32>
}
