//===- Mynpu.cpp - a plug-in for a target -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// It brings the description of a machine, a pass, the machine's instruction for
// products of matrices, and an output of its own. README.md shows how to use
// it.

#include "accel_plugin.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"

#include <cstdio>
#include <cstring>

namespace {

/// Counts what each kernel does, as attributes that the output below reads. Ops
/// of the compiler's own dialect are known by their names.
struct CountPass
    : public mlir::PassWrapper<CountPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountPass)

  llvm::StringRef getArgument() const override { return "mynpu-count"; }

  void runOnOperation() override {
    getOperation().walk([](mlir::func::FuncOp function) {
      int transfers = 0, products = 0;
      function.walk([&](mlir::Operation *op) {
        llvm::StringRef name = op->getName().getStringRef();
        transfers += name == "accel.copy" || name == "accel.copy_start";
        products += name == "linalg.matmul";
      });
      mlir::Builder b(function.getContext());
      function->setAttr("mynpu.transfers", b.getI64IntegerAttr(transfers));
      function->setAttr("mynpu.products", b.getI64IntegerAttr(products));
    });
  }
};

int addPasses(const char *point, void *manager, char *, size_t) {
  // Before computations become calls, and where the simulator does not look.
  if (std::strcmp(point, "emit") == 0)
    static_cast<mlir::OpPassManager *>(manager)->addPass(
        std::make_unique<CountPass>());
  return 0;
}

bool is(const tilebridge_accel_operand &operand, const char *type) {
  return std::strcmp(operand.type, type) == 0;
}

/// The machine multiplies tiles of 16x16x16 of f16; the rest stays loops.
const char *lowerCompute(const tilebridge_accel_compute *compute) {
  if (std::strcmp(compute->op, "linalg.matmul") != 0)
    return nullptr;
  for (uint32_t i = 0; i < compute->input_count + compute->output_count; ++i)
    for (uint32_t d = 0; d < compute->operands[i].rank; ++d)
      if (compute->operands[i].sizes[d] <= 0 ||
          compute->operands[i].sizes[d] % 16 != 0)
        return nullptr;
  bool isHalf = is(compute->operands[0], "f16") &&
                is(compute->operands[1], "f16") &&
                is(compute->operands[2], "f32");
  return isHalf ? "mynpu_mma_f16_f32" : nullptr;
}

/// A table of the kernels, as a loader of this machine might want it.
int emitManifest(void *operation, tilebridge_accel_write write, void *state,
                 char *error, size_t errorSize) {
  auto module =
      llvm::cast<mlir::ModuleOp>(static_cast<mlir::Operation *>(operation));
  llvm::json::Array kernels;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal())
      continue;
    auto number = [&](llvm::StringRef name) {
      auto attr = function->getAttrOfType<mlir::IntegerAttr>(name);
      return attr ? attr.getInt() : -1;
    };
    kernels.push_back(
        llvm::json::Object{{"name", function.getName()},
                           {"products", number("mynpu.products")},
                           {"transfers", number("mynpu.transfers")}});
  }
  if (kernels.empty()) {
    std::snprintf(error, errorSize, "the module has no kernel");
    return 1;
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::json::Value(std::move(kernels)) << "\n";
  write(state, text.data(), text.size());
  return 0;
}

const char target[] = R"json({
  "name": "mynpu",
  "description": "Two by two PEs with 64 KB each",
  "assumed": "an example",
  "clock_GHz": 1.0,
  "grid": {"rows": 2, "columns": 2},
  "memories": [
    {"name": "dram", "scope": "chip", "size_bytes": 1073741824, "alignment_bytes": 1,
     "bandwidth_bytes_per_cycle": 64, "latency_cycles": 100},
    {"name": "local", "scope": "pe", "size_bytes": 65536, "alignment_bytes": 16, "banks": 1,
     "bandwidth_bytes_per_cycle": 256, "latency_cycles": 4}
  ],
  "tensors_in": "dram",
  "dma": [
    {"name": "dma", "scope": "pe", "paths": [{"from": "dram", "to": "local"}, {"from": "local", "to": "dram"}],
     "max_dims": 3, "alignment_bytes": 1, "stride_zero": false, "queue_depth_transfers": 4,
     "bandwidth_bytes_per_cycle": 64, "setup_cycles": 16, "padding": true, "indexed": true, "multicast": "both"}
  ],
  "compute": [
    {"name": "matrix", "operations_per_cycle": {"matmul": {"f16": 512, "f32": 64}}, "tile_elements": [16, 16, 16],
     "operands_in": ["local"], "startup_cycles": 8},
    {"name": "vector", "operations_per_cycle": {"any": {"any": 16}}, "tile_elements": [16],
     "operands_in": ["local"], "startup_cycles": 4},
    {"name": "scalar", "operations_per_cycle": {"scalar": {"any": 1}}, "operands_in": ["local"]}
  ]
})json";

const char *const targets[] = {"mynpu", nullptr};

const tilebridge_accel_plugin_info info = {TILEBRIDGE_ACCEL_PLUGIN_VERSION,
                                           /*reserved=*/0,
                                           "mynpu",
                                           LLVM_VERSION_STRING,
                                           target,
                                           targets,
                                           addPasses,
                                           lowerCompute,
                                           "manifest",
                                           emitManifest};

} // namespace

extern "C" __attribute__((visibility("default")))
const tilebridge_accel_plugin_info *
tilebridge_accel_plugin(void) {
  return &info;
}
