"""One run: every case prepared, its answers checked, its contenders timed in turns beside the limit of the memory.

A wrong answer of ours stops the run; a wrong answer of a peer is recorded and the peer is not timed. What a run leaves
is `record`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import footprint, machine, sizes
from benchmarks.expected import agrees, answer
from benchmarks.inputs import arrays, draw, span
from benchmarks.matrix import CALL, Case
from benchmarks.peers.contender import Contender
from benchmarks.record import LIMIT, OURS, CaseRecord, Run
from benchmarks.timing import interleave
from extremum import _native

__all__ = ["WrongResultError", "measure", "measure_case"]


class WrongResultError(Exception):
    """A wrong answer of our own: nothing is timed."""


def measure(
    matrix: str,
    cases: Sequence[Case],
    contenders: Sequence[Contender],
    threads: int,
    budget: float,
    largest: int,
    progress: Callable[[str], None],
) -> Run:
    """Run the benchmark."""
    started, start = datetime.now(timezone.utc), perf_counter()
    run = Run(
        matrix=matrix,
        threads=threads,
        started=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        duration=0.0,
        machine=machine.describe(),
        versions={contender.name: contender.version for contender in contenders},
        cases=[],
    )
    for _, alike in groupby(cases, _question):
        group = list(alike)
        numbers = draw(group[0])
        right = answer(group[0], numbers)
        for case in group:
            run.cases.append(measure_case(case, numbers, right, contenders, budget))
            progress(case.name)
    if largest:
        for point in sizes.measure(largest, budget):
            run.sizes.append(point)
            progress(f"{point.line}, {point.read >> 20} MB")
        for held in footprint.measure(threads):
            run.footprints.append(held)
            progress(f"memory, {held.line}")
    return replace(run, duration=perf_counter() - start)


def _question(case: Case) -> tuple[object, ...]:
    return case.operator, case.operand_shapes, case.axes, case.last, case.layout


def measure_case(
    case: Case,
    numbers: Sequence[NDArray[np.int8]],
    right: NDArray[Any],
    contenders: Sequence[Contender],
    budget: float,
) -> CaseRecord:
    """Check and time one case."""
    operands = arrays(case, numbers)
    calls: dict[str, Callable[[], object]] = {}
    wrong, absent = [], {}
    for contender in contenders:
        try:
            prepared = contender.prepare(case, operands)
            if prepared is None:
                continue
            result = prepared.read(prepared.call())
        except Exception as reason:
            # A peer's refusal may be of any class; ours is a defect, and the run must not hide it.
            if contender.name == OURS:
                raise
            absent[contender.name] = " ".join(str(reason).split())[:200] or type(reason).__name__
            continue
        if agrees(case, result, right):
            calls[contender.name] = prepared.call
        elif contender.name == OURS:
            raise WrongResultError(f"{case.name} gives a wrong result; there is nothing to time before it is right")
        else:
            wrong.append(contender.name)
    read = sum(span(array) for array in operands)
    moved = read + right.size * (8 if case.operator.startswith("arg") else operands[0].itemsize)
    if case.kind != CALL:
        calls[LIMIT] = partial(_native.read_bandwidth, np.ones(moved, np.uint8))
    seconds = interleave(calls, budget, keep=(OURS, LIMIT))
    limit = seconds.pop(LIMIT, None)
    return CaseRecord(
        case.name, case.kind, case.operator, case.element_type, read, moved, seconds, limit, wrong, absent
    )
