#!/usr/bin/env bash
# Brings a fresh clone to a built tree and a Python environment that runs Triton kernels on the CPU.
# Every step looks first whether its work is done: a second run takes seconds.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/setup.sh [--with-3.7] [--with-peers] [--with-sanitizers] [--no-apt] [--no-build] [--help]
  --with-3.7   also make .venv-3.7 with Triton 3.7.1 (the tests of block pointers need it)
  --with-peers also install JAX in .venv, which benchmarks/cpu compares with
  --with-sanitizers
               also install what the presets asan and fuzz link
  --no-apt     take the system as it is; say what is missing
  --no-build   packages and Python only
Environment: PYTHON names the interpreter of .venv (default: the first of python3.11, python3 that is 3.11
or newer); TILEBRIDGE_TORCH_INDEX is an index of PyTorch's CPU wheels, asked besides pip's own.
USAGE
}

PACKAGES=(
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev
  clang-format-22 clang-tidy-22 libgomp1 libzstd-dev zlib1g-dev libgtest-dev
  cmake ninja-build ccache git python3-dev python3-venv
)

missing_packages() {
  dpkg-query -W -f '${Package} ${Status}\n' "${PACKAGES[@]}" 2>/dev/null |
    awk '/ok installed/ { print $1 }' |
    grep -vxFf - <(printf '%s\n' "${PACKAGES[@]}") || true
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    # cmake names what it misses.
    if [[ $1 == no-apt ]]; then return 0; fi
    die "packages are installed with apt, as Debian 12 has it, and it is not here. Install LLVM, MLIR, clang and" \
      "lld 22, cmake, ninja, ccache and GoogleTest by other means and call scripts/setup.sh --no-apt."
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  if [[ $1 == no-apt ]]; then die "these packages are missing: ${missing[*]}"; fi
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "these packages are missing and need root: as root run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "apt-get install ${missing[*]}"
  "${as_root[@]}" apt-get update -q ||
    echo "apt-get update did not succeed everywhere; going on with the lists that are here" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    "${missing[@]}" ||
    die "apt-get could not install: ${missing[*]}. Debian 12's archive has them all;" \
      "check that its main, updates and security parts are among your sources."
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3.11 python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
      >/dev/null 2>&1; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  die "no Python 3.11 or newer with the modules venv and ensurepip was found; set PYTHON to one"
}

# install_python DIRECTORY TRITON-REQUIREMENTS
install_python() {
  local venv=$1 triton=$2 python stamp want
  stamp=$venv/.tilebridge-set-up
  python=$(find_python)
  want=$(
    echo "$ROOT $python"
    cat requirements/dev.txt requirements/torch.txt "$triton"
    [[ ! -f python/pyproject.toml ]] || cat python/pyproject.toml
  )
  if [[ -x $venv/bin/python && -f $stamp && $(<"$stamp") == "$want" ]]; then return 0; fi
  [[ ! -L $venv ]] || die "$venv is a link, and what it points to would be emptied: remove the link"
  say "Python packages in $venv ($(basename "$triton" .txt))"
  "$python" -m venv --clear "$venv"
  local pip=("$venv/bin/python" -m pip install --quiet)
  local extra=()
  if [[ -n ${TILEBRIDGE_TORCH_INDEX:-} ]]; then extra=(--extra-index-url "$TILEBRIDGE_TORCH_INDEX"); fi
  # PyTorch first and Triton by itself: a PyTorch built for CUDA asks for a Triton of its own.
  local torch
  torch=$(grep '^torch==' requirements/torch.txt)
  if ! "${pip[@]}" "${extra[@]}" "$torch+cpu" 2>/dev/null; then
    "${pip[@]}" "${extra[@]}" "$torch" || die "pip could not install $torch"
  fi
  "${pip[@]}" -r requirements/dev.txt || die "pip could not install requirements/dev.txt"
  "${pip[@]}" -r "$triton" || die "pip could not install $triton"
  if [[ -f python/pyproject.toml ]]; then
    "${pip[@]}" --no-deps --no-build-isolation -e python || die "pip could not install python/"
  fi
  printf '%s\n' "$want" >"$stamp"
}

build() {
  # A build folder that was copied or moved with its clone cannot be used again.
  if [[ -f build/CMakeCache.txt ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" build/CMakeCache.txt; then
    rm -rf build
  fi
  # cmake empties a cache whose compiler it takes for another one, and drops the preset's values with it: the build
  # would not be optimized.
  if [[ -f build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_BUILD_TYPE:STRING=Release" build/CMakeCache.txt; then
    rm -rf build
  fi
  say "Configure and build"
  mkdir -p build
  local options=() python
  python=$(find_python)
  if "$python" -c 'import sys; sys.exit("t" not in sys.abiflags)'; then
    options=("-DTILEBRIDGE_FREE_THREADED_PYTHON=$python")
  fi
  # LLVM's modules settle how archives are made in a second configuration only: without it, the next run links again.
  if [[ ! -f build/build.ninja ]]; then cmake --preset dev "${options[@]}" >build/configure.log 2>&1 || true; fi
  if ! cmake --preset dev "${options[@]}" >build/configure.log 2>&1; then
    cat build/configure.log >&2
    die "cmake failed"
  fi
  grep -qxF "CMAKE_BUILD_TYPE:STRING=Release" build/CMakeCache.txt ||
    die "cmake dropped the preset's options (build/configure.log): delete the folder build and try again"
  ninja -C build -j "$(nproc)" || die "the build failed"
}

apt=apt with_37=no with_build=yes with_peers=no
for option in "$@"; do
  case $option in
  --with-3.7) with_37=yes ;;
  --with-peers) with_peers=yes ;;
  --with-sanitizers) PACKAGES+=(libclang-rt-22-dev) ;;
  --no-apt) apt=no-apt ;;
  --no-build) with_build=no ;;
  -h | --help)
    usage
    exit
    ;;
  *)
    usage >&2
    die "unknown option $option"
    ;;
  esac
done

started=$SECONDS
install_packages "$apt"
if [[ $with_build == yes ]]; then build; fi
install_python .venv requirements/triton-3.9.txt
if [[ $with_peers == yes ]]; then
  .venv/bin/python -m pip install --quiet -r requirements/bench.txt || die "pip could not install requirements/bench.txt"
fi
if [[ $with_37 == yes ]]; then install_python .venv-3.7 requirements/triton-3.7.txt; fi
say "Set up in $((SECONDS - started)) s"
