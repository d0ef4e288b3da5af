//===- LineTableTest.cpp - lines of addresses ------------------------ -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/LineTable.h"

#include <gtest/gtest.h>

#include <random>

using namespace tilebridge::rt;

static void add32(std::string &to, uint32_t value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// Two files; rows at 0x100 (a.py:5:3), 0x10a (dir/b.py:12:9), 0x110 (of no
/// line), an end at 0x120.
static std::string table() {
  std::string header;
  header += {1, 1, 1, char(-5), 14, 13}; // up to the number of opcodes
  header += {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  header += std::string("dir\0\0", 5);
  header += std::string("a.py\0\0\0\0", 8);
  header += std::string("b.py\0\1\0\0", 8) + '\0';
  std::string code;
  code += std::string("\0\x09\x02\x00\x01\0\0\0\0\0\0", 11); // address 0x100
  code += {3, 4};                                            // line 5
  code += {5, 3};                                            // column 3
  code += {1};
  code += {4, 2, 3, 7, 5, 9, 2, 10, 1}; // file 2, line 12, column 9, + 10
  code += {2, 6, 3, 0x74, 1};           // + 6, line 0
  code += {2, 16};
  code += std::string("\0\1\1", 3);
  std::string unit = {4, 0};
  add32(unit, uint32_t(header.size()));
  unit += header + code;
  std::string section;
  add32(section, uint32_t(unit.size()));
  return section + unit;
}

static std::string placeOf(const LineTable &lines, uint64_t address) {
  LineTable::Place place;
  if (!lines.find(address, place))
    return "none";
  return std::string(place.folder) + "|" + std::string(place.file) + "|" +
         std::to_string(place.line) + "|" + std::to_string(place.column);
}

TEST(LineTable, KnowsTheRowThatAnAddressIsIn) {
  LineTable lines(table());
  EXPECT_EQ(placeOf(lines, 0xff), "none");
  EXPECT_EQ(placeOf(lines, 0x100), "|a.py|5|3");
  EXPECT_EQ(placeOf(lines, 0x109), "|a.py|5|3");
  EXPECT_EQ(placeOf(lines, 0x10a), "dir|b.py|12|9");
  EXPECT_EQ(placeOf(lines, 0x10f), "dir|b.py|12|9");
  EXPECT_EQ(placeOf(lines, 0x11f), "dir|b.py|12|9"); // the line before
  EXPECT_EQ(placeOf(lines, 0x120), "none");
}

TEST(LineTable, ReadsEveryUnit) {
  std::string other = table();
  other[other.find("a.py")] = 'c';
  std::string empty;
  add32(empty, 2);
  empty += {9, 0}; // a version that is not known
  EXPECT_EQ(placeOf(LineTable(empty + other), 0x100), "|c.py|5|3");
}

TEST(LineTable, FindsNothingWhereThereIsNone) {
  EXPECT_EQ(placeOf(LineTable(), 0x100), "none");
  EXPECT_EQ(placeOf(LineTable("\xff\xff"), 0x100), "none");
}

/// Under AddressSanitizer this is a test of bounds.
TEST(LineTable, SurvivesDamage) {
  std::mt19937 random(7);
  std::string good = table();
  for (size_t size = 0; size < good.size(); ++size)
    placeOf(LineTable(good.substr(0, size)), 0x10a);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k)
      bad[random() % bad.size()] = char(random());
    placeOf(LineTable(bad), 0x10a);
  }
}
