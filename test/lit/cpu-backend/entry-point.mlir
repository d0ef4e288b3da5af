// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-entry="cpu=znver4 features=+avx2" -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func private @add.program
func.func @add(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i16, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32,
               %nz: i32, %s: memref<?xi8> {tilebridge.scratch}, %l: !llvm.ptr {tilebridge.launch})
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i16"], tilebridge.scratch_bytes = 640 : i64} {
  return
}
// CHECK: llvm.func internal @tilebridge_run(%[[LAUNCH:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr)
// CHECK: %[[X:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?xf32, strided<[1], offset: ?>>
// CHECK: %[[N:.*]] = arith.trunci {{.*}} : i64 to i16
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[PX:.*]] = %{{.*}}, %[[PY:.*]] = %{{.*}}, %[[PZ:.*]] = %{{.*}}) -> (i32, i32, i32) : i64
// CHECK: func.call @add.program(%[[X]], %[[N]], %[[PX]], %[[PY]], %[[PZ]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[LAUNCH]])
// CHECK: llvm.mlir.global internal constant @tilebridge_manifest("{\22name\22:\22add\22,\22signature\22:[\22*fp32\22,\22i16\22],\22target\22:\22znver4\22,\22features\22:\22+avx2\22
// CHECK: llvm.mlir.global external constant @tilebridge_executable()
// CHECK: llvm.mlir.constant(4 : i32)
// CHECK: llvm.mlir.constant(2 : i32)
// CHECK: llvm.mlir.constant(640 : i64)
// CHECK: llvm.mlir.addressof @tilebridge_run

// -----

// expected-error @below {{there is no kernel to compile}}
module {
  func.func @helper() {
    return
  }
}

// -----

// expected-note @below {{the first is 'a'}}
func.func @a(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  return
}
// expected-error @below {{a module with two kernels cannot be compiled}}
func.func @b(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  return
}

// -----

// expected-error @below {{expected the last arguments of a kernel to be its program ids}}
func.func @short(%px: i32, %py: i32) attributes {tilebridge.kernel} {
  return
}

// -----

// expected-error @below {{argument 0 of the kernel has the type 'i128', which a launch cannot pass}}
func.func @wide(%x: i128, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  return
}

// -----

// expected-error @below {{a kernel returns nothing, but this one has 1 results}}
func.func @result(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) -> i32 attributes {tilebridge.kernel} {
  return %px : i32
}

// -----

// Each program runs the tiles from its id on. All together: ranges are of tiles, and the kernel sees as many programs as
// there are tiles. Else they are of programs, and each runs its own tiles, and finds nothing of the tile before.

// CHECK-LABEL: func.func private @persistent.program(
// CHECK: llvm.func internal @tilebridge_run(%{{[^:,]*}}: !llvm.ptr, %[[BEGIN:[^:,]*]]: i64, %[[END:[^:,]*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr)
// CHECK: %[[TILES:.*]]:2 = func.call @persistent.tiles.program(
// CHECK: %[[LAST:.*]] = arith.maxsi %[[TILES]]#0, %{{.*}} : i64
// CHECK: %[[TOGETHER:.*]] = arith.cmpi eq, %[[TILES]]#1, %{{.*}} : i64
// CHECK: %[[STOP:.*]] = arith.select %[[TOGETHER]], %{{.*}}, %[[END]] : i64
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[STOP]]
// CHECK: %[[FIRST:.*]] = arith.select %[[TOGETHER]], %[[BEGIN]], %{{.*}} : i64
// CHECK: %[[TO:.*]] = arith.select %[[TOGETHER]], %[[END]], %[[LAST]] : i64
// CHECK: %[[BY:.*]] = arith.select %[[TOGETHER]], %{{.*}}, %[[TILES]]#1 : i64
// CHECK: %[[SOME:.*]] = arith.maxsi %[[LAST]], %{{.*}} : i64
// CHECK: %[[COUNT:.*]] = arith.trunci %[[SOME]] : i64 to i32
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[TO]] step %[[BY]] iter_args(%[[ID:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[APART:.*]] = arith.xori %[[TOGETHER]]
// CHECK: scf.if %[[APART]]
// CHECK: %[[BYTES:.*]] = arith.constant 256 : i64
// CHECK: "llvm.intr.memset"(%[[SCRATCH]], %{{.*}}, %[[BYTES]])
// CHECK: func.call @persistent.program(%{{[^,]*}}, %[[ID]], %{{[^,]*}}, %{{[^,]*}}, %[[COUNT]],
// CHECK: llvm.func internal @tilebridge_programs(%{{[^:,]*}}: !llvm.ptr) -> i64
// CHECK: %[[THERE:.*]]:2 = func.call @persistent.tiles.program(
// CHECK: %[[ALL:.*]] = arith.maxsi %[[THERE]]#0, %{{.*}} : i64
// CHECK: %[[ARE:.*]] = arith.cmpi eq, %[[THERE]]#1, %{{.*}} : i64
// CHECK: arith.muli %[[ALL]],
// CHECK: %[[PROGRAMS:.*]] = arith.select %[[ARE]], %{{.*}}, %{{.*}} : i64
// CHECK: llvm.return %[[PROGRAMS]] : i64
func.func @persistent(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32, %s: memref<?xi8> {tilebridge.scratch})
    attributes {tilebridge.kernel, tilebridge.tiles = @persistent.tiles, tilebridge.scratch_bytes = 640 : i64} {
  return
}
func.func private @persistent.tiles(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) -> (i64, i64) {
  %end = arith.extsi %n : i32 to i64
  %c0 = arith.constant 0 : i64
  return %end, %c0 : i64, i64
}

// -----

// What the last program leaves is done by one more call, without a program.

// CHECK-LABEL: func.func private @deferred.program(
// CHECK: llvm.func internal @tilebridge_run(%{{[^:,]*}}: !llvm.ptr, %[[BEGIN:[^:,]*]]: i64, %[[END:[^:,]*]]: i64,
// CHECK: %[[STOP:.*]] = arith.addi %[[END]], %{{.*}} : i64
// CHECK: scf.for %[[AT:.*]] = %[[BEGIN]] to %[[STOP]] step %{{.*}} iter_args(%[[ID:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[REST:.*]] = arith.cmpi sge, %[[AT]], %[[END]] : i64
// CHECK: %[[NONE:.*]] = arith.constant -1 : i32
// CHECK: %[[X:.*]] = arith.select %[[REST]], %[[NONE]], %[[ID]] : i32
// CHECK: func.call @deferred.program(%[[X]],
// CHECK-NOT: func.call @deferred.program
func.func @deferred(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32, %s: memref<?xi8> {tilebridge.scratch})
    attributes {tilebridge.kernel, tilebridge.deferred = 1, tilebridge.scratch_bytes = 640 : i64} {
  return
}

// -----

// Tiles that run one after another leave nothing to the next one.

// CHECK-LABEL: func.func private @deferred_tiles.program(
// CHECK: %[[TOGETHER:.*]] = arith.cmpi eq, %{{.*}}#1, %{{.*}} : i64
// CHECK: scf.for
// CHECK: arith.select %[[TOGETHER]], %{{.*}}, %{{.*}} : i64
// CHECK: %[[TO:.*]] = arith.select %[[TOGETHER]], %{{.*}}, %{{.*}} : i64
// CHECK: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK: %[[MORE:.*]] = arith.addi %[[TO]], %[[TWO]] : i64
// CHECK: %[[STOP:.*]] = arith.select %[[TOGETHER]], %[[MORE]], %[[TO]] : i64
// CHECK: scf.for %[[TILE:.*]] = %{{.*}} to %[[STOP]]
// CHECK: %[[TIMES:.*]] = arith.select %[[TOGETHER]], %{{.*}}, %{{.*}} : i64
// CHECK: scf.for %[[TIME:.*]] = %{{.*}} to %[[TIMES]]
// CHECK: %[[AFTER:.*]] = arith.cmpi sge, %[[TILE]], %[[TO]] : i64
// CHECK: %[[SECOND:.*]] = arith.cmpi sge, %[[TIME]], %{{.*}} : i64
// CHECK: %[[REST:.*]] = arith.select %[[TOGETHER]], %[[AFTER]], %[[SECOND]] : i1
// CHECK: arith.select %[[REST]]
// CHECK: func.call @deferred_tiles.program(
func.func @deferred_tiles(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32, %s: memref<?xi8> {tilebridge.scratch})
    attributes {tilebridge.kernel, tilebridge.deferred = 2, tilebridge.tiles = @deferred_tiles.tiles, tilebridge.scratch_bytes = 640 : i64} {
  return
}
func.func private @deferred_tiles.tiles(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) -> (i64, i64) {
  %end = arith.extsi %n : i32 to i64
  %c0 = arith.constant 0 : i64
  return %end, %c0 : i64, i64
}
