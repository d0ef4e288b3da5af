// RUN: tilebridge-opt %s --tilebridge-chosen-factors | FileCheck %s

// CHECK-LABEL: func.func @kept
// CHECK: %[[A:.*]] = arith.cmpi sle
// CHECK: %[[Y:.*]] = arith.select %[[A]], %arg1, %arg0 : tensor<64xi1>, tensor<64xi32>
// CHECK: return %[[Y]]
func.func @kept(%x: tensor<64xi32>, %last: tensor<64xi32>) -> tensor<64xi32> {
  %a = arith.cmpi sle, %last, %x : tensor<64xi32>
  %b = arith.cmpi slt, %x, %last : tensor<64xi32>
  %p = arith.extui %a : tensor<64xi1> to tensor<64xi32>
  %q = arith.extui %b : tensor<64xi1> to tensor<64xi32>
  %l = arith.muli %last, %p : tensor<64xi32>
  %m = arith.muli %q, %x : tensor<64xi32>
  %y = arith.addi %l, %m : tensor<64xi32>
  return %y : tensor<64xi32>
}

// The same comparison turned around in its operands, of scalars; one factor alone.
// CHECK-LABEL: func.func @others
// CHECK: %[[ONE:.*]] = arith.select %{{.*}}, %arg0, %{{.*}} : i32
// CHECK: %[[TWO:.*]] = arith.select %{{.*}}, %arg0, %arg1 : i32
// CHECK: return %[[ONE]], %[[TWO]]
func.func @others(%x: i32, %y: i32) -> (i32, i32) {
  %a = arith.cmpi ult, %x, %y : i32
  %b = arith.cmpi uge, %x, %y : i32
  %p = arith.extui %a : i1 to i32
  %q = arith.extui %b : i1 to i32
  %one = arith.muli %x, %p : i32
  %two = arith.muli %y, %q : i32
  %sum = arith.addi %one, %two : i32
  return %one, %sum : i32, i32
}

// Conditions that may both hold, or none; a product of conditions; a number of more bits than one.
// CHECK-LABEL: func.func @left_alone
// CHECK-DAG: arith.addi
// CHECK-DAG: arith.muli %{{.*}}, %{{.*}} : i32
// CHECK-DAG: arith.muli %{{.*}}, %arg0 : i32
// CHECK: return
func.func @left_alone(%x: i32, %y: i32, %s: i8) -> (i32, i32, i32) {
  %a = arith.cmpi sle, %x, %y : i32
  %b = arith.cmpi sge, %x, %y : i32
  %p = arith.extui %a : i1 to i32
  %q = arith.extui %b : i1 to i32
  %one = arith.muli %x, %p : i32
  %two = arith.muli %y, %q : i32
  %sum = arith.addi %one, %two : i32
  %both = arith.muli %p, %q : i32
  %w = arith.extui %s : i8 to i32
  %wide = arith.muli %w, %x : i32
  return %sum, %both, %wide : i32, i32, i32
}
