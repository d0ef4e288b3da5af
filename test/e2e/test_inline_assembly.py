# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PTX in kernels that only computes: every translated family of instructions, packed or not."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output, whole_range

pytestmark = pytest.mark.compiled("the interpreter has no inline assembly")
N = 128


@triton.jit
def asm_kernel(
    x, y, z, out, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, COUNT: tl.constexpr,
    PACK: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, N)
    a = tl.load(x + i)
    if COUNT == 1:
        r = tl.inline_asm_elementwise(ASM, CONSTRAINTS, [a], out.dtype.element_ty, True, PACK)
    elif COUNT == 2:
        r = tl.inline_asm_elementwise(
            ASM, CONSTRAINTS, [a, tl.load(y + i)], out.dtype.element_ty, True, PACK
        )
    else:
        args = [a, tl.load(y + i), tl.load(z + i)]
        r = tl.inline_asm_elementwise(ASM, CONSTRAINTS, args, out.dtype.element_ty, True, PACK)
    tl.store(out + i, r)


def run(asm, constraints, inputs, result, pack=1):
    out = output([N], result)
    x, y, z = [*inputs, *inputs, *inputs][:3]
    asm_kernel[(1,)](
        x, y, z, out, ASM=asm, CONSTRAINTS=constraints, COUNT=len(inputs), PACK=pack, N=N,
    )  # fmt: skip
    return out


def u32(x):
    return x.long() & 0xFFFFFFFF


def i32(x):
    return (x & 0xFFFFFFFF).to(torch.uint32).view(torch.int32)


INTEGER_CASES = {
    "add.u32 $0, $1, $2;": lambda a, b, c: a + b,
    "sub.s32 $0, $1, $2;": lambda a, b, c: a - b,
    "mul.lo.u32 $0, $1, $2;": lambda a, b, c: (a & 0xFFFF) * b + ((a >> 16) * b << 16),
    "mad.lo.s32 $0, $1, 3, $2;": lambda a, b, c: a * 3 + b,
    "and.b32 $0, $1, $2;": lambda a, b, c: a & b,
    "not.b32 $0, $1;": lambda a, b, c: ~a,
    "xor.b32 $0, $1, 0xff00ff00;": lambda a, b, c: a ^ 0xFF00FF00,
    "shl.b32 $0, $1, 5;": lambda a, b, c: a << 5,
    "shl.b32 $0, $1, 32;": lambda a, b, c: a * 0,
    "shr.u32 $0, $1, 7;": lambda a, b, c: a >> 7,
    "shr.s32 $0, $1, 40;": lambda a, b, c: -(a >> 31),
    "shf.l.wrap.b32 $0, $1, $2, 37;": lambda a, b, c: b << 5 | a >> 27,
    "shf.r.clamp.b32 $0, $1, $2, 9;": lambda a, b, c: b << 23 | a >> 9,
    "lop3.b32 $0, $1, $2, $3, 0xea;": lambda a, b, c: (a & b) | c,
    "lop3.b32 $0, $1, $2, $3, 0x96;": lambda a, b, c: a ^ b ^ c,
    "prmt.b32 $0, $1, $2, 0x5140;": lambda a, b, c: (
        (a & 0xFF) | (b & 0xFF) << 8 | (a >> 8 & 0xFF) << 16 | (b >> 8 & 0xFF) << 24
    ),
    "prmt.b32 $0, $1, $2, 0xbb33;": lambda a, b, c: (
        (a >> 24) * 0x101 | torch.where(a >> 31 == 1, 0xFFFF0000, 0)
    ),
    "bfe.u32 $0, $1, 5, 11;": lambda a, b, c: a >> 5 & 0x7FF,
    "bfi.b32 $0, $1, $2, 8, 4;": lambda a, b, c: (b & ~0xF00) | (a & 0xF) << 8,
    "min.u32 $0, $1, $2;": lambda a, b, c: torch.minimum(a, b),
    "popc.b32 $0, $1;": lambda a, b, c: sum(a >> i & 1 for i in range(32)),
    "brev.b32 $0, $1;": lambda a, b, c: sum((a >> i & 1) << (31 - i) for i in range(32)),
    ".reg .pred p; setp.lt.u32 p, $1, $2; selp.b32 $0, $1, $3, p;": lambda a, b, c: torch.where(
        a < b, a, c
    ),
    ".reg .pred p<2>; mov.b32 $0, $3; setp.eq.s32 p0|p1, $1, $2; @p1 mov.b32 $0, $1;": (
        lambda a, b, c: torch.where(a == b, c, a)
    ),
    "{ .reg .b16 h<2>; mov.b32 {h0, h1}, $1; mov.b32 $0, {h1, h0}; } // halves": (
        lambda a, b, c: a >> 16 | a << 16
    ),
}


@pytest.mark.parametrize("asm", list(INTEGER_CASES))
def test_integers(asm, rng):
    inputs = [whole_range(rng, [N], torch.int32) for _ in range(3)]
    inputs[1][::5] = inputs[0][::5]
    out = run(asm, "=r,r,r,r", inputs, torch.int32)
    assert torch.equal(out, i32(INTEGER_CASES[asm](*map(u32, inputs))))


FLOAT_CASES = {
    "fma.rn.f32 $0, $1, $2, $3;": lambda a, b, c: a * b + c,
    "mul.rn.ftz.f32 $0, $1, $2;": lambda a, b, c: a * b,
    "div.full.f32 $0, $1, $2;": lambda a, b, c: a / b,
    "max.f32 $0, $1, 0.5;": lambda a, b, c: a.clamp(min=0.5),
    "add.f32 $0, $1, 0f3F800000;": lambda a, b, c: a + 1,
    "neg.f32 $0, $1;": lambda a, b, c: -a,
    "abs.f32 $0, $1;": lambda a, b, c: a.abs(),
    "copysign.f32 $0, $1, $2;": lambda a, b, c: torch.copysign(b, a),
    "tanh.approx.f32 $0, $1;": lambda a, b, c: a.tanh(),
    "ex2.approx.ftz.f32 $0, $1;": lambda a, b, c: torch.exp2(a),
    "rcp.approx.ftz.f32 $0, $1;": lambda a, b, c: 1 / a,
    "sin.approx.f32 $0, $1;": lambda a, b, c: a.sin(),
    ".reg .f32 t; abs.f32 t, $1; rsqrt.approx.f32 $0, t;": lambda a, b, c: a.abs().rsqrt(),
    ".reg .f32 t; abs.f32 t, $1; lg2.approx.f32 $0, t;": lambda a, b, c: a.abs().log2(),
    "cvt.rmi.f32.f32 $0, $1;": lambda a, b, c: a.floor(),
}


@pytest.mark.parametrize("asm", list(FLOAT_CASES))
def test_floats(asm, rng):
    inputs = [normal(rng, [N]) * 3 for _ in range(3)]
    out = run(asm, "=f,f,f,f", inputs, torch.float32)
    check_equal(out, FLOAT_CASES[asm](*(x.double() for x in inputs)), terms=4)


def test_maximum_and_nan(rng):
    x, y = normal(rng, [N]), normal(rng, [N])
    x[::3], y[::4] = float("nan"), float("nan")
    plain = run("max.f32 $0, $1, $2;", "=f,f,f", [x, y], torch.float32)
    check_equal(plain, torch.fmax(x, y))
    kept = run("max.NaN.f32 $0, $1, $2;", "=f,f,f", [x, y], torch.float32)
    check_equal(kept, torch.maximum(x, y))


def test_float_to_integer_saturates(rng):
    x = normal(rng, [N]) * 1000
    x[:6] = torch.tensor([1e20, -1e20, float("nan"), float("inf"), 2.5, -0.5])
    out = run("cvt.rni.s32.f32 $0, $1;", "=r,f", [x], torch.int32)
    wanted = torch.round(x.nan_to_num(0).double()).clamp(-(2**31), 2**31 - 1)
    check_equal(out, wanted.to(torch.int32))


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_fp8_in_pairs(kind, rng):
    dtype = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}[kind]
    x = normal(rng, [N], torch.float32) * 10
    asm = f"cvt.rn.satfinite.{kind}x2.f32 $0, $2, $1;"
    # Two results of 8 bits are one register of 16.
    out = run(asm, "=h,r,r", [x], dtype, pack=2)
    assert torch.equal(out.view(torch.uint8), x.to(dtype).view(torch.uint8))
    back = run(f"cvt.rn.f16x2.{kind}x2 $0, $1;", "=r,h", [out], torch.float16, pack=2)
    check_equal(back, out.to(torch.float16))


FLOAT4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def code_of_float4(x):
    """The nearest code of e2m1, ties to the even one; NaN and infinity are 6."""
    distance = (x.abs().clamp(max=6)[:, None].double() - FLOAT4).abs()
    nearest = distance == distance.min(1, keepdim=True).values
    # Of two, the even one.
    code = torch.where(nearest, torch.tensor([8, 1] * 4) * 10 + torch.arange(8), 0).argmax(1)
    code = torch.where(x.isnan(), 7, code)
    return torch.where(x.signbit() & ~x.isnan(), code + 8, code).to(torch.uint8)


@pytest.mark.parametrize("source", [torch.float32, torch.float16])
def test_float4_in_pairs(source, rng):
    x = (normal(rng, [2 * N]) * 3).to(source)
    middles = (FLOAT4[1:] + FLOAT4[:-1]) / 2
    ends = torch.tensor([0.0, float("inf"), 1e-30, 6.5, 65504, 1e-7, 0.999])
    special = torch.cat([FLOAT4, middles, middles * 1.002, middles * 0.998, ends])
    special = torch.cat([special, -special, torch.tensor([float("nan")])]).to(source)
    x[: len(special)] = special
    low, high = x[:N], x[N:]
    if source == torch.float32:
        asm = """{
            .reg .b8 pair, swapped;
            cvt.rn.satfinite.e2m1x2.f32 pair, $2, $1;
            cvt.rn.satfinite.e2m1x2.f32 swapped, $1, $2;
            mov.b32 $0, {pair, swapped, pair, swapped};
        }"""
        out = run(asm, "=r,f,f", [low, high], torch.int32).view(torch.uint8).view(N, 4)
        assert torch.equal(out[:, 1], out[:, 0] >> 4 | out[:, 0] << 4)
        assert torch.equal(out[:, 2:], out[:, :2])
        out = out[:, 0].contiguous()
    else:
        pairs = torch.stack([low, high], 1).view(torch.int32).view(N)
        out = run("cvt.rn.satfinite.e2m1x2.f16x2 $0, $1;", "=h,r", [pairs], torch.int16)
        out = (out & 255).to(torch.uint8)
        asm = """{
            .reg .b8\tcodes;
            .reg .f16x2 values;
            mov.b32 values, $1;
            cvt.rn.satfinite.e2m1x2.f16x2 codes, values;
            cvt.u32.u8 $0, codes;
        }"""
        assert torch.equal(run(asm, "=r,r", [pairs], torch.int32), out.int())
    assert torch.equal(out, code_of_float4(low) | code_of_float4(high) << 4)
    back = run("cvt.rn.f16x2.e2m1x2 $0, $1;", "=r,h", [out.to(torch.int16)], torch.int32)
    back = back.view(torch.float16).view(N, 2)
    values = torch.cat([FLOAT4, -FLOAT4]).half()
    assert torch.equal(back.view(torch.int16)[:, 0], values[(out & 15).long()].view(torch.int16))
    assert torch.equal(back.view(torch.int16)[:, 1], values[(out >> 4).long()].view(torch.int16))


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("saturates", [False, True])
def test_scales_in_pairs(up, saturates, rng):
    x = torch.exp2(normal(rng, [N]) * 60)
    powers = torch.exp2(torch.tensor([-127.0, -126.0, -1.0, 0.0, 1.0, 127.0]))
    beside = torch.tensor([1.0, 1 - 2**-20, 1 + 2**-20, -1.0])
    special = (powers[:, None] * beside).flatten()
    ends = torch.tensor([0.0, 1e-45, 3.4e38, float("inf"), -float("inf"), float("nan")])
    special = torch.cat([special, ends])
    x[: len(special)] = special
    y = x.flip(0).contiguous()
    asm = f"cvt.{'rp' if up else 'rz'}{'.satfinite' if saturates else ''}.ue8m0x2.f32 $0, $2, $1;"
    out = run(asm, "=h,f,f", [x, y], torch.int16)

    def code(x):
        exponent = torch.log2(x.double().abs())
        exponent = exponent.ceil() if up else exponent.floor()
        code = (exponent.clamp(-127, 129) + 127).clamp(0, 255).nan_to_num(0).int()
        code = torch.where(x.abs() == float("inf"), 255, code)
        code = code.clamp(max=254) if saturates else code
        return torch.where(x.isnan(), 255, code)

    assert torch.equal(out.int() & 0xFFFF, code(x) | code(y) << 8)
    back = run("cvt.rn.bf16x2.ue8m0x2 $0, $1;", "=r,h", [out], torch.int32)
    back = back.view(torch.bfloat16).view(N, 2).double()
    wanted = torch.exp2(torch.stack([code(x), code(y)], 1).double() - 127)
    check_equal(back, torch.where(wanted > 2.0**127, float("nan"), wanted))


def test_bf16_pairs(rng):
    x, y = normal(rng, [N]), normal(rng, [N])
    out = run("cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,r,r", [x], torch.bfloat16, pack=2)
    check_equal(out, x.to(torch.bfloat16))
    a, b = x.to(torch.bfloat16), y.to(torch.bfloat16)
    out = run("max.bf16x2 $0, $1, $2;", "=r,r,r", [a, b], torch.bfloat16, pack=2)
    check_equal(out, torch.maximum(a, b))


def test_four_bytes_in_a_register(rng):
    x = whole_range(rng, [N], torch.uint8)
    asm = "and.b32 $0, $1, 0x1F1F1F1F; shl.b32 $0, $0, 3;"
    out = run(asm, "=r,r", [x], torch.uint8, pack=4)
    assert torch.equal(out, (x & 0x1F) << 3)


@triton.jit
def outputs_kernel(x, y, out, other, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.inline_asm_elementwise(
        asm="""
        {
            // The bytes of four elements.
            .reg .b8 byte<4>;
            mov.b32 {byte0, byte1, byte2, byte3}, $8;
            cvt.u32.u8 $0, byte0;
            cvt.u32.u8 $1, byte1;
            cvt.u32.u8 $2, byte2;
            cvt.u32.u8 $3, byte3;
        }
        cvt.rn.f32.s32 $4, $0; /* as floats */
        cvt.rn.f32.s32 $5, $1;
        cvt.rn.f32.s32 $6, $2;
        cvt.rn.f32.s32 $7, $3;
        max.f32 $4, $4, $9;
        max.f32 $5, $5, $10;
        max.f32 $6, $6, $11;
        max.f32 $7, $7, $12;
        """,
        constraints="=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r",
        args=[tl.load(x + i), tl.load(y + i)],
        dtype=(tl.int32, tl.float32),
        is_pure=True,
        pack=4,
    )
    tl.store(out + i, a)
    tl.store(other + i, b)


def test_several_outputs(rng):
    x, y = whole_range(rng, [N], torch.uint8), normal(rng, [N]) * 200
    out, other = output([N], torch.int32), output([N], torch.float32)
    outputs_kernel[(1,)](x, y, out, other, N=N)
    assert torch.equal(out, x.int())
    check_equal(other, torch.maximum(x.float(), y))


@triton.jit
def scalar_kernel(x, out):
    y = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [tl.load(x)], tl.int32, True, 1)
    smid = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], tl.int32, True, 1)
    tl.store(out, y + smid)


def test_scalars():
    out = output([1], torch.int32)
    scalar_kernel[(1,)](torch.tensor([5], dtype=torch.int32), out)
    assert out.item() == 40


@triton.jit
def clock_kernel(x, times, n, N: tl.constexpr):
    start = tl.extra.cuda.globaltimer()
    i = tl.arange(0, N)
    for _ in range(n):
        tl.store(x + i, tl.load(x + i) + 1)
    end = tl.extra.cuda.globaltimer()
    tl.store(times, start)
    tl.store(times + 1, end)


def test_the_time():
    x, times = torch.zeros(N, dtype=torch.int32), output([2], torch.int64)
    clock_kernel[(1,)](x, times, 10000, N=N)
    assert (x == 10000).all()
    # 10,000 times 128 sums take more than a microsecond, and less than a minute.
    assert 1000 < times[1] - times[0] < 60e9


@triton.jit
def e4b15_kernel(x, bits, back, N: tl.constexpr):
    i = tl.arange(0, N)
    packed = tl.inline_asm_elementwise(
        """{
        .reg .b32 a<2>, b<2>;
        and.b32 a0, $1, 0x7fff7fff;
        and.b32 a1, $2, 0x7fff7fff;
        min.f16x2 a0, a0, 0x3F003F00;
        min.f16x2 a1, a1, 0x3F003F00;
        mad.lo.u32 a0, a0, 2, 0x00800080;
        mad.lo.u32 a1, a1, 2, 0x00800080;
        lop3.b32 b0, $1, 0x80008000, a0, 0xea;
        lop3.b32 b1, $2, 0x80008000, a1, 0xea;
        prmt.b32 $0, b0, b1, 0x7531;
        }""",
        "=r,r,r", [tl.load(x + i)], tl.uint8, True, 4,
    )  # fmt: skip
    tl.store(bits + i, packed)
    unpacked = tl.inline_asm_elementwise(
        """{
        .reg .b32 a<2>, b<2>;
        prmt.b32 a0, 0, $2, 0x5746;
        and.b32 b0, a0, 0x7f007f00;
        and.b32 b1, a0, 0x00ff00ff;
        and.b32 a1, a0, 0x00800080;
        shr.b32  b0, b0, 1;
        add.u32 b1, b1, a1;
        lop3.b32 $0, b0, 0x80008000, a0, 0xf8;
        shl.b32 $1, b1, 7;
        }""",
        "=r,=r,r", [packed], tl.float16, True, 4,
    )  # fmt: skip
    tl.store(back + i, unpacked)


def test_a_format_made_of_bits(rng):
    """8 bits with a bias of 15: the upper byte of twice an f16, rounded."""
    x = (normal(rng, [N]) / 2).clamp(-1.7, 1.7).to(torch.float16)
    bits, back = output([N], torch.uint8), output([N], torch.float16)
    e4b15_kernel[(1,)](x, bits, back, N=N)
    code = x.view(torch.int16).int()
    wanted = ((code & 0x7FFF) * 2 + 0x80 >> 8 & 0x7F) | (code >> 8 & 0x80)
    assert torch.equal(bits.int(), wanted)
    check_equal(back.float(), x.float(), tolerance=(1e-4, 0.07))


@triton.jit
def refused_kernel(x, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr):
    y = tl.inline_asm_elementwise(ASM, CONSTRAINTS, [tl.load(x)], tl.int32, True, 1)
    tl.store(x, y)


@pytest.mark.parametrize(
    ("asm", "constraints", "message"),
    [
        ("bar.sync 0; mov.b32 $0, $1;", "=r,r", "the instruction 'bar.sync 0'"),
        ("v_mov_b32_e32 $0, $1", "=v,v", "its constraint 'v' is not known"),
        ("ld.global.b32 $0, [$1];", "=r,r", "'[$1]' is not understood"),
        ("add.rz.s32 $0, $1, $1;", "=r,r", "the instruction 'add.rz.s32"),
        (
            "cvt.rs.satfinite.e2m1x4.f32 $0, {$1, $1, $1, $1}, $1;",
            "=h,r",
            "the instruction 'cvt.rs",
        ),
        ("cvt.rz.satfinite.e2m1x2.f32 $0, $1, $1;", "=h,r", "the instruction 'cvt.rz"),
        ("cvt.rp.f16.f32 $0, $1;", "=h,r", "the instruction 'cvt.rp"),
        ("mov.b32 $0, %laneid;", "=r,r", "the instruction 'mov.b32 $0, %laneid'"),
    ],
)
def test_what_is_refused(asm, constraints, message):
    with pytest.raises(Exception, match="elementwise_inline_asm") as error:
        refused_kernel[(1,)](torch.zeros(1, dtype=torch.int32), asm, constraints)
    assert message in str(error.value)
    assert "test_inline_assembly.py" in str(error.value)
    assert "tl.target_info" in str(error.value)
