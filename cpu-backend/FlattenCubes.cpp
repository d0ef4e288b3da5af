//===- FlattenCubes.cpp - tilebridge-cpu-flatten-cubes --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// `tl.sort` and `tl.topk` see a row of 1024 elements as a cube, a block of ten
// dimensions of size 2, and compare the halves of one dimension after the
// other. Loops over such a block have two elements each. In memory it is a row:
// what is element i with one bit of i changed is another lane of the same
// vector, or the same lane of another one. So all steps whose halves are nearer
// than a few vectors are long are computed in registers, from one to the next.
//===----------------------------------------------------------------------===//

#include "cpu-backend/IndexCode.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "triton-to-linalg/bridge/Exchange.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUFLATTENCUBESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// All dimensions are of size 1 or 2.
static bool isCube(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() >= 4 &&
         llvm::all_of(tensor.getShape(),
                      [](int64_t size) { return size == 1 || size == 2; });
}

/// Number of vectors that are in registers beside those that a step needs.
static constexpr int64_t vectorsInRegisters(int64_t vectorBits) {
  return vectorBits >= 512 ? 8 : 4;
}

/// The bits of an element where it is compared.
static int64_t bitsOf(Type element) {
  if (!element.isIntOrFloat())
    return 64;
  int64_t bits = element.getIntOrFloatBitWidth();
  return isa<FloatType>(element) ? std::max<int64_t>(bits, 32)
         : bits == 1             ? 8
                                 : bits;
}

namespace {

class Flattener {
public:
  Flattener(func::FuncOp func, int64_t vectorBits)
      : func(func), vectorBits(vectorBits), b(func.getContext()) {}

  void run() {
    SmallVector<Operation *> ops;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    findPairs(ops);
    for (Operation *op : ops)
      visit(op);
    if (exchanges.empty())
      return;
    setLanes();
    // What else uses a cube sees a row as one.
    for (Operation *op : llvm::reverse(ops)) {
      if (computed.contains(op))
        replace(op->getResult(0));
      if (isOpTriviallyDead(op))
        op->erase();
    }
  }

private:
  static SmallVector<ReassociationIndices> allOf(RankedTensorType type) {
    return {llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
  }

  /// Sorts are also written with blocks of three dimensions, of which the
  /// middle one has two elements, and with sums of both where all but one are
  /// zero. What leads from one such step to the next is a row, too.
  void findPairs(ArrayRef<Operation *> ops) {
    constexpr size_t leastStrides = 3;
    llvm::SmallDenseSet<int64_t> strides;
    for (Operation *op : ops)
      if (op->getNumResults() == 1)
        if (auto match = linalg_ext::matchPairs(op->getResult(0))) {
          auto type = cast<RankedTensorType>(match->source.getType());
          strides.insert(linalg_ext::strideOf(type, match->dim));
          pairs.insert({op, *match});
        }
    // One alone is a block that loops see as it is.
    if (strides.size() < leastStrides)
      return pairs.clear();
    SmallVector<Value> open;
    for (auto &[op, match] : pairs)
      open.push_back(match.source);
    while (!open.empty()) {
      Operation *op = open.pop_back_val().getDefiningOp();
      if (!op || !leadsToPairs.insert(op).second)
        continue;
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
          isElementwise(op))
        llvm::append_range(open, op->getOperands());
    }
  }

  void visit(Operation *op) {
    if (op->getNumResults() != 1)
      return;
    Value result = op->getResult(0);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || rows.count(result))
      return;
    b.setInsertionPointAfter(op);
    if (Value row = flatten(op)) {
      rows[result] = row;
      computed.insert(op);
    }
  }

  /// The row of what `op` gives, where that is computed from rows.
  Value flatten(Operation *op) {
    Value result = op->getResult(0);
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return rows.lookup(op->getOperand(0));
    if (auto reduce = dyn_cast<linalg::ReduceOp>(op))
      return flattenReduce(reduce);
    if (auto it = pairs.find(op); it != pairs.end())
      return flattenPairs(it->second);
    if (!isCube(result.getType()) && !leadsToPairs.contains(op))
      return {};
    if (auto swap = linalg_ext::matchSwap(result))
      return flattenSwap(op->getLoc(), *swap);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool isFromRows =
        generic && llvm::any_of(generic.getInputs(),
                                [&](Value in) { return rows.count(in); });
    return isFromRows ? flattenElementwise(generic) : Value();
  }

  Value flattenSwap(Location loc, const linalg_ext::Swap &swap) {
    auto type = cast<RankedTensorType>(swap.source.getType());
    return exchangedRow(swap.source, linalg_ext::strideOf(type, swap.dim));
  }

  /// The row of `value` of which elements have changed places. What is computed
  /// from one block is computed from that, changed: others may use it, too.
  Value exchangedRow(Value value, int64_t stride) {
    OpBuilder::InsertionGuard guard(b);
    Location loc = value.getLoc();
    b.setInsertionPointAfterValue(value);
    if (Value row = rowFromIndices(b, loc, value, stride))
      return row;
    if (auto generic = value.getDefiningOp<linalg::GenericOp>();
        generic && isOfWholeCubes(generic) && isFromOne(generic))
      return elementwiseRow(
          generic, [&](Value input) { return exchangedRow(input, stride); });
    if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>())
      return exchangedRow(expand.getSrc(), stride);
    Value row = rowOf(value);
    Value &exchanged = exchangedRows[{row, stride}];
    if (!exchanged) {
      b.setInsertionPointAfterValue(row);
      exchanged = linalg_ext::exchangedAlong(b, loc, row, 0, stride);
      exchanges.push_back(exchanged.getDefiningOp());
    }
    return exchanged;
  }

  /// A cheap operation on one block, and on what is the same for many.
  bool isFromOne(linalg::GenericOp op) {
    constexpr int64_t cheap = 2;
    return costOfBody(op) <= cheap &&
           op.getBody()->getOps<linalg::IndexOp>().empty() &&
           llvm::count_if(op.getInputs(), [&](Value input) {
             return isa<RankedTensorType>(input.getType()) &&
                    !places.isFromIndices(input);
           }) == 1;
  }

  /// Each element is combined with the one it changes places with: the order
  /// does not matter.
  Value flattenPairs(linalg_ext::Pairs match) {
    Location loc = match.reduce.getLoc();
    auto cube = cast<RankedTensorType>(match.source.getType());
    auto type =
        RankedTensorType::get({cube.getNumElements()},
                              getElementTypeOrSelf(match.reduce->getResult(0)));
    Value init = resized(match.reduce.getInits().front(), type);
    if (!init)
      return {};
    Value row = rowOf(match.source);
    Value other =
        exchangedRow(match.source, linalg_ext::strideOf(cube, match.dim));
    AffineMap same = b.getMultiDimIdentityMap(1);
    Block &body = *match.reduce.getBody();
    auto combined = linalg::GenericOp::create(
        b, loc, TypeRange(type), ValueRange{row, other, init},
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType())
            .getResult(),
        SmallVector<AffineMap>(4, same), utils::IteratorType::parallel,
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          Value sum = arguments[2];
          for (Value element : arguments.take_front(2)) {
            IRMapping mapping;
            mapping.map(body.getArgument(0), element);
            mapping.map(body.getArgument(1), sum);
            sum = IndexCode(nested, loc).clone(body, mapping, {}).front();
          }
          linalg::YieldOp::create(nested, loc, sum);
        });
    return combined.getResult(0);
  }

  static bool isOfWholeCubes(linalg::GenericOp op) {
    return readsOnlyInputs(op) &&
           llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
             return !isa<RankedTensorType>(input->get().getType()) ||
                    op.getMatchingIndexingMap(input).isIdentity();
           });
  }

  Value flattenElementwise(linalg::GenericOp op) {
    auto cube = cast<RankedTensorType>(op.getType(0));
    bool hasIndices = !op.getBody()->getOps<linalg::IndexOp>().empty();
    if (!isOfWholeCubes(op) ||
        (hasIndices && !llvm::all_of(cube.getShape(), llvm::isPowerOf2_64)))
      return {};
    return elementwiseRow(op, [&](Value input) { return rowOf(input); });
  }

  /// What `op` makes of the rows that `rowFor` gives for its inputs.
  Value elementwiseRow(linalg::GenericOp op,
                       function_ref<Value(Value)> rowFor) {
    Location loc = op.getLoc();
    auto cube = cast<RankedTensorType>(op.getType(0));
    bool hasIndices = !op.getBody()->getOps<linalg::IndexOp>().empty();
    RankedTensorType type = cube.clone({cube.getNumElements()});
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    AffineMap same = b.getMultiDimIdentityMap(1),
              number = AffineMap::get(1, 0, b.getContext());
    for (Value input : op.getInputs()) {
      bool isTensor = isa<RankedTensorType>(input.getType());
      inputs.push_back(isTensor ? rowFor(input) : input);
      maps.push_back(isTensor ? same : number);
    }
    maps.push_back(same);
    Value init =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    auto row = linalg::GenericOp::create(
        b, loc, TypeRange(type), inputs, init, maps,
        utils::IteratorType::parallel,
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          IndexCode code(nested, loc);
          IRMapping mapping;
          mapping.map(op.getBody()->getArguments(), arguments);
          SmallVector<Value> indices;
          if (hasIndices)
            indices = code.indicesOf(code.rowIndex(), cube.getShape());
          linalg::YieldOp::create(nested, loc,
                                  code.clone(*op.getBody(), mapping, indices));
        });
    return row.getResult(0);
  }

  /// A number for all elements of a block, as a block of another shape.
  Value resized(Value block, RankedTensorType type) {
    if (auto splat = block.getDefiningOp<tensor::SplatOp>())
      return tensor::SplatOp::create(b, block.getLoc(), type, splat.getInput());
    auto constant = block.getDefiningOp<arith::ConstantOp>();
    auto number =
        constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
    return number ? arith::ConstantOp::create(
                        b, block.getLoc(),
                        DenseElementsAttr::get(
                            type, number.getSplatValue<Attribute>()))
                        .getResult()
                  : Value();
  }

  /// Along one dimension, of a block of three.
  Value flattenReduce(linalg::ReduceOp op) {
    if (op.getInputs().size() != 1 || op.getDimensions().size() != 1)
      return {};
    Value input = op.getInputs().front(), row = rows.lookup(input);
    auto type = cast<RankedTensorType>(input.getType());
    if (!row || !isCube(type))
      return {};
    int64_t dim = op.getDimensions().front(),
            inner = linalg_ext::strideOf(type, dim),
            size = type.getDimSize(dim),
            outer = type.getNumElements() / inner / size;
    Value init = resized(op.getInits().front(), type.clone({outer, inner}));
    if (!init)
      return {};
    Location loc = op.getLoc();
    auto wide = type.clone({outer, size, inner});
    Value block = tensor::ExpandShapeOp::create(b, loc, wide, row, allOf(wide));
    auto narrow = cast<linalg::ReduceOp>(b.clone(*op));
    narrow->setOperands({block, init});
    narrow.setDimensions({1});
    narrow->getResult(0).setType(init.getType());
    return tensor::CollapseShapeOp::create(
        b, loc, narrow->getResult(0),
        allOf(cast<RankedTensorType>(init.getType())));
  }

  /// The row of `value`, computed or seen as one.
  Value rowOf(Value value) {
    if (Value row = rows.lookup(value))
      return row;
    auto type = cast<RankedTensorType>(value.getType());
    bool isReshape =
        isa_and_present<tensor::CollapseShapeOp>(value.getDefiningOp());
    if (type.getRank() == 1 && !isReshape)
      return value;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(value);
    Location loc = value.getLoc();
    Value row;
    if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
        expand && expand.getSrcType().getRank() == 1)
      row = expand.getSrc();
    if (!row)
      row = rowFromIndices(b, loc, value);
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (generic && !row && (isCube(type) || leadsToPairs.contains(generic)) &&
        (row = flattenElementwise(generic)))
      computed.insert(generic);
    if (!row && type.getRank() == 1)
      row = value;
    if (!row)
      row = tensor::CollapseShapeOp::create(b, loc, value, allOf(type));
    return rows[value] = row;
  }

  void replace(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    Value row = rows.lookup(value);
    if (value.use_empty())
      return;
    if (type != row.getType()) {
      b.setInsertionPointAfterValue(row);
      row = tensor::ExpandShapeOp::create(b, value.getLoc(), type, row,
                                          allOf(type));
    }
    value.replaceAllUsesWith(row);
  }

  /// All rows of a function are in as many vectors, for the widest elements.
  void setLanes() {
    int64_t widest = 8;
    for (auto [value, row] : rows)
      widest = std::max(
          widest,
          bitsOf(cast<RankedTensorType>(row.getType()).getElementType()));
    int64_t most = vectorsInRegisters(vectorBits) * vectorBits / widest;
    for (Operation *op : exchanges) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      int64_t divisor = type.getNumElements() & -type.getNumElements();
      op->setAttr(lanesAttr, b.getI64IntegerAttr(std::min(most, divisor)));
    }
  }

  func::FuncOp func;
  int64_t vectorBits;
  OpBuilder b;
  /// The elements of cubes, or of what they are in other shapes, as rows. Each
  /// is computed behind what it is a row of.
  DenseMap<Value, Value> rows;
  DenseMap<std::pair<Value, int64_t>, Value> exchangedRows;
  /// Ops of which the row takes the place.
  llvm::DenseSet<Operation *> computed;
  SmallVector<Operation *> exchanges;
  llvm::MapVector<Operation *, linalg_ext::Pairs> pairs;
  llvm::DenseSet<Operation *> leadsToPairs;
  PlacesOfPieces places;
};

struct FlattenCubesPass
    : public tilebridge::cpu::impl::CpuFlattenCubesPassBase<FlattenCubesPass> {
  using Base::Base;

  void runOnOperation() override {
    Flattener(getOperation(), vectorBits).run();
  }
};

} // namespace
