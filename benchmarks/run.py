"""The runner: it compares the answers of several calls, then times the calls in turns.

`interleave` is the clock of every suite, `describe` says what it runs on, `hold` keeps it there, and `measure` runs
the matrix. A wrong answer of ours stops a run; a wrong answer of a peer is recorded and the peer is not timed. The
record holds readings only: ratios are worked out in `report`, so that newer rules can read old records.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import platform
import random
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product, repeat
from pathlib import Path
from time import gmtime, perf_counter, strftime
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import track

import extremum
from benchmarks.matrix import LAYOUTS, Case, arrays, drawn, typed
from benchmarks.peers import OURS, Contender
from extremum import _native

ROOT = Path(__file__).resolve().parent.parent
SECONDS = click.option("--seconds", "budget", type=float, default=1.0, show_default=True, help="For each case.")
PUBLISH = click.option("--publish", "published", is_flag=True, help="Put the rows into the documentation.")
FILTER = click.option("--filter", "pattern", metavar="REGEX", default="", help="Only those whose name matches.")
# A JSON document.
Record = dict[str, Any]

# One reading of the clock costs some 50 ns; a group of calls this long makes that less than 1 %.
_GROUP = 20e-6
_ROUNDS = 5
# The first reading of every call takes this many seconds; the estimate after it makes it time one run at a time.
_FIRST = 0.01
_SLOW = 1.0
# A call this many times slower than the fastest cannot become the fastest: its first reading is enough.
_HOPELESS = 4


def interleave(
    calls: Mapping[str, Callable[[], object]], budget: float, keep: Collection[str] = ()
) -> dict[str, float]:
    """Return the least time of one run of every call: in turns, so that a machine that slows down slows all of them."""
    gc.disable()
    try:
        best = {name: _turn(call, _SLOW, _FIRST) for name, call in calls.items()}
        fastest = min([best[name] for name in calls if name not in keep] or best.values())
        alive = [name for name in calls if name in keep or best[name] <= _HOPELESS * fastest]
        turn = budget / (_ROUNDS * len(alive))
        end = perf_counter() + budget
        while perf_counter() < end:
            for name in random.sample(alive, len(alive)):
                best[name] = min(best[name], _turn(calls[name], best[name], turn))
        return best
    finally:
        gc.enable()


def _turn(call: Callable[[], object], estimate: float, length: float) -> float:
    size = max(1, round(_GROUP / max(estimate, 1e-9)))
    best = math.inf
    end = perf_counter() + length
    while best == math.inf or perf_counter() < end:
        start = perf_counter()
        for _ in repeat(None, size):
            call()
        best = min(best, (perf_counter() - start) / size)
    return best


def compared(calls: Mapping[str, Callable[[], Any]], budget: float, **bare: Callable[[], object]) -> dict[str, float]:
    """Return the least time of each call, after all gave the same answer, and of bare loops, which give no answer."""
    first, *others = (np.array(call()) for call in calls.values())
    for other in others:
        np.testing.assert_array_equal(first, other, strict=True)
    return interleave({**calls, **bare}, budget, keep={*calls, *bare})


def describe() -> dict[str, str]:
    """Return the facts of this machine that the readings depend on, as far as the system tells them."""
    facts = {"processor": _model(), "cores": str(os.cpu_count())}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            facts[f"L{level}{'d' if level == '1' else ''}"] = size
    with contextlib.suppress(AttributeError, ValueError, OSError):
        facts["memory"] = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    facts["system"] = f"{platform.system()} {platform.machine()}"
    facts["instruction set"] = _native.get_instruction_set()
    return facts


def processor() -> str:
    """Return the processor and the instruction set in use, which identify a row of figures."""
    return f"{_model()}, {_native.get_instruction_set()}"


def _model() -> str:
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    keys: dict[str, str] = dict(re.findall(r"^(model name|cpu family|model)\s*: (.+)$", text, re.MULTILINE))
    if "model name" not in keys:
        return platform.processor() or platform.machine()
    # Clouds shorten the name to the brand; family and model still say which generation it is.
    numbers = f" (family {keys['cpu family']}, model {keys['model']})" if "cpu family" in keys else ""
    return keys["model name"].strip() + numbers


def hold(threads: int) -> None:
    """Let this process and this package use ``threads`` processors; peers size their pools by what they see."""
    if hasattr(os, "sched_setaffinity"):
        # The last processors: systems tend to put their own work on the first.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    extremum.set_num_threads(threads)


# The features that NumPy must not use, the most that XLA may use, and our own name for the set.
SETS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "avx512": ((), "AVX512", "avx512"),
    "avx2": (("X86_V4", "AVX512_ICL", "AVX512_SPR"), "AVX2", "avx2"),
    "x86-64-v2": (("X86_V4", "AVX512_ICL", "AVX512_SPR", "X86_V3"), "SSE4_2", "sse4.2"),
}
# Libraries in a run that is held to a set: those that can be held, and onnxruntime, which our users come from.
HELD = ("extremum", "numpy", "method", "onnxruntime", "jax")
# Tells the process of the run which set it is held to.
VARIABLE = "EXTREMUM_BENCH_INSTRUCTION_SET"


def hold_set(name: str) -> None:
    """Hold this package, NumPy and XLA to a set; the others read the environment at import, so the command restarts."""
    without, most, ours = SETS[name]
    if os.environ.get(VARIABLE) == name:
        # This fails on a processor without the set, and says which sets it has.
        _native.set_instruction_set(ours)
        return
    has = import_module("numpy._core._multiarray_umath").__cpu_features__
    variables = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(feature for feature in without if has.get(feature)),
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa={most}".strip(),
        VARIABLE: name,
    }
    os.execve(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]], {**os.environ, **variables})


def measure(name: str, cases: Sequence[Case], contenders: Sequence[Contender], threads: int, budget: float) -> Record:
    """Run the cases; with the full matrix, measure peak memory too."""
    start = perf_counter()
    started = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    tracked = track(cases, name, console=Console(stderr=True), transient=True)
    results = [measure_case(case, contenders, budget) for case in tracked]
    footprints = []
    if name == "full":
        for layout, work in product(LAYOUTS, WORK):
            command = [sys.executable, "-m", "benchmarks.run", str(threads), layout, work]
            footprints.append(json.loads(subprocess.check_output(command, text=True, cwd=ROOT)))
    return {
        "matrix": name,
        "threads": threads,
        "started": started,
        "duration": perf_counter() - start,
        "machine": describe(),
        "versions": {contender.name: contender.version for contender in contenders},
        "cases": results,
        "footprints": footprints,
    }


def measure_case(case: Case, contenders: Sequence[Contender], budget: float) -> Record:
    """Return the least seconds by contender, who gave a wrong answer, and who gave none, with its own reason."""
    numbers, right = drawn(case._replace(element_type="int8"))
    operands = arrays(case, numbers)
    calls: dict[str, Callable[[], object]] = {}
    wrong = []
    absent = {}
    for name, _, prepare in contenders:
        try:
            prepared = prepare(case, operands)
            if prepared is None:
                continue
            result = prepared.read(prepared.call())
        except Exception as reason:
            # A peer may refuse with any class of error; our own error is a defect, and the run must not hide it.
            if name == OURS:
                raise
            absent[name] = " ".join(str(reason).split())[:200] or type(reason).__name__
            continue
        # Contenders may differ in the width of an index.
        if np.array_equal(result, typed(right, case.element_type) if case.elementwise else right):
            calls[name] = prepared.call
        elif name == OURS:
            raise ArithmeticError(f"{case.name} gives a wrong result; there is nothing to time before it is right")
        else:
            wrong.append(name)
    words = {"name": case.name, "kind": case.kind, "operator": case.operator, "element_type": case.element_type}
    return {**words, "seconds": interleave(calls, budget, keep=(OURS,)), "wrong": wrong, "absent": absent}


# Peak memory: each operation on each layout of the input, in a process of its own.
WORK: dict[str, Callable[[Any], Any]] = {
    **{f"axis {axis}": partial(extremum.argmax, axis=axis) for axis in (0, 1, 2, (0, 2))},
    "hardmax": extremum.hardmax,
    "maximum of two": lambda x: extremum.maximum(x, x),
}


def _footprint(layout: str, work: str) -> Record:
    """Run an operation on 64 MB in this process and return its memory on top of input and output."""
    for shape in ((4, 64, 64), (64, 512, 512)):
        x = LAYOUTS[layout](shape, np.dtype(np.float32))
        # Without temporaries, so that the mark before the call equals what the process holds.
        x[...] = np.arange(shape[-1], dtype=np.float32) % 251
        lower_mark()
        before = high_water()
        result = WORK[work](x)
        extra = high_water() - before - result.nbytes
    return {"layout": layout, "work": work, "extra": max(0, extra)}


def lower_mark() -> None:
    """Lower the mark to what is held now, if the system can: the imports before have held more."""
    with contextlib.suppress(OSError):
        # Linux resets the mark on this number.
        Path("/proc/self/clear_refs").write_text("5")


def high_water() -> int:
    """Return the most bytes this process has held."""
    # On Linux getrusage's mark is inherited from the parent; this mark is the process's own.
    if (status := Path("/proc/self/status")).exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    import resource

    mark = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return mark if sys.platform == "darwin" else 1024 * mark


if __name__ == "__main__":
    extremum.set_num_threads(int(sys.argv[1]))
    sys.stdout.write(json.dumps(_footprint(*sys.argv[2:])))
