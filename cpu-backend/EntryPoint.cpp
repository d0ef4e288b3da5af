//===- EntryPoint.cpp - what a compiled kernel exports --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/HostState.h"
#include "cpu-backend/OrderPrograms.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/PersistentTiles.h"
#include "cpu-backend/ProgramLoop.h"
#include "cpu-backend/SlotReader.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "runtime/executable_abi.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/JSON.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUENTRYPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

constexpr StringLiteral kRunName = "tilebridge_run";
constexpr StringLiteral kAtOnceName = "tilebridge_at_once";
constexpr StringLiteral kProgramsName = "tilebridge_programs";

int64_t numberOf(func::FuncOp merged, StringRef name, int64_t other = 0) {
  auto number = merged->getAttrOfType<IntegerAttr>(name);
  return number ? number.getInt() : other;
}

struct EntryPass : public tilebridge::cpu::impl::CpuEntryPassBase<EntryPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp kernel = findKernel();
    if (!kernel)
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(mergedCountAttr))
        merged.push_back(function);
    llvm::sort(merged, [](func::FuncOp one, func::FuncOp other) {
      return numberOf(one, mergedCountAttr) > numberOf(other, mergedCountAttr);
    });
    unsigned slots = 0;
    if (failed(createRun(kernel, slots)))
      return signalPassFailure();
    createExecutable(kernel, slots);
    if (failed(hideFunctions()))
      return signalPassFailure();
  }

private:
  LogicalResult hideFunctions();
  func::FuncOp findKernel();
  LogicalResult createRun(func::FuncOp kernel, unsigned &slots);
  FailureOr<SmallVector<Value>> readArguments(OpBuilder &b, func::FuncOp kernel,
                                              unsigned firstProgramId,
                                              Value launch, Value scratch,
                                              unsigned &slots);
  FailureOr<SmallVector<MergedCall>> readMerged(OpBuilder &b, Value launch,
                                                Value scratch,
                                                unsigned firstProgramId);
  /// A function of a launch that returns an i64; `b` is in it then.
  LLVM::LLVMFuncOp createQuestion(OpBuilder &b, Location loc, StringRef name);
  LogicalResult createAtOnce(unsigned firstProgramId);
  LogicalResult createPrograms(ProgramCall call);
  Value createSetjmp(OpBuilder &b, Location loc, Value state);
  void createExecutable(func::FuncOp kernel, unsigned slots);

  /// Run several programs: the one that runs most of them first.
  SmallVector<func::FuncOp> merged;
};

} // namespace

func::FuncOp EntryPass::findKernel() {
  func::FuncOp kernel;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!function->hasAttr("tilebridge.kernel"))
      continue;
    if (kernel) {
      InFlightDiagnostic diag = function.emitError(
          "a module with two kernels cannot be compiled: compile each alone");
      diag.attachNote(kernel.getLoc())
          << "the first is '" << kernel.getName() << "'";
      return {};
    }
    kernel = function;
  }
  if (!kernel)
    getOperation().emitError(
        "there is no kernel to compile: expected a func.func with the "
        "attribute 'tilebridge.kernel'");
  return kernel;
}

/// Functions of the program are of no use outside, and their names, which a
/// kernel's author chose, must not be those of C's functions: a kernel may well
/// be called `exp`. No name of C has a dot.
LogicalResult EntryPass::hideFunctions() {
  auto internal =
      LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal);
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    auto name = StringAttr::get(&getContext(), function.getName() + ".program");
    if (failed(
            SymbolTable::replaceAllSymbolUses(function, name, getOperation())))
      return function.emitError("is used in a way that cannot be renamed");
    function.setName(name);
    function.setPrivate();
    function->setAttr("llvm.linkage", internal);
  }
  return success();
}

FailureOr<SmallVector<Value>>
EntryPass::readArguments(OpBuilder &b, func::FuncOp kernel,
                         unsigned firstProgramId, Value launch, Value scratch,
                         unsigned &slots) {
  Location loc = kernel.getLoc();
  SmallVector<Value> arguments;
  Value slotsPointer =
      LLVM::LoadOp::create(b, loc, launch.getType(), launch, 8);
  SlotReader reader(b, loc, slotsPointer);
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    unsigned index = i;
    if (index >= firstProgramId &&
        index < firstProgramId + linalg_ext::kProgramArguments) {
      arguments.push_back(
          {}); // A program id or count, which the loop provides.
    } else if (kernel.getArgAttr(index, "tilebridge.launch")) {
      arguments.push_back(launch);
    } else if (kernel.getArgAttr(index, "tilebridge.scratch")) {
      auto memref = dyn_cast<MemRefType>(type);
      if (!memref || memref.getRank() != 1)
        return kernel.emitError(
            "expected the scratch memory of a kernel to be a memref of rank 1");
      // The scratch pointer has the form of one slot, so that the reader can
      // make a descriptor of it.
      Value slot = LLVM::AllocaOp::create(
          b, loc, launch.getType(), launch.getType(),
          LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                   b.getI64IntegerAttr(1)),
          8);
      LLVM::StoreOp::create(b, loc, scratch, slot);
      arguments.push_back(SlotReader(b, loc, slot).read(memref));
    } else {
      Value value = reader.read(type);
      if (!value)
        return kernel.emitError("argument ")
               << index << " of the kernel has the type " << type
               << ", which a launch cannot pass: expected a scalar of at most "
                  "64 bits, a "
                  "pointer, or a tensor descriptor";
      arguments.push_back(value);
    }
  }
  slots = reader.count();
  return arguments;
}

/// Whether this is the first return of setjmp, as an i1.
Value EntryPass::createSetjmp(OpBuilder &b, Location loc, Value state) {
  // The form without signal masks, which costs no system call.
  auto i32 = b.getI32Type();
  auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>("_setjmp");
  if (!function) {
    OpBuilder atStart(getOperation().getBodyRegion());
    function = LLVM::LLVMFuncOp::create(
        atStart, loc, "_setjmp",
        LLVM::LLVMFunctionType::get(i32, {state.getType()}));
    function.setPassthroughAttr(
        b.getArrayAttr(b.getStringAttr("returns_twice")));
  }
  Value result = LLVM::CallOp::create(b, loc, function, state).getResult();
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, result,
                               arith::ConstantIntOp::create(b, loc, i32, 0));
}

LogicalResult EntryPass::createRun(func::FuncOp kernel, unsigned &slots) {
  unsigned hidden = 0;
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
    if (kernel.getArgAttr(i, "tilebridge.launch") ||
        kernel.getArgAttr(i, "tilebridge.scratch"))
      ++hidden;
  if (kernel.getNumArguments() < linalg_ext::kProgramArguments + hidden)
    return kernel.emitError("expected the last arguments of a kernel to be its "
                            "program ids and their counts, 6 of i32");
  unsigned firstProgramId =
      kernel.getNumArguments() - hidden - linalg_ext::kProgramArguments;
  for (unsigned i = 0; i < linalg_ext::kProgramArguments; ++i)
    if (!kernel.getArgumentTypes()[firstProgramId + i].isSignlessInteger(32))
      return kernel.emitError("expected the last arguments of a kernel to be "
                              "its program ids and their counts, 6 of i32");
  if (!kernel.getResultTypes().empty())
    return kernel.emitError("a kernel returns nothing, but this one has ")
           << kernel.getResultTypes().size() << " results";

  Location loc = kernel.getLoc();
  OpBuilder b(&getContext());
  b.setInsertionPointToEnd(getOperation().getBody());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  Type i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(&getContext()), {pointer, i64, i64, pointer});
  auto run =
      LLVM::LLVMFuncOp::create(b, loc, kRunName, type, LLVM::Linkage::Internal);
  b.setInsertionPointToStart(run.addEntryBlock(b));
  Value launch = run.getArgument(0), begin = run.getArgument(1),
        end = run.getArgument(2), scratch = run.getArgument(3);
  FailureOr<SmallVector<Value>> arguments =
      readArguments(b, kernel, firstProgramId, launch, scratch, slots);
  if (failed(arguments))
    return failure();
  auto functionOf = [&](StringRef attr) -> func::FuncOp {
    auto name = kernel->getAttrOfType<FlatSymbolRefAttr>(attr);
    return name ? getOperation().lookupSymbol<func::FuncOp>(name.getAttr())
                : func::FuncOp();
  };
  ProgramCall call{kernel, *arguments, firstProgramId, functionOf(orderAttr),
                   functionOf(tilesAttr)};
  auto together = readMerged(b, launch, scratch, firstProgramId);
  if (failed(together))
    return failure();
  auto variable = [&](StringRef name) {
    return LLVM::AddressOfOp::create(b, loc, pointer, name);
  };
  if (getOperation().lookupSymbol(kLaunchVariable))
    LLVM::StoreOp::create(b, loc, launch, variable(kLaunchVariable));
  if (getOperation().lookupSymbol(kReturnVariable)) {
    // Not zero: an assertion has failed, and the programs left are not run.
    Value firstTime = createSetjmp(b, loc, variable(kReturnVariable));
    auto branch =
        scf::IfOp::create(b, loc, firstTime, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    createProgramLoop(b, loc, call, *together, launch, begin, end, scratch);
  } else {
    createProgramLoop(b, loc, call, *together, launch, begin, end, scratch);
  }
  // What went around the caches is seen before whatever says that it is there.
  bool streams = getOperation()
                     ->walk([](vector::StoreOp store) {
                       return store.getNontemporal() ? WalkResult::interrupt()
                                                     : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (streams)
    LLVM::CallIntrinsicOp::create(
        b, loc, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return success(succeeded(createAtOnce(firstProgramId)) &&
                 succeeded(createPrograms(call)));
}

FailureOr<SmallVector<MergedCall>>
EntryPass::readMerged(OpBuilder &b, Value launch, Value scratch,
                      unsigned firstProgramId) {
  SmallVector<MergedCall> calls;
  for (func::FuncOp function : merged) {
    unsigned slots = 0;
    auto arguments =
        readArguments(b, function, firstProgramId, launch, scratch, slots);
    if (failed(arguments))
      return failure();
    MergedCall result{{function, *arguments, firstProgramId, {}, {}}, {}};
    result.count = numberOf(function, mergedCountAttr);
    result.axis = numberOf(function, mergedAxisAttr);
    result.leastApart = numberOf(function, mergedApartAttr);
    result.leastGroups = numberOf(function, mergedGroupsAttr, 64);
    if (auto step = function->getAttrOfType<FlatSymbolRefAttr>(mergedStepAttr))
      result.step = getOperation().lookupSymbol<func::FuncOp>(step.getAttr());
    calls.push_back(result);
  }
  return calls;
}

LLVM::LLVMFuncOp EntryPass::createQuestion(OpBuilder &b, Location loc,
                                           StringRef name) {
  b.setInsertionPointToEnd(getOperation().getBody());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  auto type = LLVM::LLVMFunctionType::get(b.getI64Type(), {pointer});
  auto function =
      LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function;
}

/// The function that says how many programs in a row are run together.
LogicalResult EntryPass::createAtOnce(unsigned firstProgramId) {
  if (merged.empty())
    return success();
  Location loc = merged.front().getLoc();
  OpBuilder b(&getContext());
  Value launch = createQuestion(b, loc, kAtOnceName).getArgument(0);
  Value none = LLVM::ZeroOp::create(b, loc, launch.getType());
  auto together = readMerged(b, launch, none, firstProgramId);
  if (failed(together))
    return failure();
  LLVM::ReturnOp::create(b, loc,
                         createProgramsAtOnce(b, loc, *together, launch));
  return success();
}

/// The function that says how many programs there are, where these are tiles.
LogicalResult EntryPass::createPrograms(ProgramCall call) {
  if (!call.tiles)
    return success();
  Location loc = call.function.getLoc();
  OpBuilder b(&getContext());
  Value launch = createQuestion(b, loc, kProgramsName).getArgument(0);
  Value none = LLVM::ZeroOp::create(b, loc, launch.getType());
  unsigned slots = 0;
  auto arguments =
      readArguments(b, call.function, call.firstId, launch, none, slots);
  if (failed(arguments))
    return failure();
  call.arguments = *arguments;
  LLVM::ReturnOp::create(b, loc, createProgramCount(b, loc, call, launch));
  return success();
}

void EntryPass::createExecutable(func::FuncOp kernel, unsigned slots) {
  Location loc = kernel.getLoc();
  MLIRContext *context = &getContext();
  auto b = OpBuilder::atBlockEnd(getOperation().getBody());
  llvm::json::Array signature;
  if (auto strings = kernel->getAttrOfType<ArrayAttr>("tilebridge.signature"))
    for (Attribute entry : strings)
      signature.push_back(cast<StringAttr>(entry).getValue());
  std::string manifest;
  llvm::raw_string_ostream stream(manifest);
  llvm::json::OStream json(stream);
  // Fields are written in a fixed order: equal input gives equal bytes.
  json.object([&] {
    json.attribute("name", kernel.getName());
    json.attribute("signature", std::move(signature));
    json.attribute("target", cpu.getValue());
    json.attribute("features", features.getValue());
    auto atomics = getOperation()->getAttrOfType<StringAttr>(atomicsAttr);
    json.attribute("atomics", atomics ? atomics.getValue() : "none");
    json.attribute("compiler", "tilebridge " TILEBRIDGE_VERSION);
  });
  manifest.push_back('\0');

  auto text = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), manifest.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, "tilebridge_manifest",
      b.getStringAttr(manifest));
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      context, {i32, i32, i64, pointer, pointer, pointer, pointer});
  auto executable = LLVM::GlobalOp::create(
      b, loc, type, /*isConstant=*/true, LLVM::Linkage::External,
      TB_EXECUTABLE_SYMBOL, Attribute(), /*alignment=*/8);
  b.createBlock(&executable.getInitializerRegion());
  int64_t scratchBytes = 0;
  for (func::FuncOp function :
       llvm::concat<func::FuncOp>(SmallVector<func::FuncOp>{kernel}, merged))
    if (auto bytes =
            function->getAttrOfType<IntegerAttr>("tilebridge.scratch_bytes"))
      scratchBytes = std::max(scratchBytes, bytes.getInt());
  auto functionOrNull = [&](StringRef name) -> Value {
    if (getOperation().lookupSymbol(name))
      return LLVM::AddressOfOp::create(b, loc, pointer, name);
    return LLVM::ZeroOp::create(b, loc, pointer);
  };
  SmallVector<Value> fields = {
      LLVM::ConstantOp::create(b, loc, i32,
                               b.getI32IntegerAttr(TB_EXECUTABLE_ABI_VERSION)),
      LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(slots)),
      LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(scratchBytes)),
      LLVM::AddressOfOp::create(b, loc, pointer, kRunName),
      LLVM::AddressOfOp::create(b, loc, pointer, text.getName()),
      functionOrNull(kAtOnceName),
      functionOrNull(kProgramsName),
  };
  Value value = LLVM::UndefOp::create(b, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(b, loc, value, field,
                                        static_cast<int64_t>(i));
  LLVM::ReturnOp::create(b, loc, value);
}
