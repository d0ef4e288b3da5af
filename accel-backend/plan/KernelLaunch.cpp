//===- KernelLaunch.cpp - what passes know of a kernel's launch -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/KernelLaunch.h"

#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/plan/LineBound.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

using namespace mlir;
using namespace tilebridge::accel;

FailureOr<std::optional<KernelLaunch>> KernelLaunch::of(func::FuncOp kernel) {
  if (!kernel->hasAttr(kernelAttr))
    return std::optional<KernelLaunch>();
  FailureOr<std::optional<Target>> target = targetOf(kernel);
  if (failed(target))
    return failure();
  if (!*target)
    return std::optional<KernelLaunch>();
  std::optional<Grids> grids = gridsOf(kernel, *target);
  return std::optional(KernelLaunch{kernel, std::move(**target), grids});
}

FailureOr<std::optional<KernelLaunch>>
KernelLaunch::thatMayShare(func::FuncOp kernel) {
  FailureOr<std::optional<KernelLaunch>> launch = of(kernel);
  if (failed(launch) || !*launch)
    return launch;
  if (kernel->hasAttr(unicastAttr) || (*launch)->target.grid.count() == 1 ||
      waitsForOthers(kernel))
    return std::optional<KernelLaunch>();
  return launch;
}
