// RUN: tilebridge-opt %s -tilebridge-cpu-uniform-carried -canonicalize | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// How many elements each lane has seen: one number, which a branch may begin anew.
// CHECK-LABEL: func.func @count
// CHECK-SAME: (%[[N:[a-z0-9]*]]: index, %[[B:[a-z0-9]*]]: i1, %[[X:[a-z0-9]*]]: tensor<64xf32>)
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (tensor<64xf32>, f32)
// CHECK: %[[NEXT:.*]] = arith.addf %[[COUNT]], %{{.*}} : f32
// CHECK: %[[CHOSEN:.*]] = arith.select %[[B]], %{{.*}}, %[[NEXT]] : f32
// CHECK: scf.yield %{{.*}}, %[[CHOSEN]] : tensor<64xf32>, f32
// CHECK: %[[S:.*]] = tensor.splat %[[R]]#1 : tensor<64xf32>
// CHECK: return %[[R]]#0, %[[S]]
func.func @count(%n: index, %b: i1, %x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %ones = arith.constant dense<1.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %count = %zeros) -> (tensor<64xf32>, tensor<64xf32>) {
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%count : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %chosen = scf.if %b -> (tensor<64xf32>) {
      scf.yield %ones : tensor<64xf32>
    } else {
      scf.yield %next : tensor<64xf32>
    }
    %quotient = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%x, %chosen, %sum : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
      %q = arith.divf %a, %c : f32
      %s = arith.addf %d, %q : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %quotient, %chosen : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// Two that depend on each other, of which one is of its index, stay as they are; so does what begins with different elements.
// CHECK-LABEL: func.func @of_indices
// CHECK: scf.for {{.*}} -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>)
// CHECK-NOT: tensor.splat
func.func @of_indices(%n: index, %x: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0> : tensor<64xi32>
  %e = tensor.empty() : tensor<64xi32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zeros, %b = %zeros, %c = %x) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<64xi32>) outs(%e : tensor<64xi32>) {
    ^bb0(%v: i32, %o: i32):
      %at = linalg.index 0 : index
      %k = arith.index_cast %at : index to i32
      %s = arith.addi %v, %k : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    %other = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<64xi32>) outs(%e : tensor<64xi32>) {
    ^bb0(%v: i32, %o: i32):
      %s = arith.addi %v, %v : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    %same = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<64xi32>) outs(%e : tensor<64xi32>) {
    ^bb0(%v: i32, %o: i32):
      %s = arith.addi %v, %v : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    scf.yield %next, %other, %same : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>
  }
  return %r#0, %r#1, %r#2 : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>
}
