#!/usr/bin/env bash
# Fuzzes the reader and the whole pipeline under AddressSanitizer and UBSan, with libFuzzer.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() {
  cat <<'USAGE'
usage: scripts/fuzz.sh [--seconds N] [--jobs N] [--no-setup] [-- libFuzzer options]
  --seconds N  how long (3600)
  --jobs N     processes side by side (1)
  --no-setup   neither install what is missing nor build
The corpus grows in build-fuzz/corpus; what was found is in build-fuzz/findings, a file each. To see one again:
  build-fuzz/bin/compiler-fuzzer FILE
USAGE
}

seconds=3600 jobs=1 setup=yes options=()
while (($#)); do
  case $1 in
  --seconds) seconds=$2 && shift ;;
  --jobs) jobs=$2 && shift ;;
  --no-setup) setup=no ;;
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

if [[ $setup == yes ]]; then
  scripts/setup.sh --with-sanitizers --no-build
  cmake --preset fuzz >/dev/null
  ninja -C build-fuzz compiler-fuzzer
fi

# The corpus begins with real TTIR and with each case of the lit tests.
corpus=build-fuzz/corpus findings=build-fuzz/findings
mkdir -p $corpus $findings
python3 - $corpus <<'PYTHON'
import hashlib, pathlib, sys
for folder in ("test/ttir/3.9.0", "test/ttir/3.7.1", "test/lit/frontend", "test/lit/triton-to-linalg"):
    for file in pathlib.Path(folder).rglob("*.mlir"):
        for part in file.read_text().split("// -----\n"):
            name = hashlib.sha1(part.encode()).hexdigest()
            (pathlib.Path(sys.argv[1]) / name).write_text(part)
PYTHON

# LLVM's allocators and containers cross between instrumented code and the stock libraries.
export ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:allocator_may_return_null=0:allow_user_poisoning=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
build-fuzz/bin/compiler-fuzzer $corpus -artifact_prefix=$findings/ -max_total_time="$seconds" -fork="$jobs" \
  -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -timeout=30 -rss_limit_mb=4096 -max_len=65536 \
  "${options[@]}" 2>&1 | tail -n 40
count=$(find $findings -type f | wc -l)
say "$count findings in $findings"
((count == 0))
