//===- PartsTest.cpp - hash, manifest, features ---------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/HostCpu.h"
#include "runtime/Manifest.h"
#include "runtime/Sha256.h"

#include <gtest/gtest.h>

using namespace tilebridge::rt;

static std::string hash(const std::string &text) {
  return Sha256::hex(Sha256::hash(text.data(), text.size()));
}

TEST(Sha256, KnowsTheTestVectorsOfTheStandard) {
  EXPECT_EQ(hash(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += char(i);
  Sha256 pieces;
  for (size_t at = 0, size = 1; at < text.size();
       at += size, size = size % 70 + 1)
    pieces.update(text.data() + at, std::min(size, text.size() - at));
  EXPECT_EQ(Sha256::hex(pieces.finish()), hash(text));
}

TEST(Sha256, KeepsFieldsApart) {
  Sha256 first, second;
  first.updateField("ab");
  first.updateField("c");
  second.updateField("a");
  second.updateField("bc");
  EXPECT_NE(first.finish(), second.finish());
}

TEST(Manifest, ReadsWhatItNeedsAndSkipsTheRest) {
  Manifest manifest;
  std::string why;
  ASSERT_TRUE(parseManifest(
      R"({"x": [1, {"y": [true, null, -1.5e3, "]"]}], "name": "a\"\u00e9\n", "signature": [ "*fp32" , "i32"], "n": {}})",
      manifest, why))
      << why;
  EXPECT_EQ(manifest.name, "a\"\xc3\xa9\n");
  EXPECT_EQ(manifest.signature, (std::vector<std::string>{"*fp32", "i32"}));
}

TEST(Manifest, RejectsEverythingElse) {
  Manifest manifest;
  std::string why;
  for (const char *bad : {"", "{", "[]", "{}", R"({"name": "a"})",
                          R"({"name": "a", "signature": "i32"})",
                          R"({"name": "a", "signature": [1]})",
                          R"({"name": "a", "signature": ["i32"]} x)",
                          R"({"name": "a\q", "signature": []})",
                          R"({"name": "a", "signature": [],})"})
    EXPECT_FALSE(parseManifest(bad, manifest, why)) << bad;
  std::string deep =
      R"({"name": "a", "signature": [], "d": )" + std::string(100000, '[');
  EXPECT_FALSE(parseManifest(deep, manifest, why));
}

TEST(HostCpu, FindsMissingFeatures) {
  EXPECT_EQ(missingCpuFeature(""), "");
  EXPECT_EQ(missingCpuFeature("-avx512unheardof,+some-tuning-flag"), "");
#if defined(__x86_64__)
  EXPECT_EQ(missingCpuFeature("+avx512unheardof"), "avx512unheardof");
  // Code for a Zen 4 has instructions that no CPU of Intel's has.
  __builtin_cpu_init();
  EXPECT_EQ(missingCpuFeature("+sse4a"),
            __builtin_cpu_supports("sse4a") ? "" : "sse4a");
  EXPECT_EQ(missingCpuFeature("+xop"),
            __builtin_cpu_supports("xop") ? "" : "xop");
#endif
}
