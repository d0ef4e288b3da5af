//===- TTGDialect.cpp - the barrier of Triton's GPU dialect ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTGDialect.h"

#include "mlir/IR/Builders.h"

#include "frontend/TTGDialect.cpp.inc"
#include "frontend/TTGEnums.cpp.inc"

#define GET_OP_CLASSES
#include "frontend/TTGOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTGDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTGOps.cpp.inc"
      >();
}

// All memories at once are written `all`, some of them with bars between.
static constexpr auto allSpaces = static_cast<AddrSpace>(31);

ParseResult BarrierOp::parse(OpAsmParser &parser, OperationState &result) {
  AddrSpace spaces = AddrSpace::None;
  do {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<AddrSpace> space =
        keyword == "all" ? allSpaces : symbolizeAddrSpace(keyword);
    if (!space)
      return parser.emitError(
          loc, "expected all, none, local, global_read, global_write, "
               "tensor_read or tensor_write");
    spaces = spaces | *space;
  } while (succeeded(parser.parseOptionalVerticalBar()));
  result.getOrAddProperties<Properties>().addrSpace =
      AddrSpaceAttr::get(parser.getContext(), spaces);
  return parser.parseOptionalAttrDict(result.attributes);
}

void BarrierOp::print(OpAsmPrinter &printer) {
  printer << ' '
          << (getAddrSpace() == allSpaces ? "all"
                                          : stringifyAddrSpace(getAddrSpace()));
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                getAddrSpaceAttrName().strref());
}
