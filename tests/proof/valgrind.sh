#!/usr/bin/env bash
# Random calls under valgrind, which sees reads of what was never written. It knows no AVX-512 and reports none, so that
# the other instruction sets are at work. CPython and NumPy have findings of their own: those with our code in the stack
# count (tests/proof/findings.py).
set -euo pipefail
cd "$(dirname "$0")/../.."

calls=${CALLS:-3000} seed=${SEED:-$(date +%j)} python=.venv/bin/python
command -v valgrind >/dev/null || { echo ".ci/leg valgrind needs valgrind: apt-get install valgrind" >&2; exit 2; }

site=$PWD/target/valgrind report=$PWD/target/valgrind.xml
CARGO_PROFILE_RELEASE_DEBUG=line-tables-only cargo build --quiet --release --package extremum-python
tests/proof/site.sh "$site" target/release
PYTHONMALLOC=malloc PYTHONPATH=$site valgrind --quiet --tool=memcheck --xml=yes --xml-file="$report" --num-callers=30 \
	--leak-check=no "$python" tests/random_calls.py --calls "$calls" --seed "$seed"
"$python" tests/proof/findings.py "$report"
