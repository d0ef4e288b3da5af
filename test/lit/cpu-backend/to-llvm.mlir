// RUN: tilebridge-opt %s -tilebridge-cpu-pipeline | FileCheck %s --implicit-check-not='{{(arith|math|memref|vector|index|ub|cf|scf|func)[.]}}' --implicit-check-not=unrealized

// One conversion takes what is left of all dialects, among them numbers of
// indices, values that do not matter, and functions that are called.

// CHECK: llvm.func internal @twice
// CHECK: llvm.func internal @mixed
// CHECK: llvm.mlir.poison : f32
// CHECK: llvm.udiv
// CHECK: llvm.cond_br
// CHECK: llvm.intr.sqrt
// CHECK: llvm.call @twice
// CHECK: llvm.func internal @tilebridge_run
func.func private @twice(%x: f32) -> f32 attributes {no_inline} {
  %sum = arith.addf %x, %x : f32
  return %sum : f32
}

func.func @mixed(%x: memref<?xf32>, %n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i32"]} {
  %first = arith.constant 0 : index
  %any = ub.poison : f32
  %i = arith.index_cast %px : i32 to index
  %size = arith.index_cast %n : i32 to index
  %place = index.divu %i, %size
  %old = memref.load %x[%place] : memref<?xf32>
  %isLow = arith.cmpi slt, %px, %n : i32
  %chosen = scf.if %isLow -> (f32) {
    %root = math.sqrt %old : f32
    %two = func.call @twice(%root) : (f32) -> f32
    scf.yield %two : f32
  } else {
    scf.yield %any : f32
  }
  memref.store %chosen, %x[%place] : memref<?xf32>
  return
}
