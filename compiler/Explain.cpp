//===- Explain.cpp - what a kernel became, and why ------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Explain.h"

#include "cpu-backend/DecisionRemark.h"
#include "frontend/Reader.h"
#include "triton-to-linalg/AccessRemark.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <tuple>

using namespace mlir;
namespace keys = tilebridge::ttl::access_remark;
namespace decision_keys = tilebridge::cpu::decision_remark;

namespace tilebridge::compiler {

//===----------------------------------------------------------------------===//
// From remarks to entries
//===----------------------------------------------------------------------===//

static AccessPlace placeOf(Location loc, bool withCallers = true) {
  AccessPlace place;
  if (std::optional<FileLineColLoc> found = frontend::placeOf(loc)) {
    place.file = found->getFilename().str();
    place.line = found->getLine();
    place.column = found->getColumn();
  }
  if (withCallers)
    for (Location caller : frontend::callersOf(loc))
      place.callers.push_back(placeOf(caller, /*withCallers=*/false));
  return place;
}

static std::vector<std::string> textsOf(Attribute attr) {
  std::vector<std::string> texts;
  for (Attribute text : cast<ArrayAttr>(attr))
    texts.push_back(cast<StringAttr>(text).str());
  return texts;
}

static AccessEntry entryOf(const remark::detail::Remark &remark) {
  AccessEntry entry;
  entry.place = placeOf(remark.getLocation());
  entry.function = remark.getFunction().str();
  llvm::StringMap<std::string *> texts = {
      {keys::operation, &entry.operation}, {keys::form, &entry.form},
      {keys::fallback, &entry.fallback},   {keys::element, &entry.element},
      {keys::base, &entry.base},           {keys::offset, &entry.offset},
      {keys::reason, &entry.reason},       {keys::causeOp, &entry.causeOp}};
  for (const auto &arg : remark.getArgs()) {
    if (std::string *text = texts.lookup(arg.key))
      *text = arg.val;
    else if (arg.key == keys::strides)
      entry.strides = textsOf(arg.getAttribute());
    else if (arg.key == keys::mask)
      entry.mask = textsOf(arg.getAttribute());
    else if (arg.key == keys::causeLoc)
      entry.cause = placeOf(cast<LocationAttr>(arg.getAttribute()));
    else if (arg.key == keys::shape)
      for (Attribute size : cast<ArrayAttr>(arg.getAttribute()))
        entry.shape.push_back(cast<IntegerAttr>(size).getInt());
  }
  return entry;
}

/// What Triton's own library does, such as the sum of tl.sum, is told where the
/// kernel calls it.
static AccessPlace outsideOfTriton(AccessPlace place) {
  auto isLibrary = [](const AccessPlace &at) {
    return llvm::StringRef(at.file).contains("/triton/language/");
  };
  if (!isLibrary(place))
    return place;
  for (const AccessPlace &caller : place.callers)
    if (!isLibrary(caller))
      return caller;
  return place;
}

static DecisionEntry decisionOf(const remark::detail::Remark &remark) {
  DecisionEntry entry;
  entry.place = outsideOfTriton(placeOf(remark.getLocation()));
  for (const auto &arg : remark.getArgs()) {
    if (arg.key == decision_keys::kind)
      entry.kind = arg.val;
    else if (arg.key == decision_keys::text)
      entry.text = arg.val;
    else if (arg.hasAttribute())
      entry.facts.push_back({arg.key, arg.getAttribute()});
  }
  return entry;
}

class ExplainLog::Streamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(std::shared_ptr<Entries> entries)
      : entries(std::move(entries)) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    if (remark.getCategoryName() == keys::category)
      entries->accesses.push_back(entryOf(remark));
    else if (remark.getCategoryName() == decision_keys::category)
      entries->decisions.push_back(decisionOf(remark));
  }

private:
  std::shared_ptr<Entries> entries;
};

ExplainLog::ExplainLog(MLIRContext &context)
    : entries(std::make_shared<Entries>()) {
  remark::RemarkCategories categories;
  categories.passed = (keys::category + "|" + decision_keys::category).str();
  categories.missed = keys::category.str();
  // It fails only where the context has an engine already, and a compilation
  // has a context of its own.
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<Streamer>(entries),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

std::vector<AccessEntry> ExplainLog::sortedAccesses() const {
  std::vector<AccessEntry> all = entries->accesses;
  for (auto [number, entry] : llvm::enumerate(all))
    entry.number = number;
  llvm::sort(all, [](const AccessEntry &a, const AccessEntry &b) {
    return std::tie(a.place.file, a.place.line, a.place.column, a.number) <
           std::tie(b.place.file, b.place.line, b.place.column, b.number);
  });
  return all;
}

/// What several parts of the code say alike is said once.
std::vector<DecisionEntry> ExplainLog::sortedDecisions() const {
  std::vector<DecisionEntry> all = entries->decisions;
  auto key = [](const DecisionEntry &entry) {
    return std::tie(entry.place.file, entry.place.line, entry.place.column,
                    entry.kind, entry.text);
  };
  llvm::stable_sort(all, [&](const DecisionEntry &a, const DecisionEntry &b) {
    return key(a) < key(b);
  });
  all.erase(llvm::unique(all,
                         [&](const DecisionEntry &a, const DecisionEntry &b) {
                           return key(a) == key(b);
                         }),
            all.end());
  return all;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string kernelOf(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPublic())
      return function.getName().str();
  return "";
}

static std::string format(const AccessPlace &place) {
  if (!place.line)
    return "unknown place";
  std::string text = place.file + ":" + std::to_string(place.line) + ":" +
                     std::to_string(place.column);
  for (const AccessPlace &caller : place.callers)
    text += ", called from " + format(caller);
  return text;
}

/// "64x32xf32"
static std::string typeOf(const AccessEntry &entry) {
  std::string text;
  for (int64_t size : entry.shape)
    text += std::to_string(size) + "x";
  return text + entry.element;
}

/// "x + 64*pid, strides [1]"
static std::string addressOf(const AccessEntry &entry) {
  std::string text = entry.base;
  if (!entry.offset.empty() && entry.offset != "0")
    text += (entry.offset[0] == '[' ? "" : " + ") + entry.offset;
  if (!entry.strides.empty())
    text += ", strides [" + llvm::join(entry.strides, ", ") + "]";
  if (!entry.mask.empty())
    text += " where " + llvm::join(entry.mask, " and ");
  return text;
}

/// Where each decision is, its kind, and what it says.
std::string ExplainLog::decisionsText(llvm::StringRef target) const {
  std::vector<DecisionEntry> all = sortedDecisions();
  if (all.empty())
    return "";
  std::string out;
  llvm::raw_string_ostream os(out);
  os << "decisions for " << target << ":\n";
  size_t widths[2] = {};
  std::vector<std::string> places;
  for (const DecisionEntry &entry : all) {
    AccessPlace place = entry.place;
    place.callers.clear();
    places.push_back(format(place));
    widths[0] = std::max(widths[0], places.back().size());
    widths[1] = std::max(widths[1], entry.kind.size());
  }
  for (auto [entry, place] : llvm::zip_equal(all, places))
    os << llvm::left_justify(place, widths[0]) << "  "
       << llvm::left_justify(entry.kind, widths[1]) << "  " << entry.text
       << "\n";
  return out;
}

std::string ExplainLog::text(llvm::StringRef kernel,
                             llvm::StringRef target) const {
  std::vector<AccessEntry> all = sortedAccesses();
  llvm::MapVector<llvm::StringRef, unsigned> counts;
  for (const AccessEntry &entry : all)
    ++counts[entry.form];
  std::string out;
  llvm::raw_string_ostream os(out);
  os << "kernel " << kernel << ": "
     << (all.empty()       ? "no access to memory"
         : all.size() == 1 ? "1 access"
                           : std::to_string(all.size()) + " accesses");
  const char *separator = ": ";
  for (auto [form, count] : counts) {
    os << separator << count << " " << form;
    separator = ", ";
  }
  os << "\n";

  size_t widths[4] = {};
  std::vector<std::vector<std::string>> rows;
  for (const AccessEntry &entry : all) {
    AccessPlace place = entry.place;
    place.callers.clear();
    rows.push_back({format(place), entry.operation, entry.form, typeOf(entry)});
    for (size_t i = 0; i < 4; ++i)
      widths[i] = std::max(widths[i], rows.back()[i].size());
  }
  for (auto [entry, row] : llvm::zip_equal(all, rows)) {
    for (size_t i = 0; i < 4; ++i)
      os << (i ? "  " : "") << llvm::left_justify(row[i], widths[i]);
    os << "  " << addressOf(entry) << "\n";
    for (const AccessPlace &caller : entry.place.callers)
      os << "    called from " << format(caller) << "\n";
    if (entry.function != kernel)
      os << "    in the function " << entry.function << "\n";
    if (entry.reason.empty())
      continue;
    os << "    " << (entry.fallback.empty() ? "why:" : entry.fallback) << " "
       << entry.reason << "\n";
    if (entry.cause.line && format(entry.cause) != format(entry.place))
      os << "    because of " << entry.causeOp << " at " << format(entry.cause)
         << "\n";
  }
  os << decisionsText(target);
  return out;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void write(llvm::json::OStream &json, const AccessPlace &place) {
  json.attribute("file", place.file);
  json.attribute("line", place.line);
  json.attribute("column", place.column);
  if (place.callers.empty())
    return;
  json.attributeArray("callers", [&] {
    for (const AccessPlace &caller : place.callers)
      json.object([&] { write(json, caller); });
  });
}

static void write(llvm::json::OStream &json, const AccessEntry &entry) {
  write(json, entry.place);
  json.attribute("function", entry.function);
  json.attribute("operation", entry.operation);
  json.attribute("form", entry.form);
  if (!entry.fallback.empty())
    json.attribute("fallback", entry.fallback);
  json.attribute("shape", llvm::json::Array(entry.shape));
  json.attribute("element", entry.element);
  json.attribute("base", entry.base);
  json.attribute("offset", entry.offset);
  json.attribute("strides", llvm::json::Array(entry.strides));
  json.attribute("mask", llvm::json::Array(entry.mask));
  if (entry.reason.empty())
    return;
  json.attribute("reason", entry.reason);
  if (entry.causeOp.empty())
    return;
  json.attributeObject("cause", [&] {
    json.attribute("operation", entry.causeOp);
    if (entry.cause.line)
      write(json, entry.cause);
  });
}

static void write(llvm::json::OStream &json, Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    json.value(number.getInt());
  else if (auto text = dyn_cast<StringAttr>(value))
    json.value(text.getValue());
  else if (auto array = dyn_cast<ArrayAttr>(value))
    json.array([&] {
      for (Attribute element : array)
        write(json, element);
    });
}

static void write(llvm::json::OStream &json, const DecisionEntry &entry) {
  write(json, entry.place);
  json.attribute("kind", entry.kind);
  json.attribute("text", entry.text);
  for (const auto &[key, value] : entry.facts) {
    json.attributeBegin(key);
    write(json, value);
    json.attributeEnd();
  }
}

std::string ExplainLog::json(llvm::StringRef kernel,
                             llvm::StringRef target) const {
  std::string out;
  llvm::raw_string_ostream os(out);
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("kernel", kernel);
    json.attributeArray("accesses", [&] {
      for (const AccessEntry &entry : sortedAccesses())
        json.object([&] { write(json, entry); });
    });
    if (target.empty())
      return;
    json.attribute("target", target);
    json.attributeArray("decisions", [&] {
      for (const DecisionEntry &entry : sortedDecisions())
        json.object([&] { write(json, entry); });
    });
  });
  os << "\n";
  return out;
}

} // namespace tilebridge::compiler
