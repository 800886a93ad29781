"""The targets of a fix, and whether a fixed model gives the same answers there, bit by bit.

Decides which rules find what a target refuses and answers differently, and what is compared: every rewritten node on
its own, on samples that are hard to get right; then both models as a whole, if their inputs can be drawn and their
operators have an implementation here. All NaNs count as equal: no runtime promises which one it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend, dtypes, runtimes
from extremum.check.question import AskedRuntime, Inputs, Kind, draw, expected_outputs, model_of, samples
from extremum.check.rules import Targets
from extremum.directml import FeatureLevel, create_operator, steps
from extremum.errors import ArgumentError, ExtremumError, InputError, ModelError, first_line
from extremum.fix.changes import Change
from extremum.graph import nodes
from extremum.graph.inference import resolve_references
from extremum.graph.sites import Site, sites
from extremum.graph.types import declared_inputs, require_array
from extremum.runtimes import Runtime, shown
from extremum.runtimes.processes import Subprocess
from extremum.spec import Family, OperatorVersion
from extremum.tensors import require_memory

__all__ = ["Target", "opened", "same_bits", "verify_model", "verify_node"]

_SIZE_OF_A_SYMBOL = 3

# The kinds of samples without NaN and infinities, which other nodes of a model may not support.
_PLAIN = (Kind.RANDOM, Kind.TIES)


@dataclass(frozen=True)
class Target:
    """A runtime without any operator of this package, or DirectML at a feature level."""

    # As a message says it.
    name: str
    # The rule that finds what it refuses, and the one that finds what it answers differently, if there is one.
    refuses: str
    differs: str | None
    # What these rules ask.
    asked: Targets
    # What loads a whole model; without one :mod:`extremum.directml` runs the operators that DirectML has.
    runtime: Runtime | None = None

    def run(
        self, body: list[onnx.NodeProto], opset: int, inputs: Inputs, outputs: Mapping[str, str]
    ) -> Sequence[NDArray[Any]]:
        """Run nodes that give outputs of some element types."""
        if self.runtime is not None:
            numbers = {name: dtypes.from_name(element).onnx_number for name, element in outputs.items()}
            results = [onnx.helper.make_tensor_value_info(name, number, None) for name, number in numbers.items()]
            return self.runtime.load(model_of(body, opset, inputs, *results))(inputs)
        values: dict[str, NDArray[Any]] = dict(inputs)
        for node in body:
            schema = nodes.version(node, {"": opset})
            operands = {name: values[name] for name in nodes.operand_names(node, schema)}
            # No rewrite puts a TopK where DirectML would have to take it.
            if schema is None or schema.family is Family.TOP:
                answers = backend.run_node(node, operands, opset_version=opset)
                values.update(zip(node.output, answers, strict=True))
            else:
                values[node.output[0]] = _dispatch(schema, node, operands, self.asked.feature_level)
        return [values[name] for name in outputs]


def _dispatch(
    schema: OperatorVersion, node: onnx.NodeProto, inputs: Inputs, level: FeatureLevel | None
) -> NDArray[Any]:
    assert level is not None
    types = nodes.operand_types(schema, list(inputs.values()))
    values, (output,) = nodes.resolve(schema, nodes.attributes_of(node, {}), list(inputs), types)
    assert output.element is not None
    assert output.sizes is not None
    result = np.empty(output.sizes, dtypes.from_name(output.element).dtype)
    tensors = {name: np.ravel(array) for name, array in {**inputs, node.output[0]: result}.items()}
    named = list(zip(inputs, types, strict=True))[: schema.input.maximum]
    for step in steps(schema, values, named, [(node.output[0], output)], level):
        operator = create_operator(step.desc, feature_level=level)
        operator.dispatch(inputs=[tensors[name] for name in step.inputs], outputs=[tensors[step.output]])
    return result


@contextmanager
def opened(text: str) -> Iterator[Target]:
    """Give the target called ``onnxruntime``, ``directml-4_1`` or as another runtime, until the end of the block."""
    levels = {f"directml-{level}": level for level in FeatureLevel}
    if text == "onnxruntime":
        runtime = runtimes.find(text)
        yield Target(shown(runtime), "EX101", "EX108", Targets(runtime=runtime), runtime)
    elif re.fullmatch(r"directml-\w+", text) and text in levels:
        yield Target(f"DirectML {levels[text]}", "EX102", None, Targets(feature_level=levels[text]))
    elif text.partition(":")[0] in runtimes.known():
        with Subprocess(text) as process:
            yield Target(shown(process), "EX106", "EX107", Targets(asked=AskedRuntime(process)), process)
    else:
        known = ", ".join((*runtimes.known(), *levels))
        raise ArgumentError(f"there is no target {text!r}", remedy=f"the targets are {known}")


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
    # Attributes that the call of a function gives have their defaults.
    node, *body = (resolve_references(each, {}) for each in (site.node, *change.after))
    outputs = {name: str(each.element) for name, each in zip(node.output, site.outputs(), strict=True)}
    for inputs in samples(site):
        try:
            expected = expected_outputs(node, inputs, site.opsets[""])
            with np.errstate(all="ignore"):
                answers = target.run(body, opset, inputs, outputs)
        except Exception as error:
            # A target may raise anything.
            reason = f"{target.name} does not run the replacement of {change.operator}"
            raise ModelError(reason, where=change.place, given=first_line(error)) from error
        if not same_bits(answers, expected):
            reason = f"the replacement of {change.operator} gives other answers in {target.name}"
            raise ModelError(reason, where=change.place, given=f"{change.element} {change.title}")


def verify_model(
    original: onnx.ModelProto, fixed: onnx.ModelProto, target: Target, *, differs: bool
) -> tuple[str, ...]:
    """Load the fixed model in the target and compare both; ``differs`` if the target answers some nodes differently."""
    run = None
    if target.runtime is not None:
        try:
            run = target.runtime.load(fixed)
        except Exception as error:
            refusal = _refused("load", error, target)
            # The model may need a library of another package.
            own = {function.domain for function in original.functions} | {"", "ai.onnx", "ai.onnx.ml"}
            if all(site.node.domain in own for site in sites(original)):
                raise refusal from error
            return (f"compared node by node, not as a whole: {refusal.one_line()}",)
    try:
        before = backend.prepare(original)
        batch = [_inputs(original, kind) for kind in _PLAIN]
        expected = [before.run(inputs) for inputs in batch]
    except ExtremumError as error:
        return (f"compared node by node, not as a whole: {error.one_line()}",)
    after = backend.prepare(fixed)
    if not all(same_bits(after.run(inputs), wanted) for inputs, wanted in zip(batch, expected, strict=True)):
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


def _refused(verb: str, error: Exception, target: Target) -> ModelError:
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
