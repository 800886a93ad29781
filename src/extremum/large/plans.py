"""The job for an operation or a model, from the options of a call."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from extremum.errors import ArgumentError
from extremum.functions import FUNCTIONS, Kind, of_kind
from extremum.large.formats import Source
from extremum.large.jobs import Elementwise, Hardmax, Job, Labelled, Reduced, of_values
from extremum.large.parameters import ParameterError
from extremum.partials import Pieces, TopKPieces
from extremum.reductions import ENDS, Reduction
from extremum.selection import TopKCall

LABELS = {"idxmax": "argmax", "idxmin": "argmin"}
"""The operations that give the label of an element, each with the one that gives its index."""

_NAMES = (
    *of_kind(Kind.INDEX),
    *LABELS,
    *of_kind(Kind.VALUE, Kind.ONE_HOT, Kind.ELEMENTWISE, Kind.SELECTION),
)


def planned(
    operation: str, sources: Sequence[Source], axis: Any, memory: int = sys.maxsize, **options: Any
) -> Job:
    """Return the job for a function or for a model file; refuse contradictory options."""
    kind = FUNCTIONS[operation].kind if operation in FUNCTIONS else None
    if kind is Kind.ELEMENTWISE:
        return Elementwise(operation, sources, options.get("nan_policy", "propagate"), memory)
    if len(sources) > 1:
        raise ArgumentError(f"{operation} takes one input", given=", ".join(each.path for each in sources))
    if kind is Kind.SELECTION:
        return _top_k(sources[0], axis, memory, options)
    if operation in ENDS:
        return _reduction(operation, sources[0], axis, memory, options)
    if operation in LABELS:
        return _labels(operation, sources[0], axis, memory, options)
    if Path(operation).suffix or Path(operation).exists():
        from extremum.large.models import ModelRun

        return ModelRun(operation, sources[0], 0 if axis is None else axis, options["output_name"], memory)
    raise ArgumentError(
        f"there is no operation {operation!r}",
        remedy=f"use {', '.join(_NAMES)} or the file of a model",
    )


def _top_k(source: Source, axis: Any, memory: int, options: dict[str, Any]) -> Job:
    if options.get("k") is None:
        raise ParameterError("top_k selects a number of elements", parameter="k")
    mode = options.get("mode", "largest")
    policy = options.get("nan_policy", "propagate")
    selection = TopKCall.of(source, options["k"], axis, mode, True, policy)
    with of_values(source):
        pieces = TopKPieces.of(selection, source.shape, source.dtype)
    return Reduced(source, pieces, memory)


def _labels(function: str, source: Source, axis: Any, memory: int, options: dict[str, Any]) -> Job:
    rank = len(source.shape)
    if axis is None and rank == 1:
        axis = 0
    if not isinstance(axis, int):
        raise ParameterError(f"{function} gives the labels of one dimension", parameter="axis")
    default = options.get("default")
    pieces = _pieces(LABELS[function], source, axis, options | {"default": None if default is None else -1})
    return Labelled(function, source, pieces, memory, default)


def _reduction(function: str, source: Source, axis: Any, memory: int, options: dict[str, Any]) -> Job:
    pieces = _pieces(function, source, axis, options)
    job = Hardmax if FUNCTIONS[function].kind is Kind.ONE_HOT else Reduced
    return job(source, pieces, memory)


def _pieces(function: str, source: Source, axis: Any, options: dict[str, Any]) -> Pieces:
    is_hardmax = FUNCTIONS[function].kind is Kind.ONE_HOT
    values = FUNCTIONS[function].kind is Kind.VALUE
    policy = options.get("nan_policy", "propagate")
    keepdims = options.get("keepdims", False) or is_hardmax
    # hardmax needs the index of no element where a slice is empty: the slice has no one.
    default = -1 if is_hardmax else options.get("default")
    index = None
    if not values or options.get("index"):
        index = np.dtype(options.get("dtype", np.int64))
    call = Reduction(function, ENDS[function], axis, keepdims, options.get("last", False), policy)
    plan = partial(Pieces.plan, call, source.shape, values=values, index=index)
    decoding = source.decoding
    # Errors about arguments name the type of the values.
    pieces = plan(dtype=decoding.value_dtype, default=default)
    if source.dtype != decoding.value_dtype:
        pieces = plan(dtype=source.dtype, default=decoding.compared(default) if values else default)
    return pieces
