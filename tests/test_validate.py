"""Attributes, counts, element types, ranks and axes: what each version refuses, and in which words."""

import pytest

from extremum import spec, validate
from extremum.errors import AxisError, ElementTypeError, SpecError
from extremum.tensors import TensorType
from refusal import error_of

DML_ARGMAX = spec.find(spec.DIRECTML, "DML_ARGMAX", 0x3000)


def row(name, opset=13):
    return spec.find(spec.ONNX, name, opset)


def refused(error, call, *arguments, **named):
    caught = error_of(error, call, *arguments, **named)
    return str(caught).replace("\n  help  ", "; ")


@pytest.mark.parametrize(
    ("version", "given", "message"),
    [
        pytest.param(
            row("Max", 6),
            {"consumed_inputs": [1]},
            "has no attribute 'consumed_inputs' (the last to have it was Max-1); drop it, it has no effect",
            id="attribute of an earlier version",
        ),
        pytest.param(
            row("Hardmax"),
            {"axes": [1]},
            "has no attribute 'axes'; drop it; the attributes of Hardmax-13 are: axis",
            id="attribute of no version",
        ),
        pytest.param(
            row("Max"),
            {"axis": 1},
            "has no attribute 'axis'; drop it; the attributes of Max-13 are: none",
            id="Max has no axis",
        ),
        pytest.param(
            row("ArgMin", 12),
            {"select_last_index": -1},
            "takes 0 or 1 for 'select_last_index', not -1; runtimes disagree on what any other value means",
            id="value other than 0 and 1",
        ),
        pytest.param(row("ArgMax"), {"axis": 1.0}, "takes an integer for 'axis', not 1.0", id="float for an integer"),
        pytest.param(row("ArgMax"), {"axis": [1]}, "takes an integer for 'axis', not [1]", id="list for an integer"),
        pytest.param(
            row("Max", 1),
            {"consumed_inputs": 1},
            "takes a list of integers for 'consumed_inputs', not 1",
            id="integer for a list",
        ),
        pytest.param(DML_ARGMAX, {}, "needs the attribute 'axes'", id="attribute missing"),
        pytest.param(
            row("ReduceMax", 18),
            {"axes": [1]},
            "has no attribute 'axes' any more: it is an input; give axes as a list of int64 after the data",
            id="attribute became an input",
        ),
        pytest.param(
            row("ReduceMax", 20),
            {"select_last_index": 1},
            "has no attribute 'select_last_index'; "
            "drop it; the attributes of ReduceMax-20 are: keepdims, noop_with_empty_axes",
            id="attribute of another operator",
        ),
    ],
)
def test_refused_attributes(version, given, message):
    assert refused(SpecError, validate.attributes, version, given) == f"{version} {message}"


@pytest.mark.parametrize(
    ("version", "types", "error", "message"),
    [
        pytest.param(row("ArgMax"), [], SpecError, "takes 1 input, not 0", id="no input"),
        pytest.param(row("ArgMax"), [TensorType()] * 2, SpecError, "takes 1 input, not 2", id="two inputs"),
        pytest.param(row("Max"), [], SpecError, "takes 1 to 2147483647 inputs, not 0", id="none of several"),
        pytest.param(
            row("Min", 8),
            [TensorType("int32")],
            ElementTypeError,
            "does not take int32 (it came with Min-12); Cast to float64 first; the ",
            id="type of a later version",
        ),
        pytest.param(
            row("Hardmax"),
            [TensorType("string")],
            ElementTypeError,
            "does not take string; the element types of ",
            id="string",
        ),
    ],
)
def test_refused_inputs(version, types, error, message):
    assert refused(error, validate.inputs, version, types).startswith(f"{version} {message}")


def test_what_is_unknown_passes():
    validate.inputs(row("ArgMax"), [TensorType()])
    validate.inputs(row("Max", 6), [TensorType("float32"), TensorType(None, ("n",))])


def axes(version, rank, **given):
    return validate.axes(version, validate.attributes(version, given), rank)


@pytest.mark.parametrize(
    ("version", "rank", "given", "message"),
    [
        pytest.param(
            row("ArgMin", 11),
            1,
            {"axis": -2},
            "has axis=-2, but its input has rank 1; use a value in [-1, 0]",
            id="axis below -rank",
        ),
        pytest.param(
            DML_ARGMAX,
            2,
            {"axes": [-1]},
            "has axes=-1, but its input has rank 2; use a value in [0, 1]",
            id="negative axis of DirectML",
        ),
        pytest.param(
            row("ReduceMax"),
            0,
            {"axes": [0]},
            "has axes=0, but its input has rank 0; leave out the axes",
            id="axis of a scalar",
        ),
        pytest.param(DML_ARGMAX, 2, {"axes": [1, 1]}, "takes each axis once", id="axis twice"),
    ],
)
def test_refused_axes(version, rank, given, message):
    assert refused(AxisError, axes, version, rank, **given) == f"{version} {message}"


def test_no_axes():
    assert refused(SpecError, axes, DML_ARGMAX, 2, axes=[]) == "DML_ARGMAX-3_0 needs at least one axis"


GIVEN, NONE, OPEN = (TensorType("int64", *each) for each in (((2,), (-1, 0)), ((0,),), ((None,),)))


@pytest.mark.parametrize("version", [row("ReduceMax", 18), row("ReduceMin", 20)], ids=str)
def test_axes_that_are_an_input(version):
    def given(*second, **attributes):
        types = [TensorType("float32", (2, 3, 4)), *second]
        validate.inputs(version, types)
        return validate.axes(version, validate.attributes(version, attributes, types), 3)

    assert given(GIVEN) == given(GIVEN, noop_with_empty_axes=1) == (0, 2)
    assert given(NONE) == (0, 1, 2)
    assert given(NONE, noop_with_empty_axes=1) == ()
    assert validate.attributes(version, {}, [TensorType(), OPEN])["axes"] is validate.UNKNOWN
    for second, error, message in (
        ([OPEN], SpecError, f"the axes of {version} are not known before the model runs; give them as an initializer"),
        ([TensorType("int64", (1,), (3,))], AxisError, f"{version} has 3 among its axes, but its input has rank 3"),
        ([TensorType("int64", (2,), (0, -3))], AxisError, f"{version} takes each axis once"),
        ([TensorType("int32", (1,))], ElementTypeError, f"{version} takes axes of int64, not int32"),
        ([TensorType("int64", ())], SpecError, f"{version} takes axes as a list, not as a tensor of rank 0"),
        ([GIVEN, GIVEN], SpecError, f"{version} takes 1 to 2 inputs, not 3"),
    ):
        assert refused(error, given, *second).startswith(message)
