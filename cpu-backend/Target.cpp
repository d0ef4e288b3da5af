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
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace tilebridge::cpu;

static llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static llvm::Expected<const llvm::Target *>
nativeTarget(llvm::StringRef triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  std::string why;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), why);
  if (!target)
    return error("this build of LLVM has no code generator for " + triple +
                 ": " + why);
  return target;
}

/// The host's features as LLVM found them, sorted so that equal hosts give
/// equal strings.
static std::string hostFeatures() {
  llvm::SmallVector<std::string> list;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(list, [](const std::string &a, const std::string &b) {
    return llvm::StringRef(a).drop_front() < llvm::StringRef(b).drop_front();
  });
  return llvm::join(list, ",");
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
  target.hasFma = has("fma");
  target.hasF16Convert = has("f16c");
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl") &&
      has("fma")) {
    target.vectorBits = 512;
    target.vectorRegisters = 32;
    target.hasScalef = true;
    target.hasBf16Pairs = has("avx512bf16");
    target.hasI16Pairs = has("avx512vnni");
    target.libmvecIsa = "e";
  } else if (has("avx2")) {
    target.vectorBits = 256;
    target.libmvecIsa = "d";
  } else {
    target.libmvecIsa = "b";
  }
}

llvm::Expected<CpuTarget> CpuTarget::parse(llvm::StringRef spec) {
  auto [kind, rest] = spec.split(':');
  CpuTarget target;
  // "cpu,-avx512f" is the host without a feature.
  auto [kindName, hostExtra] = kind.split(',');
  if (kindName != "cpu" || (!hostExtra.empty() && !rest.empty()))
    return error("target '" + spec +
                 "' is not a CPU: expected 'cpu' or 'cpu:NAME', then "
                 "',+feature' or ',-feature'");
  target.triple = llvm::sys::getDefaultTargetTriple();
  llvm::Expected<const llvm::Target *> backend = nativeTarget(target.triple);
  if (!backend)
    return backend.takeError();

  auto [name, extra] = rest.split(',');
  if (rest.empty())
    extra = hostExtra;
  bool isHost = name.empty() || name == "host" || name == "native";
  target.cpu = isHost ? llvm::sys::getHostCPUName().str() : name.str();
  std::string features = isHost ? hostFeatures() : std::string();
  llvm::SmallVector<llvm::StringRef> parts;
  extra.split(parts, ',', -1, /*KeepEmpty=*/false);

  std::unique_ptr<llvm::MCSubtargetInfo> base(
      (*backend)->createMCSubtargetInfo(llvm::Triple(target.triple), "", ""));
  if (!base || !base->isCPUStringValid(target.cpu))
    return error("unknown CPU '" + target.cpu + "' for " + target.triple +
                 ": use a name that LLVM knows, such as x86-64-v3 or znver4, "
                 "or 'cpu' for this machine");
  for (llvm::StringRef part : parts) {
    bool known = (part.starts_with("+") || part.starts_with("-")) &&
                 llvm::any_of(base->getAllProcessorFeatures(),
                              [&](const llvm::SubtargetFeatureKV &kv) {
                                return part.drop_front() == kv.Key;
                              });
    if (!known)
      return error("unknown feature '" + part + "' in target '" + spec +
                   "': expected '+' or '-' and a feature of LLVM");
    features += (features.empty() ? "" : ",") + part.str();
  }
  target.features = features;
  std::unique_ptr<llvm::MCSubtargetInfo> info((*backend)->createMCSubtargetInfo(
      llvm::Triple(target.triple), target.cpu, features));
  deriveFacts(target, *info);
  return target;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
CpuTarget::createMachine(bool fastCompile) const {
  llvm::Expected<const llvm::Target *> backend = nativeTarget(triple);
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
