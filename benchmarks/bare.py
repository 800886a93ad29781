"""The bound of a call: a bare loop that reads the same bytes in the same order, and writes as many as the call does.

The loop is compiled from `bare.rs` for the instruction set in use. It takes one argument, so that calling it through
ctypes takes 0.1 us, about as long as calling this package.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from functools import cache, partial
from math import gcd, prod
from typing import Any

import click
import numpy as np

from benchmarks.matrix import Array
from benchmarks.run import ROOT
from extremum import _native

# The processors for which the compiler has to know that they have an instruction set.
_PROCESSORS = {"avx512": "x86-64-v4", "avx2": "x86-64-v3", "sse4.2": "x86-64-v2"}
# Bytes that are read in one piece, and bytes of each row of a piece where the rows are longer.
_PIECE = 32 << 10
_TILE = 8 << 10


class _Walk(ctypes.Structure):
    """What the loop reads and writes, as `bare.rs` says; `memory` keeps both alive."""

    memory: tuple[Array, Array]
    _fields_ = (
        ("from", ctypes.c_void_p),
        ("to", ctypes.c_void_p),
        ("pieces", ctypes.c_size_t),
        ("piece", ctypes.c_size_t),
        ("rows", ctypes.c_size_t),
        ("row", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("written", ctypes.c_size_t),
    )


@cache
def _compiled(instruction_set: str) -> Any:
    path = ROOT / "build" / f"bare-{instruction_set}"
    path.parent.mkdir(exist_ok=True)
    source = ROOT / "benchmarks" / "bare.rs"
    options = ["-O", "--edition=2024", "--crate-type=cdylib", "-Cpanic=abort"]
    processor = _PROCESSORS.get(instruction_set, "generic")
    try:
        subprocess.run(["rustc", *options, f"-Ctarget-cpu={processor}", "-o", path, source], check=True)
    except FileNotFoundError:
        raise click.ClickException(
            "this suite compiles benchmarks/bare.rs, and needs rustc: https://rustup.rs"
        ) from None
    return ctypes.PyDLL(str(path)).walk


def loop(x: Array, axis: int, results: int) -> Callable[[], object]:
    """Return a bare loop over an array in C order whose ``axis`` is reduced to ``results`` bytes.

    It goes through memory in the order of addresses, or along ``axis`` 8 KB at a time where the rows are long.
    """
    inner = prod(x.shape[axis + 1 :]) * x.itemsize
    if inner <= _TILE:
        pieces = gcd(max(1, x.nbytes // _PIECE), results // 8)
        width = x.nbytes // pieces
        rows = 1
        row = x.nbytes
    else:
        assert (axis, inner % _TILE) == (0, 0), x.shape
        pieces = inner // _TILE
        width = _TILE
        rows = x.shape[0]
        row = inner
    out = np.zeros(results, np.uint8)
    written = results // pieces
    walk = _Walk(x.ctypes.data, out.ctypes.data, pieces, width, rows, row, width, written)
    argument = ctypes.byref(walk)
    walk.memory = (x, out)
    return partial(_compiled(_native.get_instruction_set()), argument)
