// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-tile -verify-diagnostics

// The arguments may be the same memory, at other places.
func.func @overlap(%a: memref<256xf32, strided<[1], offset: ?>>, %b: memref<256xf32, strided<[1], offset: ?>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<256xf32>
  // expected-error @+2 {{dimension 0 of this block cannot be tiled: it may access what another part stores}}
  // expected-note @+1 {{by this}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  accel.copy %t to %b : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

func.func @reduced(%a: memref<256xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<256xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{dimension 0 of this block cannot be tiled: it is stored, and combined as well}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.reduce { arith.addf } ins(%t : tensor<256xf32>) outs(%z : tensor<f32>) dimensions = [0]
  // expected-note @+1 {{by this}}
  accel.copy %t to %a : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// The differences from the largest need the largest of all parts.
func.func @twice(%a: memref<256xf32, strided<[1], offset: ?>>, %b: memref<f32, strided<[], offset: ?>>,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<256xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{dimension 0 of this block cannot be tiled: it needs what all parts give}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  %most = linalg.reduce { arith.maximumf } ins(%t : tensor<256xf32>) outs(%z : tensor<f32>) dimensions = [0]
  // expected-note @+1 {{by this}}
  %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%t, %most : tensor<256xf32>, tensor<f32>) outs(%e : tensor<256xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %s = arith.subf %x, %m : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  %r = linalg.reduce { arith.addf } ins(%d : tensor<256xf32>) outs(%z : tensor<f32>) dimensions = [0]
  accel.copy %r to %b : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

func.func @divides(%a: memref<256xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %e = tensor.empty() : tensor<256xf32>
  // expected-error @+1 {{'accel.tile' has a size of 100 where the block has 256: it has to divide it}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 100>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  return
}

// -----

func.func @rank(%a: memref<256xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %e = tensor.empty() : tensor<256xf32>
  // expected-error @+1 {{'accel.tile' has one size for each dimension of a block}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 64, 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  return
}

// -----

// A print shows the block as a whole, and atomic accesses happen once.
func.func @once(%a: memref<256xf32, strided<[1], offset: ?>> {accel.noalias}, %p: memref<?xi32, strided<[1], offset: ?>> {accel.noalias},
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*i32"]} {
  %e = tensor.empty() : tensor<256xf32>
  // expected-error @+1 {{dimension 0 of this block cannot be tiled: it would be done once for each part}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  // expected-note @+1 {{by this}}
  linalg_ext.print "x" programs(%px, %py, %pz) values(%px) signed = [true] : i32
  accel.copy %t to %a : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Parts would be in a loop, and the branch around them in each of its iterations.
func.func @branch(%a: memref<256xf32, strided<[1], offset: ?>>, %b: memref<f32, strided<[], offset: ?>>, %c: i1,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i1"]} {
  %e = tensor.empty() : tensor<256xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{dimension 0 of this block cannot be tiled: a branch or a loop has blocks of it}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  // expected-note @+1 {{by this}}
  %u = scf.if %c -> tensor<256xf32> {
    %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%t : tensor<256xf32>) outs(%e : tensor<256xf32>) {
    ^bb0(%x: f32, %o: f32):
      %s = arith.addf %x, %x : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    scf.yield %d : tensor<256xf32>
  } else {
    scf.yield %t : tensor<256xf32>
  }
  %r = linalg.reduce { arith.addf } ins(%u : tensor<256xf32>) outs(%z : tensor<f32>) dimensions = [0]
  accel.copy %r to %b : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// A sum over two dimensions at once goes on from its first element to its last.
func.func @combined(%a: memref<256x4xf32, strided<[4, 1], offset: ?>>, %b: memref<f32, strided<[], offset: ?>>,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<256x4xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{dimension 0 of this block cannot be tiled: its positions are combined}}
  %t = accel.copy %a to %e {accel.tile = array<i64: 64, 4>} : (memref<256x4xf32, strided<[4, 1], offset: ?>>, tensor<256x4xf32>) -> tensor<256x4xf32>
  // expected-note @+1 {{by this}}
  %r = linalg.reduce { arith.addf } ins(%t : tensor<256x4xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  accel.copy %r to %b : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}
