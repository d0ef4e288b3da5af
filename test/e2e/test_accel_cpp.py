# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ for accelerators gives what the simulator does, bit by bit, for kernels of lowered IR."""

from __future__ import annotations

import numpy as np
import pytest
from accel_cpp_support import COMPILERS, Emitted, compare, emit, kernel, simulate

MATMUL = """
  %zero = arith.constant 0.0 : f32
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %as = accel.alloc {offset = 0} : memref<2x16x16xf16, #accel.memory<"local">> loc("a_slots")
  %b = accel.alloc {offset = 1024} : memref<16x24xf16, #accel.memory<"local">> loc("b_slot")
  %c = accel.alloc {offset = 2048} : memref<16x24xf32, #accel.memory<"local">> loc("sums")
  %x, %y, %z, %active = accel.program %c0 counts(%nx, %ny, %nz) {assignment = #accel.assignment<grid : [0, 1]>}
  %i = arith.index_cast %x : i32 to index
  %j = arith.index_cast %y : i32 to index
  %c768 = arith.constant 768 : index
  %c24 = arith.constant 24 : index
  %c9216 = arith.constant 9216 : index
  %arow = arith.muli %i, %c768 : index
  %bcolumn = arith.muli %j, %c24 : index
  linalg.fill ins(%zero : f32) outs(%c : memref<16x24xf32, #accel.memory<"local">>)
  %s0 = memref.subview %as[%c0, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf16, #accel.memory<"local">>
      to memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>
  %s1 = memref.subview %as[%c1, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf16, #accel.memory<"local">>
      to memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>
  %va = memref.reinterpret_cast %a0 to offset: [%arow], sizes: [16, 16], strides: [48, 1]
      : memref<?xf16, strided<[1], offset: ?>> to memref<16x16xf16, strided<[48, 1], offset: ?>>
  %t0 = accel.copy_start %va to %s0 multicast [1] : (memref<16x16xf16, strided<[48, 1], offset: ?>>,
      memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>) -> !accel.token
  %r:3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %t0, %now = %s0, %then = %s1) -> (!accel.token,
      memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>,
      memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>) {
    %next = arith.addi %k, %c1 : index
    %more = arith.cmpi slt, %next, %c3 : index
    %started = scf.if %more -> (!accel.token) {
      %ka = arith.muli %next, %c16 : index
      %from = arith.addi %arow, %ka : index
      %v = memref.reinterpret_cast %a0 to offset: [%from], sizes: [16, 16], strides: [48, 1]
          : memref<?xf16, strided<[1], offset: ?>> to memref<16x16xf16, strided<[48, 1], offset: ?>>
      %one = accel.copy_start %v to %then multicast [1] : (memref<16x16xf16, strided<[48, 1], offset: ?>>,
          memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>) -> !accel.token
      scf.yield %one : !accel.token
    } else {
      %none = accel.completed : !accel.token
      scf.yield %none : !accel.token
    }
    %c3072 = arith.constant 3072 : index
    %kb = arith.muli %k, %c3072 : index
    %fromb = arith.addi %kb, %bcolumn : index
    %vb = memref.reinterpret_cast %a1 to offset: [%fromb], sizes: [16, 24], strides: [192, 1]
        : memref<?xf16, strided<[1], offset: ?>> to memref<16x24xf16, strided<[192, 1], offset: ?>>
    accel.copy %vb to %b multicast [0] : (memref<16x24xf16, strided<[192, 1], offset: ?>>,
        memref<16x24xf16, #accel.memory<"local">>) -> ()
    accel.wait %t
    linalg.matmul ins(%now, %b : memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>,
        memref<16x24xf16, #accel.memory<"local">>) outs(%c : memref<16x24xf32, #accel.memory<"local">>)
    scf.yield %started, %then, %now : !accel.token,
        memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>,
        memref<16x16xf16, strided<[16, 1], offset: ?>, #accel.memory<"local">>
  }
  accel.wait %r#0
  %c3072 = arith.constant 3072 : index
  %orow = arith.muli %i, %c3072 : index
  %o = arith.addi %orow, %bcolumn : index
  %vo = memref.reinterpret_cast %a2 to offset: [%o], sizes: [16, 24], strides: [192, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<16x24xf32, strided<[192, 1], offset: ?>>
  scf.if %active {
    accel.copy %c to %vo : (memref<16x24xf32, #accel.memory<"local">>, memref<16x24xf32, strided<[192, 1], offset: ?>>) -> ()
  }
"""


def test_matmul_with_multicast_and_two_buffers(tmp_path):
    rng = np.random.default_rng(2)
    a = rng.standard_normal((128, 48)).astype(np.float16)
    b = rng.standard_normal((48, 192)).astype(np.float16)
    c = np.zeros((128, 192), np.float32)
    text = kernel("matmul", ["f16", "f16", "f32"], MATMUL)
    cpp, (_, _, result) = compare(text, "matmul", "mtia-2i-like", (8, 8), [a, b, c], tmp_path)
    np.testing.assert_allclose(
        result, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-4
    )
    assert "float *const sums = " in cpp
    assert ".multicast(ACCEL_ALONG_ROW)" in cpp


COMPUTE = """
  %x = accel.alloc {offset = 0} : memref<6x10xi32, #accel.memory<"local">>
  %s = accel.alloc {offset = 256} : memref<6x10xi32, #accel.memory<"local">>
  %m = accel.alloc {offset = 512} : memref<6xi32, #accel.memory<"local">>
  %w = accel.alloc {offset = 640} : memref<6xi32, #accel.memory<"local">>
  %h = accel.alloc {offset = 768} : memref<7xi32, #accel.memory<"local">>
  %g = accel.alloc {offset = 896} : memref<6x10xi32, #accel.memory<"local">>
  %v = memref.reinterpret_cast %a0 to offset: [0], sizes: [6, 10], strides: [10, 1]
      : memref<?xi32, strided<[1], offset: ?>> to memref<6x10xi32, strided<[10, 1]>>
  accel.copy %v to %x : (memref<6x10xi32, strided<[10, 1]>>, memref<6x10xi32, #accel.memory<"local">>) -> ()
  accel.compute vector ins(%x : memref<6x10xi32, #accel.memory<"local">>)
      outs(%s, %m, %w, %h, %g : memref<6x10xi32, #accel.memory<"local">>, memref<6xi32, #accel.memory<"local">>,
           memref<6xi32, #accel.memory<"local">>, memref<7xi32, #accel.memory<"local">>, memref<6x10xi32, #accel.memory<"local">>) {
  ^bb0(%t: tensor<6x10xi32>, %o0: tensor<6x10xi32>, %o1: tensor<6xi32>, %o2: tensor<6xi32>,
        %o3: tensor<7xi32>, %o4: tensor<6x10xi32>):
    %sums = linalg_ext.scan(%t) dimension = 1 reverse {
    ^bb0(%p: i32, %q: i32):
      %r = arith.subi %p, %q : i32
      linalg_ext.yield %r : i32
    } : (tensor<6x10xi32>) -> tensor<6x10xi32>
    %init = tensor.empty() : tensor<6x10xi32>
    %where = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        outs(%init : tensor<6x10xi32>) {
    ^bb0(%out: i32):
      %j = linalg.index 1 : index
      %c = arith.index_cast %j : index to i32
      linalg.yield %c : i32
    } -> tensor<6x10xi32>
    %max, %at = linalg_ext.reduce(%t, %where) dimension = 1 {
    ^bb0(%v0: i32, %i0: i32, %v1: i32, %i1: i32):
      %gt = arith.cmpi sgt, %v0, %v1 : i32
      %vv = arith.select %gt, %v0, %v1 : i32
      %ii = arith.select %gt, %i0, %i1 : i32
      linalg_ext.yield %vv, %ii : i32, i32
    } : (tensor<6x10xi32>, tensor<6x10xi32>) -> (tensor<6xi32>, tensor<6xi32>)
    %flat = tensor.collapse_shape %t [[0, 1]] : tensor<6x10xi32> into tensor<60xi32>
    %counts = linalg_ext.histogram %flat : tensor<60xi32> -> tensor<7xi32>
    %seven = arith.constant dense<3> : tensor<6x10xi32>
    %picked = linalg_ext.gather_along %t[%t] dimension = 0 : tensor<6x10xi32>, tensor<6x10xi32> -> tensor<6x10xi32>
    %e0 = tensor.empty() : tensor<6x10xi32>
    %plus = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
        affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%picked, %seven : tensor<6x10xi32>, tensor<6x10xi32>)
        outs(%e0 : tensor<6x10xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %r = arith.addi %p, %q : i32
      %s0 = arith.muli %r, %r : i32
      %s1 = arith.muli %s0, %s0 : i32
      linalg.yield %s1 : i32
    } -> tensor<6x10xi32>
    accel.yield %sums, %max, %at, %counts, %plus : tensor<6x10xi32>, tensor<6xi32>, tensor<6xi32>, tensor<7xi32>, tensor<6x10xi32>
  }
  scf.if %first {
    %v1 = memref.reinterpret_cast %a1 to offset: [0], sizes: [6, 10], strides: [10, 1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<6x10xi32, strided<[10, 1]>>
    accel.copy %s to %v1 : (memref<6x10xi32, #accel.memory<"local">>, memref<6x10xi32, strided<[10, 1]>>) -> ()
    %v2 = memref.reinterpret_cast %a1 to offset: [60], sizes: [6], strides: [1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<6xi32, strided<[1], offset: 60>>
    accel.copy %m to %v2 : (memref<6xi32, #accel.memory<"local">>, memref<6xi32, strided<[1], offset: 60>>) -> ()
    %v3 = memref.reinterpret_cast %a1 to offset: [66], sizes: [6], strides: [1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<6xi32, strided<[1], offset: 66>>
    accel.copy %w to %v3 : (memref<6xi32, #accel.memory<"local">>, memref<6xi32, strided<[1], offset: 66>>) -> ()
    %v4 = memref.reinterpret_cast %a1 to offset: [72], sizes: [7], strides: [1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<7xi32, strided<[1], offset: 72>>
    accel.copy %h to %v4 : (memref<7xi32, #accel.memory<"local">>, memref<7xi32, strided<[1], offset: 72>>) -> ()
    %v5 = memref.reinterpret_cast %a1 to offset: [79], sizes: [6, 10], strides: [10, 1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<6x10xi32, strided<[10, 1], offset: 79>>
    accel.copy %g to %v5 : (memref<6x10xi32, #accel.memory<"local">>, memref<6x10xi32, strided<[10, 1], offset: 79>>) -> ()
  }
"""


def test_scan_reduce_histogram_gather(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.integers(-1, 8, (6, 10), dtype=np.int32)
    result = np.zeros(139, np.int32)
    text = kernel("compute", ["i32", "i32"], COMPUTE)
    _, (_, got) = compare(text, "compute", "grid-1x1", (1,), [x, result], tmp_path)
    np.testing.assert_array_equal(got[60:66], x.max(axis=1))
    np.testing.assert_array_equal(got[72:79], np.bincount(x[(x >= 0) & (x < 7)], minlength=7))


CONTROL = """
  %n = memref.load %a0[%c0] : memref<?xi32, strided<[1], offset: ?>>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  scf.if %first {
    // Collatz, and two numbers that change places in each turn.
    %r:3 = scf.while (%v = %n, %p = %zero, %q = %one) : (i32, i32, i32) -> (i32, i32, i32) {
      %go = arith.cmpi sgt, %v, %one : i32
      scf.condition(%go) %v, %p, %q : i32, i32, i32
    } do {
    ^bb0(%v: i32, %p: i32, %q: i32):
      %odd = arith.andi %v, %one : i32
      %is = arith.cmpi eq, %odd, %one : i32
      %next = scf.if %is -> (i32) {
        %m = arith.muli %v, %three : i32
        %s = arith.addi %m, %one : i32
        scf.yield %s : i32
      } else {
        %h = arith.shrui %v, %one : i32
        scf.yield %h : i32
      }
      %sum = arith.addi %p, %q : i32
      scf.yield %next, %q, %sum : i32, i32, i32
    }
    memref.store %r#0, %a1[%c0] : memref<?xi32, strided<[1], offset: ?>>
    memref.store %r#2, %a1[%c1] : memref<?xi32, strided<[1], offset: ?>>
    %which = arith.index_cast %n : i32 to index
    %s = scf.index_switch %which -> i32
    case 7 { scf.yield %three : i32 }
    case 9 { scf.yield %one : i32 }
    default { scf.yield %zero : i32 }
    memref.store %s, %a1[%c2] : memref<?xi32, strided<[1], offset: ?>>
    %c3 = arith.constant 3 : index
    %down = scf.for %i = %zero to %n step %three iter_args(%acc = %zero) -> (i32) : i32 {
      %t = arith.addi %acc, %i : i32
      scf.yield %t : i32
    }
    memref.store %down, %a1[%c3] : memref<?xi32, strided<[1], offset: ?>>
  }
"""


@pytest.mark.parametrize("n", [1, 7, 9, 27])
def test_control_flow(n, tmp_path):
    text = kernel("control", ["i32", "i32"], CONTROL)
    start = np.array([n], np.int32)
    compare(text, "control", "grid-1x8", (1,), [start, np.zeros(4, np.int32)], tmp_path)


HOST = """
  %v = memref.load %a0[%c0] : memref<?xi32, strided<[1], offset: ?>>
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %x, %y, %z, %active = accel.program %c0 counts(%nx, %ny, %nz) {assignment = #accel.assignment<interleaved>}
  scf.if %active {
    %old = linalg_ext.atomic_rmw add relaxed gpu %a1[%zero], %one : (memref<?xi32, strided<[1], offset: ?>>, i64, i32) -> i32
    linalg_ext.print " x: " programs(%x, %y, %z) values(%v, %x) signed = [true, true] : i32, i32
    %good = arith.cmpi slt, %v, %one : i32
    linalg_ext.assert %good, "v is \\22too\\22 large" : i1
  }
"""


def test_prints_atomics_and_assertions(tmp_path):
    text = kernel("host", ["i32", "i32"], HOST)
    source = tmp_path / "host.mlir"
    source.write_text(text)
    values = [np.array([-5], np.int32), np.zeros(1, np.int32)]
    cpp = emit(source, "grid-1x8", (5,), values, tmp_path)
    (_, count), printed = simulate(source, "grid-1x8", (5,), values, tmp_path)
    assert count[0] == 5
    for compiler in COMPILERS:
        emitted = Emitted(cpp, "host", tmp_path, compiler)
        assert emitted.run((5,), values) == ""
        assert sorted(emitted.printed) == sorted(
            line + "\n" for line in printed.splitlines() if line.startswith("pid")
        )
        assert values[1][0] == 5
        values[1][0] = 0
        error = emitted.run((5,), [np.array([5], np.int32), values[1]])
        assert "host.mlir:" in error
        assert 'v is "too" large' in error
        values[1][0] = 0


def test_mistakes_of_a_launch_have_a_message(tmp_path):
    text = kernel("host", ["i32", "i32"], HOST)
    source = tmp_path / "host.mlir"
    source.write_text(text)
    values = [np.zeros(1, np.int32), np.zeros(1, np.int32)]
    emitted = Emitted(
        emit(source, "grid-1x8", (5,), values, tmp_path), "host", tmp_path, COMPILERS[0]
    )
    assert emitted.run((5,), values[:1]) == "kernel 'host' takes 2 arguments, given were 1"
    assert "lowered for a grid of 1x8 PEs, this one has 2x2" in emitted.run(
        (5,), values, pes=(2, 2)
    )


def test_transfers_beyond_an_array_are_found(tmp_path):
    text = kernel("matmul", ["f16", "f16", "f32"], MATMUL)
    source = tmp_path / "matmul.mlir"
    source.write_text(text)
    values = [
        np.zeros((128, 48), np.float16),
        np.zeros((48, 192), np.float16),
        np.zeros((128, 192), np.float32),
    ]
    cpp = emit(source, "mtia-2i-like", (8, 8), values, tmp_path)
    emitted = Emitted(cpp, "matmul", tmp_path, COMPILERS[0])
    values[1] = values[1][:47]
    assert "matmul.mlir:" in (error := emitted.run((8, 8), values))
    assert "an access of 2 bytes at byte 18048 of array 1, which has 18048" in error


ASSIGNMENTS = {
    "interleaved": "interleaved",
    "blocked": "blocked : [5]",
    "grid": "grid : [1, 0]",
    "columns": "grid : [-1, 2]",
    "table": "table = dense<[[[0, 1, 2, 3, 4, 5, 6, 29]], [[-1, -30, 8, 9, 28, 27, 20, 21]]]> : tensor<2x1x8xi32>",
}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_programs_of_a_pe(assignment, tmp_path):
    """Each step of each PE notes its program, and whether it is one."""
    body = f"""
  %c8 = arith.constant 8 : index
  %c40 = arith.constant 40 : index
  %c15 = arith.constant 15 : i32
  %c3 = arith.constant 3 : i32
  scf.for %step = %c0 to %c40 step %c1 {{
    %x, %y, %z, %active = accel.program %step counts(%nx, %ny, %nz) {{assignment = #accel.assignment<{ASSIGNMENTS[assignment]}>}}
    %zz = arith.muli %z, %c15 : i32
    %yy = arith.muli %y, %c3 : i32
    %s = arith.addi %zz, %yy : i32
    %id = arith.addi %s, %x : i32
    %minus = arith.constant -1 : i32
    %inverse = arith.subi %minus, %id : i32
    %note = arith.select %active, %id, %inverse : i32
    %at = arith.muli %step, %c8 : index
    %place = arith.addi %at, %column : index
    memref.store %note, %a0[%place] : memref<?xi32, strided<[1], offset: ?>>
  }}
"""
    text = kernel("programs", ["i32"], body)
    _, (notes,) = compare(
        text, "programs", "grid-1x8", (3, 5, 2), [np.zeros(320, np.int32)], tmp_path
    )
    active = sorted(notes[notes >= 0])
    assert len(set(active)) == len(active)
    if assignment != "table":
        assert active == list(range(30))


TRANSFERS = """
  %pad = arith.constant 7.5 : f32
  %c3 = arith.constant 3 : index
  %buffer = accel.alloc {offset = 0} : memref<8x16xf32, #accel.memory<"local">>
  %rows = accel.alloc {offset = 512} : memref<8xi32, #accel.memory<"local">>
  %mask = accel.alloc {offset = 544} : memref<8xi1, #accel.memory<"local">>
  %fromrows = memref.reinterpret_cast %a1 to offset: [0], sizes: [8], strides: [1]
      : memref<?xi32, strided<[1], offset: ?>> to memref<8xi32, strided<[1]>>
  accel.copy %fromrows to %rows : (memref<8xi32, strided<[1]>>, memref<8xi32, #accel.memory<"local">>) -> ()
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%rows : memref<8xi32, #accel.memory<"local">>) outs(%mask : memref<8xi1, #accel.memory<"local">>) {
  ^bb0(%in: i32, %out: i1):
    %three = arith.constant 3 : i32
    %c = arith.cmpi ne, %in, %three : i32
    linalg.yield %c : i1
  }
  // A box of 5x9, shifted, in a buffer of 8x16.
  %n = arith.constant 9 : index
  %view = memref.reinterpret_cast %a0 to offset: [21], sizes: [5, %n], strides: [20, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<5x?xf32, strided<[20, 1], offset: 21>>
  accel.copy %view to %buffer low [%c2, %c3] pad %pad
      : (memref<5x?xf32, strided<[20, 1], offset: 21>>, memref<8x16xf32, #accel.memory<"local">>, index, index, f32) -> ()
  %o0 = memref.reinterpret_cast %a2 to offset: [0], sizes: [8, 16], strides: [16, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<8x16xf32, strided<[16, 1]>>
  scf.if %first {
    accel.copy %buffer to %o0 : (memref<8x16xf32, #accel.memory<"local">>, memref<8x16xf32, strided<[16, 1]>>) -> ()
  }
  // Rows by number, but for those that are masked.
  %table = memref.reinterpret_cast %a0 to offset: [0], sizes: [8, 16], strides: [20, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<8x16xf32, strided<[20, 1]>>
  accel.copy %table to %buffer rows [%rows] dim 0 pad %pad mask %mask
      : (memref<8x16xf32, strided<[20, 1]>>, memref<8x16xf32, #accel.memory<"local">>, memref<8xi32, #accel.memory<"local">>, f32,
         memref<8xi1, #accel.memory<"local">>) -> ()
  %o1 = memref.reinterpret_cast %a2 to offset: [128], sizes: [8, 16], strides: [16, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<8x16xf32, strided<[16, 1], offset: 128>>
  scf.if %first {
    accel.copy %buffer to %o1 : (memref<8x16xf32, #accel.memory<"local">>, memref<8x16xf32, strided<[16, 1], offset: 128>>) -> ()
    // And back to rows by number, backwards, then added to what is there.
    %o2 = memref.reinterpret_cast %a2 to offset: [271], sizes: [8, 16], strides: [16, -1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<8x16xf32, strided<[16, -1], offset: 271>>
    accel.copy %buffer to %o2 rows [%rows] dim 0 scatter mask %mask
        : (memref<8x16xf32, #accel.memory<"local">>, memref<8x16xf32, strided<[16, -1], offset: 271>>,
           memref<8xi32, #accel.memory<"local">>, memref<8xi1, #accel.memory<"local">>) -> ()
    accel.copy %buffer to %o1 accumulate add
        : (memref<8x16xf32, #accel.memory<"local">>, memref<8x16xf32, strided<[16, 1], offset: 128>>) -> ()
  }
"""


def test_transfers(tmp_path):
    rng = np.random.default_rng(5)
    values = rng.standard_normal(200).astype(np.float32)
    rows = np.array([6, 1, 3, 0, 7, 2, 5, 4], np.int32)
    text = kernel("transfers", ["f32", "i32", "f32"], TRANSFERS)
    _, (_, _, got) = compare(
        text, "transfers", "grid-1x1", (1,), [values, rows, np.zeros(384, np.float32)], tmp_path
    )
    box = np.full((8, 16), 7.5, np.float32)
    box[2:7, 3:12] = values[20:140].reshape(-1, 20)[:5, 1:10]
    np.testing.assert_array_equal(got[:128].reshape(8, 16), box)
