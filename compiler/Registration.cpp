//===- Registration.cpp - dialects and passes, by name ----------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Registration.h"

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/emit/Passes.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/search/Passes.h"
#include "cpu-backend/Passes.h"
#include "frontend/Passes.h"
#include "frontend/Reader.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/bridge/Interfaces.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

using namespace mlir;

namespace tilebridge::compiler {

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  // To register is cheap; a context loads only what a module needs.
  registerAllDialects(registry);
  registerAllExtensions(registry);
  frontend::registerTTIRDialects(registry);
  registry.insert<linalg_ext::LinalgExtDialect, accel::AccelDialect>();
  linalg_ext::registerInterfaces(registry);
  return registry;
}

const DialectRegistry &dialectRegistry() {
  static const DialectRegistry registry = makeRegistry();
  return registry;
}

bool isPass(llvm::StringRef argument) {
  static std::once_flag once;
  std::call_once(once, [] {
    registerAllPasses();
    frontend::registerTilebridgeFrontendPasses();
    ttl::registerTilebridgeTritonToLinalgPasses();
    linalg_ext::registerTilebridgeBridgePasses();
    cpu::registerTilebridgeCpuBackendPasses();
    accel::registerTilebridgeAccelBackendPasses();
    accel::registerTilebridgeAccelPlanPasses();
    accel::registerTilebridgeAccelSearchPasses();
    accel::registerTilebridgeAccelEmitPasses();
  });
  return PassInfo::lookup(argument) != nullptr;
}

} // namespace tilebridge::compiler
