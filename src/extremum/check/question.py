"""How a runtime answers the nodes of a model, tried with difficult samples.

Decides the question (a model of the single node), the samples (random values, ties, the limits of the type, infinities,
zeros of either sign and NaN; also for sizes that the model leaves open), and how far an input shrinks.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import infer, validate
from extremum.errors import ExtremumError
from extremum.graph.attributes import attributes_of, resolve_references
from extremum.graph.calls import schema_of
from extremum.graph.operands import operand_names, operand_types, resolve_node
from extremum.graph.sites import Site
from extremum.lower import operation
from extremum.operations import results
from extremum.runtimes import Feeds, shown
from extremum.runtimes.comparison import NodeQuestion, Outcome, compare, same_bits
from extremum.runtimes.process import InProcess, NoAnswerError, Subprocess
from extremum.spec import ONNX, Family, OperatorVersion
from extremum.tensors import Shape, TensorType, element_of

# Enough for ties at both ends and in the middle. No rewrite depends on a size.
_LARGEST_SIZE = 7
_OPEN_RANK = 3
_LARGEST_OPEN_RANK = 8
_MOST_SELECTED = 1 << 17
# Longer axes are not shrunk: they occur where a selection takes nearly all elements.
_LONGEST_TO_SHRINK = 100
# In characters: the text of the values of one array.
_LONGEST_TEXT = 160


class SampleKind(enum.Enum):
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
    return _draw_samples(_sample_types(site), SampleKind)


def beyond_axis(site: Site, inputs: Feeds) -> tuple[Feeds, Feeds]:
    """Return the inputs of a selection with a k above the size of its axis, and with the k that takes all elements."""
    data, k = site.names
    (axis,) = validate.axes(site.version, site.accepted, inputs[data].ndim)
    size = inputs[data].shape[axis]
    return {**inputs, k: np.array([size + 2])}, {**inputs, k: np.array([size])}


def _sample_types(site: Site) -> dict[str, TensorType]:
    """Return the type of each input of a sample, with values for an input that stands for an attribute."""
    open_shape = _open_shape(site)
    joint = None
    if site.version.family in (Family.MAXIMUM, Family.MINIMUM):
        # An operand of unknown rank has the shape of the others.
        known = [each for each in site.operands if each.shape is not None]
        joint = infer.outputs(site.version, site.accepted, known)[0].shape if known else None
    k = site.accepted.get("k")
    least = min(k, _MOST_SELECTED) if isinstance(k, int) else 0
    types: dict[str, TensorType] = {}
    for name, tensor in zip(site.names, site.operands, strict=False):
        sizes = _sizes(tensor, (joint or open_shape) if tensor.shape is None else joint)
        # The axis of a selection has at least the k elements that it takes, up to a limit.
        axes = validate.axes(site.version, site.accepted, len(sizes)) if least else ()
        sizes = tuple(max(size, least) if axis in axes else size for axis, size in enumerate(sizes))
        types[name] = TensorType(tensor.element, sizes)
    # If the model leaves the values open: one element, or the last axis.
    default: tuple[int, ...] = (-1,)
    if site.version.family is Family.TOP:
        default = (1,)
    elif site.inputs[0].rank == 0:
        default = ()
    for name, tensor in list(zip(site.names, site.inputs, strict=True))[len(site.operands) :]:
        values = default if tensor.values is None else tensor.values
        types[name] = TensorType("int64", (len(values),), values)
    return types


def _draw_samples(types: Mapping[str, TensorType], kinds: Iterable[SampleKind]) -> Iterator[Feeds]:
    is_wide = any(each.values is None and each.element in ("int64", "uint64") for each in types.values())
    for seed, kind in enumerate(SampleKind):
        if kind in kinds and (is_wide or kind is not SampleKind.HALVES):
            random = np.random.default_rng(seed)
            yield {
                name: draw(random, str(each.element), each.sizes or (), kind)
                if each.values is None
                else np.array(each.values, np.int64)
                for name, each in types.items()
            }


def open_rank(site: Site, least: int) -> int:
    """Return a rank for an operand whose rank the model leaves open: at least `least`, and with the node's axes."""
    ranks = range(least, _LARGEST_OPEN_RANK + 1)
    fit = (rank for rank in ranks if not any(refusals(validate.axes, site.version, site.accepted, rank)))
    return next(fit, least)


def _open_shape(site: Site) -> tuple[int, ...]:
    """Return the shape of a sample whose rank the model leaves open."""
    # With more long axes the sample would have too many elements.
    return (2,) * (open_rank(site, _OPEN_RANK) - _OPEN_RANK) + (_LARGEST_SIZE,) * _OPEN_RANK


def _sizes(tensor: TensorType, joint: Shape | None) -> tuple[int, ...]:
    """Return the sizes of a sample; an open size fits the others in broadcasting."""
    shape = (None,) * len(joint or ()) if tensor.shape is None else tensor.shape
    others = joint[len(joint) - len(shape) :] if joint else (None,) * len(shape)
    numbers = ([size for size in pair if isinstance(size, int)] for pair in zip(shape, others, strict=True))
    return tuple(min((*sizes, _LARGEST_SIZE)[0], _LARGEST_SIZE) for sizes in numbers)


def draw(random: np.random.Generator, element: str, sizes: tuple[int, ...], kind: SampleKind) -> NDArray[Any]:
    """Return an array of one kind of values."""
    dtype = element_of(element).dtype
    if kind is not SampleKind.RANDOM:
        values = _values(dtype, kind)
        return np.asarray(values[random.integers(len(values), size=sizes)])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.asarray(random.integers(limits.min, limits.max, sizes, dtype, endpoint=True))
    return np.asarray(random.standard_normal(sizes)).astype(dtype)


def _values(dtype: np.dtype[Any], kind: SampleKind) -> NDArray[Any]:
    if kind is SampleKind.TIES or dtype.kind == "b":
        return np.arange(4).astype(dtype)
    if kind is SampleKind.HALVES:
        return np.array([0, 2**31 - 1, 2**31, 2**32 - 1], dtype)
    nan: list[float] = []
    if dtype.kind in "iu":
        info: Any = np.iinfo(dtype)
        middle = info.max // 2
        limits = [info.min, info.min + 1, middle, middle + 1, info.max - 1, info.max]
    else:
        info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        nan = [np.nan] * 4
        least = info.smallest_subnormal
        limits = [-np.inf, info.min, -least, -0.0, 0.0, least, info.max, np.inf]
    half = len(limits) // 2
    values = {
        SampleKind.LOW: limits[:2],
        SampleKind.MIDDLE: limits[half - 1 : half + 1],
        SampleKind.HIGH: limits[-2:],
        SampleKind.NAN: [*limits, *nan],
        SampleKind.ALL_NAN: nan or limits,
    }
    return np.array([dtype.type(value) for value in values.get(kind, limits)], dtype)


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a runtime does not answer a node exactly, and the smallest input that shows it."""

    outcome: Outcome
    # In a word: that of the outcome, or that the order of an unsorted selection is another one.
    aspect: str
    # Why there is no answer; empty if there is one.
    why: str
    # The text of each input, and that of the expected and the actual answer.
    inputs: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether no specification decides it: both answers are right."""
        return self.outcome in (Outcome.NAN, Outcome.ZERO) or self.aspect == ANY_ORDER


ANY_ORDER = "order of unsorted results"
_EXACT = Difference(Outcome.EXACT, Outcome.EXACT.value, "")


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
        self._differences: dict[object, list[Difference]] = {}

    def differences(
        self, site: Site, kinds: Iterable[SampleKind] = tuple(SampleKind)
    ) -> Iterator[tuple[Difference, str]]:
        """Yield each way in which the answers are not exact, and what shows it; nothing for invalid nodes."""
        is_known = all(tensor.element is not None for tensor in site.inputs)
        if not is_known or any(refusals(partial(site.outputs, any_element=site.written is not None))):
            return
        question = _question(site)
        key = (*question.key, tuple(kinds))
        if key not in self._differences:
            self._differences[key] = list(self._search(question, kinds))
        for each in self._differences[key]:
            inputs = map(" = ".join, zip(question.names, each.inputs, strict=True))
            yield each, "; ".join([question.text, *inputs, *each.answers])

    def _search(self, question: _Question, kinds: Iterable[SampleKind]) -> Iterator[Difference]:
        """Yield the first difference of each aspect, with the input as small as it can be."""
        found = set[str]()
        for sample in _draw_samples(question.types, kinds):
            aspect = self._answer(question, sample).aspect
            if aspect in found or aspect == _EXACT.aspect:
                continue
            found.add(aspect)
            small = self._shrunk(question, sample, aspect)
            difference = self._answer(question, small)
            yield replace(difference, inputs=tuple(map(_array, small.values())))
            if difference.why:
                # If a runtime does not answer one sample, the others are skipped.
                return

    def _shrunk(self, question: _Question, sample: Feeds, aspect: str) -> Feeds:
        """Return the fewest elements with the same aspect; inputs that stand for attributes stay as they are."""
        listed = {name: x for name, x in sample.items() if question.types[name].values is not None}
        tensors = {name: x for name, x in sample.items() if name not in listed}

        def differs(fewer: Feeds) -> bool:
            return self._answer(question, {**fewer, **listed}).aspect == aspect

        return {**_shrink(tensors, differs), **listed}

    def _answer(self, question: _Question, inputs: Feeds) -> Difference:
        """Return how the answer to one sample differs."""
        node = question.node
        try:
            expected = expected_outputs(node, inputs, question.opset)
        except ExtremumError:
            # A sample with fewer elements than a selection takes shows nothing.
            return _EXACT
        try:
            model = model_of(
                question.asked, question.asked_opset, inputs, dict(zip(node.output, expected, strict=True))
            )
            outputs = self.watched.ask(model, inputs)
        except NoAnswerError as error:
            return Difference(error.outcome, error.outcome.value, str(error))
        if len(outputs) != len(expected):
            outcome = Outcome.WRONG
            aspect = outcome.value
            answer = f"{len(outputs)} outputs"
        else:
            outcome = outcome_of(question.version, node, inputs, expected, outputs)
            is_same = outcome is not Outcome.EXACT or all(map(same_bits, outputs, expected))
            aspect = outcome.value if is_same else ANY_ORDER
            answer = "; ".join(map(_array, outputs))
        texts = f"expected {'; '.join(map(_array, expected))}", f"answered {answer}"
        return Difference(outcome, aspect, "", answers=texts)


@dataclass(frozen=True, slots=True)
class _Question:
    """A node, or the nodes that were written in its place, with names that do not depend on the model."""

    version: OperatorVersion
    opset: int
    node: onnx.NodeProto
    # What the runtime gets: the written nodes, or else the node alone.
    asked: Sequence[onnx.NodeProto]
    asked_opset: int
    # The type of each input of a sample.
    types: Mapping[str, TensorType]
    # The names of these inputs in the model, and the node as messages show it.
    names: Sequence[str]
    text: str

    @property
    def key(self) -> tuple[object, ...]:
        """What two questions have in common if they have the same answer."""
        nodes_ = tuple(each.SerializeToString(deterministic=True) for each in (self.node, *self.asked))
        return nodes_, self.opset, self.asked_opset, tuple(self.types.items())


def _question(site: Site) -> _Question:
    """Return the question about a node: nodes that differ only in names, and in sizes that no sample has, are one."""
    before = resolve_references(site.node, {})
    names = {name: f"x{at}" for at, name in enumerate(dict.fromkeys(site.names))}
    outputs = {name: f"y{at or ''}" for at, name in enumerate(before.output)}
    node = onnx.NodeProto(op_type=before.op_type, attribute=before.attribute)
    node.input.extend(names[name] for name in site.names)
    node.output.extend(f"y{at or ''}" for at in range(len(site.version.outputs)))
    opset = asked_opset = site.opsets[ONNX]
    asked = [node]
    if site.written is not None:
        asked = _renamed(site.written.nodes, {**names, **outputs})
        asked_opset = site.written.opset
    types = {names[name]: each for name, each in _sample_types(site).items()}
    stated = [f"{each.name}={onnx.helper.get_attribute_value(each)}" for each in before.attribute]
    attributes = f" <{', '.join(stated)}>" if stated else ""
    call = f"{before.op_type}{attributes} ({', '.join(before.input)})"
    return _Question(
        version=site.version,
        opset=opset,
        node=node,
        asked=asked,
        asked_opset=asked_opset,
        types=types,
        names=list(names),
        text=f"{call}, opset {opset}",
    )


def _renamed(written: Sequence[onnx.NodeProto], names: Mapping[str, str]) -> list[onnx.NodeProto]:
    """Return copies of nodes with other names of values, without names of their own and without marks."""
    table = {"": "", **names}
    copies = []
    for node in written:
        copy = onnx.NodeProto(op_type=node.op_type, domain=node.domain)
        copy.attribute.extend(resolve_references(node, {}).attribute)
        for source, target in ((node.input, copy.input), (node.output, copy.output)):
            target.extend(table.setdefault(name, f"v{len(table)}") for name in source)
        copies.append(copy)
    return copies


def expected_outputs(node: onnx.NodeProto, inputs: Feeds, opset: int) -> list[NDArray[Any]]:
    """Return the answer of this package, also for an element type that the version does not take."""
    version = schema_of(node, {ONNX: opset})
    assert version is not None
    names = operand_names(node, version)
    arrays = [inputs[name] for name in names]
    stated = attributes_of(node, {})
    values, _ = resolve_node(version, stated, names, operand_types(version, arrays), any_element=True)
    operands = arrays[: version.input.maximum]
    run: Callable[..., Any] = operation(version, values, operands[0].ndim)
    return list(map(np.asarray, results(run(*operands))))


def outcome_of(
    version: OperatorVersion,
    node: onnx.NodeProto,
    inputs: Feeds,
    expected: Sequence[NDArray[Any]],
    outputs: Sequence[NDArray[Any]],
) -> Outcome:
    """Return how the answer to a node compares with the expected one."""
    arrays = list(inputs.values())
    attributes = validate.attributes(version, attributes_of(node, {}), operand_types(version, arrays))
    return compare(NodeQuestion(version, attributes, arrays), expected, outputs)


def model_of(body: Sequence[onnx.NodeProto], opset: int, inputs: Feeds, outputs: Feeds) -> onnx.ModelProto:
    """Return a model of nodes."""
    operands, results = (list(map(_value, each, each.values())) for each in (inputs, outputs))
    graph = onnx.helper.make_graph(body, "question", operands, results)
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
        whole = inputs
        places = list(range(size))
        for at in reversed(range(size)):
            rest = [each for each in places if each != at]
            if rest and differs(fewer := _take(whole, axis, rest)):
                inputs = fewer
                places = rest
    return inputs


def _take(inputs: Feeds, axis: int, places: list[int]) -> Feeds:
    fewer = dict(inputs)
    for name, x in inputs.items():
        # An array with one element along the axis is broadcast.
        if x.ndim >= -axis and x.shape[axis] != 1:
            fewer[name] = np.take(x, places, axis)
    return fewer


def _array(x: NDArray[Any]) -> str:
    values = " ".join(str(x.tolist()).split())
    if len(values) >= _LONGEST_TEXT:
        values = f"{values[:_LONGEST_TEXT]} ..."
    return f"{x.dtype}{list(x.shape)} {values}"
