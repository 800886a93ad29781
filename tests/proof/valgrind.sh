#!/usr/bin/env bash
# Makes random calls under valgrind, which finds reads of uninitialised memory. It neither supports nor reports AVX-512,
# so the calls use other instruction sets. CPython and NumPy have findings of their own: only those with our code in the
# stack count (tests/proof/findings.py). Blocks have at most 20 instructions: with its default of 50, valgrind ran out of
# memory in the longest unrolled kernel.
set -euo pipefail
cd "$(dirname "$0")/../.."

calls=${CALLS:-3000} seed=${SEED:-$(date +%j)} python=.venv/bin/python
command -v valgrind >/dev/null || { echo ".ci/leg valgrind needs valgrind: apt-get install valgrind" >&2; exit 2; }

site=$PWD/target/valgrind report=$PWD/target/valgrind.xml
CARGO_PROFILE_RELEASE_DEBUG=line-tables-only cargo build --quiet --release --package extremum-python
tests/proof/site.sh "$site" target/release
PYTHONMALLOC=malloc PYTHONPATH=$site valgrind --quiet --tool=memcheck --xml=yes --xml-file="$report" --num-callers=30 \
	--leak-check=no --vex-guest-max-insns=20 "$python" tests/support/random_calls.py --calls "$calls" --seed "$seed"
"$python" tests/proof/findings.py "$report"
