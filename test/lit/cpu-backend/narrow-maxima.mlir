// RUN: tilebridge-opt %s -tilebridge-cpu-narrow-maxima -canonicalize | FileCheck %s

// The largest integer from zero on and the smallest one, through a second loop; then integers in the order of the numbers, NaN as the
// lowest of them, for the maximum of lanes, and f32 only of the last.
// CHECK-LABEL: func.func @row
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<32704> : vector<4xi16>
// CHECK-DAG: %[[SHIFTED:.*]] = arith.constant dense<-32705> : vector<4xi16>
// CHECK-DAG: %[[PAST:.*]] = arith.constant dense<127> : vector<4xi16>
// CHECK-DAG: %[[BACK:.*]] = arith.constant dense<-127> : vector<4xi16>
// CHECK: %[[FIRST:.*]]:2 = scf.for {{.*}} iter_args(%[[L:.*]] = %[[SHIFTED]], %[[S:.*]] = %[[NAN]]) -> (vector<4xi16>, vector<4xi16>)
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : vector<4xbf16> to vector<4xi16>
// CHECK: %[[ON:.*]] = arith.addi %[[BITS]], %[[PAST]]
// CHECK: %[[LARGEST:.*]] = arith.maxsi %[[L]], %[[ON]] : vector<4xi16>
// CHECK: %[[SMALLEST:.*]] = arith.minsi %[[S]], %[[BITS]] : vector<4xi16>
// CHECK: scf.yield %[[LARGEST]], %[[SMALLEST]]
// CHECK: %[[ALL:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1) -> (vector<4xi16>, vector<4xi16>)
// CHECK-NOT: maxnumf
// CHECK: %[[IS_THERE:.*]] = arith.cmpi sge, %[[ALL]]#0, %[[PAST]]
// CHECK: %[[NUMBER:.*]] = arith.addi %[[ALL]]#0, %[[BACK]]
// CHECK: %[[EITHER:.*]] = arith.select %[[IS_THERE]], %[[NUMBER]], %[[ALL]]#1
// CHECK: %[[SIGN:.*]] = arith.shrsi %[[EITHER]]
// CHECK: %[[SIZE:.*]] = arith.andi %[[SIGN]]
// CHECK: %[[ORDER:.*]] = arith.xori %[[EITHER]], %[[SIZE]]
// CHECK: %[[KEY:.*]] = arith.addi %[[ORDER]], %[[PAST]]
// CHECK: %[[A:.*]] = vector.shuffle %[[KEY]], %[[KEY]] [0, 1]
// CHECK: %[[B:.*]] = vector.shuffle %[[KEY]], %[[KEY]] [2, 3]
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

// Of a minimum integers have no sign; it begins with infinity here.
// CHECK-LABEL: func.func @smallest
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<32640> : vector<4xi16>
// CHECK-DAG: %[[SHIFTED:.*]] = arith.constant dense<32767> : vector<4xi16>
// CHECK-DAG: %[[FROM:.*]] = arith.constant dense<-32641> : vector<4xi16>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SHIFTED]], %{{.*}} = %[[INF]])
// CHECK: arith.maxui {{.*}} : vector<4xi16>
// CHECK: arith.minui {{.*}} : vector<4xi16>
// CHECK: arith.cmpi uge, %{{.*}}, %[[FROM]]
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

// A largest and a smallest one in one loop.
// CHECK-LABEL: func.func @both
// CHECK: scf.for {{.*}} -> (vector<4xi16>, vector<4xi16>, vector<4xi16>, vector<4xi16>) {
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi16>, vector<4xi16>, vector<4xi16>, vector<4xi16>
func.func @both(%p: memref<?xbf16>, %n: index) -> (vector<4xf32>, vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %nan = arith.constant dense<0x7FC00000> : vector<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c4 iter_args(%m = %nan, %l = %nan) -> (vector<4xf32>, vector<4xf32>) {
    %x = vector.load %p[%i] : memref<?xbf16>, vector<4xbf16>
    %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y = arith.maxnumf %m, %w : vector<4xf32>
    %v = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %z = arith.minnumf %l, %v : vector<4xf32>
    scf.yield %y, %z : vector<4xf32>, vector<4xf32>
  }
  return %r#0, %r#1 : vector<4xf32>, vector<4xf32>
}

// A loop that goes on with the maximum of two others begins with the integers of that.
// CHECK-LABEL: func.func @joined
// CHECK: %[[A:.*]]:2 = scf.for
// CHECK: %[[B:.*]]:2 = scf.for
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[B]]#1
// CHECK: %[[MORE:.*]] = arith.maxsi
// CHECK: arith.addi %[[MORE]], %{{.*}} : vector<4xi16>
// CHECK: %[[BITS:.*]] = arith.xori %{{.*}}, %{{.*}} : vector<4xi16>
// CHECK: %[[SHIFTED:.*]] = arith.addi %[[BITS]], %{{.*}} : vector<4xi16>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SHIFTED]], %{{.*}} = %[[BITS]]) -> (vector<4xi16>, vector<4xi16>)
func.func @joined(%p: memref<?xbf16>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %nan = arith.constant dense<0x7FC00000> : vector<4xf32>
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%m = %nan) -> (vector<4xf32>) {
    %x = vector.load %p[%i] : memref<?xbf16>, vector<4xbf16>
    %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y = arith.maxnumf %m, %w : vector<4xf32>
    scf.yield %y : vector<4xf32>
  }
  %s = scf.for %i = %c4 to %n step %c4 iter_args(%m = %nan) -> (vector<4xf32>) {
    %x = vector.load %p[%i] : memref<?xbf16>, vector<4xbf16>
    %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y = arith.maxnumf %m, %w : vector<4xf32>
    scf.yield %y : vector<4xf32>
  }
  %j = arith.maxnumf %r, %s : vector<4xf32>
  %t = scf.for %i = %n to %c4 step %c4 iter_args(%m = %j) -> (vector<4xf32>) {
    %x = vector.load %p[%i] : memref<?xbf16>, vector<4xbf16>
    %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %y = arith.maxnumf %m, %w : vector<4xf32>
    scf.yield %y : vector<4xf32>
  }
  return %t : vector<4xf32>
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

// -----

// Two maxima in each of two loops, which go on with what the first one found: integers of both are carried from one to the other.
// CHECK-LABEL: func.func @two_of_each(
// CHECK: %[[FIRST:.*]]:4 = scf.for {{.*}} -> (vector<32xi16>, vector<32xi16>, vector<32xi16>, vector<32xi16>)
// CHECK: %[[SECOND:.*]]:4 = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1, %{{.*}} = %[[FIRST]]#2, %{{.*}} = %[[FIRST]]#3)
// CHECK-COUNT-2: arith.extf
// CHECK-NOT: arith.extf
func.func @two_of_each(%x: memref<?xbf16>, %y: memref<?xbf16>, %n: index, %m: index) -> (vector<32xf32>, vector<32xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %low = arith.constant dense<0xFF800000> : vector<32xf32>
  %first:2 = scf.for %i = %c0 to %n step %c32 iter_args(%a = %low, %b = %low) -> (vector<32xf32>, vector<32xf32>) {
    %u = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %v = vector.load %y[%i] : memref<?xbf16>, vector<32xbf16>
    %p = arith.extf %u : vector<32xbf16> to vector<32xf32>
    %q = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %c = arith.maxnumf %a, %p : vector<32xf32>
    %d = arith.maxnumf %b, %q : vector<32xf32>
    scf.yield %c, %d : vector<32xf32>, vector<32xf32>
  }
  %second:2 = scf.for %i = %n to %m step %c32 iter_args(%a = %first#0, %b = %first#1) -> (vector<32xf32>, vector<32xf32>) {
    %u = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %v = vector.load %y[%i] : memref<?xbf16>, vector<32xbf16>
    %p = arith.extf %u : vector<32xbf16> to vector<32xf32>
    %q = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %c = arith.maxnumf %a, %p : vector<32xf32>
    %d = arith.maxnumf %b, %q : vector<32xf32>
    scf.yield %c, %d : vector<32xf32>, vector<32xf32>
  }
  return %second#0, %second#1 : vector<32xf32>, vector<32xf32>
}
