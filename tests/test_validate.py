"""Attributes, counts, element types, ranks and axes: what each version refuses, and in which words."""

import pytest

from extremum import spec, validate
from extremum.errors import AxisError, ElementTypeError, SpecError
from extremum.tensors import TensorType


def row(name, opset=13, domain=spec.ONNX):
    return spec.find(domain, name, opset)


def test_defaults():
    assert validate.attributes(row("ArgMin"), {}) == {"axis": 0, "keepdims": 1, "select_last_index": 0}
    assert validate.attributes(row("Max", 1), {}) == {"consumed_inputs": None}
    assert validate.attributes(row("Hardmax", 11), {}) == {"axis": 1}


def test_consumed_inputs_is_accepted_where_it_exists():
    assert validate.attributes(row("Min", 1), {"consumed_inputs": [0, 1]}) == {"consumed_inputs": (0, 1)}


@pytest.mark.parametrize(
    ("version", "given", "message"),
    [
        (
            row("ArgMax", 11),
            {"select_last_index": 0},
            "ArgMax-11 has no attribute 'select_last_index' (it came with ArgMax-12)\n"
            "  help  use opset 12 or later, or drop the attribute if its value is 0",
        ),
        (
            row("Max", 6),
            {"consumed_inputs": [1]},
            "Max-6 has no attribute 'consumed_inputs' (the last to have it was Max-1)\n"
            "  help  drop it, it has no effect",
        ),
        (
            row("Hardmax"),
            {"axes": [1]},
            "Hardmax-13 has no attribute 'axes'\n  help  drop it; the attributes of Hardmax-13 are: axis",
        ),
        (
            row("Max"),
            {"axis": 1},
            "Max-13 has no attribute 'axis'\n  help  drop it; the attributes of Max-13 are: none",
        ),
        (
            row("ArgMax"),
            {"keepdims": 2},
            "ArgMax-13 takes 0 or 1 for 'keepdims', not 2\n  help  runtimes disagree on what any other value means",
        ),
        (
            row("ArgMin", 12),
            {"select_last_index": -1},
            "ArgMin-12 takes 0 or 1 for 'select_last_index', not -1\n"
            "  help  runtimes disagree on what any other value means",
        ),
        (row("ArgMax"), {"axis": 1.0}, "ArgMax-13 takes an integer for 'axis', not 1.0"),
        (row("ArgMax"), {"axis": [1]}, "ArgMax-13 takes an integer for 'axis', not [1]"),
        (row("Max", 1), {"consumed_inputs": 1}, "Max-1 takes a list of integers for 'consumed_inputs', not 1"),
        (row("DML_ARGMAX", 0x3000, spec.DIRECTML), {}, "DML_ARGMAX-3_0 needs the attribute 'axes'"),
        (
            row("ReduceMax", 18),
            {"axes": [1]},
            "ReduceMax-18 has no attribute 'axes' any more: it is an input\n"
            "  help  give axes as a list of int64 after the data",
        ),
        (
            row("ReduceMin", 13),
            {"noop_with_empty_axes": 1},
            "ReduceMin-13 has no attribute 'noop_with_empty_axes' (it came with ReduceMin-18)\n"
            "  help  use opset 18 or later, or drop the attribute if its value is 0",
        ),
        (
            row("ReduceMax", 20),
            {"select_last_index": 1},
            "ReduceMax-20 has no attribute 'select_last_index'\n"
            "  help  drop it; the attributes of ReduceMax-20 are: keepdims, noop_with_empty_axes",
        ),
    ],
)
def test_refused_attributes(version, given, message):
    with pytest.raises(SpecError) as caught:
        validate.attributes(version, given)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("version", "types", "message"),
    [
        (row("ArgMax"), [], "ArgMax-13 takes 1 input, not 0"),
        (row("ArgMax"), [TensorType()] * 2, "ArgMax-13 takes 1 input, not 2"),
        (row("Max"), [], "Max-13 takes 1 to 2147483647 inputs, not 0"),
        (
            row("ArgMin"),
            [TensorType("float32", ())],
            "ArgMin-13 has no axis to look along in a tensor of rank 0\n  help  give it at least one",
        ),
        (
            row("DML_ARGMIN", 0x4100, spec.DIRECTML),
            [TensorType("float32", (1,) * 9)],
            "DML_ARGMIN-4_1 takes tensors of rank 1 to 8, not 9",
        ),
        (
            row("DML_ARGMIN", 0x4100, spec.DIRECTML),
            [TensorType("float32", (3, 0))],
            "DML_ARGMIN-4_1 takes no tensor without elements",
        ),
    ],
)
def test_refused_inputs(version, types, message):
    with pytest.raises(SpecError) as caught:
        validate.inputs(version, types)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("version", "elements", "message"),
    [
        (
            row("ArgMax", 12),
            ["bfloat16"],
            "ArgMax-12 does not take bfloat16 (it came with ArgMax-13)\n"
            "  help  the element types of ArgMax-12 are: int8, ",
        ),
        (
            row("Min", 8),
            ["int32"],
            "Min-8 does not take int32 (it came with Min-12)\n  help  the element types of Min-8 ",
        ),
        (row("Hardmax"), ["string"], "Hardmax-13 does not take string\n  help  the element types of Hardmax-13 are: "),
        (
            row("Max"),
            ["float32", None, "float64"],
            "Max-13 takes inputs of one element type, not of float32 and float64\n  help  put a Cast before it",
        ),
    ],
)
def test_refused_element_types(version, elements, message):
    with pytest.raises(ElementTypeError) as caught:
        validate.inputs(version, [TensorType(element, (2,)) for element in elements])
    assert str(caught.value).startswith(message)


def test_what_is_unknown_passes():
    validate.inputs(row("ArgMax"), [TensorType()])
    validate.inputs(row("Max", 6), [TensorType("float32"), TensorType(None, ("n",))])


def axes(version, rank, **given):
    return validate.axes(version, validate.attributes(version, given), rank)


def test_axes():
    assert axes(row("ArgMax"), 3) == (0,)
    assert axes(row("ArgMax"), 3, axis=-1) == (2,)
    assert axes(row("ArgMax", 1), 3, axis=-3) == (0,)
    assert axes(row("Hardmax"), 3) == (2,)
    assert axes(row("Hardmax", 11), 4, axis=-3) == (1, 2, 3)
    assert axes(row("Hardmax", 1), 2, axis=0) == (0, 1)
    assert axes(row("Max"), 3) == ()
    assert axes(row("DML_ARGMAX", 0x3000, spec.DIRECTML), 3, axes=[2, 0]) == (0, 2)


@pytest.mark.parametrize(
    ("version", "rank", "given", "message"),
    [
        (
            row("ArgMax"),
            2,
            {"axis": 2},
            "ArgMax-13 has axis=2, but its input has rank 2\n  help  use a value in [-2, 1]",
        ),
        (
            row("ArgMin", 11),
            1,
            {"axis": -2},
            "ArgMin-11 has axis=-2, but its input has rank 1\n  help  use a value in [-1, 0]",
        ),
        (row("Hardmax", 11), 1, {}, "Hardmax-11 has axis=1, but its input has rank 1\n  help  use a value in [-1, 0]"),
        (
            row("DML_ARGMAX", 0x3000, spec.DIRECTML),
            2,
            {"axes": [-1]},
            "DML_ARGMAX-3_0 has axes=-1, but its input has rank 2\n  help  use a value in [0, 1]",
        ),
        (row("DML_ARGMAX", 0x3000, spec.DIRECTML), 2, {"axes": [1, 1]}, "DML_ARGMAX-3_0 takes each axis once"),
    ],
)
def test_refused_axes(version, rank, given, message):
    with pytest.raises(AxisError) as caught:
        axes(version, rank, **given)
    assert str(caught.value) == message


# What comes as a list of axes, where it is an input.
GIVEN = TensorType("int64", (2,), (-1, 0))
OPEN = TensorType("int64", (None,))


def test_axes_of_a_reduction():
    for version in (row("ReduceMax", 1), row("ReduceMin", 13), row("ReduceMax", 18)):
        assert axes(version, 3) == (0, 1, 2)
        assert axes(version, 0) == ()
    assert axes(row("ReduceMax", 13), 3, axes=[-1, 0]) == (0, 2)
    assert axes(row("ReduceMax", 13), 2, axes=[]) == (0, 1)
    assert axes(row("ReduceMax", 18), 2, noop_with_empty_axes=1) == ()


@pytest.mark.parametrize("version", [row("ReduceMax", 18), row("ReduceMin", 20)], ids=str)
def test_axes_that_are_an_input(version):
    data = TensorType("float32", (2, 3, 4))

    def given(second, **attributes):
        types = [data, second]
        validate.inputs(version, types)
        return validate.axes(version, validate.attributes(version, attributes, types), 3)

    assert given(GIVEN) == given(GIVEN, noop_with_empty_axes=1) == (0, 2)
    assert given(TensorType("int64", (0,))) == (0, 1, 2)
    assert given(TensorType("int64", (0,)), noop_with_empty_axes=1) == ()
    assert validate.attributes(version, {}, [data, OPEN])["axes"] is validate.UNKNOWN
    with pytest.raises(SpecError) as caught:
        given(OPEN)
    assert str(caught.value) == (
        f"the axes of {version} are not known before the model runs\n  help  give them as an initializer or a Constant"
    )
    for second, error, message in (
        (TensorType("int64", (1,), (3,)), AxisError, f"{version} has 3 among its axes, but its input has rank 3"),
        (TensorType("int64", (2,), (0, -3)), AxisError, f"{version} takes each axis once"),
        (TensorType("int32", (1,)), ElementTypeError, f"{version} takes axes of int64, not int32"),
        (TensorType("int64", ()), SpecError, f"{version} takes axes as a list, not as a tensor of rank 0"),
    ):
        with pytest.raises(error) as caught:
            given(second)
        assert caught.value.reason == message
    with pytest.raises(SpecError, match=rf"^{version} takes 1 to 2 inputs, not 3$"):
        validate.inputs(version, [data, GIVEN, GIVEN])


def test_a_tensor_of_rank_0_has_no_axis_to_name():
    with pytest.raises(AxisError) as caught:
        axes(row("ReduceMax"), 0, axes=[0])
    assert str(caught.value) == ("ReduceMax-13 has axes=0, but its input has rank 0\n  help  leave out the axes")


def test_no_axes():
    with pytest.raises(SpecError, match=r"^DML_ARGMAX-3_0 needs at least one axis$"):
        axes(row("DML_ARGMAX", 0x3000, spec.DIRECTML), 2, axes=[])
