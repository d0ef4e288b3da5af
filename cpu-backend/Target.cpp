//===- Target.cpp - the CPU that code is made for -------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Target.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/Threading.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

using namespace tilebridge::cpu;

static llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// The code generator for a triple. Those for other architectures than this
/// machine's are set up when the first of them is asked for.
static llvm::Expected<const llvm::Target *> targetFor(llvm::StringRef triple) {
  static std::once_flag native, all;
  std::call_once(native, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  if (triple != llvm::sys::getDefaultTargetTriple())
    std::call_once(all, [] {
      llvm::InitializeAllTargetInfos();
      llvm::InitializeAllTargets();
      llvm::InitializeAllTargetMCs();
      llvm::InitializeAllAsmPrinters();
      llvm::InitializeAllAsmParsers();
    });
  std::string why;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), why);
  if (!target)
    return error("this build of LLVM has no code generator for " + triple +
                 ": " + why);
  return target;
}

/// Linux lets a process use AMX's registers once it has asked for them.
static bool mayUseTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

/// The host's features as LLVM found them, sorted so that equal hosts give
/// equal strings.
static std::string hostFeatures() {
  llvm::SmallVector<std::string> list;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  bool hasTiles = features.lookup("amx-tile") && mayUseTiles();
  for (const auto &feature : features) {
    bool isOn =
        feature.second && (hasTiles || !feature.first().starts_with("amx-"));
    list.push_back((isOn ? "+" : "-") + feature.first().str());
  }
  llvm::sort(list, [](const std::string &a, const std::string &b) {
    return llvm::StringRef(a).drop_front() < llvm::StringRef(b).drop_front();
  });
  return llvm::join(list, ",");
}

/// Half of the last cache is what a launch has to read to come from memory, and
/// one and a half what it has to read and write to leave little in it. Large
/// caches are shared by many cores, or what a virtual machine only believes to
/// have: they count up to a usual size, which grows with the host's own cores.
///
/// Measured, in bytes that are read and written, where stores around the caches
/// are as quick as others: on a Zen 4 (2 cores, 32 MiB) 45 MB if each launch
/// reads the same again, 64 to 80 if it reads what the one before wrote; on a
/// Xeon (16 cores, 300 MiB) 32 and 280 MB with 16 threads, 4 and 80 with two.
static void setCacheBytes(CpuTarget &target, bool isHost) {
  constexpr int64_t usual = 32 << 20;
  int64_t cache = 0, cores = 1;
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (isHost) {
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    cores = sysconf(_SC_NPROCESSORS_ONLN);
  }
#endif
  if (cache <= 0)
    cache = usual;
  target.prefetchBytes = std::min(cache, usual) / 2;
  target.streamBytes = std::min(
      cache * 3 / 2, std::clamp(cores * usual / 4, usual * 3 / 2, usual * 4));
}

/// Those that the process may use.
static int64_t hostCores() {
  return llvm::hardware_concurrency().compute_thread_count();
}

static void deriveFacts(CpuTarget &target, const llvm::MCSubtargetInfo &info) {
  llvm::Triple triple(target.triple);
  auto has = [&](llvm::StringRef feature) {
    return info.checkFeatures(("+" + feature).str());
  };
  if (!triple.isX86()) {
    // AArch64 and others with 128-bit vectors: conversions and FMA are part of
    // the baseline.
    target.vectorBits = 128;
    target.vectorRegisters = triple.isAArch64() ? 32 : 16;
    target.hasFma = target.hasF16Convert = triple.isAArch64();
    return;
  }
  target.exchangeBytes = has("cx16") ? 16 : 8;
  target.hasFma = has("fma");
  target.hasF16Convert = has("f16c");
  target.hasI16PairSums = true;
  target.hasSecondIfNan = true;
  // Of one vendor, which has no assists by microcode for that.
  target.hasFreeUnderflow = has("sse4a");
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl") &&
      has("fma")) {
    target.vectorBits = 512;
    target.vectorRegisters = 32;
    target.hasScalef = true;
    target.hasBf16Pairs = has("avx512bf16");
    target.hasI16Pairs = has("avx512vnni");
    target.hasByteLookups = has("avx512vbmi");
    // Virtual machines hide the model, and with it the ports: the feature came
    // with CPUs that have both of them in every core.
    target.hasTwoFmas = has("avx512fp16");
    target.hasRootEstimates = target.hasTwoFmas && !has("sse4a"); // not AMD's
    target.hasBf16Tiles = has("amx-bf16");
    target.hasI8Tiles = has("amx-int8");
    target.libmvecIsa = "e";
  } else if (has("avx2")) {
    target.vectorBits = 256;
    target.hasI16Pairs = has("avxvnni");
    target.libmvecIsa = "d";
  } else {
    target.libmvecIsa = "b";
  }
}

/// The triples whose CPUs have names: this machine's first.
static llvm::SmallVector<std::string> knownTriples() {
  llvm::SmallVector<std::string> triples = {
      llvm::sys::getDefaultTargetTriple()};
  for (llvm::StringRef other :
       {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"})
    if (llvm::Triple(other).getArch() != llvm::Triple(triples[0]).getArch())
      triples.push_back(other.str());
  return triples;
}

static std::unique_ptr<llvm::MCSubtargetInfo>
subtargetInfo(llvm::StringRef triple, llvm::StringRef cpu,
              llvm::StringRef features) {
  llvm::Expected<const llvm::Target *> backend = targetFor(triple);
  if (!backend) {
    llvm::consumeError(backend.takeError());
    return nullptr;
  }
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      (*backend)->createMCSubtargetInfo(llvm::Triple(triple), cpu, features));
}

/// ": did you mean 'a', 'b' or 'c'?" of the names that are most like one, or
/// nothing.
static std::string suggestion(llvm::StringRef name,
                              llvm::ArrayRef<llvm::StringRef> names) {
  llvm::SmallVector<std::pair<unsigned, llvm::StringRef>> near;
  for (llvm::StringRef other : names) {
    unsigned distance = other.edit_distance(name, /*AllowReplacements=*/true);
    bool begins = name.size() > 2 && other.starts_with(name);
    if (begins || distance <= 1 + name.size() / 4)
      near.push_back({begins ? 0 : distance, other});
  }
  llvm::sort(near);
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::string text;
  size_t count = std::min<size_t>(3, near.size());
  for (size_t i = 0; i < count; ++i) {
    text += i == 0 ? ": did you mean " : i + 1 == count ? " or " : ", ";
    text += ("'" + near[i].second + "'").str();
  }
  return text.empty() ? text : text + "?";
}

/// The triple of the architecture that has a CPU of this name.
static llvm::Expected<std::string> tripleOf(llvm::StringRef cpu) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const std::string &triple : knownTriples()) {
    std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetInfo(triple, "", "");
    if (!info)
      continue;
    // Some names stand for others: apple-m1 for apple-a14.
    llvm::StringRef own = llvm::Triple(triple).isAArch64()
                              ? llvm::AArch64::resolveCPUAlias(cpu)
                              : cpu;
    for (const llvm::SubtargetSubTypeKV &entry :
         info->getAllProcessorDescriptions()) {
      if (entry.Key == own)
        return triple;
      names.push_back(entry.Key);
    }
  }
  std::string near = suggestion(cpu, names);
  return error("unknown CPU '" + cpu + "' for x86-64 and AArch64" +
               (near.empty() ? ": use a name that LLVM knows, such as "
                               "x86-64-v3, znver4 or neoverse-v2, or 'cpu' for "
                               "this machine"
                             : llvm::StringRef(near)));
}

/// What is on in this CPU, as "+a,+b": whoever loads the code can compare it
/// with the machine that it is on.
static std::string enabledFeatures(const llvm::MCSubtargetInfo &info) {
  llvm::SmallVector<std::string> list;
  for (const llvm::SubtargetFeatureKV &feature : info.getAllProcessorFeatures())
    if (info.getFeatureBits()[feature.Value])
      list.push_back(("+" + llvm::StringRef(feature.Key)).str());
  return llvm::join(list, ",");
}

llvm::Expected<CpuTarget> CpuTarget::parse(llvm::StringRef spec) {
  auto [kind, rest] = spec.split(':');
  CpuTarget target;
  // "cpu,-avx512f" is the host without a feature.
  auto [kindName, hostExtra] = kind.split(',');
  if (kindName == "accel")
    return error("target '" + spec +
                 "' is an accelerator, and this makes code for CPUs: in C "
                 "tilebridge_load_accel loads kernels for its simulator");
  if (spec.contains(':') && rest.split(',').first.empty())
    return error("target '" + spec +
                 "' names no CPU after the ':'; this machine is 'cpu'");
  if (kindName != "cpu" || (!hostExtra.empty() && !rest.empty()))
    return error("target '" + spec +
                 "' is not a CPU: expected 'cpu' or 'cpu:NAME', then "
                 "',+feature' or ',-feature'");
  auto [name, extra] = rest.split(',');
  if (rest.empty())
    extra = hostExtra;
  bool isHost = name.empty() || name == "host" || name == "native";
  target.triple = llvm::sys::getDefaultTargetTriple();
  target.cpu = isHost ? llvm::sys::getHostCPUName().str() : name.str();
  if (!isHost) {
    llvm::Expected<std::string> triple = tripleOf(target.cpu);
    if (!triple)
      return triple.takeError();
    target.triple = *triple;
  }
  std::string features = isHost ? hostFeatures() : std::string();
  llvm::SmallVector<llvm::StringRef> parts;
  extra.split(parts, ',', -1, /*KeepEmpty=*/false);

  std::unique_ptr<llvm::MCSubtargetInfo> base =
      subtargetInfo(target.triple, "", "");
  if (!base)
    return error("LLVM knows nothing of " + target.triple);
  if (!isHost && llvm::Triple(target.triple).isX86() &&
      !subtargetInfo(target.triple, target.cpu, "")->checkFeatures("+64bit"))
    return error("the CPU '" + target.cpu +
                 "' has no 64-bit mode, which kernels need");
  for (llvm::StringRef part : parts) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const llvm::SubtargetFeatureKV &entry :
         base->getAllProcessorFeatures())
      names.push_back(entry.Key);
    bool hasSign = part.starts_with("+") || part.starts_with("-");
    if (!hasSign || !llvm::is_contained(names, part.drop_front()))
      return error("unknown feature '" + part + "' in target '" + spec +
                   "': expected '+' or '-' and a feature of LLVM" +
                   suggestion(hasSign ? part.drop_front() : part, names));
    features += (features.empty() ? "" : ",") + part.str();
  }
  std::unique_ptr<llvm::MCSubtargetInfo> info =
      subtargetInfo(target.triple, target.cpu, features);
  target.features = isHost ? features : enabledFeatures(*info);
  deriveFacts(target, *info);
  if (llvm::Triple(target.triple).isX86())
    setCacheBytes(target, isHost);
  if (isHost)
    target.cores = hostCores();
  return target;
}

bool CpuTarget::isForeign() const {
  return llvm::Triple(triple).getArch() !=
         llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
CpuTarget::createMachine(bool fastCompile) const {
  llvm::Expected<const llvm::Target *> backend = targetFor(triple);
  if (!backend)
    return backend.takeError();
  llvm::TargetOptions options;
  // Fusing follows the `contract` flags of the instructions, not a switch for
  // all of them.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine((*backend)->createTargetMachine(
      llvm::Triple(triple), cpu, features, options, llvm::Reloc::PIC_,
      std::nullopt,
      fastCompile ? llvm::CodeGenOptLevel::Less
                  : llvm::CodeGenOptLevel::Default));
  if (!machine)
    return error("LLVM cannot make a code generator for " + triple);
  return machine;
}
