#!/usr/bin/env bash
# Every check that needs no test run: format, style of the Python files, sizes, docs, examples.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/lint.sh [--fix] [--tidy [BASE]]
  --fix    format the C++ and Python files and write docs/generated, then check
  --tidy   also run clang-tidy over the lines changed since BASE (default: main)
USAGE
}

fix=no tidy=no base=main
while (($#)); do
  case $1 in
  --fix) fix=yes ;;
  --tidy)
    tidy=yes
    if [[ $# -gt 1 && $2 != --* ]]; then
      base=$2
      shift
    fi
    ;;
  -h | --help)
    usage
    exit
    ;;
  *)
    usage >&2
    die "unknown option $1"
    ;;
  esac
  shift
done

python=.venv/bin/python
[[ -x $python ]] || python=python3
# Files that are deleted but not yet committed are still listed.
mapfile -t sources < <(git ls-files '*.cpp' '*.h' '*.c' | while read -r f; do [[ -f $f ]] && echo "$f"; done)

if [[ $fix == yes ]]; then
  clang-format-22 -i "${sources[@]}"
  "$python" -m ruff format --quiet .
  "$python" -m ruff check --quiet --fix .
  "$python" tools/gen_docs.py
fi

failed=()
check() {
  local name=$1
  shift
  "$@" || failed+=("$name")
}
check clang-format clang-format-22 --dry-run -Werror "${sources[@]}"
check "ruff check" "$python" -m ruff check --quiet .
check "ruff format" "$python" -m ruff format --check --quiet .
check sizes "$python" tools/check_sizes.py
check names "$python" tools/check_names.py
check headers "$python" tools/check_headers.py
check mirror "$python" tools/check_tests_mirror.py
check links "$python" tools/check_links.py
check docs "$python" tools/gen_docs.py --check
if [[ -x build/bin/tilebridge-opt ]]; then
  check examples "$python" tools/check_examples.py
else
  echo "examples: not checked, build/bin/tilebridge-opt is not there"
fi
if [[ $tidy == yes ]]; then
  check clang-tidy bash -c \
    "git diff -U0 '$base' -- '*.cpp' '*.h' | clang-tidy-diff-22.py -p1 -path build -quiet -j $(nproc)"
fi

if ((${#failed[@]})); then
  printf 'lint: failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "lint: all checks passed"
