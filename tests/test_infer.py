"""Types and shapes of outputs: sizes, symbols, unknowns; agreement with onnx's shape inference where it has one."""

import onnx
import pytest

from extremum import infer, spec, validate
from extremum.errors import AxisError, SpecError
from extremum.tensors import TensorType


def output(name, shapes, opset=13, element="float32", domain=spec.ONNX, **attributes):
    row = spec.find(domain, name, opset)
    types = [TensorType(element, shape) for shape in shapes]
    validate.inputs(row, types)
    return infer.output(row, validate.attributes(row, attributes), types)


@pytest.mark.parametrize(
    ("attributes", "shape", "expected"),
    [
        ({}, (2, 3), "int64[1, 3]"),
        ({"keepdims": 0}, (2, 3), "int64[3]"),
        ({"axis": -1, "keepdims": 0}, ("n", None, 5), "int64[n, ?]"),
        ({"axis": 1}, ("n", None, 5), "int64[n, 1, 5]"),
        ({"axis": 1}, (0, 3), "int64[0, 1]"),
        ({"keepdims": 0}, (3,), "int64[]"),
        ({"axis": 5}, None, "int64[...]"),
    ],
)
@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
def test_arg(name, attributes, shape, expected):
    assert str(output(name, [shape], **attributes)) == expected


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 0)])
def test_an_empty_reduced_axis_is_refused(shape):
    axis = len(shape) - 1
    with pytest.raises(SpecError) as caught:
        output("ArgMax", [shape], axis=axis)
    assert str(caught.value) == f"ArgMax-13 has nothing to choose from: axis {axis} of its input has no element"


def test_the_caller_picks_the_index_of_directml():
    result = output("DML_ARGMAX", [(2, 3, 4)], 0x4100, domain=spec.DIRECTML, axes=[0, 2])
    assert result == TensorType(None, (1, 3, 1))


@pytest.mark.parametrize(
    ("attributes", "shape", "expected"),
    [
        ({}, (2, 3), "float32[1, 1]"),
        ({"keepdims": 0}, (2, 3), "float32[]"),
        ({"axes": [1], "keepdims": 0}, ("n", None, 5), "float32[n, 5]"),
        ({"axes": [-1, 0]}, ("n", None, 5), "float32[1, ?, 1]"),
        ({"axes": [1]}, (2, 0), "float32[2, 1]"),
        ({"axes": [0]}, None, "float32[...]"),
        ({}, (), "float32[]"),
    ],
)
@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("opset", [1, 11, 13])
def test_reduction(name, opset, attributes, shape, expected):
    assert str(output(name, [shape], opset, **attributes)) == expected


@pytest.mark.parametrize(
    ("values", "attributes", "expected"),
    [
        ((0,), {}, "[1, 1, ?]"),
        ((0, -1), {"keepdims": 0}, "[1]"),
        (None, {}, "[?, 1, ?]"),
        (None, {"keepdims": 0}, "[...]"),
        ((), {}, "[1, 1, 1]"),
        ((), {"noop_with_empty_axes": 1, "keepdims": 0}, "[n, 1, ?]"),
    ],
)
@pytest.mark.parametrize("opset", [18, 20])
def test_reduction_with_axes_as_an_input(opset, values, attributes, expected):
    """Axes that are not known leave the rank, and what has size 1 anyway."""
    row = spec.find(spec.ONNX, "ReduceMax", opset)
    shape = (None,) if values is None else (len(values),)
    types = [TensorType("float16", ("n", 1, None)), TensorType("int64", shape, values)]
    assert str(infer.output(row, validate.attributes(row, attributes, types), types)) == f"float16{expected}"


def test_only_version_12_does_not_say_what_the_largest_of_no_element_is():
    with pytest.raises(SpecError) as caught:
        output("ReduceMin", [(2, 0)], 12)
    assert str(caught.value) == "ReduceMin-12 has nothing to choose from: axis 1 of its input has no element"


@pytest.mark.parametrize("shape", [(2, 3), ("n", None), (0, 4), None])
def test_hardmax(shape):
    assert output("Hardmax", [shape], element="float16") == TensorType("float16", shape)


def test_hardmax_axis():
    with pytest.raises(AxisError, match="Hardmax-11 has axis=1"):
        output("Hardmax", [("n",)], opset=11)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(2, 3)], "[2, 3]"),
        ([(2, 1), (3,)], "[2, 3]"),
        ([(), (2, 3), (1, 1, 1)], "[1, 2, 3]"),
        ([("n", 3), ("n", 1)], "[n, 3]"),
        ([("n",), (1,)], "[n]"),
        ([("n",), ("m",)], "[?]"),
        ([("n",), (None,)], "[?]"),
        ([("n",), (5,)], "[5]"),
        ([(None,), (1,)], "[?]"),
        ([(0,), (1,)], "[0]"),
        ([(1,), (1,)], "[1]"),
        ([(2,), None], "[...]"),
    ],
)
def test_broadcast(shapes, expected):
    assert str(output("Max", shapes)) == f"float32{expected}"


@pytest.mark.parametrize(
    ("shapes", "pair"), [([(2,), (3,)], "2 and 3"), ([(0,), (4,)], "0 and 4"), ([(5,), (1,), (4,)], "5 and 4")]
)
def test_sizes_that_do_not_broadcast(shapes, pair):
    with pytest.raises(SpecError) as caught:
        output("Min", shapes, opset=8)
    assert str(caught.value) == (
        f"Min-8 cannot broadcast sizes {pair} against each other\n  help  sizes of one dimension have to be equal, or 1"
    )


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(2, 3), (2, 3)], "[2, 3]"),
        ([("n", None), (2, "m")], "[2, m]"),
        ([(None,), (None,)], "[?]"),
        ([("n",), ("m",)], "[n]"),
        ([None, (2,)], "[2]"),
        ([None], "[...]"),
    ],
)
@pytest.mark.parametrize("opset", [1, 6])
def test_one_shape_before_8(opset, shapes, expected):
    assert str(output("Max", shapes, opset)) == f"float32{expected}"


@pytest.mark.parametrize("shapes", [[(2, 3), (3,)], [(2, 3), (2,)], [(2,), (1,)], [("n", 3), ("n", 4)]])
@pytest.mark.parametrize("opset", [1, 6])
def test_no_broadcasting_before_8(opset, shapes):
    with pytest.raises(
        SpecError,
        match=rf"^Max-{opset} takes inputs of one shape, not .*\n  help  use opset 8 or later, which broadcasts",
    ):
        output("Max", shapes, opset)


@pytest.mark.parametrize("opset", [11, 13, onnx.defs.onnx_opset_version()])
@pytest.mark.parametrize(
    ("call", "inputs"),
    [
        ("ArgMax <axis=1> (a)", {"a": ("n", 4, "m")}),
        ("ArgMin <axis=-1, keepdims=0> (a)", {"a": ("n", 4, "m")}),
        ("Hardmax <axis=-1> (a)", {"a": ("n", 4)}),
        ("Max (a, b)", {"a": ("n", 1, 4), "b": (3, 1)}),
        ("Min (a, b, c)", {"a": ("n",), "b": ("n",), "c": (1, 1)}),
        ("ReduceMax <keepdims=0> (a)", {"a": ("n", 4)}),
        ("ReduceMin (a)", {"a": ("n", 4)}),
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
