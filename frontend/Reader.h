//===- Reader.h - text or bytecode to a module ------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace tilebridge::frontend {

/// Registers every dialect that occurs in TTIR.
void registerTTIRDialects(mlir::DialectRegistry &registry);

/// Parses and verifies TTIR. `input` is text or MLIR bytecode, `name` what
/// messages call it. Errors are appended to `messages`, one a line as
/// `file:line:column: error: ...`, notes indented below; the result is then
/// null. The context needs the dialects of registerTTIRDialects.
///
/// Any input is safe to read: bytecode goes through a child process first, see
/// Bytecode.h.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::StringRef input,
                                             llvm::StringRef name,
                                             mlir::MLIRContext &context,
                                             std::string &messages);

/// The same with what a module must hold said by the caller, for texts that are
/// not TTIR.
mlir::OwningOpRef<mlir::ModuleOp>
parseModule(llvm::StringRef input, llvm::StringRef name,
            mlir::MLIRContext &context, std::string &messages,
            llvm::function_ref<llvm::LogicalResult(mlir::ModuleOp)> verifyText);

/// The place that a location names, the innermost one of the kernel's source;
/// none if it names none.
std::optional<mlir::FileLineColLoc> placeOf(mlir::Location loc);

/// Where the code of a location was called from, outermost last.
llvm::SmallVector<mlir::Location> callersOf(mlir::Location loc);

/// A place as a person writes it, `file:line:column`: the innermost one of the
/// kernel's source, then the calls that led there.
std::string formatLocation(mlir::Location loc);

/// Appends a diagnostic and its notes as readModule does.
void appendDiagnostic(mlir::Diagnostic &diagnostic, std::string &messages);

} // namespace tilebridge::frontend
