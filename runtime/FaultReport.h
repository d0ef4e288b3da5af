//===- FaultReport.h - naming the line that ends the process --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tilebridge::rt {

/// Runs `body`; where it faults or aborts, and the handler of faults is
/// installed, it is left at once (nothing that it holds is released), `signal`
/// says which signal it was, and the result is false. So it is where `body`
/// throws, as the compiler does without memory; `signal` is then 0.
bool runGuarded(void (*body)(void *), void *data, int &signal);

/// "SIGSEGV" and so on.
const char *nameOfSignal(int signal);

/// Installs the handlers of faults and of interrupts, once; see
/// tilebridge_report_faults.
void installFaultHandler();

} // namespace tilebridge::rt
