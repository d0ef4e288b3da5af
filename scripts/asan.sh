#!/usr/bin/env bash
# Lit's and GoogleTest's tests, and files of test/e2e, with the compiler under AddressSanitizer and UBSan.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/asan.sh [--no-setup] [PART...] [-- pytest options]
PART is lit, unit, or a file of test/e2e (default: lit unit). Builds the preset asan in build-asan/.
  --no-setup   use the build as it is
USAGE
}

setup=yes parts=() files=() pytest_options=()
while (($#)); do
  case $1 in
  --no-setup) setup=no ;;
  lit | unit) parts+=("$1") ;;
  test/e2e/*) files+=("$1") ;;
  -h | --help)
    usage
    exit
    ;;
  --)
    shift
    pytest_options=("$@")
    break
    ;;
  *)
    usage >&2
    die "unknown option $1"
    ;;
  esac
  shift
done
((${#parts[@]} + ${#files[@]})) || parts=(lit unit)

if [[ $setup == yes ]]; then
  scripts/setup.sh --with-sanitizers --no-build || exit 1
  cmake --preset asan >/dev/null && ninja -C build-asan || exit 1
fi

# LLVM's allocators and containers cross between instrumented code and the stock libraries.
export ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:allocator_may_return_null=1:allow_user_poisoning=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

failed=()
# The runtime is built before LLVM is found, whose flags these are: it has a build of its own.
if [[ " ${parts[*]} " == *" unit "* ]]; then
  say "runtime"
  flags="-fsanitize=address,undefined -fno-sanitize=vptr,function -fno-sanitize-recover=all -fno-omit-frame-pointer"
  cmake --preset asan -B build-asan-runtime -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" >/dev/null &&
    ninja -C build-asan-runtime RuntimeTests && build-asan-runtime/bin/RuntimeTests --gtest_brief=1 || failed+=(runtime)
fi
for part in "${parts[@]}"; do
  say "$part"
  ctest --test-dir build-asan --output-on-failure --no-tests=error -j "$(nproc)" -L "$part" -E unit.install || failed+=("$part")
done

# Python is not instrumented: the sanitizers' library is loaded before all others, and the compiler's library with it. The
# tools have it linked in and do not run beside that: tests that call them fail here, and are lit's instead.
if ((${#files[@]})); then
  say "e2e"
  cache=$(mktemp -d)
  library=$(clang-22 -print-file-name=libclang_rt.asan-x86_64.so)
  env LD_PRELOAD="$library $(gcc -print-file-name=libstdc++.so.6)" TILEBRIDGE_LIB_DIR="$ROOT/build-asan/package" PYTHONPATH="$ROOT/python" \
    TRITON_CACHE_DIR="$cache/triton" TILEBRIDGE_CACHE_DIR="$cache/tilebridge" \
    OMP_NUM_THREADS=2 TRITON_DEFAULT_BACKEND=tilebridge \
    .venv/bin/python -m pytest "${files[@]}" "${pytest_options[@]}" || failed+=(e2e)
  rm -rf "$cache"
fi
if ((${#failed[@]})); then die "failed: ${failed[*]}"; fi
