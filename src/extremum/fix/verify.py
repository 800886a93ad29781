"""Whether a fixed model gives the same bits: every rewritten node on its own, then both models as a whole.

All NaNs count as equal: no runtime guarantees which NaN it gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend
from extremum.check.question import Kind, draw, expected_outputs, model_of, samples
from extremum.errors import ExtremumError, InputError, ModelError, first_line
from extremum.fix.changes import Change
from extremum.fix.target import Target
from extremum.graph import nodes
from extremum.graph.sites import Site, sites
from extremum.graph.types import declared_inputs, require_array


def same_bits(first: Any, second: Any) -> bool:
    """Return whether two values agree in type, shape and every bit; any NaN agrees with any other."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same_bits, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same_bits(first[key], second[key]) for key in first)
    first, second = np.asarray(first), np.asarray(second)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    same = first == second
    if first.dtype.kind in "fV":
        same = same & (np.signbit(first) == np.signbit(second)) | (first != first) & (second != second)
    return bool(np.all(same))


def verify_node(site: Site, change: Change, opset: int, target: Target) -> None:
    """Compare the answers of a node here with those of its replacement in the target."""
    # Attributes that come from the call of a function have their defaults here.
    node, *body = (nodes.resolve_references(each, {}) for each in (site.node, *change.after))
    run = None
    for inputs in samples(site):
        try:
            expected = expected_outputs(node, inputs, site.opsets[""])
            # All samples have the same types.
            run = run or target.load(model_of(body, opset, inputs, dict(zip(node.output, expected, strict=True))))
            with np.errstate(all="ignore"):
                answers = run(inputs)
        except Exception as error:
            # A target may raise anything.
            reason = f"{target.name} does not run the replacement of {change.operator}"
            raise ModelError(reason, where=change.place, given=first_line(error)) from error
        if not same_bits(answers, expected):
            reason = f"the replacement of {change.operator} gives other answers in {target.name}"
            raise ModelError(reason, where=change.place, given=f"{change.element} {change.title}")


def verify_model(original: onnx.ModelProto, result: onnx.ModelProto, target: Target, *, differs: bool) -> list[str]:
    """Load the fixed model in the target and compare both; ``differs`` if the target answers some nodes differently."""
    run = None
    if target.whole:
        try:
            run = target.load(result)
        except Exception as error:
            refusal = ModelError(f"{target.name} does not load the fixed model", given=first_line(error))
            # The model may need a library of another package.
            own = {function.domain for function in original.functions} | {"", "ai.onnx", "ai.onnx.ml"}
            if all(site.node.domain in own for site in sites(original)):
                raise refusal from error
            return [f"compared node by node, not as a whole: {refusal.one_line()}"]
    try:
        before = backend.prepare(original)
        # Without NaN and infinities, which other nodes of a model may not support.
        batch = [_inputs(original, kind) for kind in (Kind.RANDOM, Kind.TIES)]
        expected = [before.run(inputs) for inputs in batch]
    except ExtremumError as error:
        return [f"compared node by node, not as a whole: {error.one_line()}"]
    if not all(map(same_bits, map(backend.prepare(result).run, batch), expected)):
        raise ModelError("the fixed model gives other answers")
    if run is None:
        return []
    try:
        answers = [run(inputs) for inputs in batch]
    except Exception as error:
        raise ModelError(f"{target.name} does not run the fixed model", given=first_line(error)) from error
    if differs or all(map(same_bits, answers, expected)):
        return []
    if all(site.schema is not None for site in sites(original)):
        raise ModelError(f"the fixed model gives other answers in {target.name}")
    return [f"the same answers here; others in {target.name}, whose other operators may round differently"]


def _inputs(model: onnx.ModelProto, kind: Kind) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(0)
    arrays = {}
    for each in declared_inputs(model):
        if each.optional:
            continue
        if each.dtype is None or each.dtype.kind == "O" or each.shape is None:
            raise InputError(f"input {each.name!r} cannot be drawn: the model does not state its type and rank")
        sizes = tuple(size if isinstance(size, int) else 3 for size in each.shape)
        require_array(sizes, each.dtype, each.name)
        arrays[each.name] = draw(random, each.dtype.name, sizes, kind)
    return arrays
