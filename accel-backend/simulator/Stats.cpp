//===- Stats.cpp - what a launch took -------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulate.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tilebridge::accel {

std::map<std::string, double> Stats::rooflineTerms() const {
  std::map<std::string, double> terms;
  for (const MemoryStats &memory : memories)
    terms[memory.name] = memory.rooflineCycles;
  for (const UnitStats &unit : units)
    terms[unit.name] =
        std::max(terms[unit.name], pes ? unit.busyCycles / double(pes) : 0);
  return terms;
}

std::string Stats::json() const {
  llvm::json::Object root{{"kernel", kernel},
                          {"target", target},
                          {"cycles", cycles},
                          {"microseconds", cycles / clockGHz / 1000},
                          {"programs", programs},
                          {"pes", pes},
                          {"multicast_saved_bytes", multicastSavedBytes},
                          {"wait_cycles", waitCycles},
                          {"sync_cycles", syncCycles}};
  llvm::json::Array memoryList, unitList, engineList;
  for (const MemoryStats &one : memories)
    memoryList.push_back(
        llvm::json::Object{{"name", one.name},
                           {"bytes_read", one.bytesRead},
                           {"bytes_written", one.bytesWritten},
                           {"busy_cycles", one.busyCycles},
                           {"roofline_cycles", one.rooflineCycles}});
  for (const UnitStats &one : units)
    unitList.push_back(
        llvm::json::Object{{"name", one.name},
                           {"operations", one.operations},
                           {"busy_cycles", one.busyCycles},
                           {"most_busy_cycles", one.mostBusyCycles}});
  for (const EngineStats &one : engines)
    engineList.push_back(
        llvm::json::Object{{"name", one.name},
                           {"transfers", one.transfers},
                           {"bytes", one.bytes},
                           {"most_busy_cycles", one.mostBusyCycles}});
  llvm::json::Array accessList;
  for (const AccessStats &one : accesses) {
    llvm::json::Object access = one.text;
    access["transfers"] = one.transfers;
    access["bytes"] = one.bytes;
    accessList.push_back(std::move(access));
  }
  llvm::json::Object terms;
  std::string bound = "nothing";
  double most = 0;
  for (const auto &[name, value] : rooflineTerms()) {
    terms[name] = value;
    if (value > most) {
      most = value;
      bound = name;
    }
  }
  root["memories"] = std::move(memoryList);
  root["units"] = std::move(unitList);
  root["engines"] = std::move(engineList);
  root["accesses"] = std::move(accessList);
  root["roofline"] =
      llvm::json::Object{{"bound", bound},
                         {"cycles", most},
                         {"fraction", cycles > 0 ? most / cycles : 0},
                         {"terms", std::move(terms)}};
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)));
  return text;
}

} // namespace tilebridge::accel
