// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-speculate-branches | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file \
// RUN:   --pass-pipeline="builtin.module(func.func(tilebridge-cpu-speculate-branches),canonicalize,tilebridge-spread-selects)" \
// RUN:   | FileCheck %s --check-prefix=SELECT

#id = affine_map<(d0) -> (d0)>

// The branch only chooses; then each element does.
// CHECK-LABEL: func.func @first_iteration
// CHECK: %[[NEXT:.*]] = linalg.generic
// CHECK: scf.if %{{.*}} -> (tensor<64xf32>) {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[NEXT]]
// SELECT-LABEL: func.func @first_iteration
// SELECT-NOT: scf.if
// SELECT: arith.select
func.func @first_iteration(%first: i1, %x: tensor<64xf32>, %old: tensor<64xf32>) -> tensor<64xf32> {
  %mean = scf.if %first -> (tensor<64xf32>) {
    scf.yield %x : tensor<64xf32>
  } else {
    %empty = tensor.empty() : tensor<64xf32>
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%old, %x : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.divf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  return %mean : tensor<64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// The inner branch first, then the outer one.
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-2: linalg.generic
// CHECK: %[[INNER:.*]] = scf.if
// CHECK: scf.if
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[INNER]]
// SELECT-LABEL: func.func @nested
// SELECT-NOT: scf.if
// SELECT-COUNT-2: arith.select
func.func @nested(%c: i1, %d: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = scf.if %c -> (tensor<64xf32>) {
    scf.yield %x : tensor<64xf32>
  } else {
    %q = scf.if %d -> (tensor<64xf32>) {
      %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
      ^bb0(%a: f32, %o: f32):
        %n = arith.negf %a : f32
        linalg.yield %n : f32
      } -> tensor<64xf32>
      scf.yield %s : tensor<64xf32>
    } else {
      %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
      ^bb0(%a: f32, %o: f32):
        %n = arith.addf %a, %a : f32
        linalg.yield %n : f32
      } -> tensor<64xf32>
      scf.yield %s : tensor<64xf32>
    }
    scf.yield %q : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A division by zero must not happen.
// CHECK-LABEL: func.func @may_fail
// CHECK: scf.if
// CHECK: linalg.generic
func.func @may_fail(%c: i1, %x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi32> {
  %r = scf.if %c -> (tensor<64xi32>) {
    %empty = tensor.empty() : tensor<64xi32>
    %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%x, %y : tensor<64xi32>, tensor<64xi32>) outs(%empty : tensor<64xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %s = arith.divsi %a, %b : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    scf.yield %q : tensor<64xi32>
  } else {
    scf.yield %x : tensor<64xi32>
  }
  return %r : tensor<64xi32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Two functions for each element are worth a branch.
// CHECK-LABEL: func.func @costly
// CHECK: scf.if
// CHECK: linalg.generic
func.func @costly(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.if %c -> (tensor<64xf32>) {
    %empty = tensor.empty() : tensor<64xf32>
    %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      %t = math.exp %s : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    scf.yield %q : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----

// Memory that only the branch may read, and scalars, which cost nothing where they are.
// CHECK-LABEL: func.func @read
// CHECK: scf.if
// CHECK: bufferization.to_tensor
// CHECK: scf.if
// CHECK-NEXT: arith.addi
func.func @read(%c: i1, %m: memref<64xf32>, %x: tensor<64xf32>, %i: i32) -> (tensor<64xf32>, i32) {
  %r = scf.if %c -> (tensor<64xf32>) {
    %q = bufferization.to_tensor %m : memref<64xf32> to tensor<64xf32>
    scf.yield %q : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  %s = scf.if %c -> (i32) {
    %q = arith.addi %i, %i : i32
    scf.yield %q : i32
  } else {
    scf.yield %i : i32
  }
  return %r, %s : tensor<64xf32>, i32
}
