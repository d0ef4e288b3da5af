//===- Pch.cpp - the file that CMake precompiles Pch.h for ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Exists so that CMake has a file to precompile Pch.h for.
