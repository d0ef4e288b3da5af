// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{arguments=9=1})" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{arguments=0=1})" 2>&1 | FileCheck %s --check-prefix=POINTER
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{arguments=1=300})" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{arguments=n})" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{noalias=1})" 2>&1 | FileCheck %s --check-prefix=NOALIAS
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{placed=1=sram})" 2>&1 | FileCheck %s --check-prefix=PLACED
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{placed=0})" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{grid=1,2,3,4})" 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{grid=-1})" 2>&1 | FileCheck %s --check-prefix=COUNT

// NUMBER: error: has no argument 9: it has 8
// POINTER: error: argument 0 is no integer but 'memref<?xf32, strided<[1], offset: ?>>'
// RANGE: error: argument 1 of type 'i8' cannot be 300
// TEXT: error: tilebridge-accel-specialize: 'n' is not NUMBER=INTEGER
// NOALIAS: error: argument 1 is no pointer: 'accel.noalias' says nothing of it
// PLACED: error: argument 1 is no pointer: 'accel.placed' says nothing of it
// MEMORY: error: tilebridge-accel-specialize: '0' is not NUMBER=MEMORY
// GRID: error: tilebridge-accel-specialize: 'grid' has more than three counts
// COUNT: error: a grid of -1 programs in one dimension
func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %n: i8, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i8"]} {
  return
}
