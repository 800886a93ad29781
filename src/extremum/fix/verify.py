"""Whether a fixed model answers as the original does, bit by bit.

Decides what is compared: every rewritten node on its own, in the target, on samples that are hard to get right; then
both models as a whole, where their inputs can be drawn and their operators have an implementation here. All NaNs count
as equal: no runtime promises which one it gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend
from extremum.check.question import Kind, draw, samples
from extremum.errors import ExtremumError, InputError, ModelError, first_line
from extremum.fix.fixed import Change
from extremum.fix.fragment import same_bits
from extremum.fix.target import Target
from extremum.graph.inputs import declared_inputs, require_array
from extremum.graph.sites import Site, sites
from extremum.runtimes import Run
from extremum.tensors import require_memory

__all__ = ["verify_model", "verify_node"]

_SIZE_OF_A_SYMBOL = 3

# Of the kinds of samples those without NaN and infinities, which other nodes of a model may not be made for.
_PLAIN = (Kind.RANDOM, Kind.TIES)


def verify_node(site: Site, change: Change, opset: int, target: Target) -> None:
    """Run a node here, as it stands at a site, and what replaces it in the target, and compare."""
    node, *body = (_concrete(each) for each in (site.node, *change.after))
    element = str(site.output().element)
    for inputs in samples(site):
        try:
            # NaN and infinities among the samples are no reason to warn.
            with np.errstate(all="ignore"):
                (expected,) = backend.run_node(node, inputs, opset_version=site.opsets[""])
                answer = target.run(body, opset, inputs, node.output[0], element)
        except Exception as error:
            # Whatever the target raises.
            raise ModelError(
                f"{target.name} does not run the replacement of {change.operator}",
                where=change.place,
                given=first_line(error),
            ) from error
        if not same_bits(answer, expected):
            raise ModelError(
                f"the replacement of {change.operator} gives other answers in {target.name}",
                where=change.place,
                given=f"{change.element} {change.title}",
            )


def _concrete(node: onnx.NodeProto) -> onnx.NodeProto:
    """Return a node without the attributes that come with the call of its function: they have their defaults then."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    copy.attribute.extend(attribute for attribute in node.attribute if not attribute.ref_attr_name)
    return copy


def verify_model(
    original: onnx.ModelProto, fixed: onnx.ModelProto, target: Target, *, differs: bool = False
) -> tuple[str, ...]:
    """Load the fixed model where it is to run, and compare both on samples; `differs` where nodes are left that do."""
    try:
        run = _loaded(fixed, target)
    except ModelError as error:
        if not _has_foreign_operators(original):
            raise
        return (f"compared node by node, not as a whole: {error.one_line()}",)
    try:
        before = backend.prepare(original)
        batch = [_inputs(original, kind) for kind in _PLAIN]
        expected = [before.run(inputs) for inputs in batch]
    except ExtremumError as error:
        return (f"compared node by node, not as a whole: {error.one_line()}",)
    after = backend.prepare(fixed)
    for inputs, wanted in zip(batch, expected, strict=True):
        if not same_bits(after.run(inputs), wanted):
            raise ModelError("the fixed model gives other answers")
    if run is None:
        return ()
    try:
        answers = [run(inputs) for inputs in batch]
    except Exception as error:
        raise _refused("run", error, target) from error
    if differs or all(map(same_bits, answers, expected)):
        return ()
    if all(site.schema is not None for site in sites(original)):
        raise ModelError(f"the fixed model gives other answers in {target.name}")
    return (f"the same answers here; others in {target.name}, whose other operators may round differently",)


def _loaded(model: onnx.ModelProto, target: Target) -> Run | None:
    if target.runtime is None:
        return None
    try:
        return target.runtime.load(model)
    except Exception as error:
        raise _refused("load", error, target) from error


def _has_foreign_operators(model: onnx.ModelProto) -> bool:
    """Return whether a library of someone else's may be needed to load the model."""
    own = {function.domain for function in model.functions} | {"", "ai.onnx", "ai.onnx.ml"}
    return any(site.node.domain not in own for site in sites(model))


def _refused(verb: str, error: Exception, target: Target) -> ModelError:
    # onnxruntime's exceptions share no class of their own.
    return ModelError(f"{target.name} does not {verb} the fixed model", given=first_line(error))


def _inputs(model: onnx.ModelProto, kind: Kind) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(0)
    arrays = {}
    for each in declared_inputs(model):
        if each.optional:
            continue
        if each.dtype is None or each.dtype.kind == "O" or each.shape is None:
            raise InputError(f"input {each.name!r} cannot be drawn: the model does not state its type and rank")
        sizes = tuple(size if isinstance(size, int) else _SIZE_OF_A_SYMBOL for size in each.shape)
        require_memory(sizes, each.dtype, f"input {each.name!r}")
        require_array(sizes, each.name)
        arrays[each.name] = draw(random, each.dtype.name, sizes, kind)
    return arrays
