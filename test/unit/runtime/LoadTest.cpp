//===- LoadTest.cpp - artefacts good and bad -------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probes.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

static std::string
loadError(const std::string &artefact,
          tilebridge_code code = TILEBRIDGE_ERROR_BAD_ARTEFACT) {
  tilebridge_kernel *kernel = nullptr;
  EXPECT_EQ(tilebridge_load_bytes(artefact.data(), artefact.size(), &kernel),
            code);
  EXPECT_EQ(kernel, nullptr);
  return tilebridge_last_error();
}

static void expectError(const std::string &artefact, const std::string &part) {
  std::string text = loadError(artefact);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Load, SaysWhatItLoaded) {
  KernelPtr kernel = load("probe");
  EXPECT_STREQ(tilebridge_kernel_name(kernel.get()), "probe");
  EXPECT_EQ(tilebridge_kernel_argument_count(kernel.get()), 2u);
  EXPECT_EQ(tilebridge_kernel_slot_count(kernel.get()), 2u);
  EXPECT_STREQ(tilebridge_kernel_argument_type(kernel.get(), 0), "*i64");
  EXPECT_STREQ(tilebridge_kernel_argument_type(kernel.get(), 1), "i32");
  EXPECT_EQ(tilebridge_kernel_argument_type(kernel.get(), 2), nullptr);
  EXPECT_NE(
      std::string(tilebridge_kernel_manifest(kernel.get())).find("\"by\""),
      std::string::npos);
}

TEST(Load, KeepsKernelsApart) {
  // The dynamic loader must not take the second for the first, though both come
  // from a file of the same number.
  KernelPtr first = load("probe"), second = load("probe-descriptor");
  EXPECT_STREQ(tilebridge_kernel_name(first.get()), "probe");
  EXPECT_STREQ(tilebridge_kernel_name(second.get()), "d");
}

TEST(Load, KeepsKernelsOfTwoRuntimesApart) {
  // As of the C interface and the Python package in one process: what the
  // second copy of the runtime loads must not be what the first one did.
  struct Copy {
    decltype(&tilebridge_load_bytes) load;
    decltype(&tilebridge_kernel_name) name;
  };
  auto open = [](const std::string &path) -> Copy {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    if (!library)
      return {};
    return {reinterpret_cast<decltype(Copy::load)>(
                dlsym(library, "tilebridge_load_bytes")),
            reinterpret_cast<decltype(Copy::name)>(
                dlsym(library, "tilebridge_kernel_name"))};
  };
  char path[] = "/tmp/tilebridge-test-XXXXXX";
  int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  close(fd);
  std::ofstream(path, std::ios::binary)
      << std::ifstream(RUNTIME_LIBRARY, std::ios::binary).rdbuf();
  Copy copies[] = {open(RUNTIME_LIBRARY), open(path)};
  unlink(path);
  const std::string probes[] = {"probe", "probe-descriptor"};
  const char *names[] = {"probe", "d"};
  for (int i : {0, 1}) {
    ASSERT_TRUE(copies[i].load && copies[i].name);
    std::string artefact = sealed(readProbe(probes[i]));
    tilebridge_kernel *kernel = nullptr;
    ASSERT_EQ(copies[i].load(artefact.data(), artefact.size(), &kernel),
              TILEBRIDGE_OK);
    // Not released: a library that is still loaded is what can be mistaken.
    EXPECT_STREQ(copies[i].name(kernel), names[i]);
  }
}

TEST(Load, RejectsEveryTruncation) {
  std::string artefact = sealed(readProbe("probe"));
  for (size_t size = 0; size < artefact.size(); size += 97)
    loadError(artefact.substr(0, size));
  loadError(artefact.substr(0, artefact.size() - 1));
}

TEST(Load, RejectsEveryDamage) {
  std::string artefact = sealed(readProbe("probe"));
  for (size_t at = 0; at < artefact.size(); at += 61) {
    std::string damaged = artefact;
    damaged[at] = char(damaged[at] ^ 0x40);
    loadError(damaged);
  }
}

TEST(Load, RejectsWhatIsNotAnArtefact) {
  expectError("", "not a shared object");
  expectError("tt.func public @add", "not a shared object");
  expectError(readProbe("probe"), "tilebridge seal");
  expectError(sealed("\177ELF but no more"), "not a shared object");
  // Sealed, so that the checks behind the checksum are reached.
  std::string object = readProbe("probe");
  object[18] = 2; // e_machine: SPARC
  expectError(sealed(object), "another machine");
  expectError(sealed(readProbe("probe").substr(0, 700)), "outside of the file");
}

TEST(Load, RejectsOtherVersionsAndManifests) {
  expectError(sealed(readProbe("probe-abi")), "version 99");
  expectError(sealed(readProbe("probe-slots")), "takes 2 slots, its code 7");
  expectError(sealed(readProbe("probe-manifest")), "manifest");
  expectError(sealed(readProbe("probe-type")), "complex64");
#if defined(__x86_64__)
  expectError(sealed(readProbe("probe-feature")), "cpu:next");
#endif
}

TEST(Load, RejectsNullPointers) {
  tilebridge_kernel *kernel = nullptr;
  EXPECT_EQ(tilebridge_load_bytes(nullptr, 3, &kernel),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tilebridge_load_file(nullptr, &kernel),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tilebridge_load_file("x", nullptr),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tilebridge_launch(nullptr, 1, 1, 1, nullptr, 0, nullptr),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  tilebridge_kernel_release(nullptr);
  tilebridge_buffer_free(nullptr);
  EXPECT_STREQ(tilebridge_kernel_name(nullptr), "");
}

TEST(Load, ReadsFilesOnlyIfTheyAreFiles) {
  tilebridge_kernel *kernel = nullptr;
  EXPECT_EQ(tilebridge_load_file("/nonexistent/k.so", &kernel),
            TILEBRIDGE_ERROR_IO);
  EXPECT_NE(std::string(tilebridge_last_error()).find("/nonexistent/k.so"),
            std::string::npos);
  EXPECT_EQ(tilebridge_load_file("/dev/zero", &kernel), TILEBRIDGE_ERROR_IO);
  EXPECT_EQ(tilebridge_load_file("/tmp", &kernel), TILEBRIDGE_ERROR_IO);
}

TEST(Load, SurvivesTheFileGoingAway) {
  char path[] = "/tmp/tilebridge-test-XXXXXX";
  int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  std::string artefact = sealed(readProbe("probe"));
  ASSERT_EQ(write(fd, artefact.data(), artefact.size()),
            ssize_t(artefact.size()));
  tilebridge_kernel *raw = nullptr;
  ASSERT_EQ(tilebridge_load_file(path, &raw), TILEBRIDGE_OK)
      << tilebridge_last_error();
  KernelPtr kernel(raw, tilebridge_kernel_release);
  ASSERT_EQ(ftruncate(fd, 0), 0);
  close(fd);
  unlink(path);
  int64_t data[4] = {};
  EXPECT_EQ(launch(kernel, 4, 1, 1, data, Count), TILEBRIDGE_OK);
  EXPECT_EQ(data[3], 1);
}

TEST(Load, IsReferenceCounted) {
  tilebridge_kernel *kernel = load("probe").release();
  tilebridge_kernel_retain(kernel);
  tilebridge_kernel_release(kernel);
  EXPECT_STREQ(tilebridge_kernel_name(kernel), "probe");
  tilebridge_kernel_release(kernel);
}
