#ifndef TILEBRIDGE_CPUBACKEND_PASSES
#define TILEBRIDGE_CPUBACKEND_PASSES

include "mlir/Pass/PassBase.td"

#endif
