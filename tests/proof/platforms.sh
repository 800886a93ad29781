#!/usr/bin/env bash
# Runs the kernels' tests on other processors, emulated, and builds the kernels for WebAssembly; a warning is an error.
# AArch64 has its own vectors, s390x is big-endian, i686 has 32-bit pointers, ppc64le has pages of 64 KB.
set -euo pipefail
cd "$(dirname "$0")/../.."

platforms=(
	"aarch64-unknown-linux-gnu aarch64-linux-gnu qemu-aarch64"
	"s390x-unknown-linux-gnu s390x-linux-gnu qemu-s390x"
	"i686-unknown-linux-gnu i686-linux-gnu qemu-i386"
	"powerpc64le-unknown-linux-gnu powerpc64le-linux-gnu qemu-ppc64le"
)
packages="qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross"
packages+=" gcc-i686-linux-gnu libc6-dev-i386-cross gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"

for platform in "${platforms[@]}"; do
	read -r target system emulator <<<"$platform"
	if ! { command -v "$system-gcc" && command -v "$emulator"; } >/dev/null; then
		echo ".ci/leg platforms needs $system-gcc and $emulator: apt-get install --no-install-recommends $packages" >&2
		exit 2
	fi
	rustup target add --toolchain stable "$target" 2>/dev/null ||
		{ echo ".ci/leg platforms needs the target $target: rustup target add $target" >&2; exit 2; }
done
rustup target add wasm32-unknown-unknown 2>/dev/null

export RUSTFLAGS="-D warnings"
for platform in "${platforms[@]}"; do
	read -r target system emulator <<<"$platform"
	name=${target//-/_}
	export "CARGO_TARGET_${name^^}_LINKER=$system-gcc"
	export "CARGO_TARGET_${name^^}_RUNNER=$emulator -L /usr/$system"
	echo "== $target"
	EXTREMUM_CASES=4000 cargo test --quiet --release --package extremum-kernels --target "$target" --target-dir target/platforms
done
echo "== wasm32-unknown-unknown"
cargo build --quiet --release --package extremum-kernels --target wasm32-unknown-unknown --target-dir target/platforms
echo "test-platforms: ${#platforms[@]} platforms tested, WebAssembly built"
