//===- TextMutator.cpp - damages IR as text -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/TextMutator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tilebridge::fuzz;

// Types of elements, those that no kernel has included.
static constexpr StringRef elementTypes[] = {"i1",
                                             "i2",
                                             "i4",
                                             "i8",
                                             "i16",
                                             "i32",
                                             "i64",
                                             "i128",
                                             "i7",
                                             "f16",
                                             "bf16",
                                             "f32",
                                             "f64",
                                             "f8E5M2",
                                             "f8E4M3FN",
                                             "f80",
                                             "f8E4M3FNUZ",
                                             "f128",
                                             "f8E4M3B11FNUZ",
                                             "f8E5M2FNUZ",
                                             "tf32",
                                             "index",
                                             "f4E2M1FN",
                                             "none"};

// Where sizes, indices and constants go wrong.
static constexpr StringRef edgeNumbers[] = {"0",
                                            "1",
                                            "-1",
                                            "2",
                                            "3",
                                            "7",
                                            "8",
                                            "16",
                                            "31",
                                            "32",
                                            "33",
                                            "64",
                                            "127",
                                            "128",
                                            "1000",
                                            "1024",
                                            "65536",
                                            "1048576",
                                            "1048577",
                                            "2147483647",
                                            "-2147483648",
                                            "4294967296",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "18446744073709551616"};

static bool isWordByte(char c) {
  return isAlnum(c) || c == '_' || c == '.' || c == '$';
}

static size_t lengthWhile(StringRef text, size_t from,
                          function_ref<bool(char)> holds) {
  size_t end = from;
  while (end < text.size() && holds(text[end]))
    ++end;
  return end - from;
}

std::vector<Token> tilebridge::fuzz::tokenize(StringRef text) {
  std::vector<Token> tokens;
  auto add = [&](Token::Kind kind, StringRef part) {
    tokens.push_back({kind, part.str()});
    text = text.drop_front(part.size());
  };
  while (!text.empty()) {
    char c = text.front();
    bool afterNumber =
        !tokens.empty() && tokens.back().kind == Token::Kind::Number;
    if (c == ' ' || c == '\n' || c == '\t') {
      add(Token::Kind::Space, text.take_front(lengthWhile(text, 0, [&](char d) {
        return d == ' ' || d == '\n' || d == '\t';
      })));
    } else if (c == '"') {
      size_t end = 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n')
        ++end;
      add(Token::Kind::String, text.take_front(end + 1));
    } else if (c == '%') {
      add(Token::Kind::Value,
          text.take_front(1 + lengthWhile(text, 1, [](char d) {
                            return isWordByte(d) || d == '#' || d == '-';
                          })));
    } else if (isDigit(c) ||
               (c == '-' && text.size() > 1 && isDigit(text[1]))) {
      size_t digits = lengthWhile(text, 1, [](char d) { return isDigit(d); });
      add(Token::Kind::Number, text.take_front(1 + digits));
    } else if (c == 'x' && afterNumber) {
      add(Token::Kind::Mark, text.take_front(1));
    } else if (isWordByte(c)) {
      StringRef word = text.take_front(lengthWhile(text, 0, isWordByte));
      add(is_contained(elementTypes, word) ? Token::Kind::Type
                                           : Token::Kind::Word,
          word);
    } else {
      add(Token::Kind::Mark, text.take_front(1));
    }
  }
  return tokens;
}

std::string tilebridge::fuzz::join(ArrayRef<Token> tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

size_t TextMutator::below(size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

std::string TextMutator::otherNumber(StringRef number) {
  int64_t value;
  if (chance(2) || number.getAsInteger(10, value) || value > (1 << 30) ||
      value < -(1 << 30))
    return edgeNumbers[below(std::size(edgeNumbers))].str();
  const int64_t near[] = {value + 1, value - 1, value * 2, value / 2, -value};
  return std::to_string(near[below(std::size(near))]);
}

std::string TextMutator::replacementFor(ArrayRef<Token> tokens,
                                        const Token &token) {
  switch (token.kind) {
  case Token::Kind::Number:
    return otherNumber(token.text);
  case Token::Kind::Type:
    return elementTypes[below(std::size(elementTypes))].str();
  default:
    break;
  }
  // Another of its kind from the same text.
  SmallVector<const Token *> others;
  for (const Token &other : tokens)
    if (other.kind == token.kind && other.text != token.text)
      others.push_back(&other);
  return others.empty() ? token.text : others[below(others.size())]->text;
}

void TextMutator::replaceToken(std::vector<Token> &tokens, Token::Kind kind) {
  SmallVector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == kind)
      places.push_back(i);
  if (places.empty())
    return;
  Token old = tokens[places[below(places.size())]];
  std::string text = replacementFor(tokens, old);
  bool everywhere =
      kind != Token::Kind::Value && kind != Token::Kind::Word && !chance(3);
  if (everywhere) {
    for (size_t i : places)
      if (tokens[i].text == old.text)
        tokens[i].text = text;
    return;
  }
  SmallVector<size_t> same;
  for (size_t i : places)
    if (tokens[i].text == old.text)
      same.push_back(i);
  tokens[same[below(same.size())]].text = text;
}

void TextMutator::changeLines(std::string &text) {
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  size_t at = below(lines.size()), to = below(lines.size());
  switch (below(4)) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + at, lines[at]);
    break;
  case 2:
    std::swap(lines[at], lines[to]);
    break;
  default:
    // A range of lines is gone.
    if (at > to)
      std::swap(at, to);
    lines.erase(lines.begin() + at,
                lines.begin() + std::min(to, at + 1 + below(6)));
    break;
  }
  text = llvm::join(lines, "\n");
}

void TextMutator::changeBytes(std::string &text) {
  if (text.empty())
    return;
  size_t at = below(text.size());
  switch (below(3)) {
  case 0:
    text.erase(at, 1 + below(8));
    break;
  case 1:
    text[at] = static_cast<char>(below(256));
    break;
  default:
    if (chance(4))
      text.resize(at);
    else
      text.insert(at, 1, "{}()[]<>,:%@#!\"="[below(16)]);
    break;
  }
}

void TextMutator::changeOnce(std::string &text) {
  size_t which = below(16);
  if (which == 0)
    return changeBytes(text);
  if (which <= 3)
    return changeLines(text);
  std::vector<Token> tokens = tokenize(text);
  replaceToken(tokens, which <= 7    ? Token::Kind::Number
                       : which <= 10 ? Token::Kind::Type
                       : which <= 13 ? Token::Kind::Value
                       : which == 14 ? Token::Kind::Word
                                     : Token::Kind::String);
  text = join(tokens);
}

std::string TextMutator::mutate(StringRef text) {
  std::string changed = text.str();
  for (size_t count = 1 + below(4); count > 0; --count)
    changeOnce(changed);
  return changed;
}

std::string TextMutator::cross(StringRef text, StringRef other) {
  SmallVector<StringRef> lines, others;
  text.split(lines, '\n');
  other.split(others, '\n');
  size_t from = below(others.size());
  size_t count = std::min(others.size() - from, 1 + below(8));
  lines.insert(lines.begin() + below(lines.size()), others.begin() + from,
               others.begin() + from + count);
  return llvm::join(lines, "\n");
}
