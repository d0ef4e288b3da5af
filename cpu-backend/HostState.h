//===- HostState.h - what a running kernel knows of its launch --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilebridge::cpu {

/// Thread-local variables of a kernel that calls its host. Whoever emits such
/// calls adds them; tilebridge-cpu-entry sets those that exist: a pointer to
/// the launch, and where a failed assertion returns to (a jmp_buf).
constexpr llvm::StringLiteral kLaunchVariable = "tilebridge_current_launch";
constexpr llvm::StringLiteral kReturnVariable = "tilebridge_return_state";

/// A jmp_buf: glibc needs 200 bytes on x86-64, 312 on AArch64.
inline mlir::Type returnStateType(mlir::MLIRContext *context) {
  return mlir::LLVM::LLVMArrayType::get(mlir::IntegerType::get(context, 64),
                                        64);
}

/// The address of such a variable, which is added where there is none.
mlir::Value hostVariable(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::ModuleOp module, llvm::StringRef name,
                         mlir::Type type);
/// The tb_launch_v1 that runs.
mlir::Value currentLaunch(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::ModuleOp module);
mlir::Value loadField(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base,
                      size_t offset, mlir::Type type);

} // namespace tilebridge::cpu
