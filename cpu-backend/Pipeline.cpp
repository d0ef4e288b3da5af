//===- Pipeline.cpp - the steps of cpu-backend, in order ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/Target.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Before there are branches between blocks, regions have one block each, and
/// there are no others to join or to take away: it is not looked for. From the
/// end on, each change takes what it was computed from out of the way, where
/// the other order looks at it again and again (a fifth of the time, of eleven
/// sorts).
static std::unique_ptr<Pass> createStructuredCanonicalizer() {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(false).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(config);
}

/// Bridge IR to loops over vectors and memrefs.
void tilebridge::cpu::buildCpuToVectorPipeline(OpPassManager &pm,
                                               const CpuTarget &target,
                                               bool contracts) {
  // Calls of private functions are inlined where that is possible.
  pm.addPass(createInlinerPass());
  // What that made constant or equal is folded.
  pm.addPass(createStructuredCanonicalizer());
  pm.addPass(createCSEPass());
  // Elements are looked up where they are compared with all numbers.
  pm.addNestedPass<func::FuncOp>(createCpuCountMatchesPass());
  // Products that are written as sums of numbers by rows are those of blocks,
  // whose rows may be those of several programs.
  pm.addPass(createCpuMergeRowsPass());
  pm.addNestedPass<func::FuncOp>(createCpuRaiseProductsPass());
  // Short loops that carry blocks are written out.
  pm.addNestedPass<func::FuncOp>(createCpuUnrollCarriedPass());
  // Tiles that programs loop over are programs of their own.
  pm.addPass(createCpuPersistentTilesPass());
  // Blocks of products have no elements that are always padding.
  CpuTrimBlocksPassOptions trim;
  trim.tiles = target.hasBf16Tiles || target.hasI8Tiles;
  pm.addNestedPass<func::FuncOp>(createCpuTrimBlocksPass(trim));
  // Programs that only access boxes are apart from others.
  pm.addNestedPass<func::FuncOp>(createCpuVersionProgramsPass());
  // A mask is no reason to branch.
  pm.addNestedPass<func::FuncOp>(createCpuJoinBranchLoadsPass());
  // Both branches are computed where that is cheaper than to branch.
  pm.addNestedPass<func::FuncOp>(createCpuSpeculateBranchesPass());
  // Loops carry one number where all elements of a block are one.
  pm.addNestedPass<func::FuncOp>(createCpuUniformCarriedPass());
  // Blocks that take turns in memory are stored each by itself.
  pm.addNestedPass<func::FuncOp>(createCpuSplitJoinsPass());
  // Blocks whose elements are taken apart are read part by part.
  pm.addNestedPass<func::FuncOp>(createCpuSplitReadsPass());
  // Accesses see sizes and strides that became known.
  pm.addPass(linalg_ext::createFoldViewsPass());
  pm.addPass(createStructuredCanonicalizer());
  // Branches that only choose a block have become selects.
  pm.addPass(linalg_ext::createSpreadSelectsPass());
  // What is contiguous along the rows of a result is along the last dimension.
  pm.addNestedPass<func::FuncOp>(createCpuTurnBlocksPass());
  // Programs that read one column each become one that reads lines.
  CpuMergeProgramsPassOptions merge;
  merge.largeRead = target.prefetchBytes;
  // With AVX-512 programs read as fast with fewer columns.
  if (target.vectorBits < 512)
    merge.cores = target.cores;
  pm.addPass(createCpuMergeProgramsPass(merge));
  // Others go through memory along the axis along which blocks are near.
  CpuOrderProgramsPassOptions order;
  order.twoFmas = target.hasTwoFmas;
  order.largeRead = target.prefetchBytes;
  pm.addPass(createCpuOrderProgramsPass(order));
  // Programs whose rows are contiguous are apart from others.
  pm.addNestedPass<func::FuncOp>(createCpuVersionStridesPass());
  // Columns that lie in memory as rows are gathered as rows.
  pm.addNestedPass<func::FuncOp>(createCpuTransposeGathersPass());
  // Weights of 8 bits are read as they are by products that widen them.
  CpuNarrowOperandsPassOptions narrow;
  narrow.smallFloats =
      target.hasByteLookups &&
      (target.hasBf16Tiles || (target.hasBf16Pairs && !target.hasTwoFmas));
  pm.addNestedPass<func::FuncOp>(createCpuNarrowOperandsPass(narrow));
  // Rows that are one row, elements of which lie apart, are read once.
  pm.addNestedPass<func::FuncOp>(createCpuRepeatLoadsPass());
  // What is computed from these is computed for one row.
  pm.addNestedPass<func::FuncOp>(createCpuRepeatRowsPass());
  // Tables of whole blocks have no masks.
  pm.addNestedPass<func::FuncOp>(createCpuVersionTablesPass());
  // What is computed from such a table is computed once, too.
  pm.addNestedPass<func::FuncOp>(createCpuRepeatTablesPass());
  // Blocks have no dimensions of one element, and numbers are no blocks.
  pm.addNestedPass<func::FuncOp>(createCpuDropUnitDimsPass());
  // Pairs that run backwards, and elements that are there twice, are rows.
  pm.addNestedPass<func::FuncOp>(createCpuFlattenGroupsPass());
  // A row that need not be there ends in one place, for those who read it and
  // those who write.
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  // The steps of sorts are computed in registers, as rows.
  CpuFlattenCubesPassOptions cubes;
  cubes.vectorBits = target.vectorBits;
  pm.addNestedPass<func::FuncOp>(createCpuFlattenCubesPass(cubes));
  // Nothing is left of accesses that are known to be empty.
  pm.addNestedPass<func::FuncOp>(createCpuFoldEmptyPass());
  // Loops carry sums, not blocks that are summed behind them.
  pm.addNestedPass<func::FuncOp>(createCpuNarrowAccumulatorsPass());
  // Indices are widened behind the scans that choose them.
  pm.addNestedPass<func::FuncOp>(createCpuNarrowScansPass());
  // Maxima that are compared with numbers begin with one.
  pm.addNestedPass<func::FuncOp>(createCpuNumberStartsPass());
  // Rows that are one row in memory are reduced as they lie there.
  pm.addNestedPass<func::FuncOp>(createCpuSplitRowsPass());
  // Products of gathered rows that several loops add up are added up by one.
  pm.addNestedPass<func::FuncOp>(createCpuFlattenLoopsPass());
  // Operands that programs have in common are put where they can be left out.
  pm.addNestedPass<func::FuncOp>(createCpuShareOperandsPass());
  // Sums of products are read and written once for several of them.
  pm.addNestedPass<func::FuncOp>(createCpuGroupIterationsPass());
  // What only programs at an array's end use is not computed in others.
  pm.addNestedPass<func::FuncOp>(createCpuGuardBlocksPass());
  // Of exponentials that are rounded to bf16 or f16 few bits are computed.
  pm.addNestedPass<func::FuncOp>(createCpuApproximateFunctionsPass());
  // What is rounded to a code is divided exactly before.
  pm.addNestedPass<func::FuncOp>(createCpuExactQuotientsPass());
  // What is kept for products is of the type that they multiply.
  CpuWidenOperandsPassOptions widen;
  widen.vectorBits = target.vectorBits;
  widen.bf16Pairs = target.hasBf16Pairs;
  widen.twoFmas = target.hasTwoFmas;
  widen.bf16Tiles = target.hasBf16Tiles;
  pm.addNestedPass<func::FuncOp>(createCpuWidenOperandsPass(widen));
  // Which tensors are in memory is decided, then loops are written.
  pm.addNestedPass<func::FuncOp>(createCpuPlanPass());
  CpuEmitPassOptions emit;
  emit.vectorBits = target.vectorBits;
  emit.bf16Pairs = target.hasBf16Pairs;
  emit.i16Pairs = target.hasI16Pairs;
  emit.i16PairSums = target.hasI16PairSums;
  emit.byteLookups = target.hasByteLookups;
  emit.twoFmas = target.hasTwoFmas;
  emit.bf16Tiles = target.hasBf16Tiles;
  emit.i8Tiles = target.hasI8Tiles;
  emit.streamBytes = target.streamBytes;
  emit.prefetchBytes = target.prefetchBytes;
  emit.exchangeBytes = target.exchangeBytes;
  emit.reciprocals = contracts;
  pm.addPass(createCpuEmitPass(emit));
  // Loops carry numbers where all lanes are one number.
  pm.addNestedPass<func::FuncOp>(createCpuUniformLanesPass());
  pm.addPass(createStructuredCanonicalizer());
  pm.addPass(createCSEPass());
  // A program's last stores are done while the next one computes.
  // (With long rows, other CPUs were not measured.)
  CpuDeferStoresPassOptions defer;
  defer.longRows = target.vectorBits >= 512 && !target.hasTwoFmas;
  pm.addPass(createCpuDeferStoresPass(defer));
  // A row is read the first time while the one before is computed.
  if (defer.longRows) {
    CpuReadRowsAheadPassOptions ahead;
    ahead.cacheBytes = target.prefetchBytes;
    pm.addPass(createCpuReadRowsAheadPass(ahead));
  }
  // Two short rows wait for their sums at once.
  // (CPUs with other vectors were not measured.)
  if (defer.longRows || target.vectorBits == 256) {
    CpuJoinProgramsPassOptions join;
    join.cacheBytes = target.prefetchBytes;
    pm.addPass(createCpuJoinProgramsPass(join));
    pm.addPass(createCSEPass());
  }
  // Buffers get their places.
  pm.addPass(createCpuPlaceScratchPass());
}

void tilebridge::cpu::addFoldStrides(OpPassManager &pm) {
  pm.addPass(createStructuredCanonicalizer());
  pm.addPass(createCSEPass());
  pm.addPass(linalg_ext::createFoldViewsPass());
  pm.addPass(createStructuredCanonicalizer());
}

/// Bridge IR to the LLVM dialect, with the functions and the constant that
/// runtime/executable_abi.h asks for.
void tilebridge::cpu::buildCpuPipeline(OpPassManager &pm,
                                       const CpuTarget &target,
                                       bool contracts) {
  buildCpuToVectorPipeline(pm, target, contracts);
  // The function `run`, which unpacks a launch and calls the kernel for each
  // program, and the exported constant.
  CpuEntryPassOptions entry;
  entry.cpu = target.cpu;
  entry.features = target.features;
  pm.addPass(createCpuEntryPass(entry));
  // A product and a sum may be fused.
  if (contracts)
    pm.addPass(createCpuAllowContractionPass());
  // The largest of many bf16 is looked for among integers.
  pm.addPass(createCpuNarrowMaximaPass());
  // Arithmetic in bf16 becomes arithmetic in f32, rounded where it lies.
  pm.addPass(createCpuWidenBf16Pass());
  // Where the order of lanes is free, bf16 is widened as cheaply as can be.
  CpuPairHalvesPassOptions halves;
  halves.vectorBits = target.vectorBits;
  halves.bf16Rounding = target.hasBf16Pairs;
  pm.addPass(createCpuPairHalvesPass(halves));
  // Arithmetic in floats below f32 becomes arithmetic in f32 and integers.
  CpuExpandFloatTypesPassOptions floats;
  floats.f16c = target.hasF16Convert;
  floats.lookups = target.vectorBits == 512;
  floats.byteLookups = target.hasByteLookups;
  floats.bf16Rounding = target.hasBf16Pairs;
  floats.wordShuffles = target.vectorBits == 512 && target.hasFreeUnderflow;
  pm.addPass(createCpuExpandFloatTypesPass(floats));
  // So are integers of 4 bits.
  if (target.vectorBits == 512)
    pm.addPass(createCpuLookUpCodesPass());
  // Elementary functions become polynomials or calls of vector functions.
  CpuExpandMathPassOptions math;
  math.vectorBits = target.vectorBits;
  math.fma = target.hasFma;
  math.scalef = target.hasScalef;
  math.freeUnderflow = target.hasFreeUnderflow;
  math.secondIfNan = target.hasSecondIfNan;
  math.f16Arithmetic = target.hasTwoFmas;
  math.rootEstimates = target.hasRootEstimates;
  math.libmvec = target.libmvecIsa;
  pm.addPass(createCpuExpandMathPass(math));
  // Arithmetic that does not round to the nearest becomes calls.
  pm.addPass(createCpuLowerDirectedPass());
  // Pointers that were integers become memrefs.
  pm.addPass(createCpuLowerAddressesPass());
  // The time is asked of the C library.
  pm.addPass(createCpuLowerClockPass());
  // Affine maps (from views and index arithmetic) become arith.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  // Structured control flow becomes branches.
  pm.addPass(createCpuLowerControlFlowPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Each dialect becomes LLVM's: what is spelled out before by passes of their
  // own, all others at once.
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  // The casts between the two type systems cancel out.
  pm.addPass(createReconcileUnrealizedCastsPass());
  // Functions get what line tables hang on.
  pm.addPass(createCpuCleanLocationsPass());
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  lines.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
}

void tilebridge::cpu::registerCpuPipelines() {
  PassPipelineRegistration<>(
      "tilebridge-cpu-pipeline",
      "bridge IR to the LLVM dialect for this machine", [](OpPassManager &pm) {
        llvm::Expected<CpuTarget> target = CpuTarget::host();
        if (target)
          buildCpuPipeline(pm, *target);
        else
          llvm::errs() << llvm::toString(target.takeError()) << '\n';
      });
}
