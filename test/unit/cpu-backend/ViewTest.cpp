//===- ViewTest.cpp - what views are told apart by ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/View.h"

#include "gtest/gtest.h"

#include <optional>
#include <set>

using namespace tilebridge::cpu;

namespace {

TEST(View, IsToldFromOneThatWasAtItsAddress) {
  std::optional<View> view;
  std::set<uint64_t> seen;
  std::set<const View *> addresses;
  for (int i = 0; i < 3; ++i) {
    view.emplace();
    addresses.insert(&*view);
    EXPECT_TRUE(seen.insert(view->identity.get()).second);
    view.reset();
  }
  EXPECT_EQ(addresses.size(), 1u);
}

TEST(View, IsAnotherWhereItIsCopiedOrMoved) {
  View view;
  std::set<uint64_t> seen = {view.identity.get()};
  View copy = view, moved = std::move(view);
  EXPECT_TRUE(seen.insert(copy.identity.get()).second);
  EXPECT_TRUE(seen.insert(moved.identity.get()).second);
  // What was remembered of the old elements is not remembered of the new ones.
  copy = moved;
  EXPECT_TRUE(seen.insert(copy.identity.get()).second);
}

TEST(View, IsTheSameWhereItIsOnlyLookedAt) {
  const View view;
  EXPECT_EQ(view.identity.get(), view.identity.get());
}

} // namespace
