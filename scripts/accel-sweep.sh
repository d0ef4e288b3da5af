#!/usr/bin/env bash
# Every example kernel, and the tests of the language, on the simulators of all accelerators: see test/e2e/accel_comparison.py.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/accel-sweep.sh [--targets "NAME..."] [--files "FILE..."] [-k WORDS]
  --targets  names of accel-backend/targets, default: all of them
  --files    files of test/e2e, default: the examples and those that test ops
  -k         as pytest has it
Prints a line a target and ends with 1 where a test failed; logs are in build/accel-sweep.
USAGE
}

targets=$(basename -s .json accel-backend/targets/*.json)
files="test_examples.py test_arithmetic.py test_shapes.py test_reductions.py test_casts.py test_access.py
  test_memory.py test_control_flow.py test_dots.py test_gathers.py test_math.py test_accumulators.py
  test_pointer_arithmetic.py test_descriptor_shapes.py test_hazards_access.py test_hazards_values.py test_random_programs.py"
words=""
while (($#)); do
  case $1 in
  --targets) targets=$2 ;;
  --files) files=$2 ;;
  -k) words=$2 ;;
  *)
    usage
    [[ $1 == -h || $1 == --help ]] && exit 0
    exit 2
    ;;
  esac
  shift 2
done

python=$ROOT/.venv/bin/python
[[ -x $python ]] || python=python3
mkdir -p build/accel-sweep
failed=0
for target in $targets; do
  log=$PWD/build/accel-sweep/$target.log
  # shellcheck disable=SC2086
  (cd test/e2e && TILEBRIDGE_TARGET=accel:$target PYTHONPATH=$ROOT/test/e2e${PYTHONPATH:+:$PYTHONPATH} \
    "$python" -m pytest -q -p accel_comparison -p no:cacheprovider ${words:+-k "$words"} $files) >"$log" 2>&1 || failed=1
  echo "$(grep "^accel:" "$log" | tail -1); $(tail -1 "$log")"
done
exit $failed
