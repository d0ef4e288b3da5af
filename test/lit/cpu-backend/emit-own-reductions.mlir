// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=256 -canonicalize -cse | FileCheck %s

// Means of two parts by their weights are symmetric but for rounding, and where both weigh nothing: lanes are combined with lanes, and with one
// another behind the loop.
// CHECK-LABEL: func.func @means
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (vector<[[LANES:.*]]xf32>, vector<[[LANES]]xf32>)
// CHECK-NOT: vector.shuffle
// CHECK: arith.divf %{{.*}} : vector<[[LANES]]xf32>
// CHECK: scf.yield
// CHECK: vector.shuffle
func.func @means(%x: memref<1024xf32>, %w: memref<1024xf32>, %out: memref<1xf32>) attributes {tilebridge.kernel} {
  %zero = arith.constant 0.0 : f32
  %a = bufferization.to_tensor %x : memref<1024xf32> to tensor<1024xf32>
  %b = bufferization.to_tensor %w : memref<1024xf32> to tensor<1024xf32>
  %m, %n = linalg_ext.reduce(%a, %b) dimension = 0 {
  ^bb0(%ma: f32, %wa: f32, %mb: f32, %wb: f32):
    %sum = arith.addf %wa, %wb : f32
    %empty = arith.cmpf oeq, %sum, %zero : f32
    %delta = arith.subf %mb, %ma : f32
    %part = arith.divf %wb, %sum : f32
    %share = arith.select %empty, %zero, %part : f32
    %step = arith.mulf %delta, %share : f32
    %mean = arith.addf %ma, %step : f32
    linalg_ext.yield %mean, %sum : f32, f32
  } : (tensor<1024xf32>, tensor<1024xf32>) -> (tensor<f32>, tensor<f32>)
  %s = tensor.extract %m[] : tensor<f32>
  %t = tensor.splat %s : tensor<1xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<1xf32>, memref<1xf32>) -> ()
  return
}

// The first that is not zero depends on the order, also where no float is zero.
// CHECK-LABEL: func.func @first
// CHECK-NOT: iter_args({{.*}}vector<
// CHECK: vector.shuffle
func.func @first(%x: memref<1024xf32>, %out: memref<1xf32>) attributes {tilebridge.kernel} {
  %zero = arith.constant 0.0 : f32
  %a = bufferization.to_tensor %x : memref<1024xf32> to tensor<1024xf32>
  %m = linalg_ext.reduce(%a) dimension = 0 {
  ^bb0(%one: f32, %other: f32):
    %is = arith.cmpf une, %one, %zero : f32
    %r = arith.select %is, %one, %other : f32
    linalg_ext.yield %r : f32
  } : (tensor<1024xf32>) -> tensor<f32>
  %s = tensor.extract %m[] : tensor<f32>
  %t = tensor.splat %s : tensor<1xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<1xf32>, memref<1xf32>) -> ()
  return
}

// A row that has a vector's elements at least begins with one whose lanes are all there: each has seen as many.
// CHECK-LABEL: func.func @masked_means
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c[[LANES:.*]] : index
// CHECK: scf.if %[[WHOLE]]
// CHECK: vector.load
// CHECK: scf.for
// CHECK: vector.load
// CHECK: scf.for
// CHECK: vector.maskedload
// CHECK: } else {
// CHECK: vector.maskedload
func.func @masked_means(%x: memref<1024xf32>, %n: index, %out: memref<1xf32>) attributes {tilebridge.kernel} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %c1024 = arith.constant 1024 : index
  %part = memref.subview %x[0] [%n] [1] : memref<1024xf32> to memref<?xf32>
  %0 = bufferization.to_tensor %part : memref<?xf32> to tensor<?xf32>
  %behind = arith.subi %c1024, %n : index
  %a = tensor.pad %0 low[0] high[%behind] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %m, %w = linalg_ext.reduce(%a, %one) dimension = 0 {
  ^bb0(%ma: f32, %wa: f32, %mb: f32, %wb: f32):
    %sum = arith.addf %wa, %wb : f32
    %empty = arith.cmpf oeq, %sum, %zero : f32
    %delta = arith.subf %mb, %ma : f32
    %quotient = arith.divf %wb, %sum : f32
    %share = arith.select %empty, %zero, %quotient : f32
    %step = arith.mulf %delta, %share : f32
    %mean = arith.addf %ma, %step : f32
    linalg_ext.yield %mean, %sum : f32, f32
  } : (tensor<1024xf32>, tensor<1024xf32>) -> (tensor<f32>, tensor<f32>)
  %s = tensor.extract %m[] : tensor<f32>
  %t = tensor.splat %s : tensor<1xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<1xf32>, memref<1xf32>) -> ()
  return
}
