//===- Compute.cpp - what linalg cannot say, as loops ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilebridge::accel {

LogicalResult Emitter::emitCompute(ComputeOp op) {
  comment(op, "compute");
  line("{");
  Block &body = op.getBody().front();
  SmallVector<Value> operands(op.getInputs());
  llvm::append_range(operands, op.getOuts());
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), operands)) {
    View same = view(operand);
    views[argument] = same;
  }
  if (failed(emitBlock(body)))
    return failure();
  // What is yielded may be an operand itself, which another one overwrites.
  SmallVector<View> results;
  for (Value value : body.getTerminator()->getOperands()) {
    View result = view(value);
    if (isa<BlockArgument>(value)) {
      auto type = cast<RankedTensorType>(value.getType());
      View before = result;
      result = temporary(type, "yielded");
      copy(op.getLoc(), before, result, type.getElementType());
    }
    results.push_back(result);
  }
  for (auto [result, out] : llvm::zip_equal(results, op.getOuts()))
    copy(op.getLoc(), result, view(out),
         cast<ShapedType>(out.getType()).getElementType());
  line("}");
  return success();
}

namespace {
/// A dimension apart from the others.
struct Along {
  SmallVector<Index> others; // sizes
  Index size;
};
} // namespace

static Along splitAt(const View &view, int64_t dim) {
  Along result{SmallVector<Index>(view.sizes), view.sizes[dim]};
  result.others.erase(result.others.begin() + dim);
  return result;
}

static SmallVector<Index> joined(ArrayRef<Index> others, int64_t dim,
                                 const Index &at) {
  SmallVector<Index> result(others);
  result.insert(result.begin() + dim, at);
  return result;
}

Emitter::Outcome Emitter::emitTensorCompute(Operation *op) {
  Location loc = op->getLoc();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<View> outs;
    for (OpOperand &init : structured.getDpsInitsMutable()) {
      auto type = cast<RankedTensorType>(init.get().getType());
      View block = temporary(type, "block");
      if (!init.get().getDefiningOp<tensor::EmptyOp>())
        copy(loc, view(init.get()), block, type.getElementType());
      outs.push_back(block);
    }
    for (auto [result, out] : llvm::zip_equal(op->getResults(), outs))
      views[result] = out;
    return emitLinalg(structured, outs);
  }
  auto elementOf = [](Value block) {
    return cast<ShapedType>(block.getType()).getElementType();
  };
  // A reduction and a scan carry what was combined so far in variables.
  bool isScan = isa<linalg_ext::ScanOp>(op);
  if (isScan || isa<linalg_ext::ReduceOp>(op)) {
    int64_t dim = isScan ? cast<linalg_ext::ScanOp>(op).getDimension()
                         : cast<linalg_ext::ReduceOp>(op).getDimension();
    bool isReverse = isScan && cast<linalg_ext::ScanOp>(op).getReverse();
    SmallVector<View> inputs, results;
    for (Value input : op->getOperands())
      inputs.push_back(view(input));
    for (Value result : op->getResults()) {
      results.push_back(temporary(cast<ShapedType>(result.getType()),
                                  isScan ? "scanned" : "reduced"));
      views[result] = results.back();
    }
    Along along = splitAt(inputs[0], dim);
    SmallVector<Index> others = openLoops(along.others);
    Index last = along.size - Index(1);
    auto element = [&](const Index &step) {
      return isReverse ? last - step : step;
    };
    std::vector<std::string> carried;
    for (auto [number, input] : llvm::enumerate(inputs)) {
      carried.push_back(fresh("so_far"));
      line(input.element + " " + carried.back() + " = " + input.pointer + "[" +
           input.at(joined(others, dim, element(0))).str() + "];");
    }
    auto write = [&](const Index &at) {
      for (auto [result, value] : llvm::zip_equal(results, carried)) {
        SmallVector<Index> place = isScan ? joined(others, dim, at) : others;
        line(result.pointer + "[" + result.at(place).str() + "] = " + value +
             ";");
      }
    };
    if (isScan)
      write(element(0));
    std::string step = fresh("s");
    open("for (int64_t " + step + " = 1; " + step + " < " + along.size.str() +
         "; ++" + step + ")");
    SmallVector<Value> arguments;
    for (auto [value, input] : llvm::zip_equal(carried, op->getOperands()))
      arguments.push_back(literal(emitcType(elementOf(input)), value));
    for (auto [input, value] : llvm::zip_equal(inputs, op->getOperands()))
      arguments.push_back(
          load(loc, input, input.at(joined(others, dim, element(Index(step)))),
               elementOf(value)));
    FailureOr<SmallVector<Value>> combined =
        emitBody(op->getRegion(0).front(), arguments);
    if (failed(combined))
      return failure();
    // All of them, before one is written that another one is made of.
    SmallVector<std::string> texts;
    for (Value value : *combined) {
      std::string name = fresh("next");
      emitc::VerbatimOp::create(b, loc, "const auto " + name + " = {};",
                                ValueRange{value});
      texts.push_back(name);
    }
    for (auto [variable, text] : llvm::zip_equal(carried, texts))
      line(variable + " = " + text + ";");
    if (isScan)
      write(element(Index(step)));
    close();
    if (!isScan)
      write(0);
    closeLoops(others);
    return success();
  }
  if (auto histogram = dyn_cast<linalg_ext::HistogramOp>(op)) {
    const View input = view(histogram.getInput());
    View counts = temporary(cast<ShapedType>(histogram.getType()), "counts");
    views[histogram] = counts;
    SmallVector<Index> bins = openLoops(counts.sizes);
    line(counts.pointer + "[" + counts.at(bins).str() + "] = 0;");
    closeLoops(bins);
    SmallVector<Index> at = openLoops(input.sizes);
    std::string bin = fresh("bin");
    line("const uint64_t " + bin + " = accel::unsigned_of(" + input.pointer +
         "[" + input.at(at).str() + "]);");
    std::string condition = bin + " < " + counts.sizes[0].str();
    if (histogram.getMask()) {
      const View &mask = view(histogram.getMask());
      condition += " && " + mask.pointer + "[" + mask.at(at).str() + "]";
    }
    open("if (" + condition + ")");
    line("++" + counts.pointer + "[" + bin + "];");
    closeLoops(at, 1);
    return success();
  }
  if (auto gather = dyn_cast<linalg_ext::GatherAlongOp>(op)) {
    const View source = view(gather.getSource()),
               indices = view(gather.getIndices());
    View result = temporary(cast<ShapedType>(gather.getType()), "gathered");
    views[gather] = result;
    int64_t dim = gather.getDimension();
    SmallVector<Index> at = openLoops(result.sizes);
    std::string place = fresh("place"),
                most = "uint64_t(" + (source.sizes[dim] - Index(1)).str() + ")";
    line("uint64_t " + place + " = accel::unsigned_of(" + indices.pointer +
         "[" + indices.at(at).str() + "]);");
    line(place + " = " + place + " < " + most + " ? " + place + " : " + most +
         ";");
    SmallVector<Index> from = at;
    from[dim] = Index("int64_t(" + place + ")");
    line(result.pointer + "[" + result.at(at).str() + "] = " + source.pointer +
         "[" + source.at(from).str() + "];");
    closeLoops(at);
    return success();
  }
  return std::nullopt;
}

} // namespace tilebridge::accel
