//===- Patterns.h - the lowering, family by family ------------ -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilebridge::ttl {

using Converter = const mlir::TypeConverter &;

// One family a file of the same name.
void populateControlFlowPatterns(Converter, mlir::RewritePatternSet &,
                                 mlir::ConversionTarget &);
void populateDotPatterns(Converter, mlir::RewritePatternSet &);
void populateDotScaledPatterns(Converter, mlir::RewritePatternSet &);
void populateElementwisePatterns(Converter, mlir::RewritePatternSet &);
void populateExternPatterns(Converter, mlir::RewritePatternSet &);
void populateFloatCastPatterns(Converter, mlir::RewritePatternSet &);
void populateFunctionPatterns(Converter, mlir::RewritePatternSet &);
void populateHostPatterns(Converter, mlir::RewritePatternSet &);
void populateLookupPatterns(Converter, mlir::RewritePatternSet &);
void populateMapPatterns(Converter, mlir::RewritePatternSet &);
void populatePointerPatterns(Converter, mlir::RewritePatternSet &);
void populateReducePatterns(Converter, mlir::RewritePatternSet &);
void populateScanPatterns(Converter, mlir::RewritePatternSet &);
void populateShapePatterns(Converter, mlir::RewritePatternSet &);
void populateViewPatterns(Converter, mlir::RewritePatternSet &);

/// Gives every tt.func the six program id arguments, passes them on in calls,
/// and replaces tt.get_program_id and tt.get_num_programs by them. Kernels get
/// their attributes. It is done before the conversion, while every type is tt's
/// own.
void makeProgramIdsArguments(mlir::ModuleOp module);

/// The program's ids x, y and z, from the function that `op` is in.
mlir::ValueRange programIdsOf(mlir::Operation *op);

/// True if populateExternPatterns knows the external function for these types.
bool isKnownExtern(llvm::StringRef symbol, mlir::Type result,
                   mlir::TypeRange operands);

// Elementwise.cpp: what the other families build their scalar code with.

/// Builds a body of scalars: takes one scalar for each input, gives the
/// results.
using ScalarBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// Applies `body` to scalars as it is, and to tensors element by element: a
/// linalg.generic with identity maps. Inputs and results are all scalars, or
/// all tensors of one shape; constant splats become constants of the body.
llvm::SmallVector<mlir::Value> mapElements(mlir::OpBuilder &, mlir::Location,
                                           mlir::TypeRange resultTypes,
                                           mlir::ValueRange inputs,
                                           ScalarBody body);

/// mapElements for one result.
mlir::Value
mapElements(mlir::OpBuilder &, mlir::Location, mlir::Type resultType,
            mlir::ValueRange inputs,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                           mlir::ValueRange)>);

/// The elements in row-major order, in another static shape.
mlir::Value reshapeBlock(mlir::OpBuilder &, mlir::Location, mlir::Value,
                         llvm::ArrayRef<int64_t> shape);

/// The upper half of the product of two unsigned scalars. It is written with
/// ops of one result, which every backend makes vectors of.
mlir::Value mulHighUnsigned(mlir::OpBuilder &, mlir::Location, mlir::Value,
                            mlir::Value);

} // namespace tilebridge::ttl
