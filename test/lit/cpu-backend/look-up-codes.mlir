// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-look-up-codes --canonicalize | FileCheck %s

// Codes less 8: no mask, no difference.
// CHECK-LABEL: func.func @symmetric
// CHECK-SAME: (%[[WORD:.*]]: vector<16xi32>)
// CHECK: %[[TABLE:.*]] = arith.constant dense<[-8.000000e+00, -7.000000e+00, -6.000000e+00, -5.000000e+00, -4.000000e+00, -3.000000e+00, -2.000000e+00, -1.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]>
// CHECK-NEXT: %[[X:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[WORD]])
// CHECK-NEXT: return %[[X]]
func.func @symmetric(%word: vector<16xi32>) -> vector<16xf32> {
  %c15 = arith.constant dense<15> : vector<16xi32>
  %c8 = arith.constant dense<8> : vector<16xi32>
  %code = arith.andi %word, %c15 : vector<16xi32>
  %less = arith.subi %code, %c8 : vector<16xi32>
  %x = arith.sitofp %less : vector<16xi32> to vector<16xf32>
  return %x : vector<16xf32>
}

// -----

// Bytes with a sign, 32 at once: (code ^ 8) - 8.
// CHECK-LABEL: func.func @signed
// CHECK-SAME: (%[[BYTES:.*]]: vector<32xi8>)
// CHECK-DAG: dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, -8.000000e+00, -7.000000e+00, -6.000000e+00, -5.000000e+00, -4.000000e+00, -3.000000e+00, -2.000000e+00, -1.000000e+00]>
// CHECK-DAG: arith.extui %[[BYTES]] : vector<32xi8> to vector<32xi32>
// CHECK-COUNT-2: permvar.sf.512
// CHECK-NOT: sitofp
func.func @signed(%bytes: vector<32xi8>) -> vector<32xf32> {
  %c15 = arith.constant dense<15> : vector<32xi8>
  %c8 = arith.constant dense<8> : vector<32xi8>
  %code = arith.andi %bytes, %c15 : vector<32xi8>
  %flipped = arith.xori %code, %c8 : vector<32xi8>
  %less = arith.subi %flipped, %c8 : vector<32xi8>
  %wide = arith.extsi %less : vector<32xi8> to vector<32xi32>
  %x = arith.sitofp %wide : vector<32xi32> to vector<32xf32>
  return %x : vector<32xf32>
}

// -----

// The constant may come first; 0 less 1 is 2^32 - 1 without a sign, rounded.
// CHECK-LABEL: func.func @without_sign
// CHECK-DAG: dense<[3.000000e+00, 2.000000e+00, 1.000000e+00, 0.000000e+00, 3.000000e+00, 2.000000e+00, 1.000000e+00, 0.000000e+00, 3.000000e+00,
// CHECK-DAG: dense<[4.2949673E+9, 0.000000e+00, 1.000000e+00, 2.000000e+00, 4.2949673E+9,
func.func @without_sign(%word: vector<16xi32>) -> (vector<16xf32>, vector<16xf32>) {
  %c3 = arith.constant dense<3> : vector<16xi32>
  %c1 = arith.constant dense<1> : vector<16xi32>
  %two = arith.andi %c3, %word : vector<16xi32>
  %from = arith.subi %c3, %two : vector<16xi32>
  %less = arith.subi %two, %c1 : vector<16xi32>
  %x = arith.uitofp %from : vector<16xi32> to vector<16xf32>
  %y = arith.uitofp %less : vector<16xi32> to vector<16xf32>
  return %x, %y : vector<16xf32>, vector<16xf32>
}

// -----

// More bits, a zero of its own for each lane, eight lanes, f64, scalars: as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: permvar
func.func @others(%word: vector<16xi32>, %zero: vector<16xi32>, %short: vector<8xi32>, %one: i32)
    -> (vector<16xf32>, vector<16xf32>, vector<8xf32>, vector<16xf64>, f32) {
  %c31 = arith.constant dense<31> : vector<16xi32>
  %c15 = arith.constant dense<15> : vector<16xi32>
  %s15 = arith.constant dense<15> : vector<8xi32>
  %n15 = arith.constant 15 : i32
  %five = arith.andi %word, %c31 : vector<16xi32>
  %a = arith.sitofp %five : vector<16xi32> to vector<16xf32>
  %code = arith.andi %word, %c15 : vector<16xi32>
  %less = arith.subi %code, %zero : vector<16xi32>
  %b = arith.sitofp %less : vector<16xi32> to vector<16xf32>
  %half = arith.andi %short, %s15 : vector<8xi32>
  %c = arith.sitofp %half : vector<8xi32> to vector<8xf32>
  %d = arith.sitofp %code : vector<16xi32> to vector<16xf64>
  %single = arith.andi %one, %n15 : i32
  %e = arith.sitofp %single : i32 to f32
  return %a, %b, %c, %d, %e : vector<16xf32>, vector<16xf32>, vector<8xf32>, vector<16xf64>, f32
}
