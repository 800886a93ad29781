"""How a runtime answers the nodes of a model, tried with difficult samples.

Decides the question (a model of the single node), the samples (random values, ties, the limits of the type, infinities,
zeros of either sign and NaN; also for sizes that the model leaves open), and how far an input shrinks.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend, validate
from extremum.errors import ExtremumError
from extremum.graph.nodes import operand_types, resolve_references
from extremum.graph.sites import Site
from extremum.runtimes import Feeds, shown
from extremum.runtimes.comparison import Outcome, Question, compare
from extremum.runtimes.process import InProcess, NoAnswerError, Subprocess
from extremum.spec import Family
from extremum.tensors import Shape, TensorType, element_of

# Enough for ties at both ends and in the middle. No rewrite depends on a size.
_LARGEST_SIZE = 7
_OPEN_RANK = 3
_MOST_SELECTED = 1 << 17
# Longer axes are not shrunk: they occur where a selection takes nearly all elements.
_LONGEST_TO_SHRINK = 100
# In characters: the text of the values of one array.
_LONGEST_TEXT = 160


class Kind(enum.Enum):
    """The values of a sample."""

    RANDOM = "integers of the whole range, normally distributed floats"
    TIES = "few different small values"
    LIMITS = "the limits of the type and their neighbours, infinities and zeros of either sign"
    LOW = "the two least of those"
    MIDDLE = "the two in the middle of those: zeros of either sign for floats"
    HIGH = "the two largest of those"
    NAN = "the limits, and many NaNs if the type has them"
    ALL_NAN = "only NaN, if the type has it"
    HALVES = "integers of 64 bits whose upper halves are equal; nothing for other types"


def refusals(question: Callable[..., object], *arguments: object) -> Iterator[ExtremumError]:
    """Yield the error that a function of :mod:`extremum.validate` or :mod:`extremum.infer` raises, if any."""
    try:
        question(*arguments)
    except ExtremumError as error:
        yield error


def samples(site: Site) -> Iterator[Feeds]:
    """Yield inputs for a node, by name."""
    return _draw_samples(_sample_types(site), Kind)


def _sample_types(site: Site) -> dict[str, TensorType]:
    """Return the type of each input of a sample, with values for an input that stands for an attribute."""
    joint = site.outputs()[0].shape if site.version.family in (Family.MAXIMUM, Family.MINIMUM) else None
    k = site.accepted.get("k")
    least = min(k, _MOST_SELECTED) if isinstance(k, int) else 0
    types: dict[str, TensorType] = {}
    for name, tensor in zip(site.names, site.operands, strict=False):
        sizes = _sizes(tensor, joint)
        # The axis of a selection has at least the k elements that it takes, up to a limit.
        axes = validate.axes(site.version, site.accepted, len(sizes)) if least else ()
        sizes = tuple(max(size, least) if axis in axes else size for axis, size in enumerate(sizes))
        types[name] = TensorType(tensor.element, sizes)
    # If the model leaves the values open: one element, or the last axis.
    default = (1,) if site.version.family is Family.TOP else () if site.inputs[0].rank == 0 else (-1,)
    for name, tensor in list(zip(site.names, site.inputs, strict=True))[len(site.operands) :]:
        values = default if tensor.values is None else tensor.values
        types[name] = TensorType("int64", (len(values),), values)
    return types


def _draw_samples(types: Mapping[str, TensorType], kinds: Iterable[Kind]) -> Iterator[Feeds]:
    is_wide = any(each.values is None and each.element in ("int64", "uint64") for each in types.values())
    for seed, kind in enumerate(Kind):
        if kind in kinds and (is_wide or kind is not Kind.HALVES):
            random = np.random.default_rng(seed)
            yield {
                name: draw(random, str(each.element), each.sizes or (), kind)
                if each.values is None
                else np.array(each.values, np.int64)
                for name, each in types.items()
            }


def _sizes(tensor: TensorType, joint: Shape | None) -> tuple[int, ...]:
    """Return the sizes of a sample; an open size fits the others in broadcasting."""
    shape = tensor.shape if tensor.shape is not None else (None,) * (_OPEN_RANK if joint is None else len(joint))
    others = joint[len(joint) - len(shape) :] if joint else (None,) * len(shape)
    numbers = ([size for size in pair if isinstance(size, int)] for pair in zip(shape, others, strict=True))
    return tuple(min((*sizes, _LARGEST_SIZE)[0], _LARGEST_SIZE) for sizes in numbers)


def draw(random: np.random.Generator, element: str, sizes: tuple[int, ...], kind: Kind) -> NDArray[Any]:
    """Return an array of one kind of values."""
    dtype = element_of(element).dtype
    if kind is not Kind.RANDOM:
        values = _values(dtype, kind)
        return np.asarray(values[random.integers(len(values), size=sizes)])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.asarray(random.integers(limits.min, limits.max, sizes, dtype, endpoint=True))
    return np.asarray(random.standard_normal(sizes)).astype(dtype)


def _values(dtype: np.dtype[Any], kind: Kind) -> NDArray[Any]:
    if kind is Kind.TIES or dtype.kind == "b":
        return np.arange(4).astype(dtype)
    if kind is Kind.HALVES:
        return np.array([0, 2**31 - 1, 2**31, 2**32 - 1], dtype)
    nan: list[float] = []
    if dtype.kind in "iu":
        info: Any = np.iinfo(dtype)
        middle = info.max // 2
        limits = [info.min, info.min + 1, middle, middle + 1, info.max - 1, info.max]
    else:
        info, nan = ml_dtypes.finfo(dtype), [np.nan] * 4  # type: ignore[no-untyped-call]
        least = info.smallest_subnormal
        limits = [-np.inf, info.min, -least, -0.0, 0.0, least, info.max, np.inf]
    half = len(limits) // 2
    values = {
        Kind.LOW: limits[:2],
        Kind.MIDDLE: limits[half - 1 : half + 1],
        Kind.HIGH: limits[-2:],
        Kind.NAN: [*limits, *nan],
        Kind.ALL_NAN: nan or limits,
    }
    return np.array([dtype.type(value) for value in values.get(kind, limits)], dtype)


_Evidence = tuple[Outcome, str, list[str], list[str]]
"""The outcome, why there is no answer, the text of each input, and that of the expected and the actual answer."""


class AskedRuntime:
    """A runtime in a process of its own, for any number of models; each kind of node is tried once.

    The process of ``watched``, a Subprocess or an InProcess, must be running.

    >>> import onnx
    >>> from extremum.check import AskedRuntime, check
    >>> from extremum.runtimes.process import Subprocess
    >>> text = '<ir_version: 8, opset_import: ["" : 11]> g (float[1, 1, 2] x) => (y) { y = Hardmax <axis=1> (x) }'
    >>> with Subprocess("onnx.reference") as watched:
    ...     report = check(onnx.parser.parse_model(text), runtime=AskedRuntime(watched), select=["EX107"])
    >>> report.findings[0].given.partition("; ")[0]
    'Hardmax <axis=1> (x), opset 11'
    """

    def __init__(self, watched: Subprocess | InProcess) -> None:
        self.watched = watched
        self.name = shown(watched)
        self._evidence: dict[object, list[_Evidence]] = {}

    def differences(self, site: Site, kinds: Iterable[Kind] = tuple(Kind)) -> Iterator[tuple[Outcome, str, str]]:
        """Yield each outcome that is not exact, why there is no answer, and the input; nothing for invalid nodes."""
        if any(tensor.element is None for tensor in site.inputs) or any(refusals(site.outputs)):
            return
        source = resolve_references(site.node, {})
        # Nodes that differ only in names, and in sizes that no sample has, are one question.
        names = {name: f"x{at}" for at, name in enumerate(dict.fromkeys(site.names))}
        inputs = [names[name] for name in site.names]
        outputs = [f"y{at or ''}" for at in range(len(site.version.outputs))]
        node = onnx.NodeProto(op_type=source.op_type, input=inputs, output=outputs, attribute=source.attribute)
        types = {names[name]: each for name, each in _sample_types(site).items()}
        key = node.SerializeToString(deterministic=True), site.opsets[""], tuple(types.items()), tuple(kinds)
        if key not in self._evidence:
            evidence: list[_Evidence] = []
            for sample in _draw_samples(types, kinds):
                outcome = self._answer(site, node, sample)[0]
                if outcome is Outcome.EXACT or any(outcome is each[0] for each in evidence):
                    continue
                small = self._shrunk(site, node, sample, types, outcome)
                outcome, why, answers = self._answer(site, node, small)
                evidence.append((outcome, why, [_array(x) for x in small.values()], answers))
                if why:
                    # If a runtime does not answer one sample, the others are skipped.
                    break
            self._evidence[key] = evidence
        attributes = ", ".join(f"{each.name}={onnx.helper.get_attribute_value(each)}" for each in source.attribute)
        call = f"{source.op_type}{f' <{attributes}>' if attributes else ''} ({', '.join(source.input)})"
        text = f"{call}, opset {site.opsets['']}"
        for outcome, why, arrays, answers in self._evidence[key]:
            yield outcome, why, "; ".join([text, *map(" = ".join, zip(names, arrays, strict=True)), *answers])

    def _shrunk(
        self, site: Site, node: onnx.NodeProto, sample: Feeds, types: Mapping[str, TensorType], outcome: Outcome
    ) -> Feeds:
        """Return the fewest elements with the same outcome; inputs that stand for attributes stay as they are."""
        listed = {name: x for name, x in sample.items() if types[name].values is not None}
        tensors = {name: x for name, x in sample.items() if name not in listed}

        def differs(fewer: Feeds) -> bool:
            return self._answer(site, node, {**fewer, **listed})[0] is outcome

        return {**_shrink(tensors, differs), **listed}

    def _answer(self, site: Site, node: onnx.NodeProto, inputs: Feeds) -> tuple[Outcome, str, list[str]]:
        """Return the outcome, why there is no answer, and the expected and actual answers."""
        try:
            expected = expected_outputs(node, inputs, site.opsets[""])
        except ExtremumError:
            # A sample with fewer elements than a selection takes shows nothing.
            return Outcome.EXACT, "", []
        try:
            question = model_of([node], site.opsets[""], inputs, dict(zip(node.output, expected, strict=True)))
            outputs = self.watched.ask(question, inputs)
        except NoAnswerError as error:
            return error.outcome, str(error), []
        outcome, answer = Outcome.WRONG, f"{len(outputs)} outputs"
        if len(outputs) == len(expected):
            arrays = list(inputs.values())
            attributes = validate.attributes(site.version, site.attributes, operand_types(site.version, arrays))
            outcome = compare(Question(site.version, attributes, arrays), expected, outputs)
            answer = "; ".join(map(_array, outputs))
        return outcome, "", [f"expected {'; '.join(map(_array, expected))}", f"answered {answer}"]


def expected_outputs(node: onnx.NodeProto, inputs: Feeds, opset: int) -> list[NDArray[Any]]:
    """Return the answer of this package."""
    # The samples contain NaN and infinities: no warnings.
    with np.errstate(all="ignore"):
        return list(map(np.asarray, backend.run_node(node, inputs, opset_version=opset)))


def model_of(nodes: list[onnx.NodeProto], opset: int, inputs: Feeds, outputs: Feeds) -> onnx.ModelProto:
    """Return a model of nodes."""
    operands, results = (list(map(_value, each, each.values())) for each in (inputs, outputs))
    graph = onnx.helper.make_graph(nodes, "question", operands, results)
    imports = [onnx.helper.make_opsetid("", opset)]
    version = max(onnx.helper.find_min_ir_version_for(imports, ignore_unknown=True), 3)
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=version)


def _value(name: str, x: NDArray[Any]) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, element_of(x.dtype.name).onnx_number, x.shape)


def _shrink(inputs: Feeds, differs: Callable[[Feeds], bool]) -> Feeds:
    """Return the fewest elements that still show the difference: one along each axis, or all that matter."""
    for axis in range(-1, -1 - max(x.ndim for x in inputs.values()), -1):
        size = max(x.shape[axis] for x in inputs.values() if x.ndim >= -axis)
        if size > _LONGEST_TO_SHRINK:
            continue
        one = (_take(inputs, axis, [at]) for at in range(size) if size > 1)
        if (smaller := next(filter(differs, one), None)) is not None:
            inputs = smaller
            continue
        whole, places = inputs, list(range(size))
        for at in reversed(range(size)):
            rest = [each for each in places if each != at]
            if rest and differs(fewer := _take(whole, axis, rest)):
                inputs, places = fewer, rest
    return inputs


def _take(inputs: Feeds, axis: int, places: list[int]) -> Feeds:
    # An array with one element along the axis is broadcast.
    return {name: x if x.ndim < -axis or x.shape[axis] == 1 else np.take(x, places, axis) for name, x in inputs.items()}


def _array(x: NDArray[Any]) -> str:
    values = " ".join(str(x.tolist()).split())
    return f"{x.dtype}{list(x.shape)} {values if len(values) < _LONGEST_TEXT else f'{values[:_LONGEST_TEXT]} ...'}"
