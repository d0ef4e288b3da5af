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
