//===- CodegenPasses.cpp - LLVM's code generator --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Half of the time that a kernel takes to compile is spent here. Kernels have
// line numbers for debuggers and no variables, so the analysis of where
// variables are, an eighth of this time, is left out.
//===----------------------------------------------------------------------===//

#include "cpu-backend/CodegenPasses.h"

#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"

bool tilebridge::cpu::addCodegenPasses(llvm::legacy::PassManager &passes,
                                       llvm::TargetMachine &machine,
                                       llvm::raw_pwrite_stream &stream,
                                       llvm::CodeGenFileType type) {
  // The manager owns what it is given.
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  if (!config)
    return false;
  auto *functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  config->setDisableVerify(true);
  config->disablePass(&llvm::LiveDebugValuesID);
  passes.add(config);
  passes.add(functions);
  const llvm::TargetOptions &options = machine.Options;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(
      llvm::TargetLibraryInfoImpl(machine.getTargetTriple(), options.VecLib)));
  passes.add(new llvm::RuntimeLibraryInfoWrapper(
      machine.getTargetTriple(), options.ExceptionModel, options.FloatABIType,
      options.EABIVersion, options.MCOptions.ABIName, options.VecLib));
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type,
                            functions->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}
