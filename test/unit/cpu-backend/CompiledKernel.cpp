//===- CompiledKernel.cpp - compiles MLIR text and runs it ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "gtest/gtest.h"

#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

std::unique_ptr<mlir::MLIRContext> test::makeContext() {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<tilebridge::linalg_ext::LinalgExtDialect>();
  return std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
}

std::string test::compile(llvm::StringRef source, llvm::StringRef targetName,
                          Transform transform) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, context.get());
  llvm::Expected<CpuTarget> target = CpuTarget::parse(targetName);
  if (!target) {
    ADD_FAILURE() << llvm::toString(target.takeError());
    return {};
  }
  if (!module) {
    ADD_FAILURE() << "the module does not parse:\n" << source.str();
    return {};
  }
  if (transform)
    transform(*module);
  llvm::Expected<std::string> bytes = compileToSharedObject(*module, *target);
  if (!bytes) {
    ADD_FAILURE() << llvm::toString(bytes.takeError());
    return {};
  }
  return *bytes;
}

CompiledKernel::CompiledKernel(llvm::StringRef source, llvm::StringRef target,
                               Transform transform) {
  std::string bytes = compile(source, target, transform);
  if (bytes.empty())
    return;
  // Open for as long as the library: the loader takes a second file of the same
  // path for the first.
  fd = memfd_create("kernel", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  library = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                   RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    ADD_FAILURE() << dlerror();
    return;
  }
  executable = static_cast<const tb_executable_v1 *>(
      dlsym(library, TB_EXECUTABLE_SYMBOL));
  EXPECT_TRUE(executable) << "no symbol " << TB_EXECUTABLE_SYMBOL;
}

CompiledKernel::~CompiledKernel() {
  if (library)
    dlclose(library);
  if (fd >= 0)
    close(fd);
}

void CompiledKernel::run(llvm::ArrayRef<uint64_t> slots,
                         std::array<uint32_t, 3> grid, int64_t begin,
                         int64_t end) const {
  ASSERT_TRUE(executable);
  ASSERT_EQ(slots.size(), executable->slot_count);
  tb_host_v1 host{};
  host.state = const_cast<CompiledKernel *>(this);
  host.print = [](void *state, const char *text) {
    static_cast<CompiledKernel *>(state)->printed += text;
  };
  host.fail = [](void *state, const char *text) {
    static_cast<CompiledKernel *>(state)->failure += text;
  };
  tb_launch_v1 launch{slots.data(), {grid[0], grid[1], grid[2]}, 0, &host};
  std::unique_ptr<void, decltype(&std::free)> scratch(
      std::aligned_alloc(64, (executable->scratch_bytes + 127) / 64 * 64),
      &std::free);
  std::memset(scratch.get(), 0, 64 + executable->scratch_bytes);
  if (end < 0)
    end = int64_t(grid[0]) * grid[1] * grid[2];
  executable->run(&launch, begin, end, scratch.get());
}
