// What the simulator does not run, and says so where it is.
// RUN: split-file %s %t
// RUN: not tilebridge run %t/multicast-lines.mlir --target=accel:no-multicast --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=MULTICAST-LINES
// MULTICAST-LINES: multicast-lines.mlir:[[#]]:[[#]]: error: {{.*}}is multicast along lines that the engine 'dma' does not serve
// RUN: not tilebridge run %t/no-network.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=NO-NETWORK
// NO-NETWORK: no-network.mlir:[[#]]:[[#]]: error: {{.*}}combines along lines or in a way that the reduction network of the target has not
// RUN: not tilebridge run %t/tensor.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=TENSOR
// TENSOR: tensor.mlir:[[#]]:[[#]]: error: {{.*}}has a tensor, which lowered kernels do not have
// RUN: not tilebridge run %t/recursion.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=RECURSION
// RECURSION: recursion.mlir:[[#]]:[[#]]: error: {{.*}}nests calls more than 100 deep; recursion is not supported
// RUN: not tilebridge run %t/no-body.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=NO-BODY
// NO-BODY: no-body.mlir:[[#]]:[[#]]: error: {{.*}}there is no function 'g' with a body
// RUN: not tilebridge run %t/parallel.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=PARALLEL
// PARALLEL: parallel.mlir:[[#]]:[[#]]: error: {{.*}}the simulator does not know 'scf.forall'
// RUN: not tilebridge run %t/unknown-op.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=UNKNOWN-OP
// UNKNOWN-OP: unknown-op.mlir:[[#]]:[[#]]: error: {{.*}}cannot run 'memref.alloc': it is no op of lowered kernels
// RUN: not tilebridge run %t/sizes.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: sizes.mlir:[[#]]:[[#]]: error: {{.*}}has operands of different sizes: 16 and 8
// RUN: not tilebridge run %t/window.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: window.mlir:[[#]]:[[#]]: error: {{.*}}has an operand that the simulator cannot index: its map is more than dimensions and constants
// RUN: not tilebridge run %t/too-much.mlir --target=accel:%t/vast.json --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=TOO-MUCH
// TOO-MUCH: too-much.mlir:[[#]]:[[#]]: error: {{.*}}takes 1600000000000 bytes of the memory 'local', more than this computer has for the simulator
// RUN: not tilebridge run %t/no-kernel.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=NO-KERNEL
// NO-KERNEL: error: holds no kernel: no public function has the attribute 'tilebridge.signature'
// More buffers than the simulator numbers.
// RUN: %python -c "ids = ', '.join(chr(37) + n + ': i32' for n in 'abcdef'); print('func.func @f(' + ids + ') attributes {accel.kernel, tilebridge.signature = []} {'); print('accel.alloc : memref<1xi8, #accel.memory<\"local\">>\n' * 65535 + 'return }')" > %t/many.mlir
// RUN: not tilebridge run %t/many.mlir --target=accel:%t/vast.json --grid 1 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: is one buffer too many for the simulator

//--- multicast-lines.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  accel.copy %in to %a multicast [1] : (!view, !local) -> ()
  return
}
//--- no-network.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  linalg.fill ins(%zero : f32) outs(%a : !local)
  accel.reduce_line add %a along [1] algorithm chain : !local
  return
}
//--- tensor.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %e = tensor.empty() : tensor<16xf32>
  %t = accel.copy %in to %e : (!view, tensor<16xf32>) -> tensor<16xf32>
  return
}
//--- recursion.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  func.call @g() : () -> ()
  return
}
func.func private @g() {
  func.call @g() : () -> ()
  return
}
//--- no-body.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  func.call @g() : () -> ()
  return
}
func.func private @g()
//--- parallel.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  scf.forall (%i) in (4) {
  }
  return
}
//--- unknown-op.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %m = memref.alloc() : memref<4xf32>
  return
}
//--- sizes.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %c8 = arith.constant 8 : index
  %b = memref.subview %a[0] [%c8] [1] : !local to memref<?xf32, strided<[1]>, #accel.memory<"local">>
  %d = memref.cast %a : !local to memref<?xf32, #accel.memory<"local">>
  linalg.fill ins(%zero : f32) outs(%a : !local)
  linalg.map { math.absf } ins(%d : memref<?xf32, #accel.memory<"local">>) outs(%b : memref<?xf32, strided<[1]>, #accel.memory<"local">>)
  return
}
//--- window.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %b = accel.alloc : memref<8x9xf32, #accel.memory<"local">>
  linalg.fill ins(%zero : f32) outs(%a : !local)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : !local) outs(%b : memref<8x9xf32, #accel.memory<"local">>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}
//--- too-much.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %b = accel.alloc : memref<400000000000xf32, #accel.memory<"local">>
  linalg.fill ins(%zero : f32) outs(%b : memref<400000000000xf32, #accel.memory<"local">>)
  return
}
//--- no-kernel.mlir
// It has no accel.kernel.
func.func @f() {
  return
}
//--- vast.json
{"name": "vast", "clock_GHz": 1.0, "grid": {"rows": 1, "columns": 1},
 "memories": [
   {"name": "dram", "scope": "chip", "size_bytes": 4294967296, "bandwidth_bytes_per_cycle": 128, "latency_cycles": 200},
   {"name": "local", "scope": "pe", "size_bytes": 10000000000000, "bandwidth_bytes_per_cycle": 256, "latency_cycles": 8}],
 "tensors_in": "dram",
 "dma": [{"name": "dma", "scope": "pe", "paths": [{"from": "dram", "to": "local"}, {"from": "local", "to": "dram"}],
          "max_dims": 3, "bandwidth_bytes_per_cycle": 64}],
 "compute": [{"name": "vector", "operations_per_cycle": {"any": {"any": 16}}, "operands_in": ["local"]}]}
