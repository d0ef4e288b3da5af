#!/usr/bin/env bash
# The runtime's unit tests under ThreadSanitizer: compiling (by a stand-in) and launching from many threads.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

scripts/setup.sh --with-sanitizers --no-build
flags=-fsanitize=thread
cmake --preset dev -B build-tsan -DLLVM_USE_SANITIZER=Thread -DCMAKE_C_FLAGS=$flags -DCMAKE_CXX_FLAGS=$flags >/dev/null
ninja -C build-tsan RuntimeTests

# GNU's OpenMP synchronizes in ways that the sanitizer does not see: launches come from threads of the tests, and the
# test that needs OpenMP's is left out. A forked child ends without having joined the threads of its parent.
OMP_NUM_THREADS=1 TSAN_OPTIONS="allocator_may_return_null=1 halt_on_error=1 report_thread_leaks=0" \
  build-tsan/bin/RuntimeTests --gtest_filter="${1:--Launch.CooperativeProgramsRunTogether}"
