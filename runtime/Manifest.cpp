//===- Manifest.cpp - what an artefact says about itself -----------------
//-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Manifest.h"

#include <cstdint>

namespace tilebridge::rt {

namespace {

/// Just enough JSON: strings and lists of strings are kept, every other value
/// is checked and skipped.
class Reader {
public:
  explicit Reader(std::string_view text) : rest(text) {}

  bool object(Manifest &manifest, bool &hasName, bool &hasSignature) {
    if (!take('{'))
      return false;
    if (take('}'))
      return true;
    do {
      std::string key;
      if (!string(key) || !take(':') ||
          !member(key, manifest, hasName, hasSignature))
        return false;
    } while (take(','));
    return take('}');
  }

  bool atEnd() {
    skipSpace();
    return rest.empty();
  }

private:
  static constexpr int maxDepth = 32;

  bool member(const std::string &key, Manifest &manifest, bool &hasName,
              bool &hasSignature) {
    if (key == "name")
      return hasName = string(manifest.name);
    if (key == "signature")
      return hasSignature = strings(manifest.signature);
    if (key == "target")
      return string(manifest.target);
    if (key == "features")
      return string(manifest.features);
    if (key == "atomics")
      return string(manifest.atomics);
    return skipValue(0);
  }

  void skipSpace() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n' ||
                             rest[0] == '\r' || rest[0] == '\t'))
      rest.remove_prefix(1);
  }

  bool take(char expected) {
    skipSpace();
    if (rest.empty() || rest[0] != expected)
      return false;
    rest.remove_prefix(1);
    return true;
  }

  bool strings(std::vector<std::string> &list) {
    if (!take('['))
      return false;
    if (take(']'))
      return true;
    do {
      list.emplace_back();
      if (!string(list.back()))
        return false;
    } while (take(','));
    return take(']');
  }

  bool string(std::string &value) {
    if (!take('"'))
      return false;
    value.clear();
    while (!rest.empty() && rest[0] != '"') {
      char c = rest[0];
      rest.remove_prefix(1);
      if (c != '\\')
        value += c;
      else if (!escape(value))
        return false;
    }
    return take('"');
  }

  bool escape(std::string &value) {
    if (rest.empty())
      return false;
    char c = rest[0];
    rest.remove_prefix(1);
    static constexpr std::string_view letters = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (size_t at = letters.find(c); at != letters.npos) {
      value += meanings[at];
      return true;
    }
    if (c != 'u' || rest.size() < 4)
      return false;
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      static constexpr std::string_view digits = "0123456789abcdef";
      size_t digit = digits.find(char(rest[i] | 0x20));
      if (digit == digits.npos)
        return false;
      code = code * 16 + uint32_t(digit);
    }
    rest.remove_prefix(4);
    appendUtf8(code, value);
    return true;
  }

  /// Halves of surrogate pairs are kept as they are: nothing here interprets
  /// them.
  static void appendUtf8(uint32_t code, std::string &value) {
    if (code < 0x80) {
      value += char(code);
    } else if (code < 0x800) {
      value += char(0xc0 | code >> 6);
      value += char(0x80 | (code & 0x3f));
    } else {
      value += char(0xe0 | code >> 12);
      value += char(0x80 | (code >> 6 & 0x3f));
      value += char(0x80 | (code & 0x3f));
    }
  }

  bool skipValue(int depth) {
    if (depth > maxDepth)
      return false;
    skipSpace();
    if (rest.empty())
      return false;
    std::string ignored;
    if (rest[0] == '"')
      return string(ignored);
    if (rest[0] == '{' || rest[0] == '[')
      return skipContainer(rest[0], depth);
    size_t size = rest.find_first_of(",]} \n\r\t");
    if (size == 0)
      return false;
    rest.remove_prefix(size == rest.npos ? rest.size() : size);
    return true;
  }

  bool skipContainer(char open, int depth) {
    char close = open == '{' ? '}' : ']';
    take(open);
    if (take(close))
      return true;
    do {
      std::string key;
      if (open == '{' && (!string(key) || !take(':')))
        return false;
      if (!skipValue(depth + 1))
        return false;
    } while (take(','));
    return take(close);
  }

  std::string_view rest;
};

} // namespace

bool parseManifest(std::string_view text, Manifest &manifest,
                   std::string &why) {
  bool hasName = false, hasSignature = false;
  Reader reader(text);
  if (!reader.object(manifest, hasName, hasSignature) || !reader.atEnd()) {
    why = "its manifest is not the JSON object it should be";
    return false;
  }
  if (!hasName || !hasSignature) {
    why = std::string("its manifest has no \"") +
          (hasName ? "signature" : "name") + "\"";
    return false;
  }
  return true;
}

} // namespace tilebridge::rt
