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
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/program -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/moved
  -DCMAKE_C_COMPILER=${COMPILER})
step(${CMAKE_COMMAND} --build ${WORK}/program)
set(ENV{TILEBRIDGE_CACHE_DIR} "")
unset(ENV{TILEBRIDGE_LIB_DIR})
step(${WORK}/program/add ${SOURCE}/add.ttir)
step(${WORK}/moved/bin/tilebridge explain ${SOURCE}/add.ttir)
