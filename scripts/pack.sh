#!/usr/bin/env bash
# What the end-to-end tests and benchmarks need besides this repository, for a machine that nothing can be fetched on.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/pack.sh FOLDER [--python VERSION]
  --python VERSION   of the other machine (default: 3.12)
Writes FOLDER/triton.tar.xz (40 MB), FOLDER/tests.tar.xz (40 MB: build/lib for targets cpu, pytest) and FOLDER/unpack.sh. There, with this
repository, Python and PyTorch:
  source FOLDER/unpack.sh /tmp/tilebridge     # whichever of the two files are there; sets PYTHONPATH, TILEBRIDGE_LIB_DIR, TRITON_DEFAULT_BACKEND
  python3 -m pytest test/e2e -n 16
Tests of the reference evaluator, the accelerators and the command line fail there: they need LLVM's libraries.
USAGE
}

folder= python=3.12
while (($#)); do
  case $1 in
  --python)
    python=$2
    shift
    ;;
  -h | --help)
    usage
    exit
    ;;
  -*)
    usage >&2
    die "unknown option $1"
    ;;
  *) folder=$1 ;;
  esac
  shift
done
[[ $folder ]] || {
  usage >&2
  die "a folder is missing"
}
for tool in xz strip; do
  [[ $(command -v $tool) ]] || die "there is no $tool: apt-get install xz-utils binutils"
done
[[ -e build/lib/libtilebridge_compiler_cpu.so ]] || die "build/lib has no libraries: run scripts/setup.sh first"

mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pack NAME: the folder of that name, as FOLDER/NAME.tar.xz.
pack() {
  find "$work/$1" -name __pycache__ -prune -exec rm -rf {} +
  tar -C "$work" -c "$1" | xz -T0 -6 >"$folder/$1.tar.xz"
}

say "Triton for Python $python"
version=$(sed -n 's/^triton==//p' requirements/triton-3.9.txt)
.venv/bin/pip install -q --no-deps --only-binary=:all: --python-version "$python" --target "$work/triton" "triton==$version"
# Debuggers, profilers and what compiles for GPUs are nine tenths of it.
(cd "$work/triton/triton" && rm -rf include FileCheck profiler _C/libproton.so backends/*/{bin,lib,include})
strip "$work"/triton/triton/_C/libtriton.so
pack triton

say "libraries and pytest"
mkdir -p "$work/tests/lib"
cp -L build/lib/{libtilebridge_compiler_cpu.so,libtilebridge_runtime.so,_launcher.abi3.so} "$work/tests/lib/"
cp -rL build/lib/targets "$work/tests/lib/"
strip "$work/tests/lib/libtilebridge_compiler_cpu.so"
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
for name in _pytest pytest pluggy iniconfig packaging execnet xdist pygments; do
  cp -r "$packages/$name" "$work/tests/"
done
for name in pytest pytest_xdist pluggy iniconfig packaging execnet tilebridge; do
  cp -r "$packages/$name"-[0-9]*.dist-info "$work/tests/"
done
# They would name this machine's folder.
rm -f "$work"/tests/tilebridge-*.dist-info/{direct_url.json,RECORD}
pack tests

cat >"$folder/unpack.sh" <<'UNPACK'
# source unpack.sh FOLDER, in the repository's root: written by scripts/pack.sh.
: "${1:?usage: source unpack.sh FOLDER}"
to=$(realpath -m "$1")
for pack in "$(dirname "${BASH_SOURCE[0]}")"/*.tar.xz; do
  mkdir -p "$to" && xz -dc "$pack" | tar -C "$to" -x
done
export PYTHONPATH=$to/triton:$to/tests:$PWD/python TILEBRIDGE_LIB_DIR=$to/tests/lib TRITON_DEFAULT_BACKEND=tilebridge
UNPACK
ls -l "$folder"
