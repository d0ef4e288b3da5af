// RUN: tilebridge-opt %s -tilebridge-cpu-count-matches -canonicalize | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<128xi32>, %[[MASK:[a-z0-9]*]]: tensor<128xi1>
// CHECK-NEXT: %[[COUNTS:.*]] = linalg_ext.histogram %[[X]], %[[MASK]] : tensor<128xi32>, tensor<128xi1> -> tensor<64xi32>
// CHECK-NEXT: return %[[COUNTS]]
func.func @columns(%x: tensor<128xi32>, %mask: tensor<128xi1>) -> tensor<64xi32> {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %e1 = tensor.empty() : tensor<64xi32>
  %e = tensor.empty() : tensor<128x64xi32>
  %eb = tensor.empty() : tensor<128x64xi1>
  %numbers = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e1 : tensor<64xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    linalg.yield %n : i32
  } -> tensor<64xi32>
  %a = linalg.broadcast ins(%x : tensor<128xi32>) outs(%e : tensor<128x64xi32>) dimensions = [1]
  %b = linalg.broadcast ins(%numbers : tensor<64xi32>) outs(%e : tensor<128x64xi32>) dimensions = [0]
  %m = linalg.broadcast ins(%mask : tensor<128xi1>) outs(%eb : tensor<128x64xi1>) dimensions = [1]
  %is = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<128x64xi32>, tensor<128x64xi32>) outs(%eb : tensor<128x64xi1>) {
  ^bb0(%p: i32, %q: i32, %out: i1):
    %c = arith.cmpi eq, %p, %q : i32
    linalg.yield %c : i1
  } -> tensor<128x64xi1>
  %both = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%is, %m : tensor<128x64xi1>, tensor<128x64xi1>) outs(%eb : tensor<128x64xi1>) {
  ^bb0(%p: i1, %q: i1, %out: i1):
    %c = arith.andi %p, %q : i1
    linalg.yield %c : i1
  } -> tensor<128x64xi1>
  %each = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%both : tensor<128x64xi1>) outs(%e : tensor<128x64xi32>) {
  ^bb0(%p: i1, %out: i32):
    %c = arith.extui %p : i1 to i32
    linalg.yield %c : i32
  } -> tensor<128x64xi32>
  %counts = linalg.reduce { arith.addi } ins(%each : tensor<128x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
  return %counts : tensor<64xi32>
}

// Numbers along the other dimension, that begin at 7; sums of floats.
// CHECK-LABEL: func.func @rows
// CHECK: arith.subi %{{.*}}, %c7_i32 : i32
// CHECK: %[[N:.*]] = linalg_ext.histogram %{{.*}} : tensor<128xi32> -> tensor<64xi32>
// CHECK: ins(%[[N]] : tensor<64xi32>)
// CHECK: arith.sitofp
func.func @rows(%x: tensor<128xi32>) -> tensor<64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %e1 = tensor.empty() : tensor<64xi32>
  %e = tensor.empty() : tensor<64x128xi32>
  %ef = tensor.empty() : tensor<64x128xf32>
  %eb = tensor.empty() : tensor<64x128xi1>
  %c7 = arith.constant 7 : i32
  %numbers = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e1 : tensor<64xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.addi %n, %c7 : i32
    linalg.yield %s : i32
  } -> tensor<64xi32>
  %a = linalg.broadcast ins(%x : tensor<128xi32>) outs(%e : tensor<64x128xi32>) dimensions = [0]
  %b = linalg.broadcast ins(%numbers : tensor<64xi32>) outs(%e : tensor<64x128xi32>) dimensions = [1]
  %is = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %a : tensor<64x128xi32>, tensor<64x128xi32>) outs(%eb : tensor<64x128xi1>) {
  ^bb0(%p: i32, %q: i32, %out: i1):
    %c = arith.cmpi eq, %p, %q : i32
    linalg.yield %c : i1
  } -> tensor<64x128xi1>
  %each = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%is : tensor<64x128xi1>) outs(%ef : tensor<64x128xf32>) {
  ^bb0(%p: i1, %out: f32):
    %c = arith.uitofp %p : i1 to f32
    linalg.yield %c : f32
  } -> tensor<64x128xf32>
  %counts = linalg.reduce { arith.addf } ins(%each : tensor<64x128xf32>) outs(%zero : tensor<64xf32>) dimensions = [1]
  return %counts : tensor<64xf32>
}

// Another comparison, a sum along the numbers, and a table of numbers are left alone.
// CHECK-LABEL: func.func @others
// CHECK-NOT: histogram
func.func @others(%x: tensor<128xi32>, %table: tensor<64xi32>) -> (tensor<64xi32>, tensor<128xi32>, tensor<64xi32>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %zeros = arith.constant dense<0> : tensor<128xi32>
  %e1 = tensor.empty() : tensor<64xi32>
  %e = tensor.empty() : tensor<128x64xi32>
  %eb = tensor.empty() : tensor<128x64xi1>
  %numbers = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e1 : tensor<64xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    linalg.yield %n : i32
  } -> tensor<64xi32>
  %a = linalg.broadcast ins(%x : tensor<128xi32>) outs(%e : tensor<128x64xi32>) dimensions = [1]
  %b = linalg.broadcast ins(%numbers : tensor<64xi32>) outs(%e : tensor<128x64xi32>) dimensions = [0]
  %t = linalg.broadcast ins(%table : tensor<64xi32>) outs(%e : tensor<128x64xi32>) dimensions = [0]
  %below = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<128x64xi32>, tensor<128x64xi32>) outs(%eb : tensor<128x64xi1>) {
  ^bb0(%p: i32, %q: i32, %out: i1):
    %c = arith.cmpi slt, %p, %q : i32
    linalg.yield %c : i1
  } -> tensor<128x64xi1>
  %less = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%below : tensor<128x64xi1>) outs(%e : tensor<128x64xi32>) {
  ^bb0(%p: i1, %out: i32):
    %o = arith.extui %p : i1 to i32
    linalg.yield %o : i32
  } -> tensor<128x64xi32>
  %is = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<128x64xi32>, tensor<128x64xi32>) outs(%eb : tensor<128x64xi1>) {
  ^bb0(%p: i32, %q: i32, %out: i1):
    %c = arith.cmpi eq, %p, %q : i32
    linalg.yield %c : i1
  } -> tensor<128x64xi1>
  %each = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%is : tensor<128x64xi1>) outs(%e : tensor<128x64xi32>) {
  ^bb0(%p: i1, %out: i32):
    %o = arith.extui %p : i1 to i32
    linalg.yield %o : i32
  } -> tensor<128x64xi32>
  %in = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %t : tensor<128x64xi32>, tensor<128x64xi32>) outs(%eb : tensor<128x64xi1>) {
  ^bb0(%p: i32, %q: i32, %out: i1):
    %c = arith.cmpi eq, %p, %q : i32
    linalg.yield %c : i1
  } -> tensor<128x64xi1>
  %found = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<128x64xi1>) outs(%e : tensor<128x64xi32>) {
  ^bb0(%p: i1, %out: i32):
    %o = arith.extui %p : i1 to i32
    linalg.yield %o : i32
  } -> tensor<128x64xi32>
  %0 = linalg.reduce { arith.addi } ins(%less : tensor<128x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
  %1 = linalg.reduce { arith.addi } ins(%each : tensor<128x64xi32>) outs(%zeros : tensor<128xi32>) dimensions = [1]
  %2 = linalg.reduce { arith.addi } ins(%found : tensor<128x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
  return %0, %1, %2 : tensor<64xi32>, tensor<128xi32>, tensor<64xi32>
}

// Few numbers are compared as quickly.
// CHECK-LABEL: func.func @few
// CHECK-NOT: histogram
func.func @few(%x: tensor<128xi32>) -> tensor<8xi32> {
  %zero = arith.constant dense<0> : tensor<8xi32>
  %e1 = tensor.empty() : tensor<8xi32>
  %e = tensor.empty() : tensor<128x8xi32>
  %eb = tensor.empty() : tensor<128x8xi1>
  %numbers = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e1 : tensor<8xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    linalg.yield %n : i32
  } -> tensor<8xi32>
  %a = linalg.broadcast ins(%x : tensor<128xi32>) outs(%e : tensor<128x8xi32>) dimensions = [1]
  %b = linalg.broadcast ins(%numbers : tensor<8xi32>) outs(%e : tensor<128x8xi32>) dimensions = [0]
  %is = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<128x8xi32>, tensor<128x8xi32>) outs(%eb : tensor<128x8xi1>) {
  ^bb0(%p: i32, %q: i32, %out: i1):
    %c = arith.cmpi eq, %p, %q : i32
    linalg.yield %c : i1
  } -> tensor<128x8xi1>
  %each = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%is : tensor<128x8xi1>) outs(%e : tensor<128x8xi32>) {
  ^bb0(%p: i1, %out: i32):
    %o = arith.extui %p : i1 to i32
    linalg.yield %o : i32
  } -> tensor<128x8xi32>
  %0 = linalg.reduce { arith.addi } ins(%each : tensor<128x8xi32>) outs(%zero : tensor<8xi32>) dimensions = [0]
  return %0 : tensor<8xi32>
}
