//===- CodegenPasses.h - LLVM's code generator ------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tilebridge::cpu {

/// Adds what writes a module as assembly or as an object file to `stream`: as
/// TargetMachine::addPassesToEmitFile, without passes that find nothing to do
/// in our code. False if the machine cannot write that.
bool addCodegenPasses(llvm::legacy::PassManager &passes,
                      llvm::TargetMachine &machine,
                      llvm::raw_pwrite_stream &stream,
                      llvm::CodeGenFileType type);

} // namespace tilebridge::cpu
