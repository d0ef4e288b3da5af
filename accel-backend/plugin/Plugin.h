//===- Plugin.h - a target's own code ---------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plugin/accel_plugin.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tilebridge::accel {

/// A plug-in that is loaded. It stays for the life of the process: passes and
/// types of it may.
class Plugin {
public:
  static llvm::Expected<Plugin> load(llvm::StringRef path);

  llvm::StringRef name() const { return info->name; }
  /// Null where it has no target of its own.
  const char *targetJson() const { return info->target_json; }
  /// An error where it serves other targets than this one.
  llvm::Error checkServes(llvm::StringRef target) const;

  llvm::Error addPasses(llvm::StringRef point,
                        mlir::OpPassManager &manager) const;
  /// Makes calls of the computations that it has functions for.
  mlir::LogicalResult lowerCompute(mlir::ModuleOp module) const;

  /// Empty where it has no output.
  llvm::StringRef outputName() const;
  llvm::Expected<std::string> emit(mlir::ModuleOp module) const;

private:
  explicit Plugin(const tilebridge_accel_plugin_info *info,
                  llvm::StringRef path)
      : info(info), path(path.str()) {}
  llvm::Error failed(llvm::StringRef where, llvm::StringRef text) const;

  const tilebridge_accel_plugin_info *info;
  std::string path;
};

} // namespace tilebridge::accel
