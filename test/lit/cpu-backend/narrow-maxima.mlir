// RUN: tilebridge-opt %s -tilebridge-cpu-narrow-maxima -canonicalize | FileCheck %s

// Integers in the order of the numbers, NaN as the lowest of them, through a second loop and the maximum of lanes; f32 only of the last.
// CHECK-LABEL: func.func @row
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<-32705> : vector<4xi16>
// CHECK-DAG: %[[PAST:.*]] = arith.constant dense<127> : vector<4xi16>
// CHECK: %[[FIRST:.*]] = scf.for {{.*}} iter_args(%[[M:.*]] = %[[NAN]]) -> (vector<4xi16>)
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : vector<4xbf16> to vector<4xi16>
// CHECK: %[[SIGN:.*]] = arith.shrsi %[[BITS]]
// CHECK: %[[SIZE:.*]] = arith.andi %[[SIGN]]
// CHECK: %[[ORDER:.*]] = arith.xori %[[BITS]], %[[SIZE]]
// CHECK: %[[KEY:.*]] = arith.addi %[[ORDER]], %[[PAST]]
// CHECK: arith.maxsi %[[M]], %[[KEY]] : vector<4xi16>
// CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]) -> (vector<4xi16>)
// CHECK-NOT: maxnumf
// CHECK: %[[A:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [0, 1]
// CHECK: %[[B:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [2, 3]
// CHECK: %[[HALF:.*]] = arith.maxsi %[[A]], %[[B]] : vector<2xi16>
// CHECK: %[[ONE:.*]] = vector.extract %[[HALF]][0] : i16
// CHECK: arith.subi %[[ONE]], %{{.*}} : i16
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
// CHECK: %[[R:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: return %[[R]]
func.func @row(%p: memref<?xbf16>, %n: index, %mask: vector<4xi1>) -> f32 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %least = arith.constant dense<0xFF80> : vector<4xbf16>
  %nan = arith.constant dense<0x7FC00000> : vector<4xf32>
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%m = %nan) -> vector<4xf32> {
    %x = vector.load %p[%i] : memref<?xbf16>, vector<4xbf16>
    %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y = arith.maxnumf %m, %w : vector<4xf32>
    scf.yield %y : vector<4xf32>
  }
  %s = scf.for %i = %n to %c4 step %c4 iter_args(%m = %r) -> vector<4xf32> {
    %x = vector.maskedload %p[%i], %mask, %least : memref<?xbf16>, vector<4xi1>, vector<4xbf16> into vector<4xbf16>
    %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y = arith.maxnumf %w, %m : vector<4xf32>
    scf.yield %y : vector<4xf32>
  }
  %a = vector.shuffle %s, %s [0, 1] : vector<4xf32>, vector<4xf32>
  %b = vector.shuffle %s, %s [2, 3] : vector<4xf32>, vector<4xf32>
  %h = arith.maxnumf %a, %b : vector<2xf32>
  %e = vector.extract %h[0] : f32 from vector<2xf32>
  return %e : f32
}

// Of a minimum NaN is the highest; it begins with infinity here.
// CHECK-LABEL: func.func @smallest
// CHECK: arith.constant dense<32513> : vector<4xi16>
// CHECK: arith.minsi {{.*}} : vector<4xi16>
// CHECK: arith.extf {{.*}} : vector<4xbf16> to vector<4xf32>
func.func @smallest(%p: memref<?xbf16>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %most = arith.constant dense<0x7F800000> : vector<4xf32>
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%m = %most) -> vector<4xf32> {
    %x = vector.load %p[%i] : memref<?xbf16>, vector<4xbf16>
    %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y = arith.minnumf %m, %w : vector<4xf32>
    scf.yield %y : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// Not where NaN counts, f32 is used as well, another number is compared, or the loop begins with what is not known to be bf16.
// CHECK-LABEL: func.func @others
// CHECK-NOT: i16
// CHECK: return
func.func @others(%p: memref<?xbf16>, %h: memref<?xf16>, %n: index, %start: vector<4xf32>)
    -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %nan = arith.constant dense<0x7FC00000> : vector<4xf32>
  %tenth = arith.constant dense<0.1> : vector<4xf32>
  %r:7 = scf.for %i = %c0 to %n step %c4
      iter_args(%a = %nan, %b = %nan, %s = %nan, %c = %start, %d = %tenth, %e = %nan, %f = %nan)
      -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
    %x = vector.load %p[%i] : memref<?xbf16>, vector<4xbf16>
    %w0 = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y0 = arith.maximumf %a, %w0 : vector<4xf32>
    %w1 = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y1 = arith.maxnumf %b, %w1 : vector<4xf32>
    %y2 = arith.addf %s, %w1 : vector<4xf32>
    %w3 = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y3 = arith.maxnumf %c, %w3 : vector<4xf32>
    %w4 = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y4 = arith.maxnumf %d, %w4 : vector<4xf32>
    %xh = vector.load %h[%i] : memref<?xf16>, vector<4xf16>
    %w5 = arith.extf %xh : vector<4xf16> to vector<4xf32>
    %y5 = arith.maxnumf %e, %w5 : vector<4xf32>
    %w6 = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %t6 = arith.mulf %w6, %tenth : vector<4xf32>
    %y6 = arith.maxnumf %f, %t6 : vector<4xf32>
    scf.yield %y0, %y1, %y2, %y3, %y4, %y5, %y6 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}
