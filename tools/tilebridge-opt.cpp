//===- tilebridge-opt.cpp - runs any pass or pipeline over MLIR text ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/emit/Passes.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/search/Passes.h"
#include "cpu-backend/Passes.h"
#include "frontend/Passes.h"
#include "frontend/TTDialect.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/bridge/Interfaces.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  tilebridge::tt::registerTTDialect(registry);
  registry.insert<tilebridge::linalg_ext::LinalgExtDialect,
                  tilebridge::accel::AccelDialect>();
  tilebridge::linalg_ext::registerInterfaces(registry);
  mlir::registerAllPasses();
  tilebridge::frontend::registerTilebridgeFrontendPasses();
  tilebridge::frontend::registerFrontendPipeline();
  tilebridge::ttl::registerTilebridgeTritonToLinalgPasses();
  tilebridge::ttl::registerTritonToLinalgPipeline();
  tilebridge::linalg_ext::registerTilebridgeBridgePasses();
  tilebridge::cpu::registerTilebridgeCpuBackendPasses();
  tilebridge::cpu::registerCpuPipelines();
  tilebridge::accel::registerTilebridgeAccelBackendPasses();
  tilebridge::accel::registerTilebridgeAccelPlanPasses();
  tilebridge::accel::registerTilebridgeAccelSearchPasses();
  tilebridge::accel::registerTilebridgeAccelEmitPasses();
  tilebridge::accel::registerAccelPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tilebridge pass driver\n", registry));
}
