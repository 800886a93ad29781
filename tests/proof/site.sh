#!/usr/bin/env bash
# A copy of the package in FOLDER with the module that cargo has just built in RELEASE, for PYTHONPATH.
set -euo pipefail
site=$1 release=$2
rm -rf "$site"
mkdir -p "$site"
cp -r src/extremum "$site/extremum"
rm -f "$site"/extremum/_native*.so
cp "$release/lib_native.so" "$site/extremum/_native.abi3.so"
