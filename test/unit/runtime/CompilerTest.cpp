//===- CompilerTest.cpp - which library compiles ---------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Compiler.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tilebridge::rt;
namespace fs = std::filesystem;

namespace {

class CompilerPath : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             ("tilebridge-compiler-" + std::to_string(getpid()));
    fs::create_directories(folder);
    if (const char *value = std::getenv("TILEBRIDGE_LIB_DIR"))
      before = value;
    setenv("TILEBRIDGE_LIB_DIR", folder.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(folder);
    if (before.empty())
      unsetenv("TILEBRIDGE_LIB_DIR");
    else
      setenv("TILEBRIDGE_LIB_DIR", before.c_str(), 1);
  }

  fs::path folder;
  std::string before;
};

TEST_F(CompilerPath, IsTheFastOneForCpusWhereItIsThere) {
  std::string any = folder / "libtilebridge_compiler.so";
  std::string fast = folder / "libtilebridge_compiler_cpu.so";
  std::ofstream(any) << "";
  EXPECT_EQ(compilerPath(CompilerUse::Cpu), any);
  std::ofstream(fast) << "";
  EXPECT_EQ(compilerPath(CompilerUse::Cpu), fast);
  EXPECT_EQ(compilerPath(CompilerUse::Any), any);
}

TEST(CompilerUse, GoesByTheTarget) {
  EXPECT_EQ(compilerUse("cpu"), CompilerUse::Cpu);
  EXPECT_EQ(compilerUse("cpu:sapphirerapids"), CompilerUse::Cpu);
  EXPECT_EQ(compilerUse("accel:tiny-16kb"), CompilerUse::Any);
  EXPECT_EQ(compilerUse(""), CompilerUse::Any);
}

} // namespace
