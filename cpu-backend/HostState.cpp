//===- HostState.cpp - what a running kernel knows of its launch ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/HostState.h"

using namespace mlir;

Value tilebridge::cpu::hostVariable(OpBuilder &b, Location loc, ModuleOp module,
                                    StringRef name, Type type) {
  if (!module.lookupSymbol(name)) {
    OpBuilder atStart(module.getBodyRegion());
    auto global = LLVM::GlobalOp::create(
        atStart, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal, name,
        Attribute(), /*alignment=*/16, /*addrSpace=*/0, /*dsoLocal=*/true,
        /*threadLocal=*/true);
    atStart.createBlock(&global.getInitializerRegion());
    LLVM::ReturnOp::create(
        atStart, loc, LLVM::ZeroOp::create(atStart, loc, type).getResult());
  }
  return LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), name);
}

Value tilebridge::cpu::currentLaunch(OpBuilder &b, Location loc,
                                     ModuleOp module) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::LoadOp::create(
      b, loc, pointer, hostVariable(b, loc, module, kLaunchVariable, pointer));
}

Value tilebridge::cpu::loadField(OpBuilder &b, Location loc, Value base,
                                 size_t offset, Type type) {
  Value at =
      LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return LLVM::LoadOp::create(b, loc, type, at);
}
