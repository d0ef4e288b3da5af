// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-narrow-accumulators | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @sum
// CHECK: %[[START:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[START]]) -> (f32)
// CHECK: %[[BLOCK:.*]] = bufferization.to_tensor
// CHECK: %[[INIT:.*]] = arith.constant dense<-0.000000e+00> : tensor<f32>
// CHECK: %[[PART:.*]] = linalg.reduce { arith.addf } ins(%[[BLOCK]] : tensor<128xf32>) outs(%[[INIT]]
// CHECK: %[[SCALAR:.*]] = tensor.extract %[[PART]][]
// CHECK: %[[NEXT:.*]] = arith.addf %[[ACC]], %[[SCALAR]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: %[[ALL:.*]] = tensor.from_elements %[[LOOP]]
// CHECK-NOT: linalg.reduce
// CHECK: tensor.extract %[[ALL]][]
func.func @sum(%x: memref<128xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<128xf32>) {
    %block = bufferization.to_tensor %x : memref<128xf32> to tensor<128xf32>
    %empty = tensor.empty() : tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%acc, %block : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %add = arith.addf %a, %b : f32
      linalg.yield %add : f32
    } -> tensor<128xf32>
    scf.yield %s : tensor<128xf32>
  }
  %r = linalg.reduce { arith.addf } ins(%t : tensor<128xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %e = tensor.extract %r[] : tensor<f32>
  return %e : f32
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Rows stay; a maximum may begin with any one value; the other value of the loop is left alone.
// CHECK-LABEL: func.func @maxima
// CHECK: %[[START:.*]] = arith.constant dense<7> : tensor<4xi32>
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[COUNT:.*]] = %{{.*}}, %[[ACC:.*]] = %[[START]]) -> (i32, tensor<4xi32>)
// CHECK: %[[PART:.*]] = linalg.reduce { arith.maxsi } {{.*}} dimensions = [1]
// CHECK: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[ACC]], %[[PART]] : tensor<4xi32>, tensor<4xi32>)
// CHECK: arith.maxsi
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
// CHECK: return %[[LOOP]]#0, %[[LOOP]]#1
func.func @maxima(%x: memref<4x64xi32>, %n: i32) -> (i32, tensor<4xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %sevens = tensor.splat %c7 : tensor<4x64xi32>
  %low = arith.constant -2147483648 : i32
  %init = tensor.splat %low : tensor<4xi32>
  %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%count = %c0, %acc = %sevens) -> (i32, tensor<4x64xi32>) : i32 {
    %block = bufferization.to_tensor %x : memref<4x64xi32> to tensor<4x64xi32>
    %empty = tensor.empty() : tensor<4x64xi32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%block, %acc : tensor<4x64xi32>, tensor<4x64xi32>) outs(%empty : tensor<4x64xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %max = arith.maxsi %a, %b : i32
      linalg.yield %max : i32
    } -> tensor<4x64xi32>
    %next = arith.addi %count, %i : i32
    scf.yield %next, %s : i32, tensor<4x64xi32>
  }
  %r = linalg.reduce { arith.maxsi } ins(%t#1 : tensor<4x64xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  return %t#0, %r : i32, tensor<4xi32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What the loop begins with would count once and not 128 times; another combiner is another result; few elements are few
// registers; and what is used besides has to be whole.
// CHECK-LABEL: func.func @kept
// CHECK: scf.for {{.*}} -> (tensor<128xf32>, tensor<128xf32>, tensor<32xf32>, tensor<128xf32>)
func.func @kept(%x: memref<128xf32>, %y: memref<32xf32>, %n: index) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<128xf32>
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %few = arith.constant dense<0.0> : tensor<32xf32>
  %init = arith.constant dense<-0.0> : tensor<f32>
  %t:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a0 = %ones, %a1 = %zeros, %a2 = %few, %a3 = %zeros)
      -> (tensor<128xf32>, tensor<128xf32>, tensor<32xf32>, tensor<128xf32>) {
    %block = bufferization.to_tensor %x : memref<128xf32> to tensor<128xf32>
    %small = bufferization.to_tensor %y : memref<32xf32> to tensor<32xf32>
    %empty = tensor.empty() : tensor<128xf32>
    %emptySmall = tensor.empty() : tensor<32xf32>
    %s0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a0, %block : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %add = arith.addf %a, %b : f32
      linalg.yield %add : f32
    } -> tensor<128xf32>
    %s1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a1, %block : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %max = arith.maximumf %a, %b : f32
      linalg.yield %max : f32
    } -> tensor<128xf32>
    %s2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a2, %small : tensor<32xf32>, tensor<32xf32>) outs(%emptySmall : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %add = arith.addf %a, %b : f32
      linalg.yield %add : f32
    } -> tensor<32xf32>
    %s3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a3, %block : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %add = arith.addf %a, %b : f32
      linalg.yield %add : f32
    } -> tensor<128xf32>
    scf.yield %s0, %s1, %s2, %s3 : tensor<128xf32>, tensor<128xf32>, tensor<32xf32>, tensor<128xf32>
  }
  %r0 = linalg.reduce { arith.addf } ins(%t#0 : tensor<128xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %r1 = linalg.reduce { arith.addf } ins(%t#1 : tensor<128xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %r2 = linalg.reduce { arith.addf } ins(%t#2 : tensor<32xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %r3 = linalg.reduce { arith.addf } ins(%t#3 : tensor<128xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %r0, %r1, %r2, %r3, %t#3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<128xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Rows are added up lane by lane: two of them are enough. Along the lanes 32 are too few.
// CHECK-LABEL: func.func @rows
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<32xf32>, tensor<2x32xf32>)
// CHECK: %[[PART:.*]] = linalg.reduce { arith.addf } {{.*}} dimensions = [0]
// CHECK: linalg.generic {{.*}} ins(%[[ACC]], %[[PART]] : tensor<32xf32>, tensor<32xf32>)
// CHECK: %[[LAST:.*]] = linalg.reduce { arith.addf } ins(%[[LOOP]]#1 : tensor<2x32xf32>) {{.*}} dimensions = [1]
// CHECK: return %[[LOOP]]#0, %[[LAST]]
func.func @rows(%x: memref<2x32xf32>, %n: index) -> (tensor<32xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<2x32xf32>
  %columns = arith.constant dense<-0.0> : tensor<32xf32>
  %ends = arith.constant dense<-0.0> : tensor<2xf32>
  %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc0 = %zeros, %acc1 = %zeros) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
    %block = bufferization.to_tensor %x : memref<2x32xf32> to tensor<2x32xf32>
    %empty = tensor.empty() : tensor<2x32xf32>
    %s0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%acc0, %block : tensor<2x32xf32>, tensor<2x32xf32>) outs(%empty : tensor<2x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<2x32xf32>
    %s1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%acc1, %block : tensor<2x32xf32>, tensor<2x32xf32>) outs(%empty : tensor<2x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<2x32xf32>
    scf.yield %s0, %s1 : tensor<2x32xf32>, tensor<2x32xf32>
  }
  %r0 = linalg.reduce { arith.addf } ins(%t#0 : tensor<2x32xf32>) outs(%columns : tensor<32xf32>) dimensions = [0]
  %r1 = linalg.reduce { arith.addf } ins(%t#1 : tensor<2x32xf32>) outs(%ends : tensor<2xf32>) dimensions = [1]
  return %r0, %r1 : tensor<32xf32>, tensor<2xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Where a mask keeps the old value, the identity is combined with it; a product begins with 1.
// CHECK-LABEL: func.func @chosen
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[PRODUCT:.*]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<128xf32>
// CHECK: %[[ADDED:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[BLOCK:.*]], %[[ZEROS]] :
// CHECK: arith.select
// CHECK: linalg.reduce { arith.addf } ins(%[[ADDED]] :
// CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<128xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BLOCK]], %[[ONES]] :
// CHECK: linalg.reduce { arith.mulf }
func.func @chosen(%x: memref<128xf32>, %mask: tensor<128xi1>, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %ones = arith.constant dense<1.0> : tensor<128xf32>
  %zero = arith.constant dense<-0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %empty = tensor.empty() : tensor<128xf32>
  %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %product = %ones) -> (tensor<128xf32>, tensor<128xf32>) {
    %block = bufferization.to_tensor %x : memref<128xf32> to tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%sum, %block : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<128xf32>
    %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%block, %product : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.mulf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<128xf32>
    %ks = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%mask, %s, %sum : tensor<128xi1>, tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%m: i1, %a: f32, %b: f32, %o: f32):
      %v = arith.select %m, %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<128xf32>
    %kp = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%mask, %p, %product : tensor<128xi1>, tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%m: i1, %a: f32, %b: f32, %o: f32):
      %v = arith.select %m, %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<128xf32>
    scf.yield %ks, %kp : tensor<128xf32>, tensor<128xf32>
  }
  %r = linalg.reduce { arith.addf } ins(%t#0 : tensor<128xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %q = linalg.reduce { arith.mulf } ins(%t#1 : tensor<128xf32>) outs(%one : tensor<f32>) dimensions = [0]
  %e = tensor.extract %r[] : tensor<f32>
  %f = tensor.extract %q[] : tensor<f32>
  return %e, %f : f32, f32
}

// -----

#id = affine_map<(d0) -> (d0)>

// Where the mask keeps the new value, or the old one is used elsewhere, the block stays; so does a product that begins with 0.
// CHECK-LABEL: func.func @unchosen
// CHECK: scf.for {{.*}} -> (tensor<128xf32>, tensor<128xf32>)
func.func @unchosen(%x: memref<128xf32>, %mask: tensor<128xi1>, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %zero = arith.constant dense<-0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %empty = tensor.empty() : tensor<128xf32>
  %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %product = %zeros) -> (tensor<128xf32>, tensor<128xf32>) {
    %block = bufferization.to_tensor %x : memref<128xf32> to tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%sum, %block : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<128xf32>
    %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%block, %product : tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.mulf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<128xf32>
    %ks = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%mask, %sum, %s : tensor<128xi1>, tensor<128xf32>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
    ^bb0(%m: i1, %a: f32, %b: f32, %o: f32):
      %v = arith.select %m, %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<128xf32>
    scf.yield %ks, %p : tensor<128xf32>, tensor<128xf32>
  }
  %r = linalg.reduce { arith.addf } ins(%t#0 : tensor<128xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %q = linalg.reduce { arith.mulf } ins(%t#1 : tensor<128xf32>) outs(%one : tensor<f32>) dimensions = [0]
  %e = tensor.extract %r[] : tensor<f32>
  %f = tensor.extract %q[] : tensor<f32>
  return %e, %f : f32, f32
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Few elements along the last dimension are registers of one vector, so that the block stays; but not where what is read, here by arithmetic and a box, lies in memory along the first one.
// CHECK-LABEL: func.func @columns
// CHECK: scf.for {{.*}} -> (tensor<64xf32>, tensor<64x4xf32>)
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<64x4xf32>) outs(%{{.*}} : tensor<64xf32>) dimensions = [1]
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64x4xf32>
func.func @columns(%x: memref<?x4xf32, strided<[1, ?]>>, %y: memref<64x4xf32, strided<[?, 1]>>, %n: index, %high: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x4xf32>
  %init = arith.constant dense<-0.0> : tensor<64xf32>
  %empty = tensor.empty() : tensor<64x4xf32>
  %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %other = %zeros) -> (tensor<64x4xf32>, tensor<64x4xf32>) {
    %part = bufferization.to_tensor %x : memref<?x4xf32, strided<[1, ?]>> to tensor<?x4xf32>
    %block = tensor.pad %part low[0, 0] high[%high, 0] {
    ^bb0(%a: index, %b: index):
      tensor.yield %zero : f32
    } : tensor<?x4xf32> to tensor<64x4xf32>
    %rows = bufferization.to_tensor %y : memref<64x4xf32, strided<[?, 1]>> to tensor<64x4xf32>
    %square = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%block : tensor<64x4xf32>) outs(%empty : tensor<64x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.mulf %a, %a : f32
      linalg.yield %v : f32
    } -> tensor<64x4xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %square : tensor<64x4xf32>, tensor<64x4xf32>) outs(%empty : tensor<64x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<64x4xf32>
    %u = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%other, %rows : tensor<64x4xf32>, tensor<64x4xf32>) outs(%empty : tensor<64x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<64x4xf32>
    scf.yield %s, %u : tensor<64x4xf32>, tensor<64x4xf32>
  }
  %r = linalg.reduce { arith.addf } ins(%t#0 : tensor<64x4xf32>) outs(%init : tensor<64xf32>) dimensions = [1]
  %q = linalg.reduce { arith.addf } ins(%t#1 : tensor<64x4xf32>) outs(%init : tensor<64xf32>) dimensions = [1]
  return %r, %q : tensor<64xf32>, tensor<64xf32>
}
