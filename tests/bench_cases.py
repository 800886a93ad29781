"""Small cases for the tests of the benchmark, one of each kind, and a Python of its own to run code in."""

import subprocess
import sys
from pathlib import Path

from benchmarks.expected import answer
from benchmarks.inputs import LAYOUTS, arrays, draw
from benchmarks.matrix import Case

SMALL = (
    Case("full", "argmax", "float32", (257,)),
    Case("full", "argmin", "uint8", (257,)),
    Case("long rows", "argmax", "int16", (9, 70), (1,), last=True),
    Case("non-last axis", "argmax", "bfloat16", (9, 70), (0,)),
    Case("several axes", "argmax", "float16", (6, 5, 4), (0, 2)),
    Case("several axes", "argmax", "float64", (6, 5, 4), (0, 2), last=True),
    Case("full", "argmax", "float32", (6, 5, 4), last=True),
    *(Case("views", "argmax", "int32", (6, 5, 4), (2,), layout=layout) for layout in LAYOUTS),
    Case("elementwise", "max", "int64", (40,), operands=2),
    Case("elementwise", "max", "float16", (6, 5), operands=3, broadcast="row"),
    Case("elementwise", "max", "uint64", (6, 5), operands=4, broadcast="column"),
    Case("elementwise", "min", "float32", (6, 5), operands=8, broadcast="scalar"),
    Case("views", "max", "float32", (6, 5), operands=3, layout="fortran"),
    Case("hardmax", "hardmax", "float32", (6, 5), (0,)),
    Case("hardmax", "hardmax", "bfloat16", (6, 5, 4), (1, 2), opset=11),
)


def run_python(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    # From the root of the repository, where `benchmarks` is.
    root = Path(__file__).parents[1]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout


def prepared_case(case):
    numbers = draw(case)
    return numbers, answer(case, numbers), arrays(case, numbers)
