//===- Json.cpp - JSON that knows its lines -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace tilebridge::accel {

const JsonNode::Member *JsonNode::find(llvm::StringRef key) const {
  auto found = llvm::find_if(
      members, [&](const Member &member) { return member.key == key; });
  return found == members.end() ? nullptr : &*found;
}

llvm::StringRef JsonNode::kindName() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Flag:
    return "true or false";
  case Kind::Number:
    return "a number";
  case Kind::Text:
    return "a string";
  case Kind::List:
    return "a list";
  case Kind::Object:
    return "an object";
  }
  return "";
}

namespace {

class Parser {
public:
  Parser(llvm::StringRef text, TextError &error) : rest(text), error(error) {}

  bool parse(JsonNode &result) {
    rest.consume_front("\xEF\xBB\xBF"); // as some editors begin a file
    if (!value(result, 0))
      return false;
    skipSpace();
    return rest.empty() || fail("expected the end of the file");
  }

private:
  bool value(JsonNode &node, unsigned depth);
  bool list(JsonNode &node, unsigned depth);
  bool object(JsonNode &node, unsigned depth);
  bool string(std::string &result);
  bool unicode(std::string &result);
  bool number(JsonNode &node);

  bool fail(const llvm::Twine &message) {
    error = {place, message.str()};
    return false;
  }

  void advance(size_t count) {
    for (char c : rest.take_front(count)) {
      place.line += c == '\n';
      place.column = c == '\n' ? 1 : place.column + 1;
    }
    rest = rest.drop_front(count);
  }

  void skipSpace() {
    size_t space = rest.find_first_not_of(" \t\r\n");
    advance(space == llvm::StringRef::npos ? rest.size() : space);
  }

  /// Whether the next character, after space, is this one; it is then eaten.
  bool eat(char c) {
    skipSpace();
    if (rest.empty() || rest.front() != c)
      return false;
    advance(1);
    return true;
  }

  bool word(llvm::StringRef text) {
    if (!rest.starts_with(text))
      return false;
    advance(text.size());
    return true;
  }

  llvm::StringRef rest;
  TextPlace place;
  TextError &error;
};

bool Parser::value(JsonNode &node, unsigned depth) {
  skipSpace();
  node.place = place;
  if (depth > 64)
    return fail("lists and objects are nested too deep");
  if (rest.empty())
    return fail("expected a value, the file ends here");
  switch (rest.front()) {
  case '{':
    return object(node, depth);
  case '[':
    return list(node, depth);
  case '"':
    node.kind = JsonNode::Kind::Text;
    return string(node.text);
  default:
    break;
  }
  if (word("null"))
    return true;
  node.kind = JsonNode::Kind::Flag;
  node.flag = rest.starts_with("true");
  if (word("true") || word("false"))
    return true;
  return number(node);
}

bool Parser::list(JsonNode &node, unsigned depth) {
  node.kind = JsonNode::Kind::List;
  advance(1);
  if (eat(']'))
    return true;
  do {
    if (!value(node.elements.emplace_back(), depth + 1))
      return false;
  } while (eat(','));
  return eat(']') || fail("expected ',' or ']'");
}

bool Parser::object(JsonNode &node, unsigned depth) {
  node.kind = JsonNode::Kind::Object;
  advance(1);
  if (eat('}'))
    return true;
  do {
    skipSpace();
    JsonNode::Member member;
    member.place = place;
    if (rest.empty() || rest.front() != '"')
      return fail("expected a key in quotes");
    if (!string(member.key))
      return false;
    if (const JsonNode::Member *first = node.find(member.key)) {
      place = member.place;
      return fail("the key \"" + member.key +
                  "\" stands twice in one object, first in line " +
                  llvm::Twine(first->place.line));
    }
    if (!eat(':'))
      return fail("expected ':' after the key \"" + member.key + "\"");
    if (!value(member.value, depth + 1))
      return false;
    node.members.push_back(std::move(member));
  } while (eat(','));
  return eat('}') || fail("expected ',' or '}'");
}

bool Parser::string(std::string &result) {
  advance(1);
  while (!rest.empty() && rest.front() != '"') {
    unsigned char c = rest.front();
    if (c < ' ')
      return fail("a string ends with '\"' in the line it begins in");
    if (c != '\\') {
      result += char(c);
      // Columns count bytes, as other tools' do.
      advance(1);
      continue;
    }
    static constexpr llvm::StringLiteral names = "\"\\/bfnrt";
    static constexpr llvm::StringLiteral meanings = "\"\\/\b\f\n\r\t";
    size_t escape = rest.size() < 2 ? names.npos : names.find(rest[1]);
    if (escape != names.npos) {
      result += meanings[escape];
      advance(2);
    } else if (rest.size() < 2 || rest[1] != 'u' || !unicode(result)) {
      return fail("no escape that JSON has");
    }
  }
  if (rest.empty())
    return fail("a string is not closed");
  advance(1);
  return true;
}

bool Parser::unicode(std::string &result) {
  unsigned code = 0;
  if (rest.size() < 6 || rest.substr(2, 4).getAsInteger(16, code) ||
      (code >= 0xD800 && code < 0xE000))
    return false;
  char bytes[8], *end = bytes;
  llvm::ConvertCodePointToUTF8(code, end);
  result.append(bytes, end);
  advance(6);
  return true;
}

bool Parser::number(JsonNode &node) {
  node.kind = JsonNode::Kind::Number;
  llvm::StringRef digits = rest.take_while(
      [](char c) { return llvm::isAlnum(c) || llvm::is_contained("+-.", c); });
  bool isNumber = !digits.empty() && !llvm::isAlpha(digits.front()) &&
                  digits.front() != '+' && digits.front() != '.' &&
                  !digits.contains_insensitive("x") &&
                  !digits.contains_insensitive("n") &&
                  !digits.getAsDouble(node.number);
  if (!isNumber)
    return fail("expected a value" + (digits.empty()
                                          ? std::string()
                                          : ", not '" + digits.str() + "'"));
  advance(digits.size());
  return true;
}

} // namespace

bool parseJson(llvm::StringRef text, JsonNode &result, TextError &error) {
  return Parser(text, error).parse(result);
}

} // namespace tilebridge::accel
