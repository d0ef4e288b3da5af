//===- Kernels.h - kernels in bridge IR for the tests of plan/ -----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <array>
#include <map>
#include <string>

namespace tilebridge::test {

/// A module of one function, and what owns it.
class Kernel {
public:
  /// Bridge IR, or any other text; null function where it does not parse.
  static Kernel parse(llvm::StringRef text);
  /// A file of test/ttir/examples/3.9.0, lowered to bridge IR. Integer
  /// arguments of these numbers become constants.
  static Kernel example(llvm::StringRef name,
                        const std::map<unsigned, int64_t> &arguments);

  mlir::func::FuncOp func() const;
  mlir::ModuleOp module() const { return owned.get(); }
  /// Program ids (0 to 2) and counts (3 to 5).
  mlir::Value launchArgument(unsigned number) const;

  /// The ids of all programs of a grid, x first, as rows to seed.
  static std::array<std::vector<int64_t>, 3> idsOf(std::array<int64_t, 3> grid);

private:
  Kernel();

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> owned;
};

} // namespace tilebridge::test
