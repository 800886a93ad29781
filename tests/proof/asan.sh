#!/usr/bin/env bash
# Runs the Rust tests and the extension module, operators for ONNX Runtime included, under AddressSanitizer: it checks
# every memory access of random calls. CALLS, SEED and JOBS say how many calls, which, and in how many processes.
set -euo pipefail
cd "$(dirname "$0")/../.."

toolchain=${TOOLCHAIN:-nightly} calls=${CALLS:-500000} jobs=${JOBS:-$(nproc)} seed=${SEED:-$(date +%j)} python=.venv/bin/python
runtime=$(cc -print-file-name=libasan.so 2>/dev/null || true)
# ONNX Runtime throws C++ exceptions, which the sanitizer can intercept only if libstdc++ is loaded when it starts.
throwing=$(cc -print-file-name=libstdc++.so.6 2>/dev/null || true)
if [[ $(uname -sm) != "Linux x86_64" ]]; then
	echo ".ci/leg asan needs Linux on x86-64" >&2; exit 2
elif [[ $runtime != /* ]]; then
	echo ".ci/leg asan needs the sanitizer's runtime: apt-get install gcc libasan8" >&2; exit 2
elif ! cargo "+$toolchain" --version >/dev/null 2>&1; then
	echo ".ci/leg asan needs a nightly toolchain: rustup toolchain install $toolchain --profile minimal" >&2; exit 2
fi

target=x86_64-unknown-linux-gnu
export RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR=$PWD/target/asan
# Overflows and broken assumptions are errors too; level 1 of optimisation takes a fifth of the time to compile.
export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true
export EXTREMUM_EVERY_COPY=1
cargo "+$toolchain" build --quiet --release --package extremum-python --target $target
echo "== Rust tests"
EXTREMUM_CASES=$((calls / 25)) EXTREMUM_SEED=$seed cargo "+$toolchain" test --quiet --release --package extremum-kernels \
	--target $target --test random random_calls -- --nocapture

site=$CARGO_TARGET_DIR/site
tests/proof/site.sh "$site" "$CARGO_TARGET_DIR/$target/release"
echo "== $calls calls from Python of seed $seed, in $jobs processes"
# No leak check: it cannot tell leaks from memory that CPython and NumPy keep until exit. tests/test_leaks.py looks for leaks.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1 PYTHONMALLOC=malloc
processes=()
for ((job = 0; job < jobs; job++)); do
	LD_PRELOAD="$runtime $throwing" PYTHONPATH=$site "$python" tests/support/random_calls.py --sessions --seed "$seed" \
		--first $((job * (calls / jobs))) --calls $((calls / jobs)) &
	processes+=($!)
done
for process in "${processes[@]}"; do wait "$process"; done
echo "test-asan: no findings"
