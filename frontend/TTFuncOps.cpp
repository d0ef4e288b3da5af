//===- TTFuncOps.cpp - functions, calls and returns -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#define GET_OP_CLASSES
#include "frontend/TTFuncOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerFuncOps() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTFuncOps.cpp.inc"
      >();
}

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   FunctionType type, ArrayRef<NamedAttribute> attrs,
                   ArrayRef<DictionaryAttr> argAttrs) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
  if (!argAttrs.empty())
    call_interface_impl::addArgAndResultAttrs(
        builder, state, argAttrs, /*resultAttrs=*/{},
        getArgAttrsAttrName(state.name), getResAttrsAttrName(state.name));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

bool FuncOp::isNoinline() {
  auto noinline = (*this)->getAttrOfType<BoolAttr>("noinline");
  return noinline && noinline.getValue();
}

void CallOp::build(OpBuilder &, OperationState &state, FuncOp callee,
                   ValueRange operands) {
  state.addOperands(operands);
  state.addAttribute(getCalleeAttrName(state.name),
                     FlatSymbolRefAttr::get(callee));
  state.addTypes(callee.getFunctionType().getResults());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "(CL1) '" << getCallee()
                         << "' is no tt.func of this module";
  FunctionType type = callee.getFunctionType();
  if (type.getInputs() ==
          ArrayRef<Type>(SmallVector<Type>(getOperandTypes())) &&
      type.getResults() == ArrayRef<Type>(SmallVector<Type>(getResultTypes())))
    return success();
  InFlightDiagnostic diag =
      emitOpError() << "(CL2) expected the callee's type " << type << ", got "
                    << FunctionType::get(getContext(), getOperandTypes(),
                                         getResultTypes());
  diag.attachNote(callee.getLoc()) << "the callee is here";
  return diag;
}

LogicalResult ReturnOp::verify() {
  auto func = cast<FuncOp>((*this)->getParentOp());
  if (getOperandTypes() == TypeRange(func.getResultTypes()))
    return success();
  InFlightDiagnostic diag = emitOpError() << "(RT1) expected values of types (";
  llvm::interleaveComma(func.getResultTypes(), diag);
  diag << ") as the function's results, got (";
  llvm::interleaveComma(getOperandTypes(), diag);
  return diag << ")";
}
