"""DirectML's descriptions: the rules of its documents, what each feature level accepts, the documents' examples."""

import itertools
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from extremum import directml as dml
from extremum import spec
from extremum.check import check
from extremum.directml import AxisDirection, FeatureLevel, ReduceFunction, TensorDataType, TensorDesc, TensorFlags
from extremum.errors import ArgumentTypeError, AxisError, ElementTypeError, ExtremumError, SpecError
from extremum.printable import markdown_table
from models import model
from refusal import error_of, explained, refusal

FLOAT32 = TensorDataType.FLOAT32
FLOAT16 = TensorDataType.FLOAT16
ITEMSIZES = {each: int(re.sub(r"\D", "", each.name)) // 8 for each in TensorDataType}


def tensor(text, **more):
    """A description from text such as ``FLOAT32 2 3``."""
    name, *sizes = text.split()
    return TensorDesc(TensorDataType[name], tuple(map(int, sizes)), **more)


def argmax(x="FLOAT32 2 3", y="INT64 2 1", axes=(1,)):
    return dml.ArgMaxOperatorDesc(tensor(x), tensor(y), axes)


# Enumerations and tensors.


def test_enumerations_have_directmls_values():
    assert [each.name for each in sorted(TensorDataType)] == [
        *("FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8", "FLOAT64", "UINT64", "INT64")
    ]
    assert sorted(TensorDataType) == list(range(1, 12))
    levels = ["1_0", "2_0", "2_1", "3_0", "3_1", "4_0", "4_1", "5_0", "5_1", "5_2", "6_0", "6_1", "6_2", "6_3", "6_4"]
    assert [(str(each), each.value) for each in FeatureLevel] == [
        (name, int(name[0]) << 12 | int(name[2]) << 8) for name in levels
    ]


@pytest.mark.parametrize("data_type", TensorDataType, ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("sizes", "strides", "extent"),
    [
        ((1,), None, 1),
        ((3,), None, 3),
        ((2, 3), None, 6),
        ((2, 3), (4, 1), 7),
        ((2, 3), (1, 2), 6),
        ((2, 3), (0, 1), 3),
        ((2, 3), (0, 0), 1),
        ((1, 2, 1), (9, 5, 7), 6),
        ((2,) * 8, None, 256),
    ],
    ids=str,
)
def test_the_smallest_size_reaches_from_the_first_element_to_the_last(data_type, sizes, strides, extent):
    desc = TensorDesc(data_type, sizes, strides)
    least = (extent * ITEMSIZES[data_type] + 3) // 4 * 4
    assert (desc.extent, desc.total_tensor_size_in_bytes) == (extent, least)
    assert TensorDesc(data_type, sizes, strides, least + 1).total_tensor_size_in_bytes == least + 1
    error_of(SpecError, TensorDesc, data_type, sizes, strides, least - 1)


STRIDES = [((2, 3), strides, False) for strides in (None, (3, 1), (1, 2), (7, 2))]
STRIDES += [((2, 3), strides, True) for strides in ((0, 1), (2, 1), (1, 1), (0, 0), (1, 0))]
# Dimensions of size 1 may have any stride.
STRIDES += [((1, 3), (0, 1), False), ((2, 1, 3), (3, 0, 1), False), ((1, 1), (0, 0), False)]


@pytest.mark.parametrize(("sizes", "strides", "overlaps"), STRIDES, ids=str)
def test_elements_share_memory_unless_the_dimensions_step_over_each_other(sizes, strides, overlaps):
    output = TensorDesc(FLOAT32, sizes, strides)
    assert output.overlapping is overlaps
    desc = dml.ElementWiseMaxOperatorDesc(*[TensorDesc(FLOAT32, sizes)] * 2, output)
    if overlaps:
        assert refusal(SpecError, dml.create_operator, desc) == (
            f"elements of output_tensor share memory: its strides are {list(strides)}"
        )
    else:
        dml.create_operator(desc)


def test_lists_become_tuples_and_descriptions_compare_by_value():
    desc = TensorDesc(1, [2, 3], [4, 1], flags=TensorFlags.OWNED_BY_DML)
    assert (desc.data_type, desc.sizes, desc.strides) == (FLOAT32, (2, 3), (4, 1))
    assert desc == TensorDesc(FLOAT32, (2, 3), (4, 1), flags=1)
    assert hash(desc) == hash(TensorDesc(FLOAT32, (2, 3), (4, 1), flags=1))
    assert str(desc) == "FLOAT32[2, 3] strides [4, 1]"
    desc = dml.ReduceOperatorDesc(7, tensor("INT8 2"), tensor("INT8 1"), [0])
    assert (desc.function, desc.axes) == (ReduceFunction.MAX, (0,))
    assert desc == dml.ReduceOperatorDesc(ReduceFunction.MAX, tensor("INT8 2"), tensor("INT8 1"), (0,))
    for alignment in (0, 4, 8, 16, 4096):
        assert tensor("FLOAT32 3", **{ALIGNMENT: alignment}).guaranteed_base_offset_alignment == alignment


TOTAL = "total_tensor_size_in_bytes"
ALIGNMENT = "guaranteed_base_offset_alignment"
SMALLEST = "; help: leave it out for the smallest size that holds the tensor"
MANY = f"at most {2**32 - 1} elements"
MEMBERS = [
    ({"sizes": ()}, "a tensor has 1 to 8 dimensions, not 0"),
    ({"sizes": (1,) * 9}, "a tensor has 1 to 8 dimensions, not 9"),
    ({"sizes": 3}, "sizes is not a sequence of integers"),
    ({"sizes": [2.0]}, "sizes is not a sequence of integers"),
    (
        {"sizes": (2, 0)},
        "dimension 1 has size 0, and DirectML has no tensors without elements; help: leave the operator out: "
        "its result is empty too",
    ),
    ({"sizes": (-1,)}, "sizes are numbers from 0 to 4294967295, not -1"),
    ({"sizes": (2**32,)}, "sizes are numbers from 0 to 4294967295, not 4294967296"),
    ({"sizes": (65536, 65536)}, f"a tensor has {MANY}"),
    ({"sizes": (65536, 65536), "strides": (0, 1)}, f"a tensor has {MANY}"),
    ({"sizes": (2, 2), "strides": (2**32 - 1, 1)}, f"a tensor has {MANY}"),
    ({"sizes": (2**16,) * 8, "strides": (0,) * 8}, f"a tensor has {MANY}"),
    ({"strides": (1,)}, "2 dimensions have 1 strides"),
    ({"strides": (-3, 1)}, "strides are numbers from 0 to 4294967295, not -3"),
    ({"strides": (2**32, 1)}, "strides are numbers from 0 to 4294967295, not 4294967296"),
    ({"strides": "11"}, "strides is not a sequence of integers"),
    ({TOTAL: 23}, f"FLOAT32[2, 3] takes 24 bytes, not 23{SMALLEST}"),
    ({TOTAL: -1}, f"FLOAT32[2, 3] takes 24 bytes, not -1{SMALLEST}"),
    ({TOTAL: 2**64}, f"a size is below 2**64, not 18446744073709551616{SMALLEST}"),
    *(({TOTAL: given}, f"{TOTAL} is not an integer") for given in ("x", 8.0)),
    *(({ALIGNMENT: given}, f"{ALIGNMENT} is not an integer") for given in ("x", None)),
    *(
        ({ALIGNMENT: given}, "an alignment is 0 or a power of two that is at least the size of an element, 4")
        for given in (2, 12, -4)
    ),
    ({ALIGNMENT: 2**32}, "an alignment is below 2**32"),
    *(
        ({"flags": given}, f"flags has no value {given!r}; help: use TensorFlags: NONE, OWNED_BY_DML")
        for given in (2, None, [], np.array([0, 1]))
    ),
]


@pytest.mark.parametrize(("members", "text"), MEMBERS, ids=str)
def test_a_tensor_that_breaks_a_rule(members, text):
    assert explained(TensorDesc, FLOAT32, **{"sizes": (2, 3), **members}) == f"SpecError: {text}"


@pytest.mark.parametrize("given", [0, 12, "FLOAT32", "float32"])
def test_an_unknown_element_type(given):
    assert explained(TensorDesc, given, (3,)) == (
        f"ElementTypeError: data_type has no value {given!r}; help: use TensorDataType: FLOAT32, FLOAT16, UINT32, "
        "UINT16, UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64"
    )


# What a feature level accepts.

# The structures of the operators, and the functions of a reduction.
OPERATORS = ["ArgMax", "ArgMin", *(f"Reduce {each.name}" for each in ReduceFunction)]
OPERATORS += ["ElementWiseMax", "ElementWiseMin", "ActivationHardmax", "ActivationHardmax1", "TopK", "TopK1"]
ROWS = [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.DIRECTML for row in rows]
# The levels at which an operator changes.
STARTS = sorted({FeatureLevel(row.since) for row in ROWS})


def description(operator, input_type, output_type, count):
    """A description of the operator over its last axis, for types and a number of dimensions."""
    name, _, function = operator.partition(" ")
    structure = getattr(dml, f"{name}OperatorDesc")
    leading = (1,) * (count - 1)
    reduced = operator.startswith(("ArgM", "Reduce"))
    x = TensorDesc(TensorDataType[input_type], (*leading, 3))
    y = TensorDesc(TensorDataType[output_type], (*leading, 1 if reduced else 3))
    if function:
        return structure(ReduceFunction[function], x, y, (count - 1,))
    if name.startswith("ElementWise"):
        return structure(x, x, y)
    if name.startswith("TopK"):
        return structure(x, x, y, count - 1, 3, *([AxisDirection.DECREASING] if name == "TopK1" else []))
    return structure(x, y) if name == "ActivationHardmax" else structure(x, y, (count - 1,))


def in_rows(desc, level, input_type, output_type, count):
    """Whether the row in force of the description's operator lists the types and the dimension count."""
    rows = [row for row in ROWS if row.name == desc.row and row.since <= level]
    if not rows:
        return False
    output_types = rows[-1].outputs[-1].types if re.search("ARG|TOP", desc.row) else (input_type.lower(),)
    least, most = rows[-1].ranks
    return input_type.lower() in rows[-1].types and output_type.lower() in output_types and least <= count <= most


def accepted(desc, level):
    try:
        dml.create_operator(desc, feature_level=level)
    except ExtremumError:
        return False
    return True


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_is_accepted_is_what_the_rows_list(operator):
    names = [each.name for each in TensorDataType]
    for case in itertools.product(names, names, (1, 4, 5)):
        desc = description(operator, *case)
        levels = [level for level in STARTS if in_rows(desc, level, *case)]
        assert [level for level in STARTS if accepted(desc, level)] == levels, desc
        if levels:
            assert dml.feature_level_required(desc) == levels[0]
        else:
            error_of(ExtremumError, dml.feature_level_required, desc)


def test_the_table_in_the_docs_is_what_the_rows_say():
    def names(types):
        return ", ".join(map(str.upper, types))

    table = []
    for row in ROWS:
        dimensions = str(row.ranks[0]) if len(set(row.ranks)) == 1 else "{} to {}".format(*row.ranks)
        outputs = ("the input's" if each.types == row.types else names(each.types) for each in row.outputs)
        table.append([row.name, row.version, dimensions, names(row.types), "; ".join(outputs)])
    page = (Path(__file__).parents[1] / "docs" / "directml.md").read_text(encoding="utf-8")
    header = ["operator", "from level", "dimensions", "element types", "output types"]
    assert markdown_table(header, table) in page, markdown_table(header, table)


NARROW_TEXT = "FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8"
TOP_K = "SpecError: DML_TOP_K1-5_0"
KEEPS = "; help: DirectML keeps the rank: a reduced dimension has size 1"
REFUSED = [
    (
        argmax("INT64 2 3"),
        "3_0",
        "ElementTypeError: DML_ARGMAX-3_0 does not take INT64 as input_tensor (it came with DML_ARGMAX-4_1); "
        f"help: the element types of input_tensor in DML_ARGMAX-3_0 are: {NARROW_TEXT}",
    ),
    (
        argmax("FLOAT64 2 3"),
        "6_4",
        "ElementTypeError: DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor; "
        f"help: the element types of input_tensor in DML_ARGMAX-4_1 are: {NARROW_TEXT}, INT64, UINT64",
    ),
    (
        argmax(y="UINT8 2 1"),
        "6_4",
        "ElementTypeError: DML_ARGMAX-4_1 does not take UINT8 as output_tensor; "
        "help: the element types of output_tensor in DML_ARGMAX-4_1 are: INT64, INT32, UINT64, UINT32",
    ),
    (
        dml.ReduceOperatorDesc(ReduceFunction.ARGMAX, tensor("FLOAT32 1 1 2 3"), tensor("INT64 1 1 2 1"), (3,)),
        "2_1",
        "ElementTypeError: DML_REDUCE(ARGMAX)-2_1 does not take INT64 as output_tensor (it came with "
        "DML_REDUCE(ARGMAX)-3_0); help: the element types of output_tensor in DML_REDUCE(ARGMAX)-2_1 are: UINT32",
    ),
    (argmax(), "2_1", "SpecError: DML_ARGMAX needs feature level 3_0 or later"),
    (
        dml.ElementWiseMaxOperatorDesc(*[tensor("FLOAT32 2 3")] * 3),
        "2_0",
        "SpecError: DML_ELEMENT_WISE_MAX-1_0 takes tensors of 4 dimensions, but a_tensor has 2; "
        "help: put dimensions of size 1 in front",
    ),
    (
        dml.ActivationHardmaxOperatorDesc(*[tensor("FLOAT32 1 1 1 1 2 3")] * 2),
        "2_0",
        "SpecError: DML_ACTIVATION_HARDMAX-2_0 takes tensors of 4 to 5 dimensions, but input_tensor has 6",
    ),
    (argmax(y="INT64 2 3"), "6_4", f"SpecError: output_tensor has sizes [2, 3], but the result has [2, 1]{KEEPS}"),
    (argmax(y="INT64 2"), "6_4", f"SpecError: output_tensor has sizes [2], but the result has [2, 1]{KEEPS}"),
    (
        dml.ElementWiseMinOperatorDesc(tensor("INT8 3"), tensor("UINT8 3"), tensor("INT8 3")),
        "6_4",
        "ElementTypeError: DML_ELEMENT_WISE_MIN-5_0 takes inputs of one element type, not INT8, UINT8",
    ),
    (
        dml.ElementWiseMinOperatorDesc(tensor("INT8 3"), tensor("INT8 1"), tensor("INT8 3")),
        "6_4",
        "SpecError: DML_ELEMENT_WISE_MIN-5_0 takes inputs of one shape, not [3] and [1]",
    ),
    (
        dml.ReduceOperatorDesc(ReduceFunction.MAX, tensor("FLOAT32 3"), tensor("FLOAT16 1"), (0,)),
        "6_4",
        "ElementTypeError: output_tensor is of type FLOAT16, the input of type FLOAT32; "
        "help: input and output have one element type",
    ),
    *(
        (
            argmax(axes=(axis,)),
            "6_4",
            f"AxisError: DML_ARGMAX-4_1 has axes={axis}, but its input has rank 2; help: use a value in [0, 1]",
        )
        for axis in (2, -1)
    ),
    (argmax(axes=(1, 1)), "6_4", "AxisError: DML_ARGMAX-4_1 takes each axis once"),
    (argmax(axes=()), "6_4", "SpecError: DML_ARGMAX-4_1 needs at least one axis"),
    *(
        (dml.TopK1OperatorDesc(tensor("INT8 4"), tensor("INT8 2"), tensor("UINT32 2"), axis, k, 1), "6_4", text)
        for axis, k, text in (
            (1, 2, "AxisError: DML_TOP_K1-5_0 has axis=1, but its input has rank 1; help: use a value in [0, 0]"),
            (0, 3, "SpecError: output_value_tensor has sizes [2], but the result has [3]"),
            (0, 5, f"{TOP_K} takes 5 elements along axis 0 of its input, which has 4; help: use a k in [1, 4]"),
            (0, 0, f"{TOP_K} takes 0 elements along axis 0 of its input, which has 4; help: use a k in [1, 4]"),
            (0, -1, f"{TOP_K} takes 0 or more elements, not k=-1"),
        )
    ),
    (
        dml.ArgMaxOperatorDesc(tensor("INT8 3 715827883"), tensor("INT32 1 1"), (0, 1)),
        "6_4",
        "SpecError: the index may be as large as 2147483648, which INT32 cannot hold; "
        "help: use UINT32, UINT64 or INT64 for output_tensor",
    ),
    (
        dml.ArgMaxOperatorDesc(tensor("INT8 2 3"), tensor("INT32 2 1", strides=(0, 0)), (1,)),
        "6_4",
        "SpecError: elements of output_tensor share memory: its strides are [0, 0]; "
        "help: the stride of each dimension must exceed the span of all dimensions with smaller strides",
    ),
    (
        dml.ActivationHardmaxOperatorDesc(*[tensor("FLOAT32 2 3 4")] * 2),
        "6_4",
        "SpecError: DML_ACTIVATION_HARDMAX takes tensors whose sizes before the last two are 1, not [2, 3, 4]; "
        "help: use DML_ACTIVATION_HARDMAX1, from feature level 5_1 on, which takes any axes",
    ),
    (
        dml.ArgMaxOperatorDesc(tensor("INT8 2 3", flags=TensorFlags.OWNED_BY_DML), tensor("INT32 2 1"), (1,)),
        "6_4",
        "SpecError: input_tensor is flagged OWNED_BY_DML, which is not supported: no operator is initialised with "
        "tensors; help: use TensorFlags.NONE and bind the tensor in dispatch",
    ),
]


@pytest.mark.parametrize(("desc", "level", "text"), REFUSED, ids=[text[:60] for _, _, text in REFUSED])
def test_a_refusal_says_what_where_and_what_helps(desc, level, text):
    assert explained(dml.create_operator, desc, feature_level=level) == text
    error = error_of(ExtremumError, dml.create_operator, desc, feature_level=level)
    assert error.where == f"{desc.row}, feature level {level}"


def test_the_largest_index_fits():
    dml.create_operator(dml.ArgMaxOperatorDesc(tensor("INT8 65536 32768"), tensor("INT32 1 1"), (0, 1)))
    dml.create_operator(dml.ArgMaxOperatorDesc(tensor("INT8 65536 65535"), tensor("UINT32 1 1"), (0, 1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(
            lambda: TensorDesc(FLOAT32, (2, 3), (1,)),
            "2 dimensions have 1 strides; at: TensorDesc.strides; given: strides=(1,), sizes=(2, 3)",
            id="number of strides",
        ),
        pytest.param(
            lambda: dml.create_operator(argmax(axes=(0, 5))),
            "DML_ARGMAX-4_1 has axes=5, but its input has rank 2; at: DML_ARGMAX, feature level 6_4; given: "
            "input_tensor: FLOAT32[2, 3], output_tensor: INT64[2, 1], axes=(0, 5), axis_direction=INCREASING; "
            "help: use a value in [0, 1]",
            id="axis out of range",
        ),
        pytest.param(
            lambda: dml.ArgMaxOperatorDesc(tensor("INT8 2"), (2,), (0,)),
            "output_tensor is of type tuple, not TensorDesc; at: DML_ARGMAX.output_tensor",
            id="output that is not a tensor",
        ),
        pytest.param(
            lambda: argmax(axes=1),
            "axes is not a sequence of integers; at: DML_ARGMAX.axes; given: axes=1",
            id="axes that are not a sequence",
        ),
        pytest.param(
            lambda: dml.ArgMinOperatorDesc(tensor("INT8 2"), tensor("INT64 1"), (0,), 2),
            "axis_direction has no value 2; at: DML_ARGMIN.axis_direction; "
            "help: use AxisDirection: INCREASING, DECREASING",
            id="enumeration",
        ),
        pytest.param(
            lambda: dml.TopKOperatorDesc(tensor("INT8 2"), tensor("INT8 1"), tensor("UINT32 1"), 0, 1.5),
            "k is not an integer; at: DML_TOP_K.k; given: k=1.5",
            id="k that is not an integer",
        ),
        pytest.param(
            lambda: dml.ReduceOperatorDesc(10, tensor("INT8 2"), tensor("INT8 1"), (0,)),
            "function has no value 10; at: DML_REDUCE.function; help: use ReduceFunction: ARGMAX, ARGMIN, MAX, MIN",
            id="function of a reduction",
        ),
    ],
)
def test_the_whole_text_about_a_tensor_an_operator_and_a_field(make, message):
    assert error_of((SpecError, ElementTypeError, AxisError), make).one_line() == message


@pytest.mark.parametrize(
    "given", [None, 42, tensor("INT8 2"), dml.ArgMaxOperatorDesc, dml.OperatorDesc()], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("function", [dml.create_operator, dml.feature_level_required])
def test_what_is_no_description(function, given):
    assert refusal(ArgumentTypeError, function, given) == f"{type(given).__name__} is not an operator description"


NO_LEVELS = [0, -1, 0x9900, 0x4200, True, 2**80, 4.1, "4.1", "4_2", "FL_4_1", "", None, []]


@pytest.mark.parametrize("given", NO_LEVELS, ids=repr)
def test_an_unknown_feature_level(given):
    text = hex(given) if isinstance(given, int) else repr(given)
    assert explained(dml.create_operator, argmax(), feature_level=given) == (
        f"ArgumentError: there is no feature level {text}; help: the levels are "
        "1_0, 2_0, 2_1, 3_0, 3_1, 4_0, 4_1, 5_0, 5_1, 5_2, 6_0, 6_1, 6_2, 6_3, 6_4; 4_1 is also 0x4100"
    )


@pytest.mark.parametrize("given", [0x4100, "4_1", FeatureLevel.FL_4_1])
def test_a_feature_level_is_a_number_a_text_or_a_member(given):
    source = model("(int64[3] x) => (int64[1] y) { y = ArgMax(x) }")
    assert dml.create_operator(argmax(), feature_level=given).feature_level is FeatureLevel.FL_4_1
    assert dml.lower(source, given).feature_level is FeatureLevel.FL_4_1
    assert check(source, feature_level=given, select=["EX102"]).findings == ()


# The examples of the documents, run as they are written there.

SQUARE = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], np.float32)
CUBE = np.array([[[12, 0], [-101, 11]], [[3, 234], [0, -101]]], np.float32)
ROW = np.array([[3, 2, 1, 2, 3]], np.float32)
HARDMAX1 = dml.ActivationHardmax1OperatorDesc
STEPS = np.array([[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]], np.float32)
TIES = np.array([[1, 2, 2, 3], [3, 4, 5, 5], [6, 6, 6, 6]], np.float32)
LARGEST_TIES = [[3, 2, 2], [5, 5, 4], [6, 6, 6]], [[3, 1, 2], [2, 3, 1], [0, 1, 2]]
LAST_OF_SQUARE = [[[[0, 0, 1], [0, 0, 1], [0, 1, 0]]]]
EXAMPLES = [
    *(
        (dml.ArgMaxOperatorDesc, SQUARE, "UINT32", (axes, direction), expected)
        for axes, expected in (((0,), [[1, 2, 1]]), ((1,), [[2], [2], [1]]), ((0, 1), [[7]]))
        for direction in AxisDirection
    ),
    *(
        (structure, x, "INT64", ((1,), direction), [[index]])
        for structure, x in ((dml.ArgMaxOperatorDesc, ROW), (dml.ArgMinOperatorDesc, -ROW))
        for direction, index in ((AxisDirection.INCREASING, 0), (AxisDirection.DECREASING, 4))
    ),
    (HARDMAX1, CUBE, "FLOAT32", ((1,),), [[[1, 0], [0, 1]], [[1, 1], [0, 0]]]),
    (HARDMAX1, CUBE, "FLOAT32", ((0,),), [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
    (HARDMAX1, CUBE, "FLOAT32", ((0, 2),), [[[0, 0], [0, 1]], [[0, 1], [0, 0]]]),
    (HARDMAX1, SQUARE[None, None], "FLOAT32", ((3,),), LAST_OF_SQUARE),
    (dml.ActivationHardmaxOperatorDesc, SQUARE[None, None], "FLOAT32", (), LAST_OF_SQUARE),
    *(
        (partial(dml.ReduceOperatorDesc, ReduceFunction[function]), SQUARE, output_type, (axes,), expected)
        for function, output_type, axes, expected in (
            ("MAX", "FLOAT32", (0,), [[3, 5, 4]]),
            ("MIN", "FLOAT32", (0,), [[1, 0, 2]]),
            ("MAX", "FLOAT32", (1,), [[3], [4], [5]]),
            ("MIN", "FLOAT32", (1,), [[1], [0], [2]]),
            ("MAX", "FLOAT32", (0, 1), [[5]]),
            ("MIN", "FLOAT32", (0, 1), [[0]]),
            ("ARGMAX", "UINT32", (0,), [[1, 2, 1]]),
            ("ARGMIN", "UINT32", (1,), [[0], [1], [0]]),
            ("ARGMAX", "UINT32", (0, 1), [[7]]),
            ("ARGMIN", "UINT32", (0, 1), [[4]]),
        )
    ),
    (dml.TopKOperatorDesc, TIES, "FLOAT32 UINT32", (1, 3), LARGEST_TIES),
    *(
        (dml.TopK1OperatorDesc, x, "FLOAT32 UINT32", (axis, k, AxisDirection(direction)), expected)
        for x, axis, k, direction, expected in (
            (STEPS, 1, 2, 1, ([[11, 10], [9, 8], [7, 6]], [[3, 2], [2, 3], [3, 2]])),
            (STEPS, 0, 2, 1, ([[4, 5, 10, 11], [3, 2, 9, 8]], [[2, 2, 0, 0], [1, 1, 1, 1]])),
            (TIES, 1, 3, 1, LARGEST_TIES),
            (TIES, 1, 3, 0, ([[1, 2, 2], [3, 4, 5], [6, 6, 6]], [[0, 1, 2]] * 3)),
        )
    ),
]


def described(structure, fields):
    """The operator, or the function of a reduction, and its axes and directions."""
    name = structure.args[0].name if isinstance(structure, partial) else structure.__name__
    return f"{name} {', '.join(str(field) for field in fields)}"


@pytest.mark.parametrize(
    ("structure", "x", "output_types", "fields", "expected"),
    EXAMPLES,
    ids=[described(structure, fields) for structure, _, _, fields, _ in EXAMPLES],
)
def test_an_example_of_the_documents(structure, x, output_types, fields, expected):
    expected = list(expected) if isinstance(expected, tuple) else [expected]
    names = output_types.split()
    ys = [np.zeros(np.shape(each), name.lower()) for name, each in zip(names, expected, strict=True)]
    outputs = (TensorDesc(TensorDataType[name], y.shape) for name, y in zip(names, ys, strict=True))
    dml.create_operator(structure(TensorDesc(FLOAT32, x.shape), *outputs, *fields)).dispatch([x], ys)
    assert [y.tolist() for y in ys] == expected
