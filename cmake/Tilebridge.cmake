# The functions every folder's CMakeLists.txt is written with.

# CMake also includes the header that it has precompiled, by an absolute path that ccache takes for another one in each clone.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)

# The headers of MLIR that nearly every file needs, parsed once.
add_library(TilebridgePch STATIC ${CMAKE_SOURCE_DIR}/cmake/Pch.cpp)
# By its name, so that what CMake makes of it is the same in each clone, and ccache needs to preprocess nothing.
target_precompile_headers(TilebridgePch PRIVATE <cmake/Pch.h>)
llvm_update_compile_flags(TilebridgePch)
set_target_properties(TilebridgePch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(TilebridgePch PRIVATE -fPIC)
target_compile_options(TilebridgePch PUBLIC -Xclang -fno-pch-timestamp)
set_target_properties(TilebridgePch PROPERTIES
  CXX_COMPILER_LAUNCHER "sh;${CMAKE_SOURCE_DIR}/cmake/compile-pch.sh;${CMAKE_SOURCE_DIR}")

function(tilebridge_set_up target)
  llvm_update_compile_flags(${target})
  target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
  # One precompiled header serves libraries and programs: both are compiled with -fPIC, not -fPIE.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM TilebridgePch)
endfunction()

# tilebridge_tablegen(TARGET file.td OUTPUT FLAG [OUTPUT FLAG ...])
# Runs mlir-tblgen over one file; outputs land beside it in the build tree. A flag with
# options of its own is one quoted string, its parts separated by spaces.
function(tilebridge_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs output flag)
    separate_arguments(flag)
    mlir_tablegen(${output} ${flag} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

# tilebridge_library(NAME SOURCES... [DEPENDS tablegen targets...] [LINK libraries...])
function(tilebridge_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  tilebridge_set_up(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # Whoever has the property TILEBRIDGE_STATIC_LLVM links archives of MLIR and LLVM itself.
  set(is_shared $<NOT:$<BOOL:$<TARGET_PROPERTY:TILEBRIDGE_STATIC_LLVM>>>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} $<${is_shared}:MLIR> $<${is_shared}:LLVM>)
endfunction()

# tilebridge_tool(NAME SOURCES... LINK libraries...)
function(tilebridge_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  tilebridge_set_up(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
endfunction()

# tilebridge_unittest(NAME SOURCES... [LINK libraries...] [NO_LLVM])
# A GoogleTest program and its ctest entry `unit.NAME`. One entry a program, not one a case:
# loading libMLIR costs more than most cases. NO_LLVM: for what must build without it.
function(tilebridge_unittest name)
  cmake_parse_arguments(ARG "NO_LLVM" "" "LINK" ${ARGN})
  find_package(GTest REQUIRED)
  find_package(Threads REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main Threads::Threads)
  if(ARG_NO_LLVM)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  else()
    tilebridge_set_up(${name})
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
  add_test(NAME unit.${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;quick" TIMEOUT 600)
endfunction()
