#ifndef TILEBRIDGE_FRONTEND_PASSES
#define TILEBRIDGE_FRONTEND_PASSES

include "mlir/Pass/PassBase.td"

#endif
