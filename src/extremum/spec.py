"""The schema of every version of every operator, as data, and the lookup of the version in force.

Contains only what the documents say. :mod:`extremum.validate`, :mod:`extremum.infer` and :mod:`extremum.lower` decide
what follows from a schema.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from extremum.errors import SpecError, UnknownOperatorError

ONNX = ""
"""The domain of ONNX's own operators."""
DIRECTML = "directml"
"""The domain of DirectML's operators; their version is the feature level, such as 0x4100."""


def requirement(domain: str, version: int) -> str:
    """Return a version of a domain in the user's words, such as ``opset 13``."""
    if domain == DIRECTML:
        return f"feature level {version >> 12}_{version >> 8 & 0xF}"
    return f"opset {version}"


class Family(enum.Enum):
    """What an operator computes, the same in all its versions."""

    ARGMAX = "index of the largest"
    ARGMIN = "index of the smallest"
    HARDMAX = "1 at the largest"
    MAXIMUM = "elementwise largest"
    MINIMUM = "elementwise smallest"
    LARGEST = "the largest"
    SMALLEST = "the smallest"
    TOP = "the k largest or smallest"


class AttributeRange(enum.Enum):
    """Which values of an attribute are accepted; r is the rank of the input."""

    ANY = "any value"
    FLAG = "0 or 1"
    AXIS = "[-r, r-1]"
    AXIS_UNSTATED = "an axis; the document says nothing of negative values"
    AXIS_UNSIGNED = "[0, r-1]"
    COUNT = "0 or more"

    @property
    def is_axis(self) -> bool:
        """Whether the values are axes."""
        return self not in (AttributeRange.ANY, AttributeRange.FLAG, AttributeRange.COUNT)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input or output, named as the document spells it."""

    name: str
    types: tuple[str, ...]  # inputs and outputs with the schema's `types` share one element type in a node
    maximum: int = 1  # more than 1 for a variadic input, which needs at least one tensor


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute, named as the document spells it."""

    name: str
    default: int | None  # the value if a node omits the attribute; None if the document states no default
    range: AttributeRange
    required: bool = False
    is_list: bool = False  # whether the value is a list of integers instead of a single integer
    input: Parameter | None = None  # the input that holds the value; optional unless `required`


@dataclass(frozen=True, slots=True)
class OperatorVersion:
    """The schema of one version of one operator."""

    domain: str
    name: str
    since: int  # the first opset, or feature level, of this schema
    family: Family
    input: Parameter  # may be variadic; further inputs may hold attributes
    outputs: tuple[Parameter, ...]
    attributes: tuple[Attribute, ...] = ()
    broadcasts: bool = False  # whether inputs are broadcast; otherwise they must have the same shape
    coerced: bool = False  # whether the input is treated as 2-D, split at the axis
    every_axis: bool = (
        False  # whether all axes are reduced if none is given, unless `noop_with_empty_axes` is set
    )
    identity: bool = False  # whether a reduction over no elements gives the identity of max or min
    ranks: tuple[int, int | None] = (0, None)  # the smallest and the largest rank; None means no limit

    @property
    def types(self) -> tuple[str, ...]:
        """Names of the accepted input element types."""
        return self.input.types

    def types_of(self, field: str) -> tuple[str, ...]:
        """Return the element types of the output that a field in snake_case names, or those of the input."""
        name = field.title().replace("_", "")
        return next((each.types for each in self.outputs if each.name == name), self.types)

    @property
    def input_attributes(self) -> tuple[Attribute, ...]:
        """The attributes that are inputs, in order; they follow the inputs that hold elements."""
        return tuple(attribute for attribute in self.attributes if attribute.input is not None)

    @property
    def least_inputs(self) -> int:
        """The smallest number of inputs of a node."""
        return 1 + sum(attribute.required for attribute in self.input_attributes)

    @property
    def most_inputs(self) -> int:
        """The largest number of inputs of a node."""
        return self.input.maximum + len(self.input_attributes)

    @property
    def version(self) -> str:
        """The version as its domain writes it: ``13``, or ``4_1`` for a feature level."""
        return self.requirement.rpartition(" ")[2]

    @property
    def requirement(self) -> str:
        """The lowest version that a model must import to get this one: ``opset 13``, ``feature level 4_1``."""
        return requirement(self.domain, self.since)

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute called ``name``, or None if this version has no such attribute."""
        return next((attribute for attribute in self.attributes if attribute.name == name), None)


# The first opset or feature level of a row, its input types, and the other fields in which it differs.
_Row = tuple[int, tuple[str, ...], dict[str, Any]]


def _operator(
    name: str,
    family: Family,
    operand: Parameter,
    outputs: Iterable[Parameter],
    rows: Iterable[_Row],
    **fields: Any,
) -> tuple[OperatorVersion, ...]:
    """Return the versions of an operator, oldest first; an output without types takes those of the input."""
    versions = []
    for since, types, others in rows:
        own = {"outputs": outputs, **fields, **others}
        results = tuple(replace(each, types=each.types or types) for each in own.pop("outputs"))
        version = OperatorVersion(
            name=name,
            since=since,
            family=family,
            input=replace(operand, types=types),
            outputs=results,
            domain=DIRECTML if name.startswith("DML_") else ONNX,
            **own,
        )
        versions.append(version)
    return tuple(versions)


_FLOATS = ("float16", "float32", "float64")
_NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *_FLOATS)
_KEEPDIMS = Attribute("keepdims", 1, AttributeRange.FLAG)

# ArgMax and ArgMin. 11 defined negative axes, 12 added select_last_index, 13 added bfloat16.
_AXIS = Attribute("axis", 0, AttributeRange.AXIS)
_AXIS_1 = replace(_AXIS, range=AttributeRange.AXIS_UNSTATED)
_LAST_AXIS = replace(_AXIS, default=-1)
_LAST_AXIS_1 = replace(_AXIS_1, default=-1)
_LAST = Attribute("select_last_index", 0, AttributeRange.FLAG)
_ARG: list[_Row] = [
    (1, _NUMBERS, {"attributes": (_AXIS_1, _KEEPDIMS)}),
    (11, _NUMBERS, {"attributes": (_AXIS, _KEEPDIMS)}),
    (12, _NUMBERS, {"attributes": (_AXIS, _KEEPDIMS, _LAST)}),
    (13, (*_NUMBERS, "bfloat16"), {"attributes": (_AXIS, _KEEPDIMS, _LAST)}),
]

# Max and Min. 6 dropped consumed_inputs, 8 added broadcasting, 12 the integers, 13 bfloat16.
_BROADCAST = {"broadcasts": True}
_ELEMENTWISE: list[_Row] = [
    (1, _FLOATS, {"attributes": (Attribute("consumed_inputs", None, AttributeRange.ANY, is_list=True),)}),
    (6, _FLOATS, {}),
    (8, _FLOATS, _BROADCAST),
    (12, _NUMBERS, _BROADCAST),
    (13, (*_NUMBERS, "bfloat16"), _BROADCAST),
]

# Hardmax. 1 and 11 treat the input as 2-D, split at the axis (default 1); 11 defined negative axes. 13 works along one
# axis (default: the last) and added bfloat16.
_HARDMAX: list[_Row] = [
    (1, _FLOATS, {"attributes": (replace(_AXIS_1, default=1),), "coerced": True}),
    (11, _FLOATS, {"attributes": (replace(_AXIS, default=1),), "coerced": True}),
    (13, (*_FLOATS, "bfloat16"), {"attributes": (_LAST_AXIS,)}),
]

# ReduceMax and ReduceMin. 11 defined negative axes, 12 added 8-bit integers, 13 bfloat16, 18 made the axes an input,
# which may be empty, 20 added bool. Every document except that of 12 defines the largest of no elements.
_WIDE = ("int32", "int64", "uint32", "uint64", *_FLOATS)
_WITH_8_BITS = ("int8", "uint8", *_WIDE)
_AXES = Attribute("axes", None, AttributeRange.AXIS, is_list=True)
_AXES_1 = replace(_AXES, range=AttributeRange.AXIS_UNSTATED)
_AXES_18 = replace(_AXES, input=Parameter("axes", ("int64",)))
_NOOP = Attribute("noop_with_empty_axes", 0, AttributeRange.FLAG)
_REDUCE: list[_Row] = [
    (1, _WIDE, {"attributes": (_AXES_1, _KEEPDIMS)}),
    (11, _WIDE, {"attributes": (_AXES, _KEEPDIMS)}),
    (12, _WITH_8_BITS, {"attributes": (_AXES, _KEEPDIMS), "identity": False}),
    (13, (*_WITH_8_BITS, "bfloat16"), {"attributes": (_AXES, _KEEPDIMS)}),
    (18, (*_WITH_8_BITS, "bfloat16"), {"attributes": (_AXES_18, _KEEPDIMS, _NOOP)}),
    (20, (*_WITH_8_BITS, "bfloat16", "bool"), {"attributes": (_AXES_18, _KEEPDIMS, _NOOP)}),
]

# TopK. 10 made k an input, 11 added `largest`, `sorted`, negative axes and the integers, 24 bfloat16.
_K = Attribute("k", None, AttributeRange.COUNT, required=True)
_K_10 = replace(_K, input=Parameter("K", ("int64",)))
_LARGEST = Attribute("largest", 1, AttributeRange.FLAG)
_SORTED = replace(_LARGEST, name="sorted")
_TOP_K: list[_Row] = [
    (1, _FLOATS, {"attributes": (_LAST_AXIS_1, _K)}),
    (10, _FLOATS, {"attributes": (_LAST_AXIS_1, _K_10)}),
    (11, _NUMBERS, {"attributes": (_LAST_AXIS, _LARGEST, _SORTED, _K_10)}),
    (24, (*_NUMBERS, "bfloat16"), {"attributes": (_LAST_AXIS, _LARGEST, _SORTED, _K_10)}),
]

_DATA = Parameter("data", ())
_DATA_0 = Parameter("data_0", (), 2**31 - 1)
_INPUT = Parameter("input", ())
_INDICES = [Parameter("reduced", ("int64",))]
_REDUCED = [Parameter("reduced", ())]
_VALUES_AND_INDICES = [Parameter("Values", ()), Parameter("Indices", ("int64",))]
_OF_REDUCE = {"every_axis": True, "identity": True}
_ONNX_OPERATORS = (
    _operator("ArgMax", Family.ARGMAX, _DATA, _INDICES, _ARG, ranks=(1, None)),
    _operator("ArgMin", Family.ARGMIN, _DATA, _INDICES, _ARG, ranks=(1, None)),
    _operator("Max", Family.MAXIMUM, _DATA_0, [Parameter("max", ())], _ELEMENTWISE),
    _operator("Min", Family.MINIMUM, _DATA_0, [Parameter("min", ())], _ELEMENTWISE),
    _operator("Hardmax", Family.HARDMAX, _INPUT, [Parameter("output", ())], _HARDMAX, ranks=(1, None)),
    _operator("ReduceMax", Family.LARGEST, _DATA, _REDUCED, _REDUCE, **_OF_REDUCE),
    _operator("ReduceMin", Family.SMALLEST, _DATA, _REDUCED, _REDUCE, **_OF_REDUCE),
    _operator("TopK", Family.TOP, Parameter("X", ()), _VALUES_AND_INDICES, _TOP_K, ranks=(1, None)),
)

# DirectML's operators, as the tensor support tables of their documents list them. The types of DML_REDUCE depend on
# its function, so each function is an operator here. No feature level takes float64 or bfloat16.
_DML_FLOATS = ("float32", "float16")
_DML_WORDS = (*_DML_FLOATS, "int32", "uint32")
_DML_NARROW = (*_DML_FLOATS, "int32", "int16", "int8", "uint32", "uint16", "uint8")
_DML_ALL = (*_DML_NARROW, "int64", "uint64")
_FOUR = {"ranks": (4, 4)}
_FOUR_OR_FIVE = {"ranks": (4, 5)}
_UP_TO_EIGHT = {"ranks": (1, 8)}
_UINT32 = {"outputs": [Parameter("OutputTensor", ("uint32",))], **_FOUR}
_ANY_INDEX = {"outputs": [Parameter("OutputTensor", ("int64", "int32", "uint64", "uint32"))], **_UP_TO_EIGHT}
_DML_ARG: list[_Row] = [(0x3000, _DML_NARROW, _ANY_INDEX), (0x4100, _DML_ALL, _ANY_INDEX)]
_DML_REDUCE_TO_INDEX: list[_Row] = [(0x1000, _DML_FLOATS, _UINT32), (0x2100, _DML_NARROW, _UINT32), *_DML_ARG]
_DML_FROM_3_0: list[_Row] = [(0x3000, _DML_NARROW, _UP_TO_EIGHT), (0x5000, _DML_ALL, _UP_TO_EIGHT)]
_DML_REDUCE_TO_ELEMENT = [(0x1000, _DML_FLOATS, _FOUR), (0x2100, _DML_WORDS, _FOUR), *_DML_FROM_3_0]
_DML_ELEMENTWISE = [(0x1000, _DML_FLOATS, _FOUR), (0x2100, _DML_NARROW, _FOUR), *_DML_FROM_3_0]
_DML_HARDMAX = [
    (0x1000, _DML_FLOATS, _FOUR),
    (0x2000, _DML_FLOATS, _FOUR_OR_FIVE),
    (0x3000, _DML_FLOATS, _UP_TO_EIGHT),
]
_DML_HARDMAX1 = [(0x5100, _DML_FLOATS, _UP_TO_EIGHT)]
_DML_AXES = Attribute("axes", None, AttributeRange.AXIS_UNSIGNED, required=True, is_list=True)
_DIRECTION = Attribute("axis_direction", 0, AttributeRange.FLAG)
_DML_VALUES = Parameter("OutputValueTensor", ())
_TOP_UINT32 = {"outputs": [_DML_VALUES, Parameter("OutputIndexTensor", ("uint32",))]}
_TOP_UINT64 = {"outputs": [_DML_VALUES, Parameter("OutputIndexTensor", ("uint64", "uint32"))], **_UP_TO_EIGHT}
_DML_TOP_K1: list[_Row] = [
    (0x2100, _DML_NARROW, {**_TOP_UINT32, **_FOUR}),
    (0x3100, _DML_NARROW, {**_TOP_UINT32, **_UP_TO_EIGHT}),
    (0x5000, _DML_ALL, _TOP_UINT64),
]
_DML_TOP_K: list[_Row] = [(0x2000, _DML_FLOATS, {**_TOP_UINT32, **_FOUR}), *_DML_TOP_K1]
_DML_AXIS = Attribute("axis", None, AttributeRange.AXIS_UNSIGNED, required=True)
_TENSOR = Parameter("InputTensor", ())
_A_AND_B = Parameter("ATensor, BTensor", (), 2)
_OUTPUT = [Parameter("OutputTensor", ())]
_DIRECTML_OPERATORS = (
    _operator("DML_ARGMAX", Family.ARGMAX, _TENSOR, _OUTPUT, _DML_ARG, attributes=(_DML_AXES, _DIRECTION)),
    _operator("DML_ARGMIN", Family.ARGMIN, _TENSOR, _OUTPUT, _DML_ARG, attributes=(_DML_AXES, _DIRECTION)),
    _operator(
        "DML_REDUCE(ARGMAX)", Family.ARGMAX, _TENSOR, _OUTPUT, _DML_REDUCE_TO_INDEX, attributes=(_DML_AXES,)
    ),
    _operator(
        "DML_REDUCE(ARGMIN)", Family.ARGMIN, _TENSOR, _OUTPUT, _DML_REDUCE_TO_INDEX, attributes=(_DML_AXES,)
    ),
    _operator(
        "DML_REDUCE(MAX)", Family.LARGEST, _TENSOR, _OUTPUT, _DML_REDUCE_TO_ELEMENT, attributes=(_DML_AXES,)
    ),
    _operator(
        "DML_REDUCE(MIN)", Family.SMALLEST, _TENSOR, _OUTPUT, _DML_REDUCE_TO_ELEMENT, attributes=(_DML_AXES,)
    ),
    _operator("DML_ELEMENT_WISE_MAX", Family.MAXIMUM, _A_AND_B, _OUTPUT, _DML_ELEMENTWISE),
    _operator("DML_ELEMENT_WISE_MIN", Family.MINIMUM, _A_AND_B, _OUTPUT, _DML_ELEMENTWISE),
    # The structure has no field for the axis: the document implies the last one.
    _operator(
        "DML_ACTIVATION_HARDMAX", Family.HARDMAX, _TENSOR, _OUTPUT, _DML_HARDMAX, attributes=(_LAST_AXIS,)
    ),
    _operator(
        "DML_ACTIVATION_HARDMAX1", Family.HARDMAX, _TENSOR, _OUTPUT, _DML_HARDMAX1, attributes=(_DML_AXES,)
    ),
    _operator("DML_TOP_K", Family.TOP, _TENSOR, _OUTPUT, _DML_TOP_K, attributes=(_DML_AXIS, _K)),
    _operator(
        "DML_TOP_K1", Family.TOP, _TENSOR, _OUTPUT, _DML_TOP_K1, attributes=(_DML_AXIS, _K, _DIRECTION)
    ),
)

OPERATORS: Mapping[tuple[str, str], tuple[OperatorVersion, ...]] = MappingProxyType(
    {
        (versions[0].domain, versions[0].name): versions
        for versions in (*_ONNX_OPERATORS, *_DIRECTML_OPERATORS)
    }
)
"""All versions of each operator, oldest first, by domain and name."""


def find(domain: str, name: str, opset: int) -> OperatorVersion:
    """Return the version of an operator in force at an opset or, for DirectML, a feature level such as 0x4100."""
    versions = OPERATORS.get((domain, name))
    if versions is None:
        names = ", ".join(sorted(each for of, each in OPERATORS if of == domain))
        raise UnknownOperatorError(f"there is no operator {name!r} here", remedy=f"the operators are {names}")
    in_force = [version for version in versions if version.since <= opset]
    if not in_force:
        raise SpecError(f"{name} needs {versions[0].requirement} or later", given=requirement(domain, opset))
    return in_force[-1]
