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

// A mask that ends with the loop is true until the last iteration: what that one chooses from is carried, and chosen by
// the last one's mask behind the loop.
// CHECK-LABEL: func.func @ends
// CHECK-SAME: (%[[N:[a-z0-9]*]]: i32, %{{.*}}: i32, %[[ROW:[a-z0-9]*]]: i1)
// CHECK: %[[R:.*]]:4 = scf.for %[[I:.*]] = %[[FROM:.*]] to %[[N]] step %{{.*}} iter_args(%[[COUNT:[a-z0-9]*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %[[FROM]]) -> (f32, f32, f32, i32)
// CHECK: %[[NEXT:.*]] = arith.addf %[[COUNT]], %{{.*}} : f32
// CHECK: %[[CHOSEN:.*]] = arith.select %[[ROW]], %[[NEXT]], %[[COUNT]] : f32
// CHECK: scf.yield %[[CHOSEN]], %[[NEXT]], %[[COUNT]], %[[I]] : f32, f32, f32, i32
// CHECK: tensor.splat %[[R]]#3 : tensor<64xi32>
// CHECK: arith.cmpi slt
// CHECK-DAG: %[[THEN:.*]] = tensor.splat %[[R]]#1 : tensor<64xf32>
// CHECK-DAG: %[[ELSE:.*]] = tensor.splat %[[R]]#2 : tensor<64xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[THEN]], %[[ELSE]]
// CHECK: arith.select
func.func @ends(%n: i32, %other: i32, %row: i1) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %ei = tensor.empty() : tensor<64xi32>
  %eb = tensor.empty() : tensor<64xi1>
  %lanes = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%ei : tensor<64xi32>) {
  ^bb0(%o: i32):
    %at = linalg.index 0 : index
    %k = arith.index_cast %at : index to i32
    linalg.yield %k : i32
  } -> tensor<64xi32>
  %end = tensor.splat %n : tensor<64xi32>
  %rows = tensor.splat %row : tensor<64xi1>
  %r = scf.for %i = %c0 to %n step %step iter_args(%count = %zeros) -> (tensor<64xf32>) : i32 {
    %first = tensor.splat %i : tensor<64xi32>
    %places = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%first, %lanes : tensor<64xi32>, tensor<64xi32>) outs(%ei : tensor<64xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %s = arith.addi %a, %b : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    %inside = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%places, %end : tensor<64xi32>, tensor<64xi32>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i32, %b: i32, %o: i1):
      %s = arith.cmpi slt, %a, %b : i32
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%inside, %rows : tensor<64xi1>, tensor<64xi1>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i1, %b: i1, %o: i1):
      %s = arith.andi %a, %b : i1
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%count : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %chosen = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%mask, %next, %count : tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: i1, %b: f32, %c: f32, %o: f32):
      %s = arith.select %a, %b, %c : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %chosen : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// Blocks that overlap, another end, and a mask that is false until the last iteration.
// CHECK-LABEL: func.func @overlaps
// CHECK: scf.for {{.*}} -> (tensor<64xf32>)
func.func @overlaps(%n: i32, %other: i32, %row: i1) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 63 : i32
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %ei = tensor.empty() : tensor<64xi32>
  %eb = tensor.empty() : tensor<64xi1>
  %lanes = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%ei : tensor<64xi32>) {
  ^bb0(%o: i32):
    %at = linalg.index 0 : index
    %k = arith.index_cast %at : index to i32
    linalg.yield %k : i32
  } -> tensor<64xi32>
  %end = tensor.splat %n : tensor<64xi32>
  %rows = tensor.splat %row : tensor<64xi1>
  %r = scf.for %i = %c0 to %n step %step iter_args(%count = %zeros) -> (tensor<64xf32>) : i32 {
    %first = tensor.splat %i : tensor<64xi32>
    %places = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%first, %lanes : tensor<64xi32>, tensor<64xi32>) outs(%ei : tensor<64xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %s = arith.addi %a, %b : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    %inside = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%places, %end : tensor<64xi32>, tensor<64xi32>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i32, %b: i32, %o: i1):
      %s = arith.cmpi slt, %a, %b : i32
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%inside, %rows : tensor<64xi1>, tensor<64xi1>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i1, %b: i1, %o: i1):
      %s = arith.andi %a, %b : i1
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%count : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %chosen = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%mask, %next, %count : tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: i1, %b: f32, %c: f32, %o: f32):
      %s = arith.select %a, %b, %c : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %chosen : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @ends_before
// CHECK: scf.for {{.*}} -> (tensor<64xf32>)
func.func @ends_before(%n: i32, %other: i32, %row: i1) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %ei = tensor.empty() : tensor<64xi32>
  %eb = tensor.empty() : tensor<64xi1>
  %lanes = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%ei : tensor<64xi32>) {
  ^bb0(%o: i32):
    %at = linalg.index 0 : index
    %k = arith.index_cast %at : index to i32
    linalg.yield %k : i32
  } -> tensor<64xi32>
  %end = tensor.splat %other : tensor<64xi32>
  %rows = tensor.splat %row : tensor<64xi1>
  %r = scf.for %i = %c0 to %n step %step iter_args(%count = %zeros) -> (tensor<64xf32>) : i32 {
    %first = tensor.splat %i : tensor<64xi32>
    %places = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%first, %lanes : tensor<64xi32>, tensor<64xi32>) outs(%ei : tensor<64xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %s = arith.addi %a, %b : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    %inside = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%places, %end : tensor<64xi32>, tensor<64xi32>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i32, %b: i32, %o: i1):
      %s = arith.cmpi slt, %a, %b : i32
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%inside, %rows : tensor<64xi1>, tensor<64xi1>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i1, %b: i1, %o: i1):
      %s = arith.andi %a, %b : i1
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%count : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %chosen = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%mask, %next, %count : tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: i1, %b: f32, %c: f32, %o: f32):
      %s = arith.select %a, %b, %c : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %chosen : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @begins
// CHECK: scf.for {{.*}} -> (tensor<64xf32>)
func.func @begins(%n: i32, %other: i32, %row: i1) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %ei = tensor.empty() : tensor<64xi32>
  %eb = tensor.empty() : tensor<64xi1>
  %lanes = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%ei : tensor<64xi32>) {
  ^bb0(%o: i32):
    %at = linalg.index 0 : index
    %k = arith.index_cast %at : index to i32
    linalg.yield %k : i32
  } -> tensor<64xi32>
  %end = tensor.splat %n : tensor<64xi32>
  %rows = tensor.splat %row : tensor<64xi1>
  %r = scf.for %i = %c0 to %n step %step iter_args(%count = %zeros) -> (tensor<64xf32>) : i32 {
    %first = tensor.splat %i : tensor<64xi32>
    %places = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%first, %lanes : tensor<64xi32>, tensor<64xi32>) outs(%ei : tensor<64xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %s = arith.addi %a, %b : i32
      linalg.yield %s : i32
    } -> tensor<64xi32>
    %inside = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%places, %end : tensor<64xi32>, tensor<64xi32>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i32, %b: i32, %o: i1):
      %s = arith.cmpi sge, %a, %b : i32
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%inside, %rows : tensor<64xi1>, tensor<64xi1>) outs(%eb : tensor<64xi1>) {
    ^bb0(%a: i1, %b: i1, %o: i1):
      %s = arith.andi %a, %b : i1
      linalg.yield %s : i1
    } -> tensor<64xi1>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%count : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %chosen = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%mask, %next, %count : tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: i1, %b: f32, %c: f32, %o: f32):
      %s = arith.select %a, %b, %c : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.yield %chosen : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
