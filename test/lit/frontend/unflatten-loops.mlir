// RUN: tilebridge-opt %s -split-input-file -allow-unregistered-dialect -tilebridge-unflatten-loops -canonicalize | FileCheck %s

// The counter of Triton's persistent matmul: -1 before the loop.
// CHECK-LABEL: tt.func public @counter(
// CHECK-SAME: !tt.ptr<f32>, %[[STEPS:[a-z0-9]+]]: i32, %[[TILES:[a-z0-9]+]]: i32, %[[T0:[a-z0-9]+]]: i32
tt.func public @counter(%p: !tt.ptr<f32>, %steps: i32, %tiles: i32, %t0: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %before = arith.constant -1 : i32
  %none = arith.constant 0.0 : f32
  %all = arith.muli %steps, %tiles : i32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[STEPS]], %[[ZERO]]
  // CHECK: %[[COUNT:.*]] = arith.select %[[SOME]], %[[TILES]], %[[ZERO]]
  // CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[COUNT]] step %[[ONE]] iter_args(%[[T:[a-z0-9]+]] = %[[T0]]) -> (i32)
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[T]], %[[ONE]]
  // CHECK-NEXT: %[[SUM:.*]] = scf.for %[[K:[a-z0-9]+]] = %[[ZERO]] to %[[STEPS]] step %[[ONE]] iter_args(%[[ACC:[a-z0-9]+]] = %[[NONE]]) -> (f32)
  // CHECK-NEXT: %[[X:.*]] = "test.step"(%[[NEXT]], %[[K]], %[[ACC]])
  // CHECK-NEXT: scf.yield %[[X]]
  // CHECK: "test.store"(%[[NEXT]], %[[SUM]])
  // CHECK-NEXT: scf.yield %[[NEXT]]
  %r:3 = scf.for %i = %zero to %all step %one iter_args(%c = %before, %t = %t0, %acc = %none) -> (i32, i32, f32) : i32 {
    %last = arith.subi %steps, %one : i32
    %ends = arith.cmpi eq, %c, %last : i32
    %more = arith.addi %c, %one : i32
    %k = arith.select %ends, %zero, %more : i32
    %begins = arith.cmpi eq, %k, %zero : i32
    %tile = scf.if %begins -> (i32) {
      %next = arith.addi %t, %one : i32
      scf.yield %next : i32
    } else {
      scf.yield %t : i32
    }
    %x = "test.step"(%tile, %k, %acc) : (i32, i32, f32) -> f32
    %done = arith.cmpi eq, %k, %last : i32
    %sum = arith.select %done, %none, %x : f32
    scf.if %done {
      "test.store"(%tile, %x) : (i32, f32) -> ()
    }
    scf.yield %k, %tile, %sum : i32, i32, f32
  }
  tt.return
}

// -----

// It counts at the end, steps are a constant, the accumulator is cleared by the
// first step, and the last one counts tiles for itself.
// CHECK-LABEL: tt.func public @counts_behind(
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: scf.for %[[O:[a-z0-9]+]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[T:[a-z0-9]+]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, f32)
// CHECK: %[[SUM:.*]] = scf.for %[[K:[a-z0-9]+]] = %{{.*}} to %[[EIGHT]] step %{{.*}} iter_args(%[[ACC:[a-z0-9]+]] = %[[NONE]]) -> (f32)
// CHECK: %[[BASE:.*]] = arith.muli %[[O]], %[[EIGHT]]
// CHECK: %[[I:.*]] = arith.addi %[[BASE]], %[[K]]
// CHECK: "test.step"(%[[I]], %[[K]], %[[ACC]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[T]]
// CHECK: "test.store"(%[[NEXT]], %[[SUM]], %[[SEVEN]])
// CHECK: scf.yield %[[NEXT]], %[[SUM]]
tt.func public @counts_behind(%tiles: i32, %t0: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %seven = arith.constant 7 : i32
  %eight = arith.constant 8 : i32
  %none = arith.constant 0.0 : f32
  %all = arith.muli %tiles, %eight : i32
  %r:3 = scf.for %i = %zero to %all step %one iter_args(%k = %zero, %t = %t0, %acc = %none) -> (i32, i32, f32) : i32 {
    %begins = arith.cmpi eq, %k, %zero : i32
    %from = arith.select %begins, %none, %acc : f32
    %x = "test.step"(%i, %k, %from) : (i32, i32, f32) -> f32
    %ends = arith.cmpi eq, %k, %seven : i32
    %tile = scf.if %ends -> (i32) {
      %next = arith.addi %t, %one : i32
      "test.store"(%next, %x, %k) : (i32, f32, i32) -> ()
      scf.yield %next : i32
    } else {
      scf.yield %t : i32
    }
    %more = arith.addi %k, %one : i32
    %number = arith.select %ends, %zero, %more : i32
    scf.yield %number, %tile, %x : i32, i32, f32
  }
  "test.use"(%r#1, %r#2) : (i32, f32) -> ()
  tt.return
}

// -----

// Numbers by division.
// CHECK-LABEL: tt.func public @remainder(
// CHECK: scf.for %[[O:[a-z0-9]+]] =
// CHECK-NOT: arith.remsi
// CHECK: %[[SUM:.*]] = scf.for %[[K:[a-z0-9]+]] = %{{.*}} iter_args(%[[ACC:[a-z0-9]+]] = %{{.*}}) -> (f32)
// CHECK-NEXT: "test.step"(%[[O]], %[[K]], %[[ACC]])
// CHECK: "test.store"(%[[O]], %[[SUM]])
tt.func public @remainder(%steps: i32, %tiles: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0.0 : f32
  %all = arith.muli %tiles, %steps : i32
  %last = arith.subi %steps, %one : i32
  %r = scf.for %i = %zero to %all step %one iter_args(%acc = %none) -> (f32) : i32 {
    %k = arith.remsi %i, %steps : i32
    %tile = arith.divsi %i, %steps : i32
    %x = "test.step"(%tile, %k, %acc) : (i32, i32, f32) -> f32
    %ends = arith.cmpi eq, %k, %last : i32
    %next = scf.if %ends -> (f32) {
      "test.store"(%tile, %x) : (i32, f32) -> ()
      scf.yield %none : f32
    } else {
      scf.yield %x : f32
    }
    scf.yield %next : f32
  }
  tt.return
}

// -----

// Memory that is written before what the first step does, or behind what the
// last one does.
// CHECK-LABEL: tt.func public @in_order(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @in_order(%steps: i32, %tiles: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %all = arith.muli %tiles, %steps : i32
  scf.for %i = %zero to %all step %one : i32 {
    %k = arith.remsi %i, %steps : i32
    "test.write"(%k) : (i32) -> ()
    %begins = arith.cmpi eq, %k, %zero : i32
    scf.if %begins {
      "test.write"(%i) : (i32) -> ()
    }
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @behind(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @behind(%steps: i32, %tiles: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %last = arith.subi %steps, %one : i32
  %all = arith.muli %tiles, %steps : i32
  scf.for %i = %zero to %all step %one : i32 {
    %k = arith.remsi %i, %steps : i32
    %ends = arith.cmpi eq, %k, %last : i32
    scf.if %ends {
      "test.write"(%i) : (i32) -> ()
    }
    "test.write"(%k) : (i32) -> ()
  }
  tt.return
}

// -----

// What the tile before left is asked for: by another step than the first one,
// or before the first one does something.
// CHECK-LABEL: tt.func public @asked_for(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @asked_for(%steps: i32, %tiles: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %all = arith.muli %tiles, %steps : i32
  %r = scf.for %i = %zero to %all step %one iter_args(%t = %zero) -> (i32) : i32 {
    %k = arith.remsi %i, %steps : i32
    %begins = arith.cmpi eq, %k, %zero : i32
    %tile = scf.if %begins -> (i32) {
      %next = arith.addi %t, %one : i32
      scf.yield %next : i32
    } else {
      scf.yield %t : i32
    }
    "test.step"(%t, %tile, %k) : (i32, i32, i32) -> ()
    scf.yield %tile : i32
  }
  tt.return
}

// -----

// The last step uses what only it has loaded, which is not loaded again.
// CHECK-LABEL: tt.func public @loaded(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @loaded(%p: !tt.ptr<f32>, %steps: i32, %tiles: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %last = arith.subi %steps, %one : i32
  %all = arith.muli %tiles, %steps : i32
  scf.for %i = %zero to %all step %one : i32 {
    %k = arith.remsi %i, %steps : i32
    %x = tt.load %p : !tt.ptr<f32>
    "test.step"(%k, %x) : (i32, f32) -> ()
    %ends = arith.cmpi eq, %k, %last : i32
    scf.if %ends {
      "test.store"(%x) : (f32) -> ()
    }
  }
  tt.return
}

// -----

// Other steps do something else; other numbers than the counter's; a counter
// that is asked for behind the loop.
// CHECK-LABEL: tt.func public @others(
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @others(%steps: i32, %tiles: i32, %other: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %last = arith.subi %steps, %one : i32
  %all = arith.muli %tiles, %steps : i32
  scf.for %i = %zero to %all step %one : i32 {
    %k = arith.remsi %i, %steps : i32
    %begins = arith.cmpi eq, %k, %zero : i32
    scf.if %begins {
      "test.write"(%i) : (i32) -> ()
    } else {
      "test.write"(%k) : (i32) -> ()
    }
  }
  scf.for %i = %zero to %all step %one : i32 {
    %k = arith.remsi %i, %other : i32
    %begins = arith.cmpi eq, %k, %zero : i32
    scf.if %begins {
      "test.write"(%i) : (i32) -> ()
    }
  }
  %r = scf.for %i = %zero to %all step %one iter_args(%k = %zero) -> (i32) : i32 {
    %begins = arith.cmpi eq, %k, %zero : i32
    scf.if %begins {
      "test.write"(%i) : (i32) -> ()
    }
    %ends = arith.cmpi eq, %k, %last : i32
    %more = arith.addi %k, %one : i32
    %next = arith.select %ends, %zero, %more : i32
    scf.yield %next : i32
  }
  "test.use"(%r) : (i32) -> ()
  tt.return
}
