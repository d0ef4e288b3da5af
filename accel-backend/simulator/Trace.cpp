//===- Trace.cpp - what happened when, for Perfetto -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Trace.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tilebridge::accel {

void Trace::add(Kind kind, size_t track, llvm::StringRef name, double start,
                double end, llvm::StringRef place, uint64_t bytes) {
  if (isOn && end > start)
    intervals.push_back(
        {kind, track, start, end, name.str(), place.str(), bytes});
}

void Trace::name(Kind kind, size_t track, std::string text) {
  if (isOn)
    names.push_back({kind, track, std::move(text)});
}

std::string Trace::json(double clockGHz) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream out(stream);
  static constexpr llvm::StringLiteral groups[] = {"PEs", "DMA engines",
                                                   "Memory ports"};
  auto process = [](Kind kind) { return int64_t(kind) + 1; };
  auto event = [&](llvm::StringRef phase, llvm::StringRef name, Kind kind,
                   size_t track) {
    out.attribute("ph", phase);
    out.attribute("name", name);
    out.attribute("pid", process(kind));
    out.attribute("tid", int64_t(track));
  };
  auto nameEvent = [&](llvm::StringRef what, Kind kind, size_t track,
                       llvm::StringRef text) {
    out.object([&] {
      event("M", what, kind, track);
      out.attributeObject("args", [&] { out.attribute("name", text); });
    });
  };
  double microseconds = 1 / (clockGHz * 1000);
  out.object([&] {
    out.attribute("displayTimeUnit", "ns");
    out.attributeArray("traceEvents", [&] {
      for (Kind kind : {Kind::Pe, Kind::Engine, Kind::Port})
        nameEvent("process_name", kind, 0, groups[unsigned(kind)]);
      for (const Name &name : names)
        nameEvent("thread_name", name.kind, name.track, name.text);
      for (const Interval &one : intervals)
        out.object([&] {
          event("X", one.name, one.kind, one.track);
          out.attribute("ts", one.start * microseconds);
          out.attribute("dur", (one.end - one.start) * microseconds);
          out.attributeObject("args", [&] {
            out.attribute("cycle", one.start);
            out.attribute("cycles", one.end - one.start);
            if (!one.place.empty())
              out.attribute("source", one.place);
            if (one.bytes)
              out.attribute("bytes", int64_t(one.bytes));
          });
        });
    });
  });
  return text;
}

} // namespace tilebridge::accel
