//===- DimensionClassesTest.cpp - which dimensions are cut together -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "accel-backend/plan/DimensionClasses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilebridge::accel;
using tilebridge::test::Kernel;

template <typename OpT> static SmallVector<OpT> all(const Kernel &kernel) {
  SmallVector<OpT> ops;
  kernel.func().walk([&](OpT op) { ops.push_back(op); });
  return ops;
}

static DimensionClasses::Class classOf(const DimensionClasses &classes,
                                       Value value, int64_t dimension) {
  return classes.classes()[classes.of(value, dimension)];
}

TEST(DimensionClasses, Matmul) {
  Kernel kernel = Kernel::example("matmul-f16-pointers", {});
  ASSERT_TRUE(succeeded(separateUses(kernel.func())));
  DimensionClasses classes(kernel.func());
  auto matmul = all<linalg::MatmulOp>(kernel)[0];
  Value a = matmul.getInputs()[0], b = matmul.getInputs()[1];
  Value c = matmul.getResult(0);
  EXPECT_EQ(classes.of(a, 0), classes.of(c, 0));
  EXPECT_EQ(classes.of(b, 1), classes.of(c, 1));
  EXPECT_EQ(classes.of(a, 1), classes.of(b, 0));
  EXPECT_NE(classes.of(c, 0), classes.of(c, 1));
  EXPECT_EQ(classOf(classes, c, 0).kind, DimensionKind::Parallel);
  EXPECT_EQ(classOf(classes, c, 1).kind, DimensionKind::Parallel);
  EXPECT_EQ(classOf(classes, a, 1).kind, DimensionKind::Contracted);
  EXPECT_EQ(classOf(classes, a, 1).because, matmul.getOperation());
  EXPECT_EQ(classOf(classes, a, 0).size, 64);
  EXPECT_EQ(classOf(classes, a, 1).size, 32);
  // Through the loop and the conversion to what is stored.
  auto loop = all<scf::ForOp>(kernel)[0];
  EXPECT_EQ(classes.of(loop.getResult(2)), classes.of(c));
  auto store = all<bufferization::MaterializeInDestinationOp>(kernel)[0];
  EXPECT_EQ(classes.of(store.getSource()), classes.of(c));
}

TEST(DimensionClasses, Attention) {
  Kernel kernel = Kernel::example("attention-f16", {});
  ASSERT_TRUE(succeeded(separateUses(kernel.func())));
  DimensionClasses classes(kernel.func());
  auto matmuls = all<linalg::MatmulOp>(kernel);
  Value q = matmuls[0].getInputs()[0], k = matmuls[0].getInputs()[1];
  Value p = matmuls[1].getInputs()[0], out = matmuls[1].getResult(0);
  // Rows of queries are rows of everything, and nothing combines them.
  EXPECT_EQ(classes.of(q, 0), classes.of(out, 0));
  EXPECT_EQ(classes.of(p, 0), classes.of(out, 0));
  EXPECT_EQ(classOf(classes, out, 0).kind, DimensionKind::Parallel);
  EXPECT_EQ(classOf(classes, out, 1).kind, DimensionKind::Parallel);
  EXPECT_EQ(classOf(classes, q, 1).kind, DimensionKind::Contracted);
  // Keys: the maximum of a row goes over them.
  EXPECT_EQ(classes.of(k, 1), classes.of(p, 1));
  EXPECT_EQ(classOf(classes, p, 1).kind, DimensionKind::Reduced);
}

TEST(DimensionClasses, RowsOfSoftmax) {
  Kernel kernel = Kernel::example("softmax-f32", {});
  ASSERT_TRUE(succeeded(separateUses(kernel.func())));
  DimensionClasses classes(kernel.func());
  Value row = all<linalg::ReduceOp>(kernel)[0].getInputs()[0];
  EXPECT_EQ(classOf(classes, row, 0).kind, DimensionKind::Reduced);
  EXPECT_TRUE(isa<linalg::ReduceOp>(classOf(classes, row, 0).because));
}

TEST(DimensionClasses, WhatCannotBeCut) {
  Kernel kernel = Kernel::parse(R"(
    func.func @f(%t: tensor<8x16xf32>, %i: tensor<8x16xi32>, %c: i1) -> tensor<8x4x4xf32> {
      %0 = linalg_ext.scan(%t) dimension = 1 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        linalg_ext.yield %s : f32
      } : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
      %2 = scf.if %c -> tensor<8x4x4xf32> {
        scf.yield %1 : tensor<8x4x4xf32>
      } else {
        %e = tensor.empty() : tensor<8x4x4xf32>
        scf.yield %e : tensor<8x4x4xf32>
      }
      %o = tensor.empty() : tensor<16x8xi32>
      %3 = linalg.transpose ins(%i : tensor<8x16xi32>) outs(%o : tensor<16x8xi32>) permutation = [1, 0]
      %4 = tensor.extract_slice %3[0, 0] [8, 8] [1, 1] : tensor<16x8xi32> to tensor<8x8xi32>
      return %2 : tensor<8x4x4xf32>
    })");
  ASSERT_TRUE(succeeded(separateUses(kernel.func())));
  DimensionClasses classes(kernel.func());
  Value scanned = all<tilebridge::linalg_ext::ScanOp>(kernel)[0]->getResult(0);
  EXPECT_EQ(classOf(classes, scanned, 1).kind, DimensionKind::Fixed);
  Value t = kernel.func().getArgument(0), i = kernel.func().getArgument(1);
  EXPECT_EQ(classes.of(t, 1), classes.of(scanned, 1));
  // It is returned: nothing of it can be cut.
  EXPECT_EQ(classOf(classes, t, 0).kind, DimensionKind::Fixed);
  // Transposed, and half of it taken.
  auto transposed = all<linalg::TransposeOp>(kernel)[0]->getResult(0);
  EXPECT_EQ(classes.of(i, 0), classes.of(transposed, 1));
  EXPECT_EQ(classOf(classes, i, 0).kind, DimensionKind::Parallel);
  EXPECT_EQ(classOf(classes, i, 1).kind, DimensionKind::Fixed);
}

// One range for rows and for columns ties them together unless each has its
// own.
TEST(DimensionClasses, SharedRanges) {
  Kernel kernel = Kernel::parse(R"(
    #map = affine_map<(d0) -> (d0)>
    #map1 = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%m: memref<64x64xi32, strided<[?, 1], offset: ?>>, %n: i32) {
      %e = tensor.empty() : tensor<64xi32>
      %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<64xi32>) {
      ^bb0(%out: i32):
        %i = linalg.index 0 : index
        %c = arith.index_cast %i : index to i32
        linalg.yield %c : i32
      } -> tensor<64xi32>
      %w = tensor.empty() : tensor<64x64xi32>
      %rows = linalg.broadcast ins(%0 : tensor<64xi32>) outs(%w : tensor<64x64xi32>) dimensions = [1]
      %columns = linalg.broadcast ins(%0 : tensor<64xi32>) outs(%w : tensor<64x64xi32>) dimensions = [0]
      %1 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]}
          ins(%rows, %columns : tensor<64x64xi32>, tensor<64x64xi32>) outs(%w : tensor<64x64xi32>) {
      ^bb0(%a: i32, %b: i32, %out: i32):
        %s = arith.addi %a, %b : i32
        linalg.yield %s : i32
      } -> tensor<64x64xi32>
      bufferization.materialize_in_destination %1 in writable %m : (tensor<64x64xi32>, memref<64x64xi32, strided<[?, 1], offset: ?>>) -> ()
      return
    })");
  {
    DimensionClasses classes(kernel.func());
    Value sum = all<linalg::GenericOp>(kernel)[1]->getResult(0);
    EXPECT_EQ(classes.of(sum, 0), classes.of(sum, 1));
  }
  ASSERT_TRUE(succeeded(separateUses(kernel.func())));
  EXPECT_EQ(all<linalg::GenericOp>(kernel).size(), 3u);
  DimensionClasses classes(kernel.func());
  Value sum = all<linalg::GenericOp>(kernel)[2]->getResult(0);
  EXPECT_NE(classes.of(sum, 0), classes.of(sum, 1));
  EXPECT_EQ(classOf(classes, sum, 0).kind, DimensionKind::Parallel);
  EXPECT_TRUE(succeeded(kernel.module().verify()));
}
