#!/usr/bin/env bash
# A copy of the package in FOLDER with the libraries that cargo has just built in RELEASE, for PYTHONPATH.
set -euo pipefail
site=$1 release=$2
rm -rf "$site"
mkdir -p "$site"
cp -r src/extremum "$site/extremum"
rm -f "$site"/extremum/_native*.so
mkdir -p "$site/extremum/onnxruntime/lib"
cp "$release/lib_native.so" "$site/extremum/_native.abi3.so"
# shellcheck disable=SC2012 # the newest of those that several builds have left
cp "$(ls -t "$release"/build/extremum-python-*/out/libextremum_onnxruntime.so | head -1)" "$site/extremum/onnxruntime/lib/"
