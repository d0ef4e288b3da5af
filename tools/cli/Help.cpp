//===- Help.cpp - what the commands say about themselves ----------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Commands.h"

namespace tilebridge::cli {

static const char general[] =
    R"(tilebridge compiles and runs Triton kernels on this machine's CPU.

Kernels come as TTIR, the form that Triton gives every kernel: `kernel.asm["ttir"]` in Python, or the *.ttir
files of Triton's cache. In Python you need none of these commands: with the package tilebridge installed,
Triton launches its kernels on CPU tensors.

  tilebridge compile KERNEL.ttir      to a file that `run` and the C library load, or to any stage as text
  tilebridge run KERNEL               run it on NumPy files, numbers and arrays that are made up
  tilebridge eval KERNEL.ttir         the same by the reference evaluator: checks accesses, shows every value
  tilebridge explain KERNEL.ttir      what became of each access to memory and of each product, and why
  tilebridge info KERNEL              its name and the arguments it takes
  tilebridge seal FILE.so -o OUT.so   add the checksum to a shared object that you linked yourself

  tilebridge COMMAND --help           more about a command
  tilebridge --version

Exit codes: 0 success; 1 a file, the compilation or the launch failed; 2 the command line is wrong;
3 an assertion in the kernel failed.
)";

static const char compileHelp[] =
    R"(usage: tilebridge compile KERNEL.ttir [options]

Compiles a kernel. The input is TTIR as text or MLIR bytecode, or bridge IR as text; "-" is standard input.

  -o FILE, --output=FILE  where the result goes; "-" is standard output
                          (default: KERNEL.so, and standard output for text)
  --target=TARGET         cpu         this machine (default)
                          cpu:NAME    another one, by LLVM's name: cpu:sapphirerapids, cpu:x86-64-v3,
                                      cpu:neoverse-v2; x86-64 or AArch64
                          cpu:NAME,+FEATURE,-FEATURE
                                      with features of LLVM more or less; also cpu,-FEATURE
                          accel:NAME  a DMA accelerator; the stages are bridge, accel (lowered; default), cpp
                                      (docs/accelerators.md), report, and a plug-in's own.
                                      It wants --grid and --arg as `tilebridge run` does: they are compiled in
  --autotile, --exhaustive  for accel:NAME, as for `tilebridge run`; --emit=autotile is what was found, as JSON
  --load-target=FILE.so   a plug-in for accel:NAME, or with a target of its own (docs/accelerators.md)
  --header=FILE           also write a C header with a function that launches the kernel
  --emit=STAGE            so          a shared object (default)
                          ttir        the input, brought into one form
                          bridge      tensors and subviews: docs/bridge-ir.md
                          vector      loops over vectors
                          llvm, asm   LLVM IR, assembly
  --print-after=PASS      print the IR after a pass, such as normalize or canonicalize, to standard error
  --remarks               say what takes a slow path, with lines of the kernel's source
  --time-passes           say where the compile time goes: each step, and each pass (also --timing)
  --no-cache              do not look the result up on disk, nor store it
)";

static const char runHelp[] =
    R"(usage: tilebridge run KERNEL --grid X[,Y[,Z]] [--arg VALUE | --out FILE.npy=VALUE]...

Runs a kernel: a file of `tilebridge compile`, or TTIR. Give one --arg or --out for each argument of the kernel,
in its order (`tilebridge info KERNEL` lists them). Compile-time constants are not arguments any more.

  --grid X,Y,Z            how many programs to run
  --arg VALUE             the next argument:
      7, -1.5, true         a number for a scalar; i32:7 says its type once more
      x.npy                 an array that np.save wrote
      f32[64,64]            a new array, all zero
      f32[64]=1.5           ... all 1.5;  =range: 0, 1, 2, ...;  =random or =random:SEED
      @0                    the array of argument 0 once more
      null                  no array
      x.npy,pad=nan         for a descriptor whose outside reads as NaN and not as 0
  --out FILE.npy=VALUE    the next argument, an array that is written to FILE.npy after the run
  --out FILE.npy          the same for an array that is in FILE.npy before the run
  --show                  print the first elements of every array after the run
  --threads=N             use at most N threads (default: as OpenMP does, see OMP_NUM_THREADS)
  --repeat=N              run N times and print the fastest and the median time
  --target=T, --no-cache  as for `tilebridge compile`; or, on the simulator of a DMA accelerator,
      accel:NAME            one of `tilebridge-target list`, or a file: accel:my.json; prints the cycles. KERNEL is
                            TTIR, bridge IR or lowered IR
  --load-target=FILE.so   a plug-in for accel:NAME, or with a target of its own
  --report FILE.json      cycles, bytes by memory, roofline; of accel:NAME, as the next two
  --trace FILE.json       a timeline for https://ui.perfetto.dev
  --landing=late|random:SEED   when transfers move their bytes
  --autotile              search the sizes of parts of blocks, the number of buffers, multicast, merged programs and the
                          mapping of the grid: by the model, and the best by the simulator. --exhaustive simulates all there is
  --depth=N               no load has more than N buffers (to 64): 1 shows what several give; also for `compile`
  --no-multicast          each PE loads for itself, to show what multicast gives; also for `compile`

A descriptor takes one array: its sizes and strides, which Triton's kernels have as arguments behind it, are filled in.
NumPy has no bf16 and no 8-bit floats: files hold them as 2-byte or 1-byte voids, as the package ml_dtypes does.

  tilebridge run add.ttir --grid 98 --arg x.npy --arg y.npy --out sum.npy=f32[100000] --arg 100000
)";

static const char evalHelp[] =
    R"(usage: tilebridge eval KERNEL --grid X[,Y[,Z]] [--arg VALUE | --out FILE.npy=VALUE]...

Runs a kernel by the reference evaluator: operation by operation, one program after the other, as the bridge IR says
(docs/bridge-ir.md). KERNEL is TTIR, or bridge IR as text. A program that reads or writes outside of its arrays ends the
run with the line that does it. --grid, --arg, --out and --show are those of `tilebridge run`.

  --program=X,Y,Z         run this program alone
  --order=random          run the programs in a random order; --seed=N says which
  --probe=DIR             write every value of every program to DIR: NumPy's files, listed in DIR/index.csv
  --probe-op=NAME         only the values of operations of this name, such as arith.addf
  --compare-with=cpu      compile and run the kernel as well, and compare the arrays; where they differ, say which
                          operations of which programs wrote the first element that does. Exit code 1 if they differ
  --tolerance=T           two floats may differ by T times the larger one (default: 0, all bits are compared)
  --target=T              for --compare-with, as for `tilebridge compile`

  tilebridge eval add.ttir --grid 2 --arg f32[99]=range --arg f32[99]=range --arg f32[99] --arg 99 --probe=probes
)";

static const char explainHelp[] =
    R"(usage: tilebridge explain KERNEL.ttir [--json]

Lists every access of the kernel to memory, by line of its source: what it became (subview: a strided block, the fast form;
row gather, element gather, ...: what is left where a block has no strides), its type, address, strides and mask, and,
where it is not a subview, why not and which operation is responsible. docs/explain.md says what each form means.

Then what the CPU backend decides for the kernel: the micro-kernel of each product, which blocks are kept in memory and why, the
loops and their lanes, which stores may go around the caches, what is transposed.

  --json                  the same as JSON
  --target=T              decide for this CPU, as for `tilebridge compile`
)";

static const char infoHelp[] = R"(usage: tilebridge info KERNEL

Prints the name of a compiled kernel or of a kernel in TTIR, the arguments it takes, and what it was compiled for.
)";

static const char sealHelp[] = R"(usage: tilebridge seal FILE.so -o OUT.so

Compiled kernels end in a checksum, without which they are not loaded. This adds it to a shared object that exports
what runtime/executable_abi.h asks for but was linked by other means.
)";

const char *helpOf(const std::string &command) {
  return command == "compile"   ? compileHelp
         : command == "run"     ? runHelp
         : command == "eval"    ? evalHelp
         : command == "explain" ? explainHelp
         : command == "info"    ? infoHelp
         : command == "seal"    ? sealHelp
                                : general;
}

} // namespace tilebridge::cli
