//===- TargetTest.cpp - reading descriptions of accelerators --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Target.h"
#include "accel-backend/target/Schema.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace tilebridge::accel;

namespace {

/// A machine with nothing wrong, one key a line from line 2 on.
const char *const kGood = R"({
"name": "m",
"clock_GHz": 1.5,
"grid": {"rows": 2, "columns": 4},
"memories": [
{"name": "dram", "scope": "chip", "size_bytes": 1048576, "bandwidth_bytes_per_cycle": 64, "latency_cycles": 100},
{"name": "sram", "scope": "chip", "size_bytes": 65536, "bandwidth_bytes_per_cycle": 128, "latency_cycles": 50},
{"name": "local", "scope": "pe", "size_bytes": 16384, "alignment_bytes": 64, "read_bandwidth_bytes_per_cycle": 64, "write_bandwidth_bytes_per_cycle": 32, "latency_cycles": 4}],
"tensors_in": "sram",
"dma": [
{"name": "d", "scope": "pe", "max_dims": 3, "bandwidth_bytes_per_cycle": 32, "multicast": "rows",
"paths": [{"from": "dram", "to": "local"}, {"from": "local", "to": "dram"}, {"from": "sram", "to": "local"}, {"from": "local", "to": "sram"}]}],
"compute": [
{"name": "matrix", "operations_per_cycle": {"matmul": {"f16": 512, "any": 64}}, "operands_in": ["local"], "tile_elements": [16, 16, 16]},
{"name": "vector", "operations_per_cycle": {"math": {"any": 4}, "any": {"any": 16, "f16": 32}}, "operands_in": ["local"]}]
})";

std::string errorOf(llvm::StringRef text, ReadOptions options = {}) {
  llvm::Expected<Target> target = parseTarget(text, "m.json", options);
  return target ? "" : llvm::toString(target.takeError());
}

/// The good machine with one part of its text replaced.
std::string errorWith(llvm::StringRef from, llvm::StringRef to) {
  std::string text = kGood;
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  text.replace(at, from.size(), to.str());
  return errorOf(text);
}

TEST(TargetTest, ReadsAllFigures) {
  llvm::Expected<Target> read = parseTarget(kGood, "m.json");
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  const Target &target = *read;
  EXPECT_EQ(target.clockGHz, 1.5);
  EXPECT_EQ(target.grid.rows, 2);
  EXPECT_EQ(target.grid.columns, 4);
  EXPECT_EQ(target.localMemory().name, "local");
  EXPECT_FALSE(target.localMemory().isPortShared);
  EXPECT_EQ(target.localMemory().readBytesPerCycle, 64);
  EXPECT_EQ(target.localMemory().writeBytesPerCycle, 32);
  EXPECT_TRUE(target.findMemory("dram")->isPortShared);
  EXPECT_TRUE(hasRows(target.engines[0].multicast));
  EXPECT_FALSE(hasColumns(target.engines[0].multicast));
  EXPECT_EQ(target.unitFor("matmul", "f16").name, "matrix");
  EXPECT_EQ(target.unitFor("matmul", "f64").name, "matrix");
  EXPECT_EQ(target.unitFor("math", "f16").rate("math", "f16"), 4);
  EXPECT_EQ(target.unitFor("elementwise", "f16").rate("elementwise", "f16"),
            32);
  EXPECT_EQ(target.units[0].rate("elementwise", "f16"), 0);
}

TEST(TargetTest, ArgumentsThatDoNotFitAreFartherAway) {
  llvm::Expected<Target> target = parseTarget(kGood, "m.json");
  ASSERT_TRUE(bool(target));
  EXPECT_EQ(target->tensorMemory(65536).name, "sram");
  EXPECT_EQ(target->tensorMemory(65537).name, "dram");
  EXPECT_EQ(target->tensorMemory(uint64_t(1) << 40).name, "dram");
}

TEST(TargetTest, InstancesOfScopes) {
  llvm::Expected<Target> target = parseTarget(kGood, "m.json");
  ASSERT_TRUE(bool(target));
  EXPECT_EQ(target->instances(Scope::Row), 2);
  EXPECT_EQ(target->instances(Scope::Column), 4);
  EXPECT_EQ(target->instanceOf(Scope::Pe, 1, 2), 6);
  EXPECT_EQ(target->instanceOf(Scope::Column, 1, 2), 2);
}

TEST(TargetTest, ErrorsNameLineAndKey) {
  EXPECT_EQ(errorWith("\"clock_GHz\": 1.5", "\"clock_MHz\": 1500"),
            "m.json:1:1: error: the key \"clock_GHz\" of the target is "
            "missing: The clock that all cycles of the file are of\n"
            "m.json:3:1: error: unknown key \"clock_MHz\" of the target; this "
            "unit is not used here: write \"clock_GHz\"");
  EXPECT_EQ(errorWith("\"name\": \"m\"", "\"name\": \"m\", \"tensor_in\": 1"),
            "m.json:2:14: error: unknown key \"tensor_in\" of the target; did "
            "you mean \"tensors_in\"?");
  EXPECT_EQ(errorWith("\"latency_cycles\": 100", "\"latency_cycles\": \"x\""),
            "m.json:6:109: error: \"latency_cycles\" is a number, not a "
            "string");
}

// A bandwidth with a wrong value is there, and not one that is missing.
TEST(TargetTest, AWrongValueIsOneMistake) {
  EXPECT_EQ(errorWith("\"bandwidth_bytes_per_cycle\": 64, \"latency_cycles\": "
                      "100",
                      "\"bandwidth_bytes_per_cycle\": 0, \"latency_cycles\": "
                      "100"),
            "m.json:6:87: error: \"bandwidth_bytes_per_cycle\" is above 0, not "
            "0");
}

TEST(TargetTest, LocalIsTheMemoryThatPesComputeIn) {
  std::string text = kGood;
  for (auto [from, to] : {std::pair("local", "scratch"), {"dram", "local"}})
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + 1))
      text.replace(at, std::string(from).size(), to);
  EXPECT_EQ(errorOf(text),
            "m.json:6:10: error: \"local\" is the name that kernels have for "
            "the memory that PEs compute in, here \"scratch\"; call this one "
            "otherwise");
}

TEST(TargetTest, AFileMayBeginWithAByteOrderMark) {
  EXPECT_EQ(errorOf(std::string("\xEF\xBB\xBF") + kGood), "");
  EXPECT_EQ(errorOf("\xEF\xBB\xBF[]"),
            "m.json:1:1: error: a target is an object, not a list");
}

struct Mistake {
  const char *from, *to, *expected;
};

class MistakeTest : public ::testing::TestWithParam<Mistake> {};

TEST_P(MistakeTest, IsReported) {
  const auto &[from, to, expected] = GetParam();
  std::string error = errorWith(from, to);
  EXPECT_NE(error.find(expected), std::string::npos) << error;
  EXPECT_NE(error.find("m.json:"), std::string::npos) << error;
}

const Mistake kMistakes[] = {
    {"\"rows\": 2", "\"rows\": 0", "\"rows\" is from 1 to 4096, not 0"},
    {"\"rows\": 2", "\"rows\": 2.5", "is a whole number, not 2.5"},
    {"\"rows\": 2, \"columns\": 4", "\"rows\": 4096, \"columns\": 4096",
     "4:9: error: a grid of 4096 rows and 4096 columns has 16777216 PEs; the "
     "simulator, which keeps the state of each, has room for 65536"},
    {"\"size_bytes\": 16384", "\"size_bytes\": 0",
     "\"size_bytes\" is from 1 to 1e+15, not 0"},
    {"\"size_bytes\": 16384", "\"size_bytes\": 9223372036854775808",
     "\"size_bytes\" is from 1 to 1e+15, not 9.22337e+18"},
    {"\"size_bytes\": 16384", "\"size_bytes\": 1024.5",
     "\"size_bytes\" is a whole number, not 1024.5"},
    {"\"size_bytes\": 16384", "\"size_bytes\": -16384",
     "\"size_bytes\" is from 1 to 1e+15, not -16384"},
    {"\"rows\": 2,", "", "4:9: error: the key \"rows\" of the grid is missing"},
    {"\"bandwidth_bytes_per_cycle\": 64", "\"bandwidth_bytes_per_cycle\": 0",
     "6:87: error: \"bandwidth_bytes_per_cycle\" is above 0, not 0"},
    {"\"bandwidth_bytes_per_cycle\": 64, ", "",
     "6:1: error: a memory has either"},
    {"\"bandwidth_bytes_per_cycle\": 64",
     "\"bandwidth_bytes_per_cycle\": 64, \"read_bandwidth_bytes_per_cycle\": 1",
     "a memory has either"},
    {"\"bandwidth_bytes_per_cycle\": 32", "\"bandwidth_GB_per_s\": 32",
     "this unit is not used here: write \"bandwidth_bytes_per_cycle\""},
    {"\"size_bytes\": 16384", "\"size_KB\": 16",
     "unknown key \"size_KB\" of a memory; this unit is not used here: write "
     "\"size_bytes\""},
    {"\"size_bytes\": 16384", "\"size\": 16384",
     "keys name their unit: write \"size_bytes\""},
    {"\"size_bytes\": 16384", "\"size_bytes\": 16385",
     "not a multiple of the alignment"},
    {"\"size_bytes\": 16384", "\"size_bytes\": 16384, \"banks\": 3",
     "cannot be divided into 3 banks"},
    {"\"alignment_bytes\": 64", "\"alignment_bytes\": 48",
     "is a power of two, not 48"},
    {"\"scope\": \"chip\"", "\"scope\": \"die\"",
     "one of \"chip\", \"row\", \"column\", \"pe\", not \"die\""},
    {"\"tensors_in\": \"sram\"", "\"tensors_in\": \"hbm\"",
     "9:15: error: there is no memory \"hbm\"; there are \"dram\", \"sram\", "
     "\"local\""},
    {"\"tensors_in\": \"sram\"", "\"tensors_in\": \"local\"",
     "memory of the scope \"chip\", which \"local\" is not"},
    {"\"from\": \"dram\", \"to\": \"local\"",
     "\"from\": \"dram\", \"to\": \"lokal\"", "there is no memory \"lokal\""},
    {"{\"from\": \"sram\", \"to\": \"local\"}, {\"from\": \"local\", \"to\": "
     "\"sram\"}",
     "{\"from\": \"local\", \"to\": \"local\"}",
     "7:1: error: no engine reaches the memory \"sram\""},
    {", {\"from\": \"local\", \"to\": \"sram\"}", "",
     "no engine copies from \"local\" to \"sram\""},
    {"\"operands_in\": [\"local\"]}]", "\"operands_in\": [\"near\"]}]",
     "there is no memory \"near\""},
    {"\"operands_in\": [\"local\"]}]", "\"operands_in\": [\"sram\"]}]",
     "there is none to compute in"},
    {"\"any\": {\"any\": 16, \"f16\": 32}", "\"any\": {\"f16\": 32}",
     "no compute unit has a rate for \"any\" operation"},
    {"\"math\"", "\"exp\"", "\"exp\" is no class of operations; there are"},
    {"\"f16\": 512", "\"fp16\": 512", "\"fp16\" is no element type"},
    {"\"f16\": 512", "\"f16\": -1", "are a number above 0"},
    {"[16, 16, 16]", "[16, 16]", "or three: rows, columns and depth"},
    {"[16, 16, 16]", "[]", "\"tile_elements\" is empty"},
    {"\"name\": \"sram\"", "\"name\": \"dram\"",
     "7:10: error: there is already a memory called \"dram\""},
    {"\"max_dims\": 3", "\"max_dims\": 3, \"max_dims\": 4",
     "stands twice in one object"},
    {"\"max_dims\": 3", "\"max_dims\": true",
     "is a whole number, not true or false"},
    {"\"max_dims\": 3", "\"max_dims\": {\"value\": 3, \"note\": \"x\"}",
     "unknown key \"note\" of a figure"},
    {"\"max_dims\": 3",
     "\"max_dims\": {\"value\": 3, \"source\": \"a\", \"assumed\": \"b\"}",
     "a figure has a source or is assumed, not both"},
    {"\"max_dims\": 3", "\"max_dims\": {\"value\": 3, \"assumed\": \" \"}",
     "\"assumed\" is a string that says why"},
    {"\"max_dims\": 3", "\"max_dims\": {\"source\": \"a\"}",
     "has no \"value\""},
    {"\"max_dims\": 3", "\"max_dims\": NaN", "expected a value, not 'NaN'"},
    {"\"max_dims\": 3,", "\"max_dims\": 3", "expected ',' or '}'"},
};

INSTANTIATE_TEST_SUITE_P(All, MistakeTest, ::testing::ValuesIn(kMistakes));

TEST(TargetTest, EnginesOfAllPesAreLimited) {
  std::string text = kGood;
  for (auto [from, to] :
       {std::pair("\"rows\": 2, \"columns\": 4",
                  "\"rows\": 64, \"columns\": 64"),
        std::pair("\"max_dims\": 3", "\"count\": 65, \"max_dims\": 3")})
    text.replace(text.find(from), llvm::StringRef(from).size(), to);
  std::string error = errorOf(text);
  EXPECT_NE(error.find("m.json:11:39: error: all PEs together have 266240 "
                       "engines \"d\"; the simulator, which keeps the state of "
                       "each, has room for 262144"),
            std::string::npos)
      << error;
}

TEST(TargetTest, NoTextCrashes) {
  std::string text = kGood;
  for (size_t cut = 0; cut < text.size(); ++cut)
    EXPECT_NE(errorOf(llvm::StringRef(text).take_front(cut)), "");
  EXPECT_NE(errorOf("[]").find("a target is an object, not a list"),
            std::string::npos);
  EXPECT_NE(errorOf(std::string(1000, '[')).find("nested too deep"),
            std::string::npos);
}

TEST(TargetTest, FiguresNeedSourcesWhereAsked) {
  EXPECT_EQ(errorOf(kGood), "");
  std::string error = errorOf(kGood, {/*wantsSources=*/true});
  EXPECT_NE(error.find("m.json:3:14: error: \"clock_GHz\" does not say where "
                       "it is from"),
            std::string::npos)
      << error;
  // One in the outer object holds for all.
  std::string text = kGood;
  text.insert(1, "\"assumed\": \"made up\",");
  EXPECT_EQ(errorOf(text, {/*wantsSources=*/true}), "");
}

TEST(TargetTest, EveryFigureOfTheInstalledFilesHasASource) {
  unsigned count = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(TARGETS_FOLDER, error), end;
       file != end && !error; file.increment(error), ++count) {
    llvm::Expected<Target> target =
        readTargetFile(file->path(), {/*wantsSources=*/true});
    EXPECT_TRUE(bool(target)) << llvm::toString(target.takeError());
  }
  EXPECT_GE(count, 15u);
}

TEST(TargetTest, FilesAreNamedAsTheirTargets) {
  for (const std::string &name : installedTargets()) {
    llvm::Expected<Target> target = findTarget(name);
    ASSERT_TRUE(bool(target)) << llvm::toString(target.takeError());
    EXPECT_EQ(target->name, name);
  }
}

TEST(TargetTest, UnknownTargetNamesTheNearest) {
  llvm::Expected<Target> target = findTarget("mtia-2i");
  ASSERT_FALSE(bool(target));
  std::string error = llvm::toString(target.takeError());
  EXPECT_NE(error.find("there is no target 'mtia-2i'"), std::string::npos);
  EXPECT_NE(error.find("mtia-2i-like"), std::string::npos) << error;
}

/// What tools and readers are given is what the reader accepts.
TEST(TargetTest, CommittedSchemaIsCurrent) {
  for (auto [path, text] :
       {std::pair(std::string(TARGETS_FOLDER) + "/../target/schema.json",
                  jsonSchema()),
        std::pair(std::string(TARGETS_FOLDER) + "/../../docs/accel-target.md",
                  schemaPage())}) {
    auto file = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(bool(file)) << path;
    EXPECT_EQ((*file)->getBuffer().str(), text)
        << path << ": write it with `tilebridge-target schema`";
  }
}

} // namespace
