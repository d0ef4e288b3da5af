//===- Probe.h - every value of a launch, as files -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Datum.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace tilebridge::reference {

/// Writes values to a folder: NumPy's files, and index.csv with a line for each
/// in the order in which they were computed.
///
/// In the body of an op of linalg a value is a block, too.
class Probe {
public:
  /// Creates the folder where there is none. Reports errors at the kernel.
  static std::unique_ptr<Probe> create(mlir::func::FuncOp kernel,
                                       llvm::StringRef folder,
                                       llvm::StringRef onlyOp);

  mlir::LogicalResult record(llvm::ArrayRef<uint32_t> program,
                             mlir::OpResult value, const Datum &datum);

private:
  Probe(llvm::StringRef folder, llvm::StringRef onlyOp)
      : folder(folder), onlyOp(onlyOp) {}

  std::string folder, onlyOp;
  std::unique_ptr<llvm::raw_fd_ostream> index;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers; // in the text's order
  uint64_t step = 0;
};

/// A file of NumPy's; types that NumPy lacks are voids of their size.
std::string formatNpy(const Datum &datum);

} // namespace tilebridge::reference
