// RUN: tilebridge-opt %s --tilebridge-scaled-indices | FileCheck %s

// CHECK-LABEL: tt.func @half
// CHECK: %[[X:.*]] = arith.remsi
// CHECK: %[[TWO:.*]] = arith.constant dense<2> : tensor<64xi32>
// CHECK: %[[Y:.*]] = arith.divsi %[[X]], %[[TWO]] : tensor<64xi32>
// CHECK-NOT: fptosi
// CHECK: tt.return %[[Y]]
tt.func @half(%i: tensor<64xi32>) -> tensor<64xi32> {
  %half = arith.constant dense<5.000000e-01> : tensor<64xf32>
  %n = arith.constant dense<112> : tensor<64xi32>
  %x = arith.remsi %i, %n : tensor<64xi32>
  %f = arith.sitofp %x : tensor<64xi32> to tensor<64xf32>
  %g = arith.mulf %f, %half : tensor<64xf32>
  %y = arith.fptosi %g : tensor<64xf32> to tensor<64xi32>
  tt.return %y : tensor<64xi32>
}

// Divided by 4, of a quotient's remainder, to 64 bits; the float stays for who else uses it.
// CHECK-LABEL: tt.func @wider
// CHECK: %[[X:.*]] = arith.remsi
// CHECK: %[[F:.*]] = arith.sitofp %[[X]]
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %{{.*}} : tensor<64xi32>
// CHECK: %[[Y:.*]] = arith.extsi %[[Q]] : tensor<64xi32> to tensor<64xi64>
// CHECK: tt.return %[[Y]], %[[F]]
tt.func @wider(%i: tensor<64xi32>) -> (tensor<64xi64>, tensor<64xf32>) {
  %four = arith.constant dense<4.000000e+00> : tensor<64xf32>
  %n = arith.constant dense<112> : tensor<64xi32>
  %q = arith.divsi %i, %n : tensor<64xi32>
  %x = arith.remsi %q, %n : tensor<64xi32>
  %f = arith.sitofp %x : tensor<64xi32> to tensor<64xf32>
  %g = arith.divf %f, %four : tensor<64xf32>
  %y = arith.fptosi %g : tensor<64xf32> to tensor<64xi64>
  tt.return %y, %f : tensor<64xi64>, tensor<64xf32>
}

// A picture that becomes smaller; scalars; f64 has all numbers of 32 bits; 64 bits to 32.
// CHECK-LABEL: tt.func @others
// CHECK-DAG: arith.muli %{{.*}} : tensor<64xi32>
// CHECK-DAG: arith.divui %arg1, %{{.*}} : i32
// CHECK-DAG: arith.divsi %{{.*}} : tensor<64xi64>
// CHECK-DAG: arith.trunci %{{.*}} : tensor<64xi64> to tensor<64xi32>
// CHECK-NOT: fpto
// CHECK: tt.return
tt.func @others(%l: tensor<64xi64>, %s: i32) -> (tensor<64xi32>, i32, tensor<64xi32>) {
  %two = arith.constant dense<2.000000e+00> : tensor<64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %f = arith.sitofp %r : tensor<64xi32> to tensor<64xf32>
  %g = arith.mulf %two, %f : tensor<64xf32>
  %y = arith.fptosi %g : tensor<64xf32> to tensor<64xi32>
  %eighth = arith.constant 1.250000e-01 : f64
  %d = arith.uitofp %s : i32 to f64
  %e = arith.mulf %d, %eighth : f64
  %z = arith.fptoui %e : f64 to i32
  %n = arith.constant dense<100> : tensor<64xi64>
  %half = arith.constant dense<5.000000e-01> : tensor<64xf32>
  %m = arith.remsi %l, %n : tensor<64xi64>
  %h = arith.sitofp %m : tensor<64xi64> to tensor<64xf32>
  %j = arith.mulf %h, %half : tensor<64xf32>
  %k = arith.fptosi %j : tensor<64xf32> to tensor<64xi32>
  tt.return %y, %z, %k : tensor<64xi32>, i32, tensor<64xi32>
}

// Numbers that f32 rounds, or f16; of which nothing is known; factors that are no powers of two; numbers below
// zero, and ones that are too large, as what has no place for them.
// CHECK-LABEL: tt.func @left_alone
// CHECK-COUNT-6: arith.fpto
// CHECK-NOT: divsi
// CHECK: tt.return
tt.func @left_alone(%i: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi8>, tensor<64xi32>) {
  %half = arith.constant dense<5.000000e-01> : tensor<64xf32>
  %third = arith.constant dense<3.333333e-01> : tensor<64xf32>
  %half16 = arith.constant dense<5.000000e-01> : tensor<64xf16>
  %large = arith.constant dense<16777218> : tensor<64xi32>
  %n = arith.constant dense<2050> : tensor<64xi32>
  %x0 = arith.remsi %i, %large : tensor<64xi32>
  %f0 = arith.sitofp %x0 : tensor<64xi32> to tensor<64xf32>
  %g0 = arith.mulf %f0, %half : tensor<64xf32>
  %y0 = arith.fptosi %g0 : tensor<64xf32> to tensor<64xi32>
  %x1 = arith.remsi %i, %n : tensor<64xi32>
  %f1 = arith.sitofp %x1 : tensor<64xi32> to tensor<64xf16>
  %g1 = arith.mulf %f1, %half16 : tensor<64xf16>
  %y1 = arith.fptosi %g1 : tensor<64xf16> to tensor<64xi32>
  %f2 = arith.sitofp %i : tensor<64xi32> to tensor<64xf32>
  %g2 = arith.mulf %f2, %half : tensor<64xf32>
  %y2 = arith.fptosi %g2 : tensor<64xf32> to tensor<64xi32>
  %f3 = arith.sitofp %x1 : tensor<64xi32> to tensor<64xf32>
  %g3 = arith.mulf %f3, %third : tensor<64xf32>
  %y3 = arith.fptosi %g3 : tensor<64xf32> to tensor<64xi32>
  %g4 = arith.mulf %f3, %half : tensor<64xf32>
  %y4 = arith.fptosi %g4 : tensor<64xf32> to tensor<64xi8>
  %y5 = arith.fptoui %g4 : tensor<64xf32> to tensor<64xi32>
  tt.return %y0, %y1, %y2, %y3, %y4, %y5 : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi8>, tensor<64xi32>
}

// The nearest pixel to a pixel's centre: a quotient, of numbers below zero that of the number above; the third of a range that is
// small, as f32 rounds it; every second number, from 1 on.
// CHECK-LABEL: tt.func @centres
// CHECK: %[[X:.*]] = arith.remsi
// CHECK: %[[NEXT:.*]] = arith.addi %[[X]]
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[X]]
// CHECK: %[[N:.*]] = arith.select %[[BELOW]], %[[NEXT]], %[[X]]
// CHECK: %[[Y0:.*]] = arith.divsi %[[N]]
// CHECK: %[[R:.*]] = tt.make_range
// CHECK: %[[Y1:.*]] = arith.divsi %[[R]]
// CHECK: %[[Y2:.*]] = arith.divsi %[[R]]
// CHECK: %[[TWICE:.*]] = arith.muli %[[R]]
// CHECK: %[[Y3:.*]] = arith.addi %[[TWICE]]
// CHECK: tt.return %[[Y0]], %[[Y1]], %[[Y2]], %[[Y3]]
tt.func @centres(%i: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
  %half = arith.constant dense<5.000000e-01> : tensor<64xf32>
  %third = arith.constant dense<0.333333343> : tensor<64xf32>
  %two = arith.constant dense<2.000000e+00> : tensor<64xf32>
  %n = arith.constant dense<100> : tensor<64xi32>
  %x = arith.remsi %i, %n : tensor<64xi32>
  %f0 = arith.sitofp %x : tensor<64xi32> to tensor<64xf32>
  %s0 = arith.addf %f0, %half : tensor<64xf32>
  %g0 = arith.mulf %s0, %half : tensor<64xf32>
  %y0 = arith.fptosi %g0 : tensor<64xf32> to tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %f1 = arith.sitofp %r : tensor<64xi32> to tensor<64xf32>
  %s1 = arith.addf %half, %f1 : tensor<64xf32>
  %g1 = arith.divf %s1, %two : tensor<64xf32>
  %y1 = arith.fptosi %g1 : tensor<64xf32> to tensor<64xi32>
  %g2 = arith.mulf %f1, %third : tensor<64xf32>
  %y2 = arith.fptosi %g2 : tensor<64xf32> to tensor<64xi32>
  %g3 = arith.mulf %s1, %two : tensor<64xf32>
  %y3 = arith.fptosi %g3 : tensor<64xf32> to tensor<64xi32>
  tt.return %y0, %y1, %y2, %y3 : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>
}

// No quotient has steps as uneven as these; nor are those one of a range of one number; f16 is rounded with each step.
// CHECK-LABEL: tt.func @uneven
// CHECK-COUNT-3: arith.fptosi
// CHECK: tt.return
tt.func @uneven(%i: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
  %ratio = arith.constant dense<6.400000e-01> : tensor<64xf32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %half = arith.constant dense<5.000000e-01> : tensor<64xf16>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %f0 = arith.sitofp %r : tensor<64xi32> to tensor<64xf32>
  %g0 = arith.mulf %f0, %ratio : tensor<64xf32>
  %y0 = arith.fptosi %g0 : tensor<64xf32> to tensor<64xi32>
  %x = arith.remsi %i, %one : tensor<64xi32>
  %f1 = arith.sitofp %x : tensor<64xi32> to tensor<64xf32>
  %g1 = arith.mulf %f1, %ratio : tensor<64xf32>
  %y1 = arith.fptosi %g1 : tensor<64xf32> to tensor<64xi32>
  %f2 = arith.sitofp %r : tensor<64xi32> to tensor<64xf16>
  %s2 = arith.addf %f2, %half : tensor<64xf16>
  %g2 = arith.mulf %s2, %half : tensor<64xf16>
  %y2 = arith.fptosi %g2 : tensor<64xf16> to tensor<64xi32>
  tt.return %y0, %y1, %y2 : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>
}
