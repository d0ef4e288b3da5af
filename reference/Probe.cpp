//===- Probe.cpp - every value of a launch, as files ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Probe.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilebridge::reference {

static std::string npyType(Type element) {
  std::string bytes = std::to_string(bytesOf(element));
  const char *order = bytesOf(element) == 1 ? "|" : "<";
  if (element.isInteger(1))
    return "|b1";
  if (element.isF16() || element.isF32() || element.isF64())
    return order + ("f" + bytes);
  bool isWhole = llvm::isPowerOf2_32(bytesOf(element));
  return order + ((isa<FloatType>(element) || !isWhole ? "V" : "i") + bytes);
}

std::string formatNpy(const Datum &datum) {
  std::string shape;
  for (int64_t size : datum.shape())
    shape += std::to_string(size) + ",";
  std::string header = "{'descr': '" + npyType(datum.elementType()) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Magic, version and length take 10 bytes; data begin at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += char(header.size() & 255);
  text += char(header.size() >> 8);
  text += header;
  unsigned bytes = bytesOf(datum.elementType());
  int64_t count = countOf(datum.shape());
  for (int64_t lane = 0; lane < count; ++lane) {
    // Values that are the same in all lanes may be there once.
    uint64_t bits = datum.lanes()[datum.lanes().size() == 1 ? 0 : lane];
    for (unsigned i = 0; i < bytes; ++i)
      text += char(bits >> (8 * i));
  }
  return text;
}

static FileLineColLoc placeOf(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

std::unique_ptr<Probe> Probe::create(func::FuncOp kernel, StringRef folder,
                                     StringRef onlyOp) {
  std::unique_ptr<Probe> probe(new Probe(folder, onlyOp));
  std::error_code error = llvm::sys::fs::create_directories(folder);
  SmallString<128> path(folder);
  llvm::sys::path::append(path, "index.csv");
  if (!error)
    probe->index = std::make_unique<llvm::raw_fd_ostream>(path, error);
  if (error) {
    kernel.emitError("the probes' folder '")
        << folder << "' cannot be written: " << error.message();
    return nullptr;
  }
  *probe->index << "file,x,y,z,step,op,result,name,type,source\n";
  kernel->getParentOfType<ModuleOp>().walk<WalkOrder::PreOrder>(
      [&](Operation *op) {
        probe->numbers.try_emplace(op, probe->numbers.size());
      });
  return probe;
}

LogicalResult Probe::record(ArrayRef<uint32_t> program, OpResult value,
                            const Datum &datum) {
  Operation *op = value.getOwner();
  if (datum.isView() ||
      (!onlyOp.empty() && op->getName().getStringRef() != onlyOp))
    return success();
  FileLineColLoc place = placeOf(op->getLoc());
  std::string name;
  llvm::raw_string_ostream(name)
      << program[0] << "." << program[1] << "." << program[2] << "-"
      << llvm::format("%06llu", static_cast<unsigned long long>(step)) << "-op"
      << numbers.lookup(op) << "-r" << value.getResultNumber() << "-line"
      << (place ? place.getLine() : 0) << ".npy";
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << formatNpy(datum);
    file.flush();
    error = file.error();
    file.clear_error();
  }
  if (error)
    return op->emitError("the probe '")
           << path << "' cannot be written: " << error.message();
  *index << name << "," << program[0] << "," << program[1] << "," << program[2]
         << "," << step++ << "," << numbers.lookup(op) << ","
         << value.getResultNumber() << "," << op->getName() << ",";
  for (int64_t size : datum.shape())
    *index << size << "x";
  *index << datum.elementType() << ",";
  if (place)
    *index << place.getFilename().getValue() << ":" << place.getLine() << ":"
           << place.getColumn();
  *index << "\n";
  index->flush();
  return success();
}

} // namespace tilebridge::reference
