#!/usr/bin/env bash
# Runs the kernels' tests under Miri, which checks every access: bounds, alignment, initialisation, aliasing and races.
# Miri does not support AVX-512; its second run, with Tree Borrows, has AVX2. Tests that take hours there say so. A random
# call takes half a minute: each night makes 20 different calls. CASES and SEED say how many, and which.
set -euo pipefail
cd "$(dirname "$0")/../.."

toolchain=${TOOLCHAIN:-nightly} cases=${CASES:-20} seed=${SEED:-$(date +%j)}
rustup component add miri rust-src --toolchain "$toolchain" 2>/dev/null || {
	echo ".ci/leg miri needs Miri: rustup toolchain install $toolchain --component miri --component rust-src" >&2
	exit 2
}

run() {
	echo "== $1: $cases random calls of seed $seed"
	# Miri's own flags are those of this run, whatever the environment of the build was.
	MIRIFLAGS="$2 -Zmiri-env-set=EXTREMUM_CASES=$cases -Zmiri-env-set=EXTREMUM_SEED=$seed" RUSTFLAGS="$3" \
		cargo "+$toolchain" miri test --quiet --package extremum-kernels --target-dir target/miri --lib --test random -- --nocapture
}
run "Stacked Borrows" "-Zmiri-disable-isolation" ""
run "Tree Borrows, AVX2" "-Zmiri-disable-isolation -Zmiri-tree-borrows" \
	"-C target-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt"
