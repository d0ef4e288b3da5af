//===- ShapeForms.cpp - forms after shape operations ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/TensorForm.h"

using namespace mlir;
using namespace tilebridge::ttl;
using TermKind = DimTerm::Kind;

TensorForm FormAlgebra::remap(const TensorForm &a, ArrayRef<int64_t> shape,
                              ArrayRef<int> map) const {
  TensorForm form = uniform(shape, a.uniform);
  for (auto [term, source] : llvm::zip_equal(form.terms, map))
    if (source >= 0)
      term = a.terms[source];
  return form;
}

std::optional<TensorForm> FormAlgebra::reshape(const TensorForm &a,
                                               ArrayRef<int64_t> shape) const {
  TensorForm form = uniform(shape, a.uniform);
  size_t from = 0, to = 0;
  while (from < a.shape.size() && to < shape.size()) {
    // The shortest group of dimensions on each side with one number of
    // elements.
    size_t firstFrom = from, firstTo = to;
    int64_t sizeFrom = a.shape[from++], sizeTo = shape[to++];
    while (sizeFrom != sizeTo)
      if (sizeFrom < sizeTo)
        sizeFrom *= a.shape[from++];
      else
        sizeTo *= shape[to++];
    // Several source dimensions must be one range: the stride of each covers
    // those within.
    const DimTerm *inner = nullptr;
    int64_t innerSize = 1;
    for (size_t dim = from; dim-- > firstFrom;) {
      if (a.shape[dim] == 1)
        continue;
      const DimTerm &term = a.terms[dim];
      if (!inner) {
        inner = &term;
      } else {
        const Expr *step =
            inner->stride
                ? pool.mul(inner->stride, pool.constant(a.width, innerSize))
                : nullptr;
        bool oneRange = inner->kind != TermKind::Lanes &&
                        term.kind != TermKind::Lanes && term.stride == step;
        if (!oneRange)
          return std::nullopt;
      }
      innerSize *= a.shape[dim];
    }
    if (!inner || inner->kind == TermKind::None)
      continue;
    int64_t within = 1;
    for (size_t dim = to; dim-- > firstTo;) {
      if (shape[dim] == 1)
        continue;
      if (shape[dim] == innerSize)
        form.terms[dim] = *inner;
      else if (inner->kind == TermKind::Lanes)
        return std::nullopt;
      else
        form.terms[dim] =
            linear(pool.mul(inner->stride, pool.constant(a.width, within)));
      within *= shape[dim];
    }
  }
  return form;
}
