# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The test unit.install: what docs/c-api.md says, step by step, with nothing of the build tree in reach.
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${prefix} ${WORK}/program ${WORK}/moved)
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# An installation may be moved as a whole.
file(RENAME ${prefix} ${WORK}/moved)
# The runtime exports what tilebridge.h declares, and no instance of a template of the C++ library.
execute_process(COMMAND nm -D --defined-only ${WORK}/moved/lib/libtilebridge_runtime.so
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [A-Za-z] [^\n]+" symbols "${symbols}")
list(FILTER symbols EXCLUDE REGEX "^ T tilebridge_[a-z_]+$")
if(symbols)
  message(FATAL_ERROR "libtilebridge_runtime.so also exports: ${symbols}")
endif()
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/program -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/moved
  -DCMAKE_C_COMPILER=${COMPILER})
step(${CMAKE_COMMAND} --build ${WORK}/program)
set(ENV{TILEBRIDGE_CACHE_DIR} "")
unset(ENV{TILEBRIDGE_LIB_DIR})
step(${WORK}/program/add ${SOURCE}/add.ttir)
step(${WORK}/moved/bin/tilebridge explain ${SOURCE}/add.ttir)

# docs/accelerators.md: a plug-in for a target, and C++ that it had a part in.
set(accel ${SOURCE}/../accel-plugin)
set(out ${WORK}/plugin)
file(REMOVE_RECURSE ${out})
step(${CMAKE_COMMAND} -S ${accel} -B ${out} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/moved
  -DMLIR_DIR=${MLIR} -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
step(${CMAKE_COMMAND} --build ${out})
set(compile ${WORK}/moved/bin/tilebridge compile ${accel}/matmul.mlir --load-target=${out}/libmynpu.so
  --grid 2,2 --arg f16[64,64]=random:1 --arg f16[64,64]=random:2 --arg f32[64,64])
step(${compile} --emit=cpp -o ${out}/matmul.cpp)
step(${compile} --emit=manifest -o ${out}/manifest.json)
file(STRINGS ${out}/manifest.json manifest)
if(NOT manifest STREQUAL "[{\"name\":\"matmul\",\"products\":1,\"transfers\":4}]")
  message(FATAL_ERROR "the manifest is ${manifest}")
endif()
step(${WORK}/moved/bin/tilebridge run ${accel}/matmul.mlir --load-target=${out}/libmynpu.so
  --grid 2,2 --arg f16[64,64]=random:1 --arg f16[64,64]=random:2 --out ${out}/c.npy=f32[64,64])
step(${CXX_COMPILER} -std=c++17 -Wall -Werror -I${WORK}/moved/include/tilebridge/accel
  ${out}/matmul.cpp ${accel}/mynpu_mma.cpp ${accel}/main.cpp ${WORK}/moved/lib/libaccel_reference.a -lpthread -o ${out}/matmul)
step(${out}/matmul)
