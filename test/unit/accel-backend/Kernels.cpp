//===- Kernels.cpp - kernels in bridge IR for the tests of plan/ ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "frontend/Passes.h"
#include "frontend/TTDialect.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilebridge;
using tilebridge::test::Kernel;

Kernel::Kernel() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  tt::registerTTDialect(registry);
  registry.insert<linalg_ext::LinalgExtDialect>();
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

Kernel Kernel::parse(llvm::StringRef text) {
  Kernel kernel;
  kernel.owned = parseSourceString<ModuleOp>(text, kernel.context.get());
  EXPECT_TRUE(kernel.owned) << text.str();
  return kernel;
}

Kernel Kernel::example(llvm::StringRef name,
                       const std::map<unsigned, int64_t> &arguments) {
  Kernel kernel;
  std::string path = (EXAMPLES + llvm::Twine("/") + name + ".mlir").str();
  kernel.owned = parseSourceFile<ModuleOp>(path, kernel.context.get());
  if (!kernel.owned) {
    ADD_FAILURE() << path << " does not parse";
    return kernel;
  }
  PassManager lower(kernel.context.get());
  frontend::buildFrontendPipeline(lower);
  ttl::buildTritonToLinalgPipeline(lower);
  EXPECT_TRUE(succeeded(lower.run(*kernel.owned))) << path;

  func::FuncOp func = kernel.func();
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  for (auto [number, value] : arguments) {
    Value argument = func.getArgument(number);
    argument.replaceAllUsesWith(arith::ConstantOp::create(
        builder, func.getLoc(),
        builder.getIntegerAttr(argument.getType(), value)));
  }
  PassManager fold(kernel.context.get());
  fold.addPass(createCanonicalizerPass());
  EXPECT_TRUE(succeeded(fold.run(*kernel.owned)));
  return kernel;
}

func::FuncOp Kernel::func() const {
  return *owned.get().getOps<func::FuncOp>().begin();
}

Value Kernel::launchArgument(unsigned number) const {
  return func().getArgument(func().getNumArguments() - 6 + number);
}

std::array<std::vector<int64_t>, 3> Kernel::idsOf(std::array<int64_t, 3> grid) {
  std::array<std::vector<int64_t>, 3> ids;
  for (int64_t z = 0; z < grid[2]; ++z)
    for (int64_t y = 0; y < grid[1]; ++y)
      for (int64_t x = 0; x < grid[0]; ++x) {
        ids[0].push_back(x);
        ids[1].push_back(y);
        ids[2].push_back(z);
      }
  return ids;
}
