//===- Passes.td - passes of cpu-backend -------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_PASSES
#define TILEBRIDGE_CPUBACKEND_PASSES

include "mlir/Pass/PassBase.td"

def CpuEntryPass : Pass<"tilebridge-cpu-entry", "::mlir::ModuleOp"> {
  let summary = "Adds what a compiled kernel exports";
  let description = [{
    Adds the function `tilebridge_run` and the constant `tilebridge_executable` of runtime/executable_abi.h for the one kernel of
    the module: `run` reads the arguments from the slots of a launch once, then calls the kernel for each program of its range,
    x fastest. The kernel becomes private.

    After its program ids a kernel (of bridge IR or loops, any form in which functions are `func.func`) may have
    - an argument `memref<?xi8>` with the attribute `tilebridge.scratch`: the memory of the calling thread, of as many bytes as the
      function's attribute `tilebridge.scratch_bytes` says, aligned to 64;
    - an argument `!llvm.ptr` with the attribute `tilebridge.launch`: the launch, for callbacks to the host.

    Before:
    ```mlir
    func.func @add(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i32"]} { ... }
    ```
    After, with the constant left out:
    ```mlir
    func.func private @add(...) { ... }
    llvm.func internal @tilebridge_run(%launch: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
      %slots = llvm.load %launch : !llvm.ptr -> !llvm.ptr
      ...
      scf.for %i = %begin to %end step %c1 iter_args(%px = ..., %py = ..., %pz = ...) -> (i32, i32, i32) : i64 {
        func.call @add(%x, %n, %px, %py, %pz, %nx, %ny, %nz) : (...) -> ()
        ...
      }
      llvm.return
    }
    ```
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"\"", "name of the CPU, for the manifest">,
    Option<"features", "features", "std::string", "\"\"", "features of the CPU, for the manifest">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

#endif
