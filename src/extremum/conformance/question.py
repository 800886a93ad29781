"""What a topic asks of one operator version on one element type: the question, its model, and the expected answer.

Decides the elements of the cases: ordinary ones without ties, and the special ones of each element type.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from extremum import dtypes, lower, reference, validate
from extremum.operations import Operation
from extremum.runtimes import outcome
from extremum.spec import Family, OperatorVersion
from extremum.tensors import TensorType

__all__ = [
    "Ask",
    "Case",
    "Placement",
    "Question",
    "array",
    "bits",
    "denormal",
    "distinct",
    "is_arg",
    "is_elementwise",
    "is_float",
    "is_hardmax",
    "is_reduction",
    "limits",
    "looks_for_smallest",
    "model_of",
    "spelt",
    "text",
]


Array = NDArray[Any]
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether the type has NaN, infinities and two zeros."""
    return dtype.name in _FLOATS


def array(dtype: np.dtype[Any], values: object) -> Array:
    """Return small exact numbers in an element type."""
    return np.asarray(values, np.float64 if is_float(dtype) else None).astype(dtype)


def distinct(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return up to 250 elements in random order, no two of them equal but truth values, exact in every type."""
    count = int(np.prod(shape))
    low = 0 if dtype.kind in "ub" else -(count // 2)
    return array(dtype, rng.permutation(np.arange(low, low + count))).reshape(shape)


def limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the smallest and the largest finite number of a type."""
    if dtype.kind == "b":
        return False, True
    if not is_float(dtype):
        info = np.iinfo(dtype)
        return info.min, info.max
    highest = {"float16": 0x7BFF, "bfloat16": 0x7F7F, "float32": 0x7F7FFFFF, "float64": 0x7FEFFFFFFFFFFFFF}
    largest = bits(dtype, highest[dtype.name])
    return -largest, largest


def denormal(dtype: np.dtype[Any]) -> Any:
    """Return the smallest number above zero."""
    return bits(dtype, 1)


def bits(dtype: np.dtype[Any], *patterns: int) -> Any:
    """Return the elements with these bit patterns; one alone as a scalar."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    elements = np.array(patterns, unsigned).view(dtype)
    return elements[0] if len(patterns) == 1 else elements


class Placement(enum.Enum):
    """Where the node stands in its model, and how the shapes of the model's inputs are declared."""

    GRAPH = "graph"
    SYMBOLIC = "graph with symbolic dimensions"
    SUBGRAPH = "subgraph of If"
    FUNCTION = "model-local function"


@dataclass(frozen=True, slots=True)
class Question:
    """One node with its inputs, before it has a model and an expected answer."""

    # A few words with underscores, unique within the topic, version and element type.
    title: str
    # What the node is fed.
    inputs: tuple[Array, ...]
    # What the node states, or is given as an input where its version wants that.
    attributes: Mapping[str, object] = field(default_factory=dict)
    # What the specification says, in a few words.
    says: str = ""
    # What it does not say, so that runtimes may rightly differ; empty where it says everything.
    leaves_open: str = ""
    # Whether the node breaks a promise of its version, so that there is no answer.
    refused: bool = False
    # Where the node stands.
    placement: Placement = Placement.GRAPH


Ask = Callable[[OperatorVersion, np.dtype[Any], np.random.Generator], Iterator[Question]]
"""What a topic is: the questions it has for a version on an element type, which may be none."""


def is_arg(version: OperatorVersion) -> bool:
    """Return whether the operator gives indices."""
    return version.family in (Family.ARGMAX, Family.ARGMIN)


def is_hardmax(version: OperatorVersion) -> bool:
    """Return whether the operator marks the largest element."""
    return version.family is Family.HARDMAX


def is_elementwise(version: OperatorVersion) -> bool:
    """Return whether the operator takes several operands."""
    return version.family in (Family.MAXIMUM, Family.MINIMUM)


def is_reduction(version: OperatorVersion) -> bool:
    """Return whether the operator gives the elements that it finds along axes."""
    return version.family in (Family.LARGEST, Family.SMALLEST)


def looks_for_smallest(version: OperatorVersion) -> bool:
    """Return whether the extremum is the smallest."""
    return version.family in (Family.ARGMIN, Family.MINIMUM, Family.SMALLEST)


def spelt(version: OperatorVersion, question: Question) -> Question:
    """Return a question about one axis as a version asks it: some have a list of ``axes``."""
    if version.attribute("axes") is None or "axis" not in question.attributes:
        return question
    others = {name: value for name, value in question.attributes.items() if name != "axis"}
    return replace(question, attributes={"axes": (question.attributes["axis"],), **others})


def text(value: object) -> str:
    """Return a number as a part of a title: ``minus_1`` for -1."""
    return str(value).replace("-", "minus_")


_FUNCTION_DOMAIN = "extremum.conformance"


def model_of(case: Case, expected: Array | None) -> onnx.ModelProto:
    """Return the model that puts the question of a case; `expected` settles the declared output."""
    question = case.question
    symbolic = question.placement is Placement.SYMBOLIC
    names = [f"x{position}" for position in range(len(question.inputs))]
    inputs = [
        _value(name, _number(x), [f"{name}_{axis}" if symbolic else size for axis, size in enumerate(x.shape)])
        for name, x in zip(names, question.inputs, strict=True)
    ]
    if expected is None:
        element = "int64" if is_arg(case.version) else case.element
        output = _value("y", _number_of(element), None)
    else:
        sizes = [f"y_{axis}" if symbolic else size for axis, size in enumerate(expected.shape)]
        output = _value("y", _number(expected), sizes)

    attributes: dict[str, Any] = case.stated
    # Constants, because many a runtime takes nothing else.
    initializers = [onnx.numpy_helper.from_array(values, name) for name, values in case.listed.items()]
    names += case.listed
    node = helper.make_node(case.version.name, names, ["y"], **attributes)
    functions = []
    # A function needs version 8 of the format; everything else the oldest that has the opset.
    opsets = [helper.make_opsetid("", case.version.since)]
    ir_version = max(helper.find_min_ir_version_for(opsets), 3)
    match question.placement:
        case Placement.SUBGRAPH:
            branches = [helper.make_graph([node], branch, [], [output]) for branch in ("then", "else")]
            initializers.append(helper.make_tensor("condition", onnx.TensorProto.BOOL, (), [True]))
            inputs_of_if = ["condition"]
            node = helper.make_node("If", inputs_of_if, ["y"], then_branch=branches[0], else_branch=branches[1])
            ir_version = max(ir_version, 4)
        case Placement.FUNCTION:
            functions.append(helper.make_function(_FUNCTION_DOMAIN, "Question", names, ["y"], [node], opsets[:1]))
            opsets.append(helper.make_opsetid(_FUNCTION_DOMAIN, 1))
            node = helper.make_node("Question", names, ["y"], domain=_FUNCTION_DOMAIN)
            ir_version = max(ir_version, 8)
        case _:
            pass
    graph = helper.make_graph([node], case.name, inputs, [output], initializers)
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=ir_version, functions=functions, producer_name="extremum"
    )


@functools.cache
def _number_of(name: str) -> int:
    return dtypes.from_name(name).onnx_number


def _number(x: Array) -> int:
    return _number_of(x.dtype.name)


def _value(name: str, number: int, shape: list[str | int] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, number, shape)


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a topic to one version of an operator on one element type.

    Attributes
    ----------
    version : OperatorVersion
        The version asked.
    element : str
        Element type of the inputs, such as ``float32``.
    topic : str
        Name of the topic, such as ``nan``.
    question : Question
        The node and its inputs.
    """

    version: OperatorVersion
    element: str
    topic: str
    question: Question

    @property
    def name(self) -> str:
        """The name, made of operator, version, element type, topic and title."""
        parts = (self.version.name.lower(), str(self.version.since), self.element, self.topic, self.question.title)
        return "_".join(part for part in parts if part)

    @property
    def specified(self) -> bool:
        """Whether a document decides the answer, so that a runtime that gives another one is wrong."""
        return not self.question.leaves_open

    @property
    def asked(self) -> outcome.Question:
        """What an answer is compared by."""
        return outcome.Question(self.version, self.question.attributes, self.question.inputs)

    @property
    def stated(self) -> dict[str, object]:
        """The attributes that the node states."""
        return {name: value for name, value in self.question.attributes.items() if name not in self.listed}

    @property
    def listed(self) -> dict[str, Array]:
        """The attributes that come as inputs, after the tensors."""
        given = self.question.attributes
        names = (each.name for each in self.version.input_attributes if each.name in given)
        return {name: np.array(given[name], np.int64) for name in names}

    @property
    def operation(self) -> Operation:
        """What the version means by the node."""
        types = [*map(TensorType.of, self.question.inputs), *map(TensorType.of_list, self.listed.values())]
        attributes = validate.attributes(self.version, self.stated, types)
        return lower.operation(self.version, attributes, self.question.inputs[0].ndim)

    def expected(self) -> Array | None:
        """Return the answer by :mod:`extremum.reference`, or None where the node has to be refused."""
        if self.question.refused:
            return None
        return reference.run(self.operation, *self.question.inputs)
