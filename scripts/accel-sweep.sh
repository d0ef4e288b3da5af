#!/usr/bin/env bash
# Every example kernel, and the tests of the language, on the simulators of all accelerators: see test/e2e/accel_sweep.py.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

python=$ROOT/.venv/bin/python
[[ -x $python ]] || python=python3
exec "$python" test/e2e/accel_sweep.py --out build/accel-sweep "$@"
