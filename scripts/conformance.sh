#!/usr/bin/env bash
# Runs Triton's own tests and tutorials on Tilebridge and writes docs/conformance.md.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/conformance.sh --triton DIR [--triton-3.7 DIR] [--tutorials] [-- options of test/conformance/run.py]
  --triton DIR       a checkout of Triton's sources for 3.9 (default: $TRITON_SOURCES)
  --triton-3.7 DIR   one of March 2026, for 3.7.1: also runs its tests of block pointers, with .venv-3.7
  --tutorials        also runs the tutorials, with the beginning of their measurements
Options after --: --resume, --sample N, --file PART, -k EXPRESSION, --workers N, ...: test/conformance/run.py --help
USAGE
}

sources=${TRITON_SOURCES:-} sources_37='' tutorials=no options=()
while (($#)); do
  case $1 in
  --triton)
    sources=${2:-}
    shift
    ;;
  --triton-3.7)
    sources_37=${2:-}
    shift
    ;;
  --tutorials) tutorials=yes ;;
  -h | --help)
    usage
    exit
    ;;
  --)
    shift
    options=("$@")
    break
    ;;
  *)
    usage >&2
    die "unknown option $1"
    ;;
  esac
  shift
done
[[ -n $sources ]] || die "--triton DIR, or TRITON_SOURCES, must name a checkout of Triton's sources"

setup_options=()
if [[ -n $sources_37 ]]; then setup_options+=(--with-3.7); fi
scripts/setup.sh "${setup_options[@]}" || exit 1

page=(--page docs/conformance.md)
# A part of the tests is no result to write down.
for option in "${options[@]}"; do
  case $option in --sample* | --file* | -k*) page=() ;; esac
done

status=0
.venv/bin/python -m pip install --quiet -r requirements/conformance.txt || die "pip could not install what the tests need"
.venv/bin/python test/conformance/run.py --triton "$sources" "${page[@]}" "${options[@]}" || status=1
if [[ -n $sources_37 ]]; then
  .venv-3.7/bin/python test/conformance/run.py --suite triton-3.7 --triton "$sources_37" \
    --python "$ROOT/.venv-3.7/bin/python" "${page[@]}" "${options[@]}" || status=1
fi
if [[ $tutorials == yes ]]; then
  .venv/bin/python test/conformance/run.py --tutorials --triton "$sources" "${page[@]}" || status=1
fi
exit $status
