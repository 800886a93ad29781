"""Every operator, feature level, element type and dimension count, held against the tables of the documents."""

import itertools

import pytest

from extremum import directml as dml
from extremum.directml import FeatureLevel, ReduceFunction, TensorDataType, TensorDesc, TensorFlags
from extremum.errors import AxisError, ElementTypeError, ExtremumError, SpecError

FLOATS = {"FLOAT32", "FLOAT16"}
NARROW = {*FLOATS, "INT32", "INT16", "INT8", "UINT32", "UINT16", "UINT8"}
ALL = {*NARROW, "INT64", "UINT64"}
INDICES = {"INT64", "INT32", "UINT64", "UINT32"}
ANY, FOUR = range(1, 9), [4]

# Typed from the documents, not from the code: level, input types, index types (None: the input's), dimension counts.
TABLES = {
    "ArgMax": [(0x3000, NARROW, INDICES, ANY), (0x4100, ALL, INDICES, ANY)],
    "ArgMin": [(0x3000, NARROW, INDICES, ANY), (0x4100, ALL, INDICES, ANY)],
    "Reduce ARGMAX": [
        (0x1000, FLOATS, {"UINT32"}, FOUR),
        (0x2100, NARROW, {"UINT32"}, FOUR),
        (0x3000, NARROW, INDICES, ANY),
        (0x4100, ALL, INDICES, ANY),
    ],
    "Reduce ARGMIN": [
        (0x1000, FLOATS, {"UINT32"}, FOUR),
        (0x2100, NARROW, {"UINT32"}, FOUR),
        (0x3000, NARROW, INDICES, ANY),
        (0x4100, ALL, INDICES, ANY),
    ],
    "Reduce MAX": [
        (0x1000, FLOATS, None, FOUR),
        (0x2100, {*FLOATS, "INT32", "UINT32"}, None, FOUR),
        (0x3000, NARROW, None, ANY),
        (0x5000, ALL, None, ANY),
    ],
    "Reduce MIN": [
        (0x1000, FLOATS, None, FOUR),
        (0x2100, {*FLOATS, "INT32", "UINT32"}, None, FOUR),
        (0x3000, NARROW, None, ANY),
        (0x5000, ALL, None, ANY),
    ],
    "ElementWiseMax": [
        (0x1000, FLOATS, None, FOUR),
        (0x2100, NARROW, None, FOUR),
        (0x3000, NARROW, None, ANY),
        (0x5000, ALL, None, ANY),
    ],
    "ElementWiseMin": [
        (0x1000, FLOATS, None, FOUR),
        (0x2100, NARROW, None, FOUR),
        (0x3000, NARROW, None, ANY),
        (0x5000, ALL, None, ANY),
    ],
    "ActivationHardmax": [(0x1000, FLOATS, None, FOUR), (0x2000, FLOATS, None, [4, 5]), (0x3000, FLOATS, None, ANY)],
    "ActivationHardmax1": [(0x5100, FLOATS, None, ANY)],
}


def description(operator, x, y):
    """A description of the operator over its last axis, for an input and an output description."""
    name, _, function = operator.partition(" ")
    structure = getattr(dml, f"{name}OperatorDesc")
    axes = (x.dimension_count - 1,)
    if function:
        return structure(ReduceFunction[function], x, y, axes)
    if name.startswith("ElementWise"):
        return structure(x, x, y)
    return structure(x, y) if name == "ActivationHardmax" else structure(x, y, axes)


def tensors(operator, input_type, output_type, count):
    reduced = operator.startswith(("ArgM", "Reduce"))
    leading = (1,) * (count - 1)
    return TensorDesc(input_type, (*leading, 3)), TensorDesc(output_type, (*leading, 1 if reduced else 3))


def in_tables(operator, level, input_type, output_type, count):
    """Whether the operator's table in force lists the types and the dimension count."""
    tables = [table for table in TABLES[operator] if table[0] <= level]
    if not tables:
        return False
    _, inputs, indices, counts = tables[-1]
    outputs = indices or {input_type}
    return input_type in inputs and output_type in outputs and count in counts


def accepted(desc, level):
    try:
        dml.create_operator(desc, feature_level=level)
    except ExtremumError:
        return False
    return True


@pytest.mark.parametrize("operator", TABLES)
def test_what_is_accepted_is_what_the_tables_list(operator):
    names = [each.name for each in TensorDataType]
    for input_type, output_type, count in itertools.product(names, names, (1, 3, 4, 5, 8)):
        desc = description(operator, *tensors(operator, TensorDataType[input_type], TensorDataType[output_type], count))
        levels = [level for level in FeatureLevel if in_tables(operator, level, input_type, output_type, count)]
        assert [level for level in FeatureLevel if accepted(desc, level)] == levels, desc
        if levels:
            assert dml.feature_level_required(desc) == levels[0]
        else:
            with pytest.raises(ExtremumError):
                dml.feature_level_required(desc)


def test_the_levels_have_directmls_values():
    levels = ["1_0", "2_0", "2_1", "3_0", "3_1", "4_0", "4_1", "5_0", "5_1", "5_2", "6_0", "6_1", "6_2", "6_3", "6_4"]
    assert [(str(each), each.value) for each in FeatureLevel] == [
        (name, int(name[0]) << 12 | int(name[2]) << 8) for name in levels
    ]


def tensor(text, **more):
    """A description from text such as ``FLOAT32 2 3``."""
    name, *sizes = text.split()
    return TensorDesc(TensorDataType[name], tuple(map(int, sizes)), **more)


def argmax(x="FLOAT32 2 3", y="INT64 2 1", axes=(1,)):
    return dml.ArgMaxOperatorDesc(tensor(x), tensor(y), axes)


REFUSED = {
    "an unsupported type": (
        argmax("INT64 2 3"),
        "3_0",
        ElementTypeError,
        "DML_ARGMAX-3_0 does not take INT64 as input_tensor (it came with DML_ARGMAX-4_1)",
        "the element types of input_tensor in DML_ARGMAX-3_0 are: FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, "
        "UINT16, UINT8",
    ),
    "a type that no level has": (
        argmax("FLOAT64 2 3"),
        "6_4",
        ElementTypeError,
        "DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor",
        "the element types of input_tensor in DML_ARGMAX-4_1 are: FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, "
        "UINT16, UINT8, INT64, UINT64",
    ),
    "an unsupported type of the output": (
        argmax(y="UINT8 2 1"),
        "6_4",
        ElementTypeError,
        "DML_ARGMAX-4_1 does not take UINT8 as output_tensor",
        "the element types of output_tensor in DML_ARGMAX-4_1 are: INT64, INT32, UINT64, UINT32",
    ),
    "an output type that came later": (
        dml.ReduceOperatorDesc(ReduceFunction.ARGMAX, tensor("FLOAT32 1 1 2 3"), tensor("INT64 1 1 2 1"), (3,)),
        "2_1",
        ElementTypeError,
        "DML_REDUCE(ARGMAX)-2_1 does not take INT64 as output_tensor (it came with DML_REDUCE(ARGMAX)-3_0)",
        "the element types of output_tensor in DML_REDUCE(ARGMAX)-2_1 are: UINT32",
    ),
    "an operator the level lacks": (
        argmax(),
        "2_1",
        SpecError,
        "DML_ARGMAX needs feature level 3_0 or later",
        None,
    ),
    "too few dimensions": (
        dml.ElementWiseMaxOperatorDesc(*[tensor("FLOAT32 2 3")] * 3),
        "2_0",
        SpecError,
        "DML_ELEMENT_WISE_MAX-1_0 takes tensors of 4 dimensions, but a_tensor has 2",
        "put dimensions of size 1 in front",
    ),
    "too many dimensions": (
        dml.ActivationHardmaxOperatorDesc(*[tensor("FLOAT32 1 1 1 1 2 3")] * 2),
        "2_0",
        SpecError,
        "DML_ACTIVATION_HARDMAX-2_0 takes tensors of 4 to 5 dimensions, but input_tensor has 6",
        None,
    ),
    "output sizes that do not match": (
        argmax(y="INT64 2 3"),
        "6_4",
        SpecError,
        "output_tensor has sizes [2, 3], but the result has [2, 1]",
        "DirectML keeps the rank: a reduced dimension has size 1",
    ),
    "an output rank that does not match": (
        argmax(y="INT64 2"),
        "6_4",
        SpecError,
        "output_tensor has sizes [2], but the result has [2, 1]",
        "DirectML keeps the rank: a reduced dimension has size 1",
    ),
    "element types that differ": (
        dml.ElementWiseMinOperatorDesc(tensor("INT8 3"), tensor("UINT8 3"), tensor("INT8 3")),
        "6_4",
        ElementTypeError,
        "DML_ELEMENT_WISE_MIN-5_0 takes inputs of one element type, not INT8, UINT8",
        None,
    ),
    "sizes that differ": (
        dml.ElementWiseMinOperatorDesc(tensor("INT8 3"), tensor("INT8 1"), tensor("INT8 3")),
        "6_4",
        SpecError,
        "DML_ELEMENT_WISE_MIN-5_0 takes inputs of one shape, not [3] and [1]",
        None,
    ),
    "an output type that differs": (
        dml.ReduceOperatorDesc(ReduceFunction.MAX, tensor("FLOAT32 3"), tensor("FLOAT16 1"), (0,)),
        "6_4",
        ElementTypeError,
        "output_tensor is of type FLOAT16, the input of type FLOAT32",
        "input and output have one element type",
    ),
    "an axis out of range": (
        argmax(axes=(2,)),
        "6_4",
        AxisError,
        "DML_ARGMAX-4_1 has axes=2, but its input has rank 2",
        "use a value in [0, 1]",
    ),
    "a negative axis": (
        argmax(axes=(-1,)),
        "6_4",
        AxisError,
        "DML_ARGMAX-4_1 has axes=-1, but its input has rank 2",
        "use a value in [0, 1]",
    ),
    "an axis twice": (argmax(axes=(1, 1)), "6_4", AxisError, "DML_ARGMAX-4_1 takes each axis once", None),
    "no axis": (argmax(axes=()), "6_4", SpecError, "DML_ARGMAX-4_1 needs at least one axis", None),
    "an index that could not fit": (
        dml.ArgMaxOperatorDesc(tensor("INT8 3 715827883"), tensor("INT32 1 1"), (0, 1)),
        "6_4",
        SpecError,
        "the index may be as large as 2147483648, which INT32 cannot hold",
        "use UINT32, UINT64 or INT64 for output_tensor",
    ),
    "output elements that share memory": (
        dml.ArgMaxOperatorDesc(tensor("INT8 2 3"), tensor("INT32 2 1", strides=(0, 0)), (1,)),
        "6_4",
        SpecError,
        "elements of output_tensor share memory: its strides are [0, 0]",
        "each dimension has to step over all that the dimensions of smaller stride span",
    ),
    "an effective rank above 2": (
        dml.ActivationHardmaxOperatorDesc(*[tensor("FLOAT32 2 3 4")] * 2),
        "6_4",
        SpecError,
        "DML_ACTIVATION_HARDMAX takes tensors whose sizes before the last two are 1, not [2, 3, 4]",
        "use DML_ACTIVATION_HARDMAX1, from feature level 5_1 on, which takes any axes",
    ),
    "a tensor owned by DirectML": (
        dml.ArgMaxOperatorDesc(tensor("INT8 2 3", flags=TensorFlags.OWNED_BY_DML), tensor("INT32 2 1"), (1,)),
        "6_4",
        SpecError,
        "input_tensor is flagged OWNED_BY_DML, but operators have no initialisation here that could take it",
        "use TensorFlags.NONE and bind the tensor in dispatch",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_what_where_and_what_helps(case):
    desc, level, kind, reason, remedy = REFUSED[case]
    with pytest.raises(kind) as caught:
        dml.create_operator(desc, feature_level=FeatureLevel[f"FL_{level}"])
    error = caught.value
    assert type(error) is kind
    assert (error.reason, error.remedy) == (reason, remedy)
    assert error.where == f"{desc.row}, feature level {level}"


def test_the_whole_text():
    with pytest.raises(AxisError) as caught:
        dml.create_operator(argmax(axes=(0, 5)))
    assert str(caught.value) == (
        "DML_ARGMAX-4_1 has axes=5, but its input has rank 2\n"
        "  at    DML_ARGMAX, feature level 6_4\n"
        "  given input_tensor: FLOAT32[2, 3], output_tensor: INT64[2, 1], axes=(0, 5), axis_direction=INCREASING\n"
        "  help  use a value in [0, 1]"
    )


def test_the_largest_index_fits():
    dml.create_operator(dml.ArgMaxOperatorDesc(tensor("INT8 65536 32768"), tensor("INT32 1 1"), (0, 1)))
    dml.create_operator(dml.ArgMaxOperatorDesc(tensor("INT8 65536 65535"), tensor("UINT32 1 1"), (0, 1)))


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (
            lambda: dml.ArgMaxOperatorDesc(tensor("INT8 2"), (2,), (0,)),
            ElementTypeError,
            "output_tensor is of type tuple, not TensorDesc\n  at    DML_ARGMAX.output_tensor",
        ),
        (
            lambda: argmax(axes=1),
            SpecError,
            "axes is not a sequence of integers\n  at    DML_ARGMAX.axes\n  given axes=1",
        ),
        (
            lambda: dml.ArgMinOperatorDesc(tensor("INT8 2"), tensor("INT64 1"), (0,), 2),
            SpecError,
            "axis_direction has no value 2\n  at    DML_ARGMIN.axis_direction\n"
            "  help  use AxisDirection: INCREASING, DECREASING",
        ),
        (
            lambda: dml.ReduceOperatorDesc(10, tensor("INT8 2"), tensor("INT8 1"), (0,)),
            SpecError,
            "function has no value 10\n  at    DML_REDUCE.function\n"
            "  help  use ReduceFunction: ARGMAX, ARGMIN, MAX, MIN",
        ),
    ],
)
def test_a_field_of_the_wrong_type(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == message


def test_descriptions_take_numbers_for_enumerators():
    desc = dml.ReduceOperatorDesc(7, tensor("INT8 2"), tensor("INT8 1"), [0])
    assert (desc.function, desc.axes) == (ReduceFunction.MAX, (0,))
    assert desc == dml.ReduceOperatorDesc(ReduceFunction.MAX, tensor("INT8 2"), tensor("INT8 1"), (0,))
