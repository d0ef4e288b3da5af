//===- Text.cpp - what EmitC's translation leaves to do -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace tilebridge::accel {

using Lines = std::vector<std::string>;

static bool isWordChar(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Calls the function with each word outside of comments and strings, and what
/// stands around the words.
template <typename Word, typename Rest>
static void forEachWord(llvm::StringRef line, Word onWord, Rest onRest) {
  size_t at = 0;
  bool isQuoted = false;
  while (at < line.size()) {
    if (!isQuoted && line.substr(at).starts_with("//"))
      return onRest(line.substr(at));
    size_t end = at;
    while (end < line.size() && isWordChar(line[end]))
      ++end;
    if (end == at || isQuoted) {
      end = at + 1;
      if (isQuoted && line[at] == '\\')
        ++end;
      else if (line[at] == '"')
        isQuoted = !isQuoted;
      onRest(line.slice(at, end));
    } else {
      onWord(line.slice(at, end));
    }
    at = end;
  }
}

static std::string renamed(llvm::StringRef line,
                           const llvm::StringMap<std::string> &names) {
  std::string result;
  forEachWord(
      line,
      [&](llvm::StringRef word) {
        auto found = names.find(word);
        result += found == names.end() ? word.str() : found->second;
      },
      [&](llvm::StringRef rest) { result += rest.str(); });
  return result;
}

/// The variable that a line declares and initializes, if it does.
static llvm::StringRef declared(llvm::StringRef line) {
  size_t equals = line.find(" = ");
  if (equals == line.npos || line.starts_with("for ") || !line.ends_with(";") ||
      line.starts_with("//"))
    return "";
  llvm::StringRef left = line.take_front(equals);
  size_t begin = left.size();
  while (begin && isWordChar(left[begin - 1]))
    --begin;
  llvm::StringRef type = left.take_front(begin).rtrim();
  // An assignment has no type before the name.
  bool isDeclaration = begin < left.size() && !type.empty() &&
                       (isWordChar(type.back()) || type.back() == '*') &&
                       type.find_first_of("[]().") == type.npos;
  return isDeclaration ? left.drop_front(begin) : "";
}

/// Drops declarations that nothing uses; what has effects stays.
static void dropUnused(Lines &lines) {
  for (bool changes = true; changes;) {
    changes = false;
    llvm::StringMap<unsigned> uses;
    for (const std::string &line : lines) {
      // What is only assigned to is not used.
      llvm::StringRef text = line;
      size_t equals = text.find(" = ");
      bool isAssignment = equals != text.npos &&
                          llvm::all_of(text.take_front(equals), isWordChar);
      forEachWord(
          isAssignment ? text.drop_front(equals) : text,
          [&](llvm::StringRef word) { ++uses[word]; }, [](llvm::StringRef) {});
    }
    for (std::string &line : lines) {
      llvm::StringRef name = declared(line);
      if (name.empty() || uses.lookup(name) != 1 ||
          llvm::StringRef(line).starts_with("[[maybe_unused]]"))
        continue;
      llvm::StringRef value = llvm::StringRef(line).split(" = ").second;
      bool isAssigned = llvm::any_of(lines, [&](const std::string &other) {
        return llvm::StringRef(other).starts_with((name + " = ").str());
      });
      bool calls = llvm::any_of(
          llvm::ArrayRef<llvm::StringRef>{"accel_dma", "accel_atomic",
                                          "accel_clock"},
          [&](llvm::StringRef function) { return value.contains(function); });
      if (isAssigned || calls || value.contains("transfer(") ||
          value.contains("atomic"))
        line = "[[maybe_unused]] " + line;
      else
        line.clear();
      changes = true;
    }
    lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
  }
}

/// A function as the translation wrote it.
static Lines finishFunction(Lines lines) {
  llvm::StringMap<std::string> names;
  std::string first;
  Lines body;
  for (const std::string &line : lines) {
    llvm::StringRef text = line;
    if (text.consume_front("//@@ ")) {
      first = text.str();
    } else if (text.consume_front("//@ ")) {
      auto [value, name] = text.split(' ');
      names[value] = name.str();
    } else if (!text.starts_with("//@keep")) {
      body.push_back(line);
    }
  }
  body.front() = first.empty() ? body.front() : first;
  for (std::string &line : body)
    line = renamed(line, names);
  if (body.size() > 1 && body[body.size() - 2] == "return;")
    body.erase(body.end() - 2);
  dropUnused(body);
  return body;
}

std::string finishText(llvm::StringRef text) {
  std::string result;
  Lines function;
  int depth = 0;
  bool isInside = false;
  auto print = [&](llvm::StringRef line) {
    // Braces that close go with what they opened.
    int opened = line.starts_with("//")
                     ? 0
                     : int(line.count('{')) - int(line.count('}'));
    bool closes = line.starts_with("}");
    result.append(2 * std::max(0, depth - closes), ' ');
    result += line.str() + "\n";
    depth += opened;
  };
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  while (!lines.empty() && lines.back().empty())
    lines.pop_back();
  for (llvm::StringRef line : lines) {
    // The translation's functions begin without indentation, and end so.
    if (!isInside && line.starts_with("void ") && line.ends_with("{")) {
      isInside = true;
      function = {line.str()};
    } else if (isInside && line == "}") {
      function.push_back("}");
      isInside = false;
      depth = 0;
      for (const std::string &one : finishFunction(std::move(function)))
        print(one);
      function.clear();
    } else if (isInside) {
      function.push_back(line.trim().str());
    } else {
      result += line.str() + "\n";
    }
  }
  return result;
}

} // namespace tilebridge::accel
