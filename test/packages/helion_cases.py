# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels written in helion, which writes Triton kernels, with fixed configurations: indexing by pointers and by
descriptors, loops of several kinds, reductions looped and whole."""

from __future__ import annotations

import hosts

hosts.helion()

import helion
import helion.language as hl
import torch
import torch.nn.functional as F

INDEXINGS = ("pointer", "tensor_descriptor")
MATRICES = [(16, 16), (37, 129), (64, 256)]


def configured(function, **config):
    return helion.kernel(function, config=helion.Config(**config))


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    _, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = acc.to(x.dtype)
    return out


def split_matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    _, n = y.size()
    out = torch.zeros([m, n], dtype=torch.float32, device=x.device)
    for tile_m, tile_n, outer_k in hl.tile([m, n, k], block_size=[None, None, 64]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for inner_k in hl.tile(outer_k.begin, outer_k.end):
            acc = torch.addmm(acc, x[tile_m, inner_k], y[inner_k, tile_n])
        hl.atomic_add(out, [tile_m, tile_n], acc)
    return out


def bmm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    b, m, k = x.size()
    _, _, n = y.size()
    out = torch.empty([b, m, n], dtype=x.dtype, device=x.device)
    for tile_b, tile_m, tile_n in hl.tile([b, m, n]):
        acc = hl.zeros([tile_b, tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.baddbmm(acc, x[tile_b, tile_m, tile_k], y[tile_b, tile_k, tile_n])
        out[tile_b, tile_m, tile_n] = acc.to(x.dtype)
    return out


def softmax(x: torch.Tensor) -> torch.Tensor:
    n, _ = x.size()
    out = torch.empty_like(x)
    for tile in hl.tile(n):
        out[tile, :] = F.softmax(x[tile, :], dim=1)
    return out


def softmax_two_pass(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty_like(x)
    for tile_m in hl.tile(m):
        top = hl.full([tile_m], float("-inf"), dtype=torch.float32)
        total = hl.zeros([tile_m], dtype=torch.float32)
        for tile_n in hl.tile(n):
            values = x[tile_m, tile_n]
            new_top = torch.maximum(top, torch.amax(values, dim=1))
            total = total * torch.exp(top - new_top) + torch.exp(values - new_top[:, None]).sum(
                dim=1
            )
            top = new_top
        for tile_n in hl.tile(n):
            out[tile_m, tile_n] = torch.exp(x[tile_m, tile_n] - top[:, None]) / total[:, None]
    return out


def row_sum(x: torch.Tensor) -> torch.Tensor:
    m, _ = x.size()
    out = torch.empty([m], dtype=x.dtype, device=x.device)
    for tile in hl.tile(m):
        out[tile] = x[tile, :].sum(-1)
    return out


def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty_like(x)
    for tile in hl.tile(m):
        values = x[tile, :]
        mean = values.sum(-1) / n
        centered = values - mean[:, None]
        rstd = torch.rsqrt((centered * centered).sum(-1) / n + 1e-5)
        out[tile, :] = centered * rstd[:, None] * w[:] + b[:]
    return out


def embedding(index: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    n = index.size(0)
    _, width = table.size()
    out = torch.empty([n, width], dtype=table.dtype, device=table.device)
    for tile_n, tile_w in hl.tile([n, width]):
        out[tile_n, tile_w] = table[index[tile_n], tile_w]
    return out


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    b, m, _ = q.size()
    n = k.size(1)
    d = hl.specialize(q.size(-1))
    out = torch.empty_like(q)
    keys = k.transpose(1, 2)
    for tile_b, tile_m in hl.tile([b, m]):
        top = hl.full([tile_b, tile_m], float("-inf"), dtype=torch.float32)
        total = hl.zeros([tile_b, tile_m], dtype=torch.float32)
        acc = hl.zeros([tile_b, tile_m, d], dtype=torch.float32)
        queries = q[tile_b, tile_m, :] * (d**-0.5)
        for tile_n in hl.tile(n):
            scores = torch.bmm(queries, keys[tile_b, :, tile_n])
            new_top = torch.maximum(top, torch.amax(scores, -1))
            p = torch.exp(scores - new_top[:, :, None])
            alpha = torch.exp(top - new_top)
            total = total * alpha + p.sum(-1)
            acc = torch.baddbmm(acc * alpha[:, :, None], p.to(v.dtype), v[tile_b, tile_n, :])
            top = new_top
        out[tile_b, tile_m, :] = (acc / total[:, :, None]).to(out.dtype)
    return out


def prefix_sum(x: torch.Tensor) -> torch.Tensor:
    m, _ = x.size()
    out = torch.empty_like(x)
    for tile in hl.tile(m):
        out[tile, :] = torch.cumsum(x[tile, :], dim=1)
    return out


def rows(kernel, reference, configs, count=1, **tolerance):
    def case(check):
        for config in configs:
            function = configured(kernel, **config)
            for shape in MATRICES:
                args = [torch.randn(*shape) for _ in range(count)]
                check.close(f"{config} {shape}", function(*args), reference(*args), **tolerance)

    return case


def products(kernel, configs, batch=(), expected_dtype=None):
    def case(check):
        for config in configs:
            function = configured(kernel, **config)
            for m, k, n in [(16, 16, 16), (37, 128, 33), (64, 96, 80)]:
                for dtype in (torch.float32, torch.bfloat16):
                    x, y = torch.randn(*batch, m, k).to(dtype), torch.randn(*batch, k, n).to(dtype)
                    want = (x.float() @ y.float()).to(expected_dtype or dtype)
                    check.close(
                        f"{config} {dtype} {m}x{k}x{n}", function(x, y), want, rtol=2e-2, atol=2e-2
                    )

    return case


def case_layer_norm(check):
    for config in ({"block_sizes": [4]}, {"block_sizes": [1], "reduction_loops": [32]}):
        function = configured(layer_norm, **config)
        for m, n in MATRICES:
            x, w, b = torch.randn(m, n), torch.randn(n), torch.randn(n)
            check.close(
                f"{config} {m}x{n}", function(x, w, b), F.layer_norm(x, (n,), w, b), atol=1e-4
            )


def case_embedding(check):
    for config in ({"block_sizes": [8, 32]}, {"block_sizes": [1, 64]}):
        function = configured(embedding, **config)
        for n, v, w in [(5, 7, 16), (37, 100, 129)]:
            index, table = torch.randint(0, v, (n,)), torch.randn(v, w)
            check.close(f"{config} {n}x{w}", function(index, table), table[index])


def case_attention(check):
    for indexing in INDEXINGS:
        function = configured(attention, block_sizes=[1, 16, 32], indexing=indexing)
        for b, m, n, d in [(1, 16, 16, 16), (3, 37, 65, 32)]:
            q, k, v = torch.randn(b, m, d), torch.randn(b, n, d), torch.randn(b, n, d)
            want = F.scaled_dot_product_attention(q, k, v)
            check.close(
                f"{indexing} {b}x{m}x{n}x{d}", function(q, k, v), want, rtol=1e-3, atol=1e-4
            )


def cases():
    two = [{"block_sizes": [16, 32], "indexing": i} for i in INDEXINGS]
    orders = [
        {"block_sizes": [16, 32], "loop_orders": [[1, 0]]},
        {"block_sizes": [8, 8], "flatten_loops": [True]},
    ]
    three = [{"block_sizes": [16, 32, 16], "indexing": i} for i in INDEXINGS]
    looped = [{"block_sizes": [4]}, {"block_sizes": [2], "reduction_loops": [16]}]
    return {
        "add": rows(add, lambda x, y: x + y, [*two, *orders], count=2),
        "matmul": products(matmul, [*three, {"block_sizes": [32, 16, 32], "l2_groupings": [4]}]),
        "split_matmul": products(
            split_matmul, [{"block_sizes": [16, 16, 32]}], expected_dtype=torch.float32
        ),
        "bmm": products(bmm, [{"block_sizes": [1, 16, 16, 16]}], batch=(3,)),
        "softmax": rows(softmax, lambda x: x.softmax(1), looped),
        "softmax_two_pass": rows(
            softmax_two_pass, lambda x: x.softmax(1), [{"block_sizes": [4, 32, 16]}]
        ),
        "sum": rows(row_sum, lambda x: x.sum(-1), looped, atol=1e-4),
        "layer_norm": case_layer_norm,
        "embedding": case_embedding,
        "attention": case_attention,
        "cumsum": rows(prefix_sum, lambda x: x.cumsum(1), [{"block_sizes": [4]}], atol=1e-4),
    }
