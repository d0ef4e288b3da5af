// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan | FileCheck %s --check-prefix=PLAN
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs byte-lookups" --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=BYTES

// Weights are unpacked and scaled where they are packed: eight rows share a row of words, and no buffer has either.
// PLAN-LABEL: func.func @weights
// PLAN: bufferization.to_tensor {{.*}} {tilebridge.plan = "inline"} : memref<4x8x32xi32
// PLAN: tensor.collapse_shape {{.*}} {tilebridge.plan = "inline"}
// PLAN: linalg.generic {{.*}} attrs = {tilebridge.direct, tilebridge.plan = "inline"}
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[W:[a-z0-9]*]]: memref<4x8x32xi32
// CHECK: %[[WORDS:.*]] = memref.reinterpret_cast %[[W]]
// CHECK: scf.for
// CHECK: scf.for %[[PAIR:.*]] = %c0 to %c16 step %c1
// CHECK: %[[ROW:.*]] = arith.muli %[[PAIR]], %c2
// CHECK: arith.divui %[[ROW]], %c8
// CHECK: vector.load %[[WORDS]]{{.*}} vector<16xi32>
// CHECK: %[[EVEN:.*]] = arith.sitofp {{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: %[[ODD:.*]] = arith.sitofp {{.*}} : vector<16xi32> to vector<16xf32>
// Rounding loses no more than the product does.
// CHECK: %[[BOTH:.*]] = llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[ODD]], %[[EVEN]])
// CHECK: %[[BITS:.*]] = vector.bitcast %[[BOTH]]
// CHECK: %[[TURNS:.*]] = vector.shuffle %[[BITS]], %[[BITS]] [0, 16, 1, 17,
// CHECK: vector.store %[[TURNS]]
func.func @weights(%w: memref<4x8x32xi32, strided<[?, 0, 1], offset: ?>>, %a: memref<16x32xbf16>, %n: i32, %out: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<32x32xbf16>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xbf16> to tensor<16x32xbf16>
    %words = bufferization.to_tensor %w : memref<4x8x32xi32, strided<[?, 0, 1], offset: ?>> to tensor<4x8x32xi32>
    %rows = tensor.collapse_shape %words [[0, 1], [2]] : tensor<4x8x32xi32> into tensor<32x32xi32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<32x32xi32>) outs(%e : tensor<32x32xbf16>) {
    ^bb0(%word: i32, %o: bf16):
      %r = linalg.index 0 : index
      %s = arith.index_cast %r : index to i32
      %code = arith.shrsi %word, %s : i32
      %number = arith.sitofp %code : i32 to f32
      %narrow = arith.truncf %number : f32 to bf16
      linalg.yield %narrow : bf16
    } -> tensor<32x32xbf16>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xbf16>, tensor<32x32xbf16>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// What is contiguous along K is copied before, so that its rows are.
// PLAN-LABEL: func.func @across
// PLAN: bufferization.to_tensor {{.*}} {tilebridge.plan = "buffer"} : memref<32x32xf32, strided<[1, ?]
// PLAN: linalg.generic {{.*}} attrs = {tilebridge.direct, tilebridge.plan = "inline"}
// CHECK-LABEL: func.func @across
// CHECK: memref.alloc() {{.*}} : memref<32x32xf32>
func.func @across(%b: memref<32x32xf32, strided<[1, ?], offset: ?>>, %a: memref<16x32xf32>, %n: i32, %out: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %z = bufferization.to_tensor %b : memref<32x32xf32, strided<[1, ?], offset: ?>> to tensor<32x32xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%z : tensor<32x32xf32>) outs(%z : tensor<32x32xf32>) {
    ^bb0(%v: f32, %o: f32):
      %w = arith.mulf %v, %v : f32
      linalg.yield %w : f32
    } -> tensor<32x32xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Zeros of eight columns each, as words: as many columns as the block has, they are written down first, as the weights are not.
// PLAN-LABEL: func.func @zeros
// PLAN: bufferization.to_tensor {{.*}} {tilebridge.plan = "inline"} : memref<32x32xi32
// PLAN: tensor.collapse_shape {{.*}} {tilebridge.plan = "buffer"} : tensor<1x4x8xi32>
// PLAN: linalg.generic {{.*}} attrs = {tilebridge.direct, tilebridge.plan = "inline"}
// CHECK-LABEL: func.func @zeros
// CHECK-NOT: memref.alloc(){{.*}} : memref<32x32xf32>
func.func @zeros(%w: memref<32x32xi32, strided<[?, 1], offset: ?>>, %z: memref<1x4x8xi32, strided<[?, 1, 0], offset: ?>>, %a: memref<16x32xf32>, %n: i32, %out: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<32x32xf32>
  %ei = tensor.empty() : tensor<32x32xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %codes = bufferization.to_tensor %w : memref<32x32xi32, strided<[?, 1], offset: ?>> to tensor<32x32xi32>
    %words = bufferization.to_tensor %z : memref<1x4x8xi32, strided<[?, 1, 0], offset: ?>> to tensor<1x4x8xi32>
    %row = tensor.collapse_shape %words [[0], [1, 2]] : tensor<1x4x8xi32> into tensor<1x32xi32>
    %line = tensor.collapse_shape %row [[0, 1]] : tensor<1x32xi32> into tensor<32xi32>
    %zeros = linalg.broadcast ins(%line : tensor<32xi32>) outs(%ei : tensor<32x32xi32>) dimensions = [0]
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%codes, %zeros : tensor<32x32xi32>, tensor<32x32xi32>) outs(%e : tensor<32x32xf32>) {
    ^bb0(%code: i32, %z0: i32, %o: f32):
      %s = arith.subi %code, %z0 : i32
      %number = arith.sitofp %s : i32 to f32
      linalg.yield %number : f32
    } -> tensor<32x32xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// A block that is in its array as a whole is unpacked without masks; one whose rows and columns end in it has them.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: %[[ROWS:[a-z0-9]*]]: index, %[[COLS:[a-z0-9]*]]: index
// CHECK-DAG: %[[R:.*]] = arith.cmpi sge, %[[ROWS]], %c32
// CHECK-DAG: %[[C:.*]] = arith.cmpi sge, %[[COLS]], %c32
// CHECK: %[[ALL:.*]] = arith.andi %[[R]], %[[C]]
// CHECK: scf.if %[[ALL]] {
// CHECK-NOT: vector.maskedload
// CHECK: vector.load {{.*}} vector<16xi8>
// CHECK-NOT: vector.maskedload
// CHECK: } else {
// CHECK: vector.maskedload
func.func @whole(%w: memref<?x?xi8, strided<[?, 1], offset: ?>>, %rows: index, %cols: index, %a: memref<16x32xf32>, %n: i32, %out: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %none = arith.constant 0 : i8
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : index
  %e = tensor.empty() : tensor<32x32xf32>
  %high = arith.subi %c32, %rows : index
  %right = arith.subi %c32, %cols : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %box = memref.subview %w[0, 0] [%rows, %cols] [1, 1] : memref<?x?xi8, strided<[?, 1], offset: ?>> to memref<?x?xi8, strided<[?, 1], offset: ?>>
    %part = bufferization.to_tensor %box : memref<?x?xi8, strided<[?, 1], offset: ?>> to tensor<?x?xi8>
    %codes = tensor.pad %part low[0, 0] high[%high, %right] {
    ^bb0(%r: index, %c: index):
      tensor.yield %none : i8
    } : tensor<?x?xi8> to tensor<32x32xi8>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%codes : tensor<32x32xi8>) outs(%e : tensor<32x32xf32>) {
    ^bb0(%code: i8, %o: f32):
      %number = arith.sitofp %code : i8 to f32
      linalg.yield %number : f32
    } -> tensor<32x32xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// While words are unpacked, those of the next iteration are asked for, each line once: 4 rows of 32 words, 4 rows further, as 8 steps
// along K share a row.
// PLAN-LABEL: func.func @next
// CHECK-LABEL: func.func @next
// CHECK-SAME: memref<?xi32, strided<[1], offset: ?>>, %[[STRIDE:[a-z0-9]*]]: index
// CHECK: scf.for
// CHECK: arith.divsi %{{.*}}, %c8
// CHECK: %[[FURTHER:.*]] = arith.muli %[[STRIDE]], %c4 : index
// CHECK: %[[FROM:.*]] = arith.addi %{{.*}}, %[[FURTHER]] : index
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c4 step %c1 {
// CHECK: arith.muli %[[ROW]], %[[STRIDE]]
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16 {
// CHECK: memref.prefetch %{{.*}}, read, locality<2>, data : memref<{{.*}}xi32
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<16xi32>
func.func @next(%w: memref<?xi32, strided<[1], offset: ?>>, %stride: index, %a: memref<16x32xf32>, %n: index, %out: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %e = tensor.empty() : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %row = arith.divsi %i, %c8 : index
    %at = arith.muli %row, %stride : index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [4, 8, 32], strides: [%stride, 0, 1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<4x8x32xi32, strided<[?, 0, 1], offset: ?>>
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %words = bufferization.to_tensor %view : memref<4x8x32xi32, strided<[?, 0, 1], offset: ?>> to tensor<4x8x32xi32>
    %rows = tensor.collapse_shape %words [[0, 1], [2]] : tensor<4x8x32xi32> into tensor<32x32xi32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<32x32xi32>) outs(%e : tensor<32x32xf32>) {
    ^bb0(%word: i32, %o: f32):
      %number = arith.sitofp %word : i32 to f32
      linalg.yield %number : f32
    } -> tensor<32x32xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Floats of 8 bits are read 64 at a time where all of these are looked up at once: two rows, then four vectors of pairs.
// BYTES-LABEL: func.func @bytes
// BYTES: scf.for
// BYTES: scf.for
// BYTES-COUNT-2: arith.extf %{{.*}} : vector<64xf8E4M3FN> to vector<64xbf16>
// BYTES-COUNT-8: vector.extract_strided_slice %{{.*}} : vector<64xi16> to vector<16xi16>
// CHECK-LABEL: func.func @bytes
// CHECK: arith.extf %{{.*}} : vector<16xf8E4M3FN> to vector<16xbf16>
// CHECK-NOT: vector<64xf8E4M3FN>
func.func @bytes(%w: memref<32x64xf8E4M3FN, strided<[?, 1], offset: ?>>, %a: memref<16x32xbf16>, %n: i32, %out: memref<16x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<32x64xbf16>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xbf16> to tensor<16x32xbf16>
    %codes = bufferization.to_tensor %w : memref<32x64xf8E4M3FN, strided<[?, 1], offset: ?>> to tensor<32x64xf8E4M3FN>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%codes : tensor<32x64xf8E4M3FN>) outs(%e : tensor<32x64xbf16>) {
    ^bb0(%code: f8E4M3FN, %o: bf16):
      %number = arith.extf %code : f8E4M3FN to bf16
      linalg.yield %number : bf16
    } -> tensor<32x64xbf16>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xbf16>, tensor<32x64xbf16>) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}

// -----

// Eight columns a word, which is there eight times before it is shifted: lanes are spread from the words that they need, and
// nothing is written down.
// PLAN-LABEL: func.func @spread
// PLAN: linalg.broadcast {{.*}} {tilebridge.plan = "inline"}
// PLAN: tensor.collapse_shape {{.*}}plan = "inline"
// CHECK-LABEL: func.func @spread
// CHECK-NOT: memref<32x8x8xi32
// CHECK: %[[WORDS:.*]] = vector.load {{.*}} vector<2xi32>
// CHECK: vector.shuffle %[[WORDS]], %[[WORDS]] [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1] : vector<2xi32>, vector<2xi32>
// CHECK: return
func.func @spread(%w: memref<32x8xi32, strided<[?, 1], offset: ?>>, %a: memref<16x32xf32>, %n: i32, %out: memref<16x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<32x8x8xi32>
  %f = tensor.empty() : tensor<32x64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %words = bufferization.to_tensor %w : memref<32x8xi32, strided<[?, 1], offset: ?>> to tensor<32x8xi32>
    %wide = linalg.broadcast ins(%words : tensor<32x8xi32>) outs(%e : tensor<32x8x8xi32>) dimensions = [2]
    %all = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<32x8x8xi32> into tensor<32x64xi32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%all : tensor<32x64xi32>) outs(%f : tensor<32x64xf32>) {
    ^bb0(%word: i32, %o: f32):
      %number = arith.sitofp %word : i32 to f32
      linalg.yield %number : f32
    } -> tensor<32x64xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}
