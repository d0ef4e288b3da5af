//===- ReaderTest.cpp - what the reader accepts, and how it refuses -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Reader.h"

#include "frontend/Passes.h"
#include "frontend/TTOps.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace tilebridge;
using testing::Test;

namespace {

const char *kKernel = R"mlir(
tt.func public @add(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %b = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %r, %b : tensor<64xi32>
  %v = tt.load %a, %m cacheModifier = cg : tensor<64x!tt.ptr<f32>>
  %t = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.maximumf %x, %y : f32
    tt.reduce.return %z : f32
  }) : (tensor<64xf32>) -> f32
  tt.print " max: " {hex = false, isSigned = array<i32: 1>} : %t : f32
  tt.store %a, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
)mlir";

struct Reader : Test {
  Reader() {
    DialectRegistry registry;
    frontend::registerTTIRDialects(registry);
    context.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> read(StringRef input) {
    messages.clear();
    return frontend::readModule(input, "k.ttir", context, messages);
  }

  std::string bytecodeOf(StringRef input) {
    OwningOpRef<ModuleOp> module = read(input);
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    if (!module || failed(writeBytecodeToFile(*module, os)))
      ADD_FAILURE() << messages;
    return bytes;
  }

  void expectError(StringRef input, StringRef expected) {
    EXPECT_FALSE(read(input));
    EXPECT_NE(messages.find(expected.str()), std::string::npos)
        << "expected: " << expected.str() << "\ngot: " << messages;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::string messages;
};

TEST_F(Reader, ReadsTextAndBytecode) {
  EXPECT_TRUE(read(kKernel)) << messages;
  EXPECT_EQ(messages, "");
  EXPECT_TRUE(read(bytecodeOf(kKernel))) << messages;
  EXPECT_EQ(messages, "");
}

TEST_F(Reader, NamesFileLineAndColumn) {
  expectError("tt.func public @k() {\n  %0 = tt.nothing : i32\n  tt.return\n}",
              "k.ttir:2:8: error: ");
  expectError("tt.func public @k(%x: f32) {\n"
              "  %0 = tt.bitcast %x : f32 -> i16\n"
              "  tt.return\n}",
              "k.ttir:2:8: error: 'tt.bitcast' op (BT1)");
}

TEST_F(Reader, NamesTheKernelsOwnSource) {
  expectError("#a = loc(\"kernel.py\":7:4)\n#b = loc(\"kernel.py\":20:8)\n"
              "#c = loc(callsite(#a at #b))\n"
              "tt.func public @k(%x: f32) {\n"
              "  %0 = tt.bitcast %x : f32 -> i16 loc(\"name\"(#c))\n"
              "  tt.return\n}",
              "kernel.py:7:4, called from kernel.py:20:8: error: ");
}

TEST_F(Reader, RefusesWhatIsNoProgram) {
  expectError("", "k.ttir:1:1: error: is empty and holds no kernel; expected "
                  "a public tt.func with a body");
  expectError("module {\n}\nmodule {\n}",
              "k.ttir:1:1: error: the text has modules side by side or in one "
              "another; expected one module with one kernel");
  expectError("tt.func private @k() { tt.return }", "holds no kernel");
  expectError("tt.func public @k(%a: i0) { tt.return }", "at least one bit");
  expectError("not mlir", "k.ttir:1:1: error: ");
  expectError(StringRef("\0\0\0", 3), "error: ");
  expectError("ML\xefR garbage", "error: ");
}

TEST_F(Reader, RefusesTensorsThatAreEmptyOrHuge) {
  auto body = [](StringRef type) {
    return "tt.func public @k(%x: f32) {\n  %0 = tt.splat %x : f32 -> " +
           type.str() + "\n  tt.return\n}";
  };
  EXPECT_TRUE(read(body("tensor<1024x1024xf32>"))) << messages;
  expectError(body("tensor<1024x1025xf32>"),
              "k.ttir:2:8: error: 'tensor<1024x1025xf32>' has more than "
              "Triton's limit of 1048576 elements; use smaller blocks");
  expectError(body("tensor<4x4611686018427387904x4xf32>"), "Triton's limit");
  expectError(body("tensor<4x0xf32>"), "every dimension of a tensor is at "
                                       "least 1");
  expectError("tt.func public @k(%x: !tt.tensordesc<4096x4096xf32>) { "
              "tt.return }",
              "Triton's limit");
  expectError("tt.func public @k(%x: !tt.ptr<tensor<4096x4096xf32>>) { "
              "tt.return }",
              "Triton's limit");
}

TEST_F(Reader, RefusesRecursionWithAllItsPlaces) {
  expectError(
      "tt.func public @k() {\n  tt.call @a() : () -> ()\n  tt.return\n}\n"
      "tt.func private @a() {\n  tt.call @b() : () -> ()\n"
      "  tt.return\n}\n"
      "tt.func private @b() {\n  tt.call @a() : () -> ()\n"
      "  tt.return\n}\n",
      "k.ttir:10:3: error: recursion is not supported: 'b' calls 'a', "
      "which led here\n"
      "  k.ttir:6:3: note: 'a' calls 'b'\n"
      "  k.ttir:5:1: note: 'a' begins here");
}

TEST_F(Reader, RefusesArraysThatMlirsParserFallsOver) {
  for (const char *array :
       {"array<index: 1, 0>", "array < index >", "array<!i: 1>"})
    expectError(std::string("!i = index\nmodule attributes {a = ") + array +
                    "} {}",
                "array attribute holds integers");
  // A name that only begins like it.
  expectError("module attributes {a = array<indexes: 1>} {}", "expected");
}

TEST_F(Reader, RefusesNestingThatWouldExhaustTheStack) {
  std::string deep(200000, '(');
  expectError("tt.func public @k(%x: " + deep, "brackets nest deeper than");
  std::string types;
  for (int i = 0; i < 100000; ++i)
    types += "!tt.ptr<";
  expectError("tt.func public @k(%x: " + types, "brackets nest deeper than");
  // Brackets in a text or a comment, and arrows, are none.
  std::string text = "// " + deep + "\ntt.func public @k() {\n  tt.print \"" +
                     deep.substr(0, 1000) +
                     "\" {hex = false, isSigned = array<i32>}\n";
  for (int i = 0; i < 400; ++i)
    text += "  %" + std::to_string(i) +
            " = tt.elementwise_inline_asm \"\" {constraints = \"=r\", "
            "packed_element = 1 : i32, pure = false} -> i32\n";
  EXPECT_TRUE(read(text + "  tt.return\n}")) << messages;
}

TEST_F(Reader, LongChainsOfCallsNeedNoStack) {
  std::string text = "tt.func public @f0() { tt.call @f1() : () -> () "
                     "tt.return }\n";
  constexpr int length = 20000;
  for (int i = 1; i < length; ++i)
    text += "tt.func private @f" + std::to_string(i) + "() { tt.call @f" +
            std::to_string(i + 1) + "() : () -> () tt.return }\n";
  text += "tt.func private @f" + std::to_string(length) + "() { tt.return }\n";
  EXPECT_TRUE(read(text)) << messages;
}

/// Bytes changed, dropped, doubled and cut: an error or a module, no crash.
static std::string mutate(std::string text, std::mt19937 &random) {
  auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  static const char alphabet[] = "%@!#<>(){}[]:=,-0123456789xif\"^ \nt.";
  for (size_t count = 1 + below(4); count > 0 && !text.empty(); --count) {
    size_t at = below(text.size()), length = 1 + below(12);
    switch (below(4)) {
    case 0:
      text[at] = alphabet[below(sizeof(alphabet) - 1)];
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(below(text.size()), text.substr(at, length));
      break;
    case 3:
      text.resize(at);
      break;
    }
  }
  return text;
}

TEST_F(Reader, SurvivesMutatedText) {
  std::mt19937 random(20261121);
  unsigned accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    OwningOpRef<ModuleOp> module = read(mutate(kKernel, random));
    EXPECT_EQ(!module, !messages.empty());
    if (!module)
      continue;
    ++accepted;
    PassManager pm(&context);
    frontend::buildFrontendPipeline(pm);
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    (void)pm.run(*module);
  }
  // Some mutations change a constant: the loop above is not about errors alone.
  EXPECT_GT(accepted, 100u);
}

TEST_F(Reader, RefusesWhatTheLexerReported) {
  // The parser takes a lone @ for nothing where a type may follow or not.
  EXPECT_TRUE(read("tt.func public @k(%p: i32) { "
                   "%0 = tt.splat %p : i32 -> tensor<4xi32> tt.return }"));
  EXPECT_FALSE(read("tt.func public @k(%p: i32) { "
                    "%0 = tt.splat %p : i32 @-> tensor<4xi32> tt.return }"));
  EXPECT_NE(messages.find("@ identifier expected"), std::string::npos);
}

/// MLIR's reader of bytecode writes beyond its arrays for some of these.
TEST_F(Reader, SurvivesDamagedBytecode) {
  std::mt19937 random(20261121);
  std::string bytes = bytecodeOf(kKernel);
  unsigned accepted = 0;
  for (unsigned i = 0; i < 300; ++i) {
    std::string bad = bytes;
    for (unsigned k = 0; k <= i % 4; ++k)
      bad[4 + random() % (bad.size() - 4)] = static_cast<char>(random());
    if (read(bad))
      ++accepted;
    else
      EXPECT_NE(messages, "");
  }
  EXPECT_LT(accepted, 300u);
}

TEST_F(Reader, SaysWhyForCutBytecode) {
  std::string bytes = bytecodeOf(kKernel);
  for (size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_FALSE(read(StringRef(bytes).take_front(size)));
    EXPECT_NE(messages, "");
  }
}

} // namespace
