#!/usr/bin/env bash
# Files of test/e2e with code for an AArch64 CPU, under QEMU, beside this machine's: see test/e2e/cross_comparison.py.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/cross.sh [--cpu NAME] [--keep FOLDER] FILE... [-- pytest options]
  --cpu NAME   LLVM's name of the CPU (default: neoverse-v2), with features: neoverse-n1,-fullfp16
  --keep FOLDER  runs nothing but what this machine runs, and puts launches and results into a folder, for a machine with such a CPU:
                 FOLDER/cross_replay.py there compares them. For x86-64, so sapphirerapids.
Without --keep it needs Debian's packages qemu-user and gcc-aarch64-linux-gnu. $TILEBRIDGE_CROSS_CC and $TILEBRIDGE_CROSS_QEMU are commands to
use instead of aarch64-linux-gnu-gcc and of qemu-aarch64.
USAGE
}

cpu=neoverse-v2 keep= files=() pytest_options=()
while (($#)); do
  case $1 in
  --cpu)
    cpu=$2
    shift
    ;;
  --keep)
    keep=$2
    shift
    ;;
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
((${#files[@]})) || die "name the files of test/e2e that are to run"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TILEBRIDGE_CROSS=$cpu
if [[ $keep ]]; then
  mkdir -p "$keep"
  cc -O1 -I"$ROOT" test/e2e/cross_launch.c -o "$keep/cross_launch" -ldl
  cp test/e2e/cross_replay.py "$keep"
  TILEBRIDGE_CROSS_KEEP=$(realpath "$keep")
  export TILEBRIDGE_CROSS_KEEP
else
  read -ra compiler <<<"${TILEBRIDGE_CROSS_CC:-aarch64-linux-gnu-gcc}"
  "${compiler[@]}" -O1 -I"$ROOT" test/e2e/cross_launch.c -o "$work/cross_launch" -ldl
  export TILEBRIDGE_CROSS_RUN="${TILEBRIDGE_CROSS_QEMU:-qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu} $work/cross_launch"
fi
# The way of a simulated target, whose kernels the plug-in replaces.
export TILEBRIDGE_TARGET=accel:grid-1x1
export TRITON_CACHE_DIR=$work/triton TILEBRIDGE_CACHE_DIR=$work/tilebridge TRITON_DEFAULT_BACKEND=tilebridge
export PYTHONPATH=$ROOT/python:$ROOT/test/e2e
.venv/bin/python -m pytest -p cross_comparison -n 0 "${files[@]}" "${pytest_options[@]}"
