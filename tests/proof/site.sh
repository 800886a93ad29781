#!/usr/bin/env bash
# Copies the package to FOLDER, for PYTHONPATH, with the module that cargo has just built in RELEASE.
set -euo pipefail
site=$1 release=$2
rm -rf "$site"
mkdir -p "$site"
cp -r src/extremum "$site/extremum"
rm -f "$site"/extremum/_native*.so
cp "$release/lib_native.so" "$site/extremum/_native.abi3.so"
