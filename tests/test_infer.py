"""Types and shapes of outputs: sizes, symbols, unknowns; agreement with onnx's shape inference where it has one."""

import onnx
import pytest

from extremum import infer, spec, validate
from extremum.errors import SpecError
from extremum.tensors import TensorType
from refusal import error_of


def output(name, shapes, opset=13, element="float32", domain=spec.ONNX, **attributes):
    row = spec.find(domain, name, opset)
    types = [TensorType(element, shape) for shape in shapes]
    validate.inputs(row, types)
    return infer.outputs(row, validate.attributes(row, attributes, types), types)[0]


def row(name, versions, shapes, given, expected, behaviour):
    """A node of some versions on float32 inputs of these shapes, with the type of its output."""
    return pytest.param(name, versions, shapes, given, expected, id=f"{name}: {behaviour}")


INDEX = [
    row("ArgMax", (1, 11, 13), [(2, 3)], {}, "int64[1, 3]", "the axis is 0 and stays with size 1"),
    row("ArgMin", (1, 11, 13), [(2, 3)], {}, "int64[1, 3]", "the axis is 0 and stays with size 1"),
    row("ArgMax", (1, 11, 13), [(2, 3)], {"keepdims": 0}, "int64[3]", "the axis goes"),
    row("ArgMin", (1, 11, 13), [(2, 3)], {"keepdims": 0}, "int64[3]", "the axis goes"),
    row("ArgMax", (13,), [("n", None, 5)], {"axis": -1, "keepdims": 0}, "int64[n, ?]", "other sizes stay open"),
    row("ArgMax", (13,), [("n", None, 5)], {"axis": 1}, "int64[n, 1, 5]", "an axis of unknown size becomes 1"),
    row("ArgMin", (13,), [(3,)], {"keepdims": 0}, "int64[]", "a vector gives a scalar"),
    row("ArgMin", (13,), [None], {"axis": 5}, "int64[...]", "an unknown rank stays unknown"),
]
REDUCTION = [
    row("ReduceMax", (1, 11, 13), [(2, 3)], {}, "float32[1, 1]", "all axes are reduced and stay"),
    row("ReduceMin", (1, 11, 13), [(2, 3)], {}, "float32[1, 1]", "all axes are reduced and stay"),
    row("ReduceMax", (1, 11, 13), [(2, 3)], {"keepdims": 0}, "float32[]", "all axes go"),
    row("ReduceMin", (1, 11, 13), [(2, 3)], {"keepdims": 0}, "float32[]", "all axes go"),
    row("ReduceMax", (13,), [("n", None, 5)], {"axes": [1], "keepdims": 0}, "float32[n, 5]", "the listed axis goes"),
    row("ReduceMin", (13,), [("n", None, 5)], {"axes": [-1, 0]}, "float32[1, ?, 1]", "an open size stays open"),
    row("ReduceMax", (1, 11, 13), [(2, 0)], {"axes": [1]}, "float32[2, 1]", "an identity has the size 1"),
    row("ReduceMin", (13,), [None], {"axes": [0]}, "float32[...]", "an unknown rank stays unknown"),
    row("ReduceMax", (13,), [()], {}, "float32[]", "a scalar gives a scalar"),
]
BROADCAST = [
    row("Max", (8, 12, 13), [(2, 3)], {}, "float32[2, 3]", "one input is the output"),
    row("Max", (8, 12, 13), [(2, 1), (3,)], {}, "float32[2, 3]", "sizes of 1 grow"),
    row("Max", (8, 12, 13), [(), (2, 3), (1, 1, 1)], {}, "float32[1, 2, 3]", "the highest rank counts"),
    row("Max", (13,), [("n", 3), ("n", 1)], {}, "float32[n, 3]", "equal names stay"),
    row("Max", (13,), [("n",), (1,)], {}, "float32[n]", "a name and 1 give the name"),
    row("Max", (13,), [("n",), ("m",)], {}, "float32[?]", "two names may be 1 or equal"),
    row("Max", (13,), [("n",), (None,)], {}, "float32[?]", "a name and an unknown size give an unknown one"),
    row("Max", (13,), [("n",), (5,)], {}, "float32[5]", "a name and a number give the number"),
    row("Max", (13,), [(None,), (1,)], {}, "float32[?]", "an unknown size and 1 give an unknown one"),
    row("Max", (13,), [(0,), (1,)], {}, "float32[0]", "no element and 1 give no element"),
    row("Max", (13,), [(2,), None], {}, "float32[...]", "an unknown rank stays unknown"),
]
ONE_SHAPE = [
    row("Max", (1, 6), [(2, 3), (2, 3)], {}, "float32[2, 3]", "before 8 all shapes are equal"),
    row("Max", (1, 6), [("n", None), (2, "m")], {}, "float32[2, m]", "before 8 what one input knows holds for all"),
    row("Max", (1, 6), [("n",), ("m",)], {}, "float32[n]", "before 8 two names are one size"),
    row("Max", (1, 6), [None, (2,)], {}, "float32[2]", "before 8 one known rank is enough"),
    row("Max", (1, 6), [None], {}, "float32[...]", "before 8 an unknown rank stays unknown"),
]
HARDMAX = [
    row("Hardmax", (1, 11, 13), [(2, 3)], {}, "float32[2, 3]", "the shape of the input"),
    row("Hardmax", (13,), [("n", None)], {}, "float32[n, ?]", "open sizes stay open"),
    row("Hardmax", (13,), [(0, 4)], {}, "float32[0, 4]", "no rows give no rows"),
    row("Hardmax", (13,), [None], {}, "float32[...]", "an unknown rank stays unknown"),
]


@pytest.mark.parametrize(
    ("name", "versions", "shapes", "given", "expected"), [*INDEX, *REDUCTION, *BROADCAST, *ONE_SHAPE, *HARDMAX]
)
def test_type_of_an_output(name, versions, shapes, given, expected):
    for version in versions:
        assert str(output(name, shapes, version, **given)) == expected, f"in version {version}"


def test_the_caller_picks_the_index_of_directml():
    result = output("DML_ARGMAX", [(2, 3, 4)], 0x4100, domain=spec.DIRECTML, axes=[0, 2])
    assert result == TensorType(None, (1, 3, 1))


@pytest.mark.parametrize(
    ("values", "attributes", "expected"),
    [
        pytest.param((0,), {}, "[1, 1, ?]", id="one axis"),
        pytest.param((0, -1), {"keepdims": 0}, "[1]", id="two axes that go"),
        pytest.param(None, {}, "[?, 1, ?]", id="unknown axes that stay"),
        pytest.param(None, {"keepdims": 0}, "[...]", id="unknown axes that go"),
        pytest.param((), {}, "[1, 1, 1]", id="no axis means all"),
        pytest.param((), {"noop_with_empty_axes": 1, "keepdims": 0}, "[n, 1, ?]", id="no axis means none"),
    ],
)
@pytest.mark.parametrize("opset", [18, 20])
def test_reduction_with_axes_as_an_input(opset, values, attributes, expected):
    """With unknown axes, the rank is still known, and so are the dimensions of size 1."""
    row = spec.find(spec.ONNX, "ReduceMax", opset)
    shape = (None,) if values is None else (len(values),)
    types = [TensorType("float16", ("n", 1, None)), TensorType("int64", shape, values)]
    assert str(*infer.outputs(row, validate.attributes(row, attributes, types), types)) == f"float16{expected}"


@pytest.mark.parametrize(
    ("values", "attributes", "expected"),
    [
        pytest.param((2,), {}, "[n, 2]", id="the last axis"),
        pytest.param((0,), {}, "[n, 0]", id="k of 0"),
        pytest.param((2,), {"axis": 0}, "[2, 5]", id="an axis of open size"),
        pytest.param(None, {}, "[n, ?]", id="k that is not known"),
    ],
)
@pytest.mark.parametrize("opset", [10, 11, 24])
def test_a_selection_takes_k_elements_of_its_axis(opset, values, attributes, expected):
    row = spec.find(spec.ONNX, "TopK", opset)
    types = [TensorType("float16", ("n", 5)), TensorType("int64", (1,), values)]
    outputs = infer.outputs(row, validate.attributes(row, attributes, types), types)
    assert list(map(str, outputs)) == [f"float16{expected}", f"int64{expected}"]


ONE = "help  use opset 8 or later, which broadcasts"
SIZES = "against each other\n  help  sizes of one dimension have to be equal, or 1"


@pytest.mark.parametrize(
    ("name", "opset", "shapes", "given", "message"),
    [
        pytest.param(
            "ArgMax",
            13,
            [(0, 0)],
            {"axis": 1},
            "nothing to choose from: axis 1 of its input has no",
            id="no element along the axis, and none at all",
        ),
        pytest.param(
            "ReduceMin",
            12,
            [(2, 0)],
            {},
            "nothing to choose from: axis 1 of its input has no element",
            id="no identity in version 12",
        ),
        pytest.param("Min", 8, [(2,), (3,)], {}, f"Min-8 cannot broadcast sizes 2 and 3 {SIZES}", id="2 and 3"),
        pytest.param("Min", 8, [(0,), (4,)], {}, f"Min-8 cannot broadcast sizes 0 and 4 {SIZES}", id="0 and 4"),
        pytest.param(
            "Min", 8, [(5,), (1,), (4,)], {}, f"Min-8 cannot broadcast sizes 5 and 4 {SIZES}", id="first and third"
        ),
        pytest.param(
            "Max",
            1,
            [(2, 3), (3,)],
            {},
            f"Max-1 takes inputs of one shape, not [2, 3] and [3]\n  {ONE}",
            id="two ranks before version 8",
        ),
        pytest.param(
            "Max",
            6,
            [(2, 3), (2,)],
            {},
            f"Max-6 takes inputs of one shape, not [2, 3] and [2]\n  {ONE}",
            id="two ranks that broadcasting would refuse too",
        ),
        pytest.param(
            "Max",
            6,
            [(2,), (1,)],
            {},
            f"Max-6 takes inputs of one shape, not [2] and [1]\n  {ONE}",
            id="a size of 1 before version 8",
        ),
        pytest.param(
            "Max",
            6,
            [("n", 3), ("n", 4)],
            {},
            "Max-6 takes inputs of one shape, not [n, 3] and [n, 4]",
            id="two sizes beside an open one",
        ),
        pytest.param(
            "TopK",
            1,
            [("n", 4)],
            {"k": 5},
            "TopK-1 takes 5 elements along axis 1 of its input, which has 4\n  help  use a k in [0, 4]",
            id="more elements than there are",
        ),
    ],
)
def test_what_no_size_could_make_right(name, opset, shapes, given, message):
    assert message in str(error_of(SpecError, output, name, shapes, opset, **given))


@pytest.mark.parametrize("opset", [11, 13, onnx.defs.onnx_opset_version()])
@pytest.mark.parametrize(
    ("call", "inputs"),
    [
        pytest.param("ArgMax <axis=1> (a)", {"a": ("n", 4, "m")}, id="a middle axis"),
        pytest.param("ArgMin <axis=-1, keepdims=0> (a)", {"a": ("n", 4, "m")}, id="the last axis goes"),
        pytest.param("Hardmax <axis=-1> (a)", {"a": ("n", 4)}, id="Hardmax"),
        pytest.param("Max (a, b)", {"a": ("n", 1, 4), "b": (3, 1)}, id="two shapes"),
        pytest.param("Min (a, b, c)", {"a": ("n",), "b": ("n",), "c": (1, 1)}, id="three shapes"),
        pytest.param("ReduceMax <keepdims=0> (a)", {"a": ("n", 4)}, id="all axes go"),
        pytest.param("ReduceMin (a)", {"a": ("n", 4)}, id="all axes stay"),
    ],
)
def test_agrees_with_onnx(opset, call, inputs):
    declared = ", ".join(f"float[{', '.join(map(str, shape))}] {name}" for name, shape in inputs.items())
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g ({declared}) => (y) {{ y = {call} }}'
    theirs = onnx.shape_inference.infer_shapes(onnx.parser.parse_model(text)).graph
    (value,) = theirs.output
    (node,) = theirs.node
    sizes = tuple(each.dim_param or each.dim_value for each in value.type.tensor_type.shape.dim)
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    assert output(node.op_type, list(inputs.values()), opset, **attributes).shape == sizes
