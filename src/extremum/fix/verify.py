"""Whether a fixed model gives the same bits: every rewritten node on its own, then both models as a whole.

All NaNs count as equal: no runtime guarantees which NaN it gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend
from extremum.check.question import (
    SampleKind,
    beyond_axis,
    draw,
    expected_outputs,
    model_of,
    outcome_of,
    samples,
)
from extremum.errors import ExtremumError, InputError, ModelError, first_line
from extremum.fix.draft import Draft
from extremum.fix.target import Target
from extremum.graph.attributes import resolve_references
from extremum.graph.limits import dimension_along_axis
from extremum.graph.sites import Site, sites
from extremum.graph.types import declared_inputs, require_array
from extremum.runtimes import Feeds
from extremum.runtimes.comparison import Outcome
from extremum.spec import ONNX, Family


def same_bits(first: Any, second: Any) -> bool:
    """Return whether two values agree in type, shape and every bit; any NaN agrees with any other."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same_bits, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same_bits(first[key], second[key]) for key in first)
    first = np.asarray(first)
    second = np.asarray(second)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    same = first == second
    if first.dtype.kind in "fV":
        same = same & (np.signbit(first) == np.signbit(second)) | (first != first) & (second != second)
    return bool(np.all(same))


# Where a node itself stays, the target may answer as no specification decides.
_OPEN = (Outcome.EXACT, Outcome.NAN, Outcome.ZERO)


def verify_node(draft: Draft, target: Target) -> None:
    """Compare the answers of a node here with those of what replaces it in the target."""
    if not draft.titles:
        return
    reference = draft.reference
    version = reference.version
    # Attributes that come from the call of a function have their defaults here.
    node, *body = (resolve_references(each, {}) for each in (reference.node, *draft.nodes))
    accepted = (Outcome.EXACT,) if draft.is_exact else _OPEN
    run = None
    for inputs, meant in _pairs(draft):
        try:
            expected = expected_outputs(node, meant, reference.opsets[ONNX])
            # All samples have the same types.
            outputs = dict(zip(node.output, expected, strict=True))
            run = run or target.load(model_of(body, draft.opset, inputs, outputs))
            with np.errstate(all="ignore"):
                answers = list(map(np.asarray, run(inputs)))
        except Exception as error:
            # A target may raise anything.
            raise ModelError(
                f"{target.name} does not run the replacement of {version}",
                where=reference.place,
                given=first_line(error),
            ) from error
        if outcome_of(version, node, meant, expected, answers) not in accepted:
            raise ModelError(
                f"the replacement of {version} gives other answers in {target.name}",
                where=reference.place,
                given=f"{reference.element} {' and '.join(draft.titles)}",
            )


def _pairs(draft: Draft) -> Iterator[tuple[Feeds, Feeds]]:
    """Yield inputs, each with the inputs on which the node itself gives the expected answer."""
    for inputs in samples(draft.reference):
        yield inputs, inputs
        if draft.limited_outputs:
            yield beyond_axis(draft.reference, inputs)


def verify_model(
    original: onnx.ModelProto, result: onnx.ModelProto, target: Target, *, differs: bool
) -> list[str]:
    """Load the fixed model in the target and compare both; ``differs`` if the target answers some nodes differently.

    Returns what was not compared, or need not be the same.
    """
    all_sites = list(sites(original))
    run = None
    if target.whole:
        try:
            run = target.load(result)
        except Exception as error:
            refusal = ModelError(f"{target.name} does not load the fixed model", given=first_line(error))
            # The model may need a library of another package.
            own = {function.domain for function in original.functions} | {"", "ai.onnx", "ai.onnx.ml"}
            if all(site.node.domain in own for site in all_sites):
                raise refusal from error
            return [f"compared node by node, not as a whole: {refusal.one_line()}"]

    # Here, where every node has the answer of its version.
    try:
        before = backend.prepare(original)
        # Without NaN and infinities, which other nodes of a model may not support.
        batch = [_inputs(original, all_sites, kind) for kind in (SampleKind.RANDOM, SampleKind.TIES)]
        expected = [before.run(inputs) for inputs in batch]
    except ExtremumError as error:
        where = f" at {error.where}" if error.where else ""
        return [f"compared node by node, not as a whole: {error.reason}{where}"]
    has_any_order = any(site.schema is not None and site.accepted.get("sorted") == 0 for site in all_sites)
    answers = [list(outputs) for outputs in map(backend.prepare(result).run, batch)]
    if not has_any_order and not all(map(same_bits, answers, expected)):
        raise ModelError("the fixed model gives other answers")

    # In the target.
    if run is None:
        return []
    try:
        answers = [list(run(inputs)) for inputs in batch]
    except Exception as error:
        raise ModelError(f"{target.name} does not run the fixed model", given=first_line(error)) from error
    if differs or all(map(same_bits, answers, expected)):
        return []
    if not all(site.schema is not None for site in all_sites):
        return [
            f"the same answers here; others in {target.name}, whose other operators may round differently"
        ]
    if has_any_order:
        return [f"compared node by node: {target.name} gives results with sorted=0 in another order"]
    raise ModelError(f"the fixed model gives other answers in {target.name}")


_OPEN_SIZE = 3
_MOST_SELECTED = 1000


def _inputs(model: onnx.ModelProto, all_sites: Sequence[Site], kind: SampleKind) -> dict[str, NDArray[Any]]:
    """Draw the inputs of a model so that every selection has as many elements as it takes."""
    selections = [site for site in all_sites if site.schema is not None and site.schema.family is Family.TOP]
    sizes = _open_sizes(selections)
    random = np.random.default_rng(0)
    arrays = {}
    for each in declared_inputs(model):
        if each.optional:
            continue
        if each.dtype is None or each.dtype.kind == "O" or each.shape is None:
            raise InputError(
                f"input {each.name!r} cannot be drawn: the model does not state its type and rank"
            )
        shape = tuple(size if isinstance(size, int) else sizes.get(size, _OPEN_SIZE) for size in each.shape)
        require_array(shape, each.dtype, each.name)
        limits = [_axis_size(site, sizes) for site in selections if site.names[1:] == [each.name]]
        if limits and each.dtype == np.int64:
            # A k from 1 to the size of the axis.
            arrays[each.name] = random.integers(1, max(min(limits), 1), shape, np.int64, endpoint=True)
        else:
            arrays[each.name] = draw(random, each.dtype.name, shape, kind)
    return arrays


def _open_sizes(selections: Iterable[Site]) -> dict[str, int]:
    """Return sizes for the names of axes from which a constant k is taken."""
    sizes: dict[str, int] = {}
    for site in selections:
        k = site.accepted["k"]
        name = dimension_along_axis(site)
        if isinstance(k, int) and isinstance(name, str):
            sizes[name] = min(max(k, sizes.get(name, _OPEN_SIZE)), _MOST_SELECTED)
    return sizes


def _axis_size(site: Site, sizes: Mapping[str, int]) -> int:
    """Return the size of the axis of a selection in a sample, or 1 if the model does not tell."""
    size = dimension_along_axis(site)
    if isinstance(size, str):
        return sizes.get(size, _OPEN_SIZE)
    return 1 if size is None else size
