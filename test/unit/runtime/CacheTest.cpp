//===- CacheTest.cpp - the cache on disk, compiling through it --------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probes.h"

#include "runtime/DiskCache.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tilebridge::rt;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for each test, and a compiler that tells whether it was
/// called.
class Cache : public testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "/tmp/tilebridge-cache-XXXXXX";
    folder = mkdtemp(pattern);
    setenv("TILEBRIDGE_CACHE_DIR", (folder + "/cache").c_str(), 1);
    setenv("TILEBRIDGE_LIB_DIR", PROBES, 1);
    artefact = sealed(readProbe("probe"));
  }
  void TearDown() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
    unsetenv("TILEBRIDGE_CACHE_DIR");
  }

  size_t files() const {
    if (!fs::exists(folder + "/cache"))
      return 0;
    return size_t(std::distance(fs::directory_iterator(folder + "/cache"),
                                fs::directory_iterator()));
  }

  /// Compiles the probe; returns whether the compiler was called.
  bool compiles(const char *target = "cpu", uint32_t flags = 0) {
    std::string log;
    tilebridge_compile_options options = {};
    options.struct_size = sizeof(options);
    options.target = target;
    options.flags = flags;
    options.log_state = &log;
    options.log = [](void *state, const char *text, size_t size) {
      static_cast<std::string *>(state)->append(text, size);
    };
    std::string path = std::string(PROBES) + "/probe.so";
    tilebridge_buffer buffer = {nullptr, 0};
    EXPECT_EQ(tilebridge_compile(path.data(), path.size(), &options, &buffer),
              TILEBRIDGE_OK)
        << tilebridge_last_error();
    EXPECT_EQ(std::string(buffer.data, buffer.size), artefact);
    tilebridge_buffer_free(&buffer);
    return !log.empty();
  }

  fs::path onlyEntry() const {
    return fs::directory_iterator(folder + "/cache")->path();
  }

  std::string folder, artefact;
};

} // namespace

/// It is an error of this kernel, on this thread and on others, any number of
/// times; what comes after it works.
TEST_F(Cache, ACrashOfTheCompilerIsAnError) {
  tilebridge_report_faults();
  auto crash = [] {
    for (const char *input : {"crash:abort", "crash:null", "crash:deep"}) {
      tilebridge_buffer buffer = {nullptr, 0};
      tilebridge_compile_options options = {};
      options.struct_size = sizeof(options);
      options.source_name = "k.ttir";
      EXPECT_EQ(tilebridge_compile(input, strlen(input), &options, &buffer),
                TILEBRIDGE_ERROR_COMPILE);
      EXPECT_EQ(buffer.data, nullptr);
      std::string message = tilebridge_last_error();
      EXPECT_NE(message.find("k.ttir: error: the compiler crashed (SIG"),
                std::string::npos)
          << message;
    }
  };
  crash();
  EXPECT_TRUE(compiles());
  std::thread first(crash), second(crash);
  first.join();
  second.join();
  crash();
  EXPECT_FALSE(compiles());
}

TEST_F(Cache, KeepsWhatWasCompiled) {
  EXPECT_TRUE(compiles());
  EXPECT_FALSE(compiles());
  EXPECT_TRUE(compiles("cpu:other"));
  EXPECT_FALSE(compiles("cpu:other"));
  EXPECT_EQ(files(), 2u);
}

TEST_F(Cache, StaysOutOfTheWayWhereItIsNotWanted) {
  EXPECT_TRUE(compiles("cpu", TILEBRIDGE_COMPILE_NO_CACHE));
  EXPECT_TRUE(compiles("cpu", TILEBRIDGE_COMPILE_NO_CACHE));
  EXPECT_TRUE(compiles("cpu", TILEBRIDGE_COMPILE_REMARKS));
  EXPECT_EQ(files(), 0u);
  setenv("TILEBRIDGE_CACHE_DIR", "", 1);
  EXPECT_TRUE(compiles());
  EXPECT_TRUE(compiles());
}

TEST_F(Cache, ReplacesDamagedEntries) {
  EXPECT_TRUE(compiles());
  for (uintmax_t size :
       {uintmax_t(0), uintmax_t(100), uintmax_t(artefact.size() - 1)}) {
    fs::resize_file(onlyEntry(), size);
    EXPECT_TRUE(compiles()) << size;
    EXPECT_FALSE(compiles());
  }
  std::fstream file(onlyEntry(),
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3000);
  file.put('x');
  file.close();
  EXPECT_TRUE(compiles());
  EXPECT_FALSE(compiles());
  EXPECT_EQ(files(), 1u);
}

TEST_F(Cache, WorksWhereNothingCanBeWritten) {
  std::ofstream(folder + "/file") << "no folder";
  for (const char *place : {"/proc/none", "/dev/null", "/sys/tilebridge"}) {
    setenv("TILEBRIDGE_CACHE_DIR", place, 1);
    EXPECT_TRUE(compiles()) << place;
  }
  setenv("TILEBRIDGE_CACHE_DIR", (folder + "/file").c_str(), 1);
  EXPECT_TRUE(compiles());
  fs::create_directory(folder + "/locked");
  fs::permissions(folder + "/locked",
                  fs::perms::owner_read | fs::perms::owner_exec);
  setenv("TILEBRIDGE_CACHE_DIR", (folder + "/locked").c_str(), 1);
  compiles(); // root may write there, others may not
}

TEST_F(Cache, LeavesNothingWhereTheDiskIsFull) {
  // A limit on the size of files fails the write like a full disk.
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {1000, before.rlim_max};
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  DiskCache cache(folder + "/cache");
  cache.put("key", artefact);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(files(), 0u);
  std::string found;
  EXPECT_FALSE(cache.get("key", found));
}

TEST_F(Cache, ServesManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    if (child == 0) {
      DiskCache cache(folder + "/cache");
      int bad = 0;
      for (int j = 0; j < 50; ++j) {
        std::string found;
        if (cache.get("key", found))
          bad += found != artefact;
        cache.put("key", artefact);
        bad += !cache.get("key", found);
      }
      _exit(bad ? 1 : 0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(Cache, IsPruned) {
  DiskCache cache(folder + "/cache");
  for (int i = 0; i < 5; ++i) {
    cache.put("key" + std::to_string(i), artefact);
    fs::last_write_time(folder + "/cache/key" + std::to_string(i) + ".tbso",
                        fs::file_time_type::clock::now() -
                            std::chrono::hours(10 - i));
  }
  std::ofstream(folder + "/cache/old.part") << "from a writer that died";
  fs::last_write_time(folder + "/cache/old.part",
                      fs::file_time_type::clock::now() - std::chrono::hours(3));
  std::ofstream(folder + "/cache/new.part") << "from one that is at work";
  std::ofstream(folder + "/cache/README") << "not ours";
  cache.prune(2 * artefact.size());
  std::string found;
  EXPECT_FALSE(cache.get("key2", found));
  EXPECT_TRUE(cache.get("key3", found));
  EXPECT_TRUE(cache.get("key4", found));
  EXPECT_EQ(files(), 4u);
}

TEST_F(Cache, ErrorsAreTheCompilers) {
  tilebridge_buffer buffer = {nullptr, 0};
  EXPECT_EQ(tilebridge_compile("/no/file", 8, nullptr, &buffer),
            TILEBRIDGE_ERROR_COMPILE);
  EXPECT_STREQ(tilebridge_last_error(), "k.py:3:4: error: no");
  EXPECT_EQ(buffer.data, nullptr);
  EXPECT_EQ(tilebridge_compile(nullptr, 8, nullptr, &buffer),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tilebridge_compile("x", 1, nullptr, nullptr),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  tilebridge_compile_options options = {};
  EXPECT_EQ(tilebridge_compile("x", 1, &options, &buffer),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
}

TEST_F(Cache, CompilesAndLoadsInOneCall) {
  std::string path = std::string(PROBES) + "/probe.so";
  tilebridge_kernel *kernel = nullptr;
  ASSERT_EQ(tilebridge_load_ttir(path.data(), path.size(), nullptr, &kernel),
            TILEBRIDGE_OK)
      << tilebridge_last_error();
  EXPECT_STREQ(tilebridge_kernel_name(kernel), "probe");
  tilebridge_kernel_release(kernel);
  tilebridge_compile_options options = {};
  options.struct_size = sizeof(options);
  options.stage = "asm";
  EXPECT_EQ(tilebridge_load_ttir(path.data(), path.size(), &options, &kernel),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
}

TEST_F(Cache, TheIdentityNamesTheCompiler) {
  EXPECT_EQ(std::string(tilebridge_compiler_id()).rfind("tilebridge ", 0), 0u);
}
