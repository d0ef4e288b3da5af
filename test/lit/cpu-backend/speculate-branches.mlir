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

// -----

// A float is rounded to few bits: branches on data, which are guessed wrong.
// SELECT-LABEL: func.func @chain
// SELECT-NOT: scf.if
// SELECT-COUNT-3: arith.select
// SELECT-NOT: scf.if
// SELECT: return
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-3: arith.cmpf
// CHECK-COUNT-3: scf.if
func.func @chain(%x: f32, %a: f32, %b: f32, %i: i32, %j: i32) -> i32 {
  %0 = arith.cmpf ogt, %x, %a : f32
  %r = scf.if %0 -> (i32) {
    scf.yield %i : i32
  } else {
    %1 = arith.cmpf ogt, %x, %b : f32
    %s = scf.if %1 -> (i32) {
      %k = arith.addi %i, %j : i32
      scf.yield %k : i32
    } else {
      %n = arith.negf %x : f32
      %2 = arith.cmpf ogt, %n, %b : f32
      %t = scf.if %2 -> (i32) {
        scf.yield %j : i32
      } else {
        %l = arith.shli %i, %j : i32
        scf.yield %l : i32
      }
      scf.yield %t : i32
    }
    scf.yield %s : i32
  }
  return %r : i32
}

// -----

// Several scalars, of which one is a float.
// SELECT-LABEL: func.func @search
// SELECT-NOT: scf.if
// SELECT: return
func.func @search(%x: f64, %v: f64, %low: f64, %i: index, %j: index) -> (f64, index) {
  %c = arith.cmpf olt, %x, %v : f64
  %r:2 = scf.if %c -> (f64, index) {
    %k = arith.addi %i, %j : index
    scf.yield %v, %k : f64, index
  } else {
    %k = arith.subi %i, %j : index
    scf.yield %low, %k : f64, index
  }
  return %r#0, %r#1 : f64, index
}

// -----

// Divisions, memory that only the branch may read or writes, and a branch on integers.
// CHECK-LABEL: func.func @kept
// CHECK: scf.if
// CHECK-NEXT: arith.divf
// CHECK: scf.if
// CHECK-NEXT: arith.remsi
// CHECK: scf.if
// CHECK-NEXT: memref.load
// CHECK: scf.if
// CHECK-NEXT: memref.store
// CHECK: scf.if
// CHECK-NEXT: arith.addi
func.func @kept(%x: f32, %y: f32, %p: i32, %q: i32, %m: memref<4xf32>, %at: index) -> (f32, i32, f32, f32, i32) {
  %c = arith.cmpf ogt, %x, %y : f32
  %0 = scf.if %c -> (f32) {
    %d = arith.divf %x, %y : f32
    scf.yield %d : f32
  } else {
    scf.yield %x : f32
  }
  %1 = scf.if %c -> (i32) {
    %d = arith.remsi %p, %q : i32
    scf.yield %d : i32
  } else {
    scf.yield %p : i32
  }
  %2 = scf.if %c -> (f32) {
    %d = memref.load %m[%at] : memref<4xf32>
    scf.yield %d : f32
  } else {
    scf.yield %x : f32
  }
  %3 = scf.if %c -> (f32) {
    memref.store %x, %m[%at] : memref<4xf32>
    scf.yield %y : f32
  } else {
    scf.yield %x : f32
  }
  %e = arith.cmpi eq, %p, %q : i32
  %4 = scf.if %e -> (i32) {
    %d = arith.addi %p, %q : i32
    scf.yield %d : i32
  } else {
    scf.yield %p : i32
  }
  return %0, %1, %2, %3, %4 : f32, i32, f32, f32, i32
}
