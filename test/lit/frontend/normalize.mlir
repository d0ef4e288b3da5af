// RUN: tilebridge-opt %s -tilebridge-normalize | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-normalize | tilebridge-opt -tilebridge-normalize | FileCheck %s

// CHECK-LABEL: tt.func @cache_hints
tt.func @cache_hints(%p: !tt.ptr<f32>, %d: !tt.tensordesc<8xf32>, %i: i32) {
  // CHECK: tt.load %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>}
  %0 = tt.load %p cacheModifier = cg evictionPolicy = evict_first : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>, isVolatile = true}
  %1 = tt.load %p evictionPolicy = evict_last {isVolatile = true} : !tt.ptr<f32>
  // CHECK: tt.store %{{.*}}, %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = wb, eviction_policy = evict_normal>}
  tt.store %p, %0 cacheModifier = wb : !tt.ptr<f32>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}] {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>}
  %2 = tt.descriptor_load %d[%i] cacheModifier = ca : !tt.tensordesc<8xf32> -> tensor<8xf32>
  tt.return
}

// CHECK-LABEL: tt.func @newer_hints
tt.func @newer_hints(%p: !tt.ptr<f32>) {
  // One that says nothing goes; one of another dialect stays.
  // CHECK: tt.load %{{[^ ]*}} : !tt.ptr<f32>
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_normal>} : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}} {cachePolicy = "fast"}
  %1 = tt.load %p {cachePolicy = "fast"} : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @barrier
tt.func @barrier(%c: i1) {
  scf.if %c {
    // CHECK: ttg.barrier all
    // CHECK-NOT: gpu.barrier
    gpu.barrier
  }
  tt.return
}

// CHECK-LABEL: tt.func @grid_dependency
tt.func @grid_dependency(%p: !tt.ptr<i32>) {
  // CHECK: tt.grid_dependency_wait
  %0 = tt.elementwise_inline_asm "griddepcontrol.wait; // dummy $0" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  // CHECK: tt.grid_dependency_launch_dependents
  %1 = tt.elementwise_inline_asm "griddepcontrol.launch_dependents; // dummy $0" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  // What is read, or is another instruction, stays.
  // CHECK: tt.elementwise_inline_asm "griddepcontrol.wait;"
  %2 = tt.elementwise_inline_asm "griddepcontrol.wait;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  // CHECK: tt.elementwise_inline_asm "mov.u32 $0, 1;"
  %3 = tt.elementwise_inline_asm "mov.u32 $0, 1;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  tt.store %p, %2 : !tt.ptr<i32>
  tt.return
}

// The sign of zero: `0 - x` is no arith.negf.
// CHECK-LABEL: tt.func @negation
tt.func @negation(%x: f32) -> f32 {
  // CHECK: arith.subf
  %zero = arith.constant 0.0 : f32
  %0 = arith.subf %zero, %x : f32
  tt.return %0 : f32
}

// CHECK-LABEL: tt.func @block_pointers
tt.func @block_pointers(%b: !tt.ptr<tensor<8xf32>>, %i: i32) {
  // CHECK: tt.advance
  %0 = tt.advance %b, [%i] : <tensor<8xf32>>
  // CHECK: tt.load %{{.*}} {boundaryCheck = array<i32: 0>, padding = 1 : i32}
  %1 = tt.load %0 {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// Names of 3.6; two of them would become one.
// CHECK-LABEL: tt.func public @"kernel (x)"
tt.func public @"kernel (x)"() {
  // CHECK: tt.call @m.f___1__cconstexpr_3_()
  tt.call @"m.f__(1,)cconstexpr_3_"() : () -> ()
  // CHECK: tt.call @m.f___1__cconstexpr_3__0()
  tt.call @"m.f__[1,]cconstexpr_3_"() : () -> ()
  tt.return
}
// CHECK: tt.func private @m.f___1__cconstexpr_3_()
tt.func private @"m.f__(1,)cconstexpr_3_"() attributes {noinline = true} {
  tt.return
}
// CHECK: tt.func private @m.f___1__cconstexpr_3__0()
tt.func private @"m.f__[1,]cconstexpr_3_"() attributes {noinline = true} {
  tt.return
}

// Arithmetic of single bits is logic; true is 1 without a sign, and -1 with one.
// CHECK-LABEL: tt.func @bits
// CHECK-SAME: (%[[A:.*]]: tensor<8xi1>, %[[B:.*]]: tensor<8xi1>, %[[C:.*]]: i1, %{{.*}}: tensor<8xi8>)
tt.func @bits(%a: tensor<8xi1>, %b: tensor<8xi1>, %c: i1, %i: tensor<8xi8>) {
  // CHECK-NEXT: arith.andi %[[A]], %[[B]]
  %0 = arith.muli %a, %b : tensor<8xi1>
  // CHECK-NEXT: arith.andi %[[A]], %[[B]]
  %1 = arith.minui %a, %b : tensor<8xi1>
  // CHECK-NEXT: arith.andi %[[A]], %[[B]]
  %2 = arith.maxsi %a, %b : tensor<8xi1>
  // CHECK-NEXT: arith.ori %[[A]], %[[B]]
  %3 = arith.maxui %a, %b : tensor<8xi1>
  // CHECK-NEXT: arith.ori %[[A]], %[[B]]
  %4 = arith.minsi %a, %b : tensor<8xi1>
  // CHECK-NEXT: arith.xori %[[A]], %[[B]]
  %5 = arith.addi %a, %b : tensor<8xi1>
  // CHECK-NEXT: arith.xori %[[A]], %[[B]]
  %6 = arith.subi %a, %b : tensor<8xi1>
  %no = arith.constant dense<false> : tensor<8xi1>
  %yes = arith.constant dense<true> : tensor<8xi1>
  // CHECK: arith.andi %[[A]], %[[B]]
  %7 = arith.select %a, %b, %no : tensor<8xi1>, tensor<8xi1>
  // CHECK-NEXT: arith.ori %[[A]], %[[B]]
  %8 = arith.select %a, %yes, %b : tensor<8xi1>, tensor<8xi1>
  // Whole blocks that one bit chooses, and wider numbers, stay.
  // CHECK-NEXT: arith.select %[[C]], %[[A]]
  %9 = arith.select %c, %a, %no : tensor<8xi1>
  // CHECK-NEXT: arith.muli %{{.*}} : tensor<8xi8>
  %10 = arith.muli %i, %i : tensor<8xi8>
  // CHECK-NEXT: arith.andi %[[C]], %[[C]] : i1
  %11 = arith.muli %c, %c : i1
  tt.return
}

// Numbers that bits choose, compared with a number, are the bits, or their opposite.
// CHECK-LABEL: tt.func @chosen_numbers
// CHECK-SAME: (%[[BITS:.*]]: tensor<8xi1>, %[[BIT:.*]]: i1, %{{.*}}: tensor<8xi32>)
tt.func @chosen_numbers(%bits: tensor<8xi1>, %bit: i1, %i: tensor<8xi32>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, i1) {
  %zero = arith.constant dense<0> : tensor<8xi32>
  %one = arith.constant dense<1> : tensor<8xi32>
  %five = arith.constant dense<-5> : tensor<8xi32>
  %n = arith.constant 0 : i32
  %m = arith.constant 7 : i32
  %0 = arith.select %bits, %one, %zero : tensor<8xi1>, tensor<8xi32>
  %1 = arith.cmpi ne, %0, %zero : tensor<8xi32>
  // CHECK: %[[NOT:.*]] = arith.xori %[[BITS]], %{{.*}} : tensor<8xi1>
  %2 = arith.cmpi eq, %0, %zero : tensor<8xi32>
  // Signed: -5 is less; without a sign it is not.
  %3 = arith.select %bits, %five, %one : tensor<8xi1>, tensor<8xi32>
  %4 = arith.cmpi slt, %3, %zero : tensor<8xi32>
  // CHECK: %[[NONE:.*]] = arith.constant dense<false> : tensor<8xi1>
  %5 = arith.cmpi ult, %3, %zero : tensor<8xi32>
  %6 = arith.select %bit, %m, %n : i32
  %7 = arith.cmpi ne, %6, %n : i32
  // CHECK: tt.return %[[BITS]], %[[NOT]], %[[BITS]], %[[NONE]], %[[BIT]]
  tt.return %1, %2, %4, %5, %7 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, i1
}

// A number that is none of two constants, and one bit for a whole block, stay.
// CHECK-LABEL: tt.func @chosen_otherwise
tt.func @chosen_otherwise(%bits: tensor<8xi1>, %bit: i1, %i: tensor<8xi32>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %zero = arith.constant dense<0> : tensor<8xi32>
  %one = arith.constant dense<1> : tensor<8xi32>
  %steps = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %0 = arith.select %bits, %i, %zero : tensor<8xi1>, tensor<8xi32>
  // CHECK: %[[FIRST:.*]] = arith.cmpi ne
  %1 = arith.cmpi ne, %0, %zero : tensor<8xi32>
  %2 = arith.select %bit, %one, %zero : tensor<8xi32>
  // CHECK: %[[SECOND:.*]] = arith.cmpi ne
  %3 = arith.cmpi ne, %2, %zero : tensor<8xi32>
  %4 = arith.select %bits, %steps, %zero : tensor<8xi1>, tensor<8xi32>
  // CHECK: %[[THIRD:.*]] = arith.cmpi ne
  %5 = arith.cmpi ne, %4, %zero : tensor<8xi32>
  // CHECK: tt.return %[[FIRST]], %[[SECOND]], %[[THIRD]]
  tt.return %1, %3, %5 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}
