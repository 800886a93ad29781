"""The library as hosts use it: loaded and left any number of times."""

import subprocess
import sys

import pytest

from extremum.onnxruntime import library_path

CYCLES = """
import sys
import onnxruntime
import psutil

def cycles(count):
    for _ in range(count):
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(sys.argv[1])
        if model is not None:
            onnxruntime.InferenceSession(model, options)

def growth(count):
    before = process.memory_info().rss
    cycles(count)
    return process.memory_info().rss - before

process = psutil.Process()
model = None
cycles(500)
# What allocators keep is not a leak: it does not come again.
print(min(growth(1000) for _ in range(3)))
model = bytes.fromhex(sys.argv[2])
cycles(300)
print(min(growth(300) for _ in range(3)))
"""


def in_a_process(code, *arguments):
    words = [sys.executable, "-c", code, str(library_path()), *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


def test_memory_stays_flat_over_cycles_of_options_and_sessions():
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 8, opset_import: ["ai.extremum" : 1]> g (float[3] x) => (float[3] y) {
        y = ai.extremum.OneHot <axis = 0> (x) }"""
    result = in_a_process(CYCLES, onnx.parser.parse_model(text).SerializeToString().hex())
    assert result.returncode == 0, result.stderr
    options, sessions = map(int, result.stdout.split())
    # 39 operators made anew would be 10 KB a cycle.
    assert options < 1000 * 1024, f"{options / 1000} bytes a cycle of options"
    assert sessions < 300 * 4096, f"{sessions / 300} bytes a cycle of a session"
