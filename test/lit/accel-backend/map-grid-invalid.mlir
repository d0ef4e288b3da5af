// RUN: not tilebridge-opt %s -tilebridge-accel-map-grid="assignment=spiral" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not tilebridge-opt %s -tilebridge-accel-map-grid="assignment=table" 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not tilebridge-opt %s -tilebridge-accel-map-grid="assignment=grid grid=1,1" 2>&1 | FileCheck %s --check-prefix=GRID

// NAME: error: tilebridge-accel-map-grid: there is no assignment 'spiral' to be chosen
// TABLE: error: tilebridge-accel-map-grid: there is no assignment 'table' to be chosen
// GRID: error: (c2) grid: expects two values, different, each a dimension of the launch grid or -1
func.func @k(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = []} {
  return
}
