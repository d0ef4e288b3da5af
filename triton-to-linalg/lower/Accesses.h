//===- Accesses.h - lowers one memory access -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each function writes the bridge form before the operation and replaces and
// erases it.
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/TTOps.h"

namespace tilebridge::ttl {

class IntegerFacts;

/// `facts` hold for the program before any access was lowered.
void lowerLoad(tt::LoadOp op, const IntegerFacts &facts);
void lowerStore(tt::StoreOp op, const IntegerFacts &facts);
void lowerBlockLoad(tt::LoadOp op);
void lowerBlockStore(tt::StoreOp op);

void lowerDescriptorLoad(tt::DescriptorLoadOp op);
void lowerDescriptorStore(tt::DescriptorStoreOp op);
void lowerDescriptorReduce(tt::DescriptorReduceOp op);
void lowerDescriptorGather(tt::DescriptorGatherOp op);
void lowerDescriptorScatter(tt::DescriptorScatterOp op);

void lowerAtomicRMW(tt::AtomicRMWOp op);
void lowerAtomicCAS(tt::AtomicCASOp op);
void lowerAtomicLoad(tt::AtomicLoadOp op);
/// Whether a load through pointers is volatile, and a value that was read
/// before must not stand for it.
bool mustReadEachTime(tt::LoadOp op);
void lowerVolatileLoad(tt::LoadOp op);
void lowerAtomicStore(tt::AtomicStoreOp op);
void lowerAtomicPoll(tt::AtomicPollOp op);

} // namespace tilebridge::ttl
