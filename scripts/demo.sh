#!/usr/bin/env bash
# Sets everything up and runs the example kernels against PyTorch; options go to examples/demo.py.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh
say "Demo"
exec .venv/bin/python examples/demo.py "$@"
