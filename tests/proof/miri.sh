#!/usr/bin/env bash
# The kernels' tests under Miri, which watches every access: bounds, alignment, initialisation, aliasing and races.
# Miri knows no AVX-512; its other half, Tree Borrows, gets AVX2. Tests that take hours there say so themselves.
set -euo pipefail
cd "$(dirname "$0")/../.."

toolchain=${TOOLCHAIN:-nightly}
rustup component add miri rust-src --toolchain "$toolchain" 2>/dev/null || {
	echo ".ci/leg miri needs Miri: rustup toolchain install $toolchain --component miri --component rust-src" >&2
	exit 2
}

run() {
	echo "== $1"
	MIRIFLAGS="$2" RUSTFLAGS="$3" EXTREMUM_CASES=${CASES:-150} EXTREMUM_SEED=${SEED:-1} \
		cargo "+$toolchain" miri test --quiet --package extremum-kernels --target-dir target/miri --lib --test random -- --nocapture
}
run "Stacked Borrows" "-Zmiri-disable-isolation" ""
run "Tree Borrows, AVX2" "-Zmiri-disable-isolation -Zmiri-tree-borrows" \
	"-C target-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt"
