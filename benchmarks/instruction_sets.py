"""Holding every library to one instruction set, so that a server says what a laptop would.

NumPy reads what it may not use from the environment when it is imported, XLA when it makes its first array, so the run
has a process of its own. ONNX Runtime and the others cannot be held; they run with all that the processor has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

__all__ = ["SETS", "environment", "hold", "run"]

# What NumPy may not use and what XLA may use at most, and our own names for the set, the best first.
SETS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "avx512": ((), "AVX512", ("avx512",)),
    "avx2": (("X86_V4", "AVX512_ICL", "AVX512_SPR"), "AVX2", ("avx2",)),
    "x86-64-v2": (("X86_V4", "AVX512_ICL", "AVX512_SPR", "X86_V3"), "SSE4_2", ("sse4.2", "baseline")),
}

# Says in the process of the run which set it was made for.
_VARIABLE = "EXTREMUM_BENCH_INSTRUCTION_SET"


def environment(name: str, variables: Mapping[str, str], has: Mapping[str, bool]) -> dict[str, str]:
    """Return the variables of a process that is held to a set, on a processor that has these of NumPy's features."""
    without, most, _ = SETS[name]
    flags = f"{variables.get('XLA_FLAGS', '')} --xla_cpu_max_isa={most}".strip()
    disabled = " ".join(feature for feature in without if has.get(feature))
    return {**variables, "NPY_DISABLE_CPU_FEATURES": disabled, "XLA_FLAGS": flags, _VARIABLE: name}


def run(name: str, arguments: Sequence[str]) -> int | None:
    """Run ``python -m`` with these arguments in a process that is held to a set; None where this one is it."""
    if os.environ.get(_VARIABLE) == name:
        return None
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, env=environment(name, os.environ, features), check=False).returncode


def hold() -> None:
    """Make this package use the set that the process was made for, if it was."""
    from extremum import _native

    held = os.environ.get(_VARIABLE)
    if held is not None:
        # A processor without the first of them fails here, and says which it has.
        names = SETS[held][2]
        _native.set_instruction_set(next((name for name in names if name in _native.instruction_sets()), names[0]))
