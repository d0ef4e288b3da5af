//===- BridgeProgram.h - bridge IR that a test runs -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "reference/Evaluate.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

/// A kernel with the arguments `%in` and `%out`, arrays of one element type,
/// and what it does to them.
class BridgeProgram {
public:
  BridgeProgram(llvm::StringRef element, std::string body,
                std::string functions = "")
      : context(registry(), mlir::MLIRContext::Threading::DISABLED),
        handler(&context, [this](mlir::Diagnostic &diagnostic) {
          errors += diagnostic.str() + "\n";
          return mlir::success();
        }) {
    std::string pointer =
        ("memref<?x" + element + ", strided<[1], offset: ?>>").str();
    std::string text =
        functions + "func.func @k(%in: " + pointer + ", %out: " + pointer +
        ", %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) "
        "attributes {tilebridge.kernel, tilebridge.signature = [\"*T\", "
        "\"*T\"]} {\n" +
        body + "\nreturn\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << errors << text;
    if (module)
      kernel = tilebridge::reference::findKernel(*module);
  }

  /// Runs `programs` programs; `out` is changed in place.
  template <typename T>
  tilebridge::reference::Outcome run(std::vector<T> in, std::vector<T> &out,
                                     uint32_t programs = 1) {
    tilebridge::reference::Launch launch;
    uint64_t slots[] = {reinterpret_cast<uint64_t>(in.data()),
                        reinterpret_cast<uint64_t>(out.data())};
    tilebridge::reference::MemoryRange memory[] = {
        {in.data(), in.size() * sizeof(T), 0},
        {out.data(), out.size() * sizeof(T), 1}};
    launch.slots = slots;
    launch.grid = {programs, 1, 1};
    launch.isChecked = true;
    launch.memory = memory;
    launch.print = [this](llvm::StringRef line) { printed += line; };
    return kernel ? tilebridge::reference::evaluate(kernel, launch)
                  : tilebridge::reference::Outcome{true, ""};
  }

  /// What one program leaves in `count` elements that were zero.
  template <typename T>
  std::vector<T> results(std::vector<T> in, size_t count,
                         uint32_t programs = 1) {
    std::vector<T> out(count);
    auto outcome = run(std::move(in), out, programs);
    EXPECT_FALSE(outcome.isError) << errors;
    EXPECT_EQ(outcome.assertion, "");
    return out;
  }

  std::string errors, printed;

private:
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    registry.insert<tilebridge::linalg_ext::LinalgExtDialect>();
    return registry;
  }

  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
};
