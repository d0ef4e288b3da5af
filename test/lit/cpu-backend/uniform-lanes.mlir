// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-uniform-lanes --canonicalize | FileCheck %s

// The count and what is computed from it are numbers; a choice by such a number has one condition.
// CHECK-LABEL: func.func @mean
// CHECK-SAME: %[[X:[a-z0-9]+]]: vector<16xf32>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[MEAN:.*]] = %[[X]], %[[COUNT:.*]] = %{{.*}}) -> (vector<16xf32>, f32)
// CHECK: %[[NEXT:.*]] = arith.addf %[[COUNT]], %{{.*}} : f32
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[NEXT]], %{{.*}} : f32
// CHECK: %[[DIV:.*]] = arith.divf %{{.*}}, %[[NEXT]] : f32
// CHECK: %[[SHARE:.*]] = arith.select %[[NONE]], %{{.*}}, %[[DIV]] : f32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[SHARE]] : f32 to vector<16xf32>
// CHECK: %[[STEP:.*]] = arith.mulf %[[MEAN]], %[[ALL]] : vector<16xf32>
// CHECK: scf.yield %[[STEP]], %[[NEXT]] : vector<16xf32>, f32
// CHECK: %[[LAST:.*]] = vector.broadcast %[[R]]#1 : f32 to vector<16xf32>
// CHECK: return %[[R]]#0, %[[LAST]]
func.func @mean(%x: vector<16xf32>, %n: index) -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %number = arith.constant 1.0 : f32
  %one = vector.broadcast %number : f32 to vector<16xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%mean = %x, %count = %one) -> (vector<16xf32>, vector<16xf32>) {
    %next = arith.addf %count, %one : vector<16xf32>
    %none = arith.cmpf oeq, %next, %zero : vector<16xf32>
    %div = arith.divf %one, %next : vector<16xf32>
    %share = arith.select %none, %zero, %div : vector<16xi1>, vector<16xf32>
    %step = arith.mulf %mean, %share : vector<16xf32>
    scf.yield %step, %next : vector<16xf32>, vector<16xf32>
  }
  return %r#0, %r#1 : vector<16xf32>, vector<16xf32>
}

// -----

// Two that depend on each other; one that another number is put into.
// CHECK-LABEL: func.func @several
// CHECK: scf.for {{.*}} -> (vector<8xi32>, i32, i32)
func.func @several(%x: vector<8xi32>, %n: index) -> (vector<8xi32>, vector<8xi32>, vector<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : vector<8xi32>
  %one = arith.constant dense<1> : vector<8xi32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero, %c = %one) -> (vector<8xi32>, vector<8xi32>, vector<8xi32>) {
    %at = arith.index_cast %i : index to i32
    %all = vector.broadcast %at : i32 to vector<8xi32>
    %0 = arith.addi %a, %x : vector<8xi32>
    %1 = arith.addi %c, %all : vector<8xi32>
    %2 = arith.muli %b, %one : vector<8xi32>
    scf.yield %0, %1, %2 : vector<8xi32>, vector<8xi32>, vector<8xi32>
  }
  return %r#0, %r#1, %r#2 : vector<8xi32>, vector<8xi32>, vector<8xi32>
}

// -----

// One that depends on one that is not uniform is not either.
// CHECK-LABEL: func.func @others
// CHECK: scf.for {{.*}} -> (vector<8xi32>, vector<8xi32>)
func.func @others(%x: vector<8xi32>, %n: index) -> (vector<8xi32>, vector<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : vector<8xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (vector<8xi32>, vector<8xi32>) {
    %0 = arith.addi %b, %x : vector<8xi32>
    %1 = arith.addi %a, %b : vector<8xi32>
    scf.yield %0, %1 : vector<8xi32>, vector<8xi32>
  }
  return %r#0, %r#1 : vector<8xi32>, vector<8xi32>
}
