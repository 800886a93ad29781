"""A named runtime, asked what it makes of the nodes of a model.

Decides what it is asked: a model of the node alone, as it stands, on samples that are hard to get right; and how small
the inputs get that repeat a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend, dtypes, validate
from extremum.check.sample import Kind, samples
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.runtimes import shown
from extremum.runtimes.outcome import Outcome, Question, compare
from extremum.runtimes.processes import InProcess, NoAnswerError, Subprocess

__all__ = ["AskedRuntime", "Difference"]

Inputs = Mapping[str, NDArray[Any]]

# Of the values of one array.
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Difference:
    """What a runtime makes of a node, where that is not the answer; and what repeats it."""

    outcome: Outcome
    # What it says, or what became of its process; empty where it answers.
    why: str
    reproducer: str


class AskedRuntime:
    """A runtime in a process of its own, for any number of models; each kind of node is asked once.

    Parameters
    ----------
    watched : Subprocess or InProcess
        The runtime, whose process is running, or is this one.

    Examples
    --------
    >>> import onnx
    >>> from extremum.check import AskedRuntime, check
    >>> from extremum.runtimes.processes import Subprocess
    >>> text = '<ir_version: 8, opset_import: ["" : 11]> g (float[1, 1, 2] x) => (y) { y = Hardmax <axis=1> (x) }'
    >>> with Subprocess("onnx.reference") as watched:
    ...     report = check(onnx.parser.parse_model(text), runtime=AskedRuntime(watched), select=["EX107"])
    >>> report.findings[0].given.partition("; ")[0]
    'Hardmax <axis=1> (x), opset 11'
    """

    def __init__(self, watched: Subprocess | InProcess) -> None:
        self.watched = watched
        self.name = shown(watched)
        self._known: dict[object, list[Difference]] = {}

    def differences(self, site: Site, kinds: Collection[Kind] = tuple(Kind)) -> list[Difference]:
        """Return what is different, once for each class of answers; nothing of a node that breaks its promise."""
        if site.schema is None or any(tensor.element is None for tensor in site.inputs):
            return []
        try:
            site.output()
        except ExtremumError:
            return []
        node = _alone(site.node)
        kind = node.SerializeToString(deterministic=True), site.opsets[""], tuple(site.inputs), kinds
        if kind not in self._known:
            self._known[kind] = list(self._asked(site, node, kinds))
        return self._known[kind]

    def _asked(self, site: Site, node: onnx.NodeProto, kinds: Collection[Kind]) -> Iterator[Difference]:
        opset = site.opsets[""]
        seen = set()
        for inputs in samples(site, kinds):
            answer = self._answer(site, node, inputs)
            if answer.outcome is Outcome.EXACT or answer.outcome in seen:
                continue
            seen.add(answer.outcome)
            small = _shrunk(inputs, lambda fewer, of=answer.outcome: self._answer(site, node, fewer).outcome is of)  # type: ignore[misc]
            answer = self._answer(site, node, small)
            lines = [f"{_text(node)}, opset {opset}", *(f"{name} = {_array(x)}" for name, x in small.items())]
            if not answer.why:
                lines += [f"expected {_array(answer.expected)}", f"answered {answer.given}"]
            yield Difference(answer.outcome, answer.why, "; ".join(lines))
            if answer.why:
                # Whoever does not answer one sample is not asked the others.
                return

    def _answer(self, site: Site, node: onnx.NodeProto, inputs: Inputs) -> _Answer:
        opset = site.opsets[""]
        assert site.schema is not None
        # NaN and infinities among the samples are no reason to warn.
        with np.errstate(all="ignore"):
            (expected,) = backend.run_node(node, inputs, opset_version=opset)
        expected = np.asarray(expected)
        try:
            outputs = self.watched.ask(_model(node, opset, inputs, expected), inputs)
        except NoAnswerError as error:
            return _Answer(error.outcome, expected, str(error))
        if len(outputs) != 1:
            return _Answer(Outcome.WRONG, expected, given=f"{len(outputs)} outputs")
        question = Question(site.schema, validate.attributes(site.schema, site.attributes), list(inputs.values()))
        return _Answer(compare(question, expected, outputs[0]), expected, given=_array(outputs[0]))


@dataclass(frozen=True, slots=True)
class _Answer:
    outcome: Outcome
    expected: NDArray[Any]
    why: str = ""
    given: str = ""


def _alone(node: onnx.NodeProto) -> onnx.NodeProto:
    """Return a node without its name, and without attributes whose value comes with the call of its function."""
    attributes = [attribute for attribute in node.attribute if not attribute.ref_attr_name]
    return onnx.NodeProto(op_type=node.op_type, input=node.input, output=node.output, attribute=attributes)


def _model(node: onnx.NodeProto, opset: int, inputs: Inputs, expected: NDArray[Any]) -> onnx.ModelProto:
    values = [_value(name, x) for name, x in inputs.items()]
    graph = onnx.helper.make_graph([node], "question", values, [_value(node.output[0], expected)])
    imports = [onnx.helper.make_opsetid("", opset)]
    version = max(onnx.helper.find_min_ir_version_for(imports, ignore_unknown=True), 3)
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=version)


def _value(name: str, x: NDArray[Any]) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, dtypes.from_numpy(x.dtype).onnx_number, x.shape)


def _shrunk(inputs: Inputs, differs: Callable[[Inputs], bool]) -> Inputs:
    """Return as few of the elements as still differ: along each axis one, or all but those that do not matter."""
    for axis in range(-1, -1 - max(x.ndim for x in inputs.values()), -1):
        size = _size(inputs, axis)
        one = (_taken(inputs, axis, [at]) for at in range(size) if size > 1)
        smaller = next(filter(differs, one), None)
        if smaller is not None:
            inputs = smaller
            continue
        for at in reversed(range(size)):
            left = [each for each in range(_size(inputs, axis)) if each != at]
            fewer = _taken(inputs, axis, left)
            if left and differs(fewer):
                inputs = fewer
    return inputs


def _size(inputs: Inputs, axis: int) -> int:
    return max(int(x.shape[axis]) for x in inputs.values() if x.ndim >= -axis)


def _taken(inputs: Inputs, axis: int, places: list[int]) -> Inputs:
    # What has one element along the axis is broadcast.
    return {name: x if x.ndim < -axis or x.shape[axis] == 1 else np.take(x, places, axis) for name, x in inputs.items()}


def _text(node: onnx.NodeProto) -> str:
    stated = ", ".join(f"{each.name}={onnx.helper.get_attribute_value(each)}" for each in node.attribute)
    return f"{node.op_type}{f' <{stated}>' if stated else ''} ({', '.join(node.input)})"


def _array(x: NDArray[Any]) -> str:
    values = " ".join(str(x.tolist()).split())
    return f"{x.dtype}{list(x.shape)} {values if len(values) < _SHOWN else f'{values[:_SHOWN]} ...'}"
