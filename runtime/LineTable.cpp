//===- LineTable.cpp - from addresses to lines of source --------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The section is a program for a small machine whose registers are an address
// and a place; each row that it appends says where the code from that address
// on comes from.

#include "runtime/LineTable.h"

#include <algorithm>
#include <cstring>

namespace tilebridge::rt {

namespace {

/// Reads numbers off a string; beyond its end everything is 0.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  bool atEnd() const { return position >= bytes.size(); }
  std::string_view rest() const {
    return bytes.substr(std::min(position, bytes.size()));
  }
  void skip(uint64_t count) {
    position += std::min<uint64_t>(count, bytes.size() - position);
  }

  template <typename T> T fixed() {
    T value = 0;
    if (bytes.size() - position >= sizeof(T))
      std::memcpy(&value, bytes.data() + position, sizeof(T));
    skip(sizeof(T));
    return value;
  }

  uint64_t leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; !atEnd(); shift += 7) {
      auto byte = fixed<uint8_t>();
      if (shift < 64)
        value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        break;
    }
    return value;
  }

  int64_t signedLeb() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    do {
      byte = fixed<uint8_t>();
      if (shift < 64)
        value |= uint64_t(byte & 0x7f) << shift;
      shift += 7;
    } while ((byte & 0x80) && !atEnd());
    if (shift < 64 && (byte & 0x40))
      value |= ~uint64_t(0) << shift;
    return int64_t(value);
  }

  std::string_view string() {
    std::string_view text = rest();
    text = text.substr(0, text.find('\0'));
    skip(text.size() + 1);
    return text;
  }

private:
  std::string_view bytes;
  uint64_t position = 0;
};

struct Row {
  uint64_t address = 0, file = 1, line = 1, column = 0;
};

/// The program of one compile unit.
class Program {
public:
  explicit Program(std::string_view unit) : code(unit) {
    code.fixed<uint32_t>(); // the unit's length
    isKnown = code.fixed<uint16_t>() == 4;
    auto headerSize = code.fixed<uint32_t>();
    std::string_view afterHeader = code.rest();
    minInstruction = code.fixed<uint8_t>();
    code.fixed<uint8_t>(); // operations in one instruction
    code.fixed<uint8_t>(); // whether rows are statements at first
    lineBase = code.fixed<int8_t>();
    lineRange = code.fixed<uint8_t>();
    opcodeBase = code.fixed<uint8_t>();
    isKnown &=
        lineRange != 0 && opcodeBase >= 10 && headerSize <= afterHeader.size();
    operandCounts = code.rest();
    code.skip(opcodeBase - 1u);
    names = code.rest();
    code = Reader(
        afterHeader.substr(std::min<size_t>(headerSize, afterHeader.size())));
  }

  bool find(uint64_t address, LineTable::Place &place) {
    if (!isKnown)
      return false;
    Row last, named;
    bool hasLast = false, hasNamed = false;
    while (!code.atEnd()) {
      bool ends = false;
      if (!step(ends))
        continue;
      // Line 0 is code of no line, between that of others.
      if (hasLast && last.line != 0) {
        named = last;
        hasNamed = true;
      }
      if (hasLast && last.address <= address && address < row.address)
        return hasNamed && describe(named, place);
      last = row;
      hasLast = !ends;
      hasNamed &= !ends;
      if (ends)
        row = Row();
    }
    return false;
  }

private:
  /// Runs one instruction; true where it appends a row.
  bool step(bool &ends) {
    auto opcode = code.fixed<uint8_t>();
    if (opcode >= opcodeBase) {
      unsigned adjusted = opcode - opcodeBase;
      row.address += uint64_t(adjusted / lineRange) * minInstruction;
      row.line += uint64_t(int64_t(lineBase) + int64_t(adjusted % lineRange));
      return true;
    }
    switch (opcode) {
    case 0:
      return extended(ends);
    case 1: // copy
      return true;
    case 2: // advance the address
      row.address += code.leb() * minInstruction;
      return false;
    case 3:
      row.line += uint64_t(code.signedLeb());
      return false;
    case 4:
      row.file = code.leb();
      return false;
    case 5:
      row.column = code.leb();
      return false;
    case 8: // advance as the last special opcode would
      row.address += uint64_t((255 - opcodeBase) / lineRange) * minInstruction;
      return false;
    case 9:
      row.address += code.fixed<uint16_t>();
      return false;
    default: // says nothing about places
      for (unsigned i = 0; i < count(opcode); ++i)
        code.leb();
      return false;
    }
  }

  bool extended(bool &ends) {
    uint64_t size = code.leb();
    Reader operands(code.rest().substr(0, size));
    code.skip(size);
    auto opcode = operands.fixed<uint8_t>();
    if (opcode == 2)
      row.address = operands.fixed<uint64_t>();
    ends = opcode == 1;
    return ends;
  }

  unsigned count(uint8_t opcode) const {
    return opcode - 1u < operandCounts.size()
               ? uint8_t(operandCounts[opcode - 1u])
               : 0;
  }

  bool describe(const Row &found, LineTable::Place &place) const {
    Reader folders(names), files(names);
    while (!files.string().empty())
      continue;
    for (uint64_t i = 1; !files.atEnd(); ++i) {
      std::string_view file = files.string();
      uint64_t folder = files.leb();
      files.leb(); // time
      files.leb(); // size
      if (file.empty())
        return false;
      if (i != found.file)
        continue;
      place.file = file;
      place.folder = {};
      for (uint64_t k = 1; k <= folder && !folders.atEnd(); ++k)
        place.folder = folders.string();
      place.line = found.line;
      place.column = found.column;
      return found.line != 0;
    }
    return false;
  }

  Reader code;
  bool isKnown = false;
  uint8_t minInstruction = 1, lineRange = 1, opcodeBase = 13;
  int8_t lineBase = 0;
  std::string_view operandCounts, names;
  Row row;
};

} // namespace

bool LineTable::find(uint64_t address, Place &place) const {
  std::string_view units = section;
  while (units.size() > 4) {
    uint32_t length;
    std::memcpy(&length, units.data(), sizeof(length));
    uint64_t size = std::min<uint64_t>(uint64_t(length) + 4, units.size());
    if (Program(units.substr(0, size)).find(address, place))
      return true;
    units.remove_prefix(size);
  }
  return false;
}

} // namespace tilebridge::rt
