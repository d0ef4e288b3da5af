#!/usr/bin/env bash
# Sets everything up and runs the tests. Goes on after a failure, and closes with the runners' own summaries.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/test.sh [--quick | --all] [--no-setup] [PART...] [-- pytest options]
PART is one of: lint lit unit e2e (default: all of them)
  --quick      no test marked slow, and only Triton 3.9
  --all        every case (default: with Triton 3.9, 16 cases of each test and every third of its others; with 3.7, two and
               every eighth, and all of block pointers)
  --no-setup   use the build and the environments as they are
One test: lit: /usr/lib/llvm-22/bin/lit -v build/test/lit/FOLDER/FILE; GoogleTest: build/bin/NAME;
pytest: .venv/bin/python -m pytest test/e2e/FILE -k NAME
USAGE
}

quick=no all=no setup=yes parts=() pytest_options=()
while (($#)); do
  case $1 in
  --quick) quick=yes ;;
  --all) all=yes ;;
  --no-setup) setup=no ;;
  lint | lit | unit | e2e) parts+=("$1") ;;
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
((${#parts[@]})) || parts=(lint lit unit e2e)
wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }

setup_options=()
if wants e2e && [[ $quick == no ]]; then setup_options+=(--with-3.7); fi
if [[ $setup == yes ]]; then scripts/setup.sh "${setup_options[@]}" || exit 1; fi

logs=build/test-logs
mkdir -p $logs
rm -f $logs/*
failed=()

# run NAME COMMAND...: shows and keeps the output, notes a failure and goes on.
run() {
  local name=$1
  shift
  say "$name"
  "$@" 2>&1 </dev/null | tee "$logs/$name.log"
  local status=${PIPESTATUS[0]}
  # pytest's 5 and ctest's 8 mean that nothing ran: a failure like any other.
  if ((status)); then failed+=("$name (exit $status)"); fi
}

# What was given back, or never written, is no number that was there before: reading it fails each time and not once in a
# thousand (glibc).
export MALLOC_PERTURB_=165

# pytest_on NAME VENV LEAST SHARE: of each test LEAST cases and one in SHARE of its others. A kernel cache of its own, so that
# no result comes from an earlier run. Compiling takes most of the time and one thread: a process a core, and of a launch the
# two threads that a race needs.
pytest_on() {
  local cache select=() workers
  if [[ $all == no ]]; then select+=(--least "$3" --share "$4"); fi
  cache=$(mktemp -d)
  workers=$(nproc)
  if [[ $quick == yes ]]; then select+=(-m "not slow"); fi
  run "$1" env TRITON_CACHE_DIR="$cache/triton" TILEBRIDGE_CACHE_DIR="$cache/tilebridge" \
    OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}" TRITON_DEFAULT_BACKEND=tilebridge \
    "$2/bin/python" -m pytest test/e2e test/conformance -n $((workers < 8 ? workers : 8)) --dist worksteal \
    "${select[@]}" "${pytest_options[@]}"
  rm -rf "$cache"
}

if wants lint; then run lint scripts/lint.sh; fi
ctest_options=(--test-dir build --output-on-failure --no-tests=error -j "$(nproc)")
if wants lit && wants unit; then
  run ctest ctest "${ctest_options[@]}" -L 'lit|unit'
else
  if wants lit; then run ctest ctest "${ctest_options[@]}" -L lit; fi
  if wants unit; then run ctest ctest "${ctest_options[@]}" -L unit; fi
fi
if wants e2e; then
  pytest_on pytest-triton-3.9 .venv 16 3
  if [[ $quick == no ]]; then pytest_on pytest-triton-3.7 .venv-3.7 2 8; fi
fi

say "Summary"
for name in "${failed[@]}"; do echo "FAILED: $name"; done
grep -hE '^[0-9]+% tests passed' $logs/ctest.log 2>/dev/null
for log in "$logs"/pytest-*.log; do
  if [[ -f $log ]]; then
    echo "$(basename "$log" .log):"
    grep -E '^=+ .*(passed|failed|error|skipped|no tests ran).* =+$' "$log" | tail -1
  fi
done
((${#failed[@]} == 0))
