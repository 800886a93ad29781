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


ARG = [
    ({}, (2, 3), "int64[1, 3]"),
    ({"keepdims": 0}, (2, 3), "int64[3]"),
    ({"axis": -1, "keepdims": 0}, ("n", None, 5), "int64[n, ?]"),
    ({"axis": 1}, ("n", None, 5), "int64[n, 1, 5]"),
    ({"keepdims": 0}, (3,), "int64[]"),
    ({"axis": 5}, None, "int64[...]"),
]
REDUCTION = [
    ({}, (2, 3), "float32[1, 1]"),
    ({"keepdims": 0}, (2, 3), "float32[]"),
    ({"axes": [1], "keepdims": 0}, ("n", None, 5), "float32[n, 5]"),
    ({"axes": [-1, 0]}, ("n", None, 5), "float32[1, ?, 1]"),
    ({"axes": [1]}, (2, 0), "float32[2, 1]"),
    ({"axes": [0]}, None, "float32[...]"),
    ({}, (), "float32[]"),
]
BROADCAST = [
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
    ([(2,), None], "[...]"),
]
ONE_SHAPE = [
    ([(2, 3), (2, 3)], "[2, 3]"),
    ([("n", None), (2, "m")], "[2, m]"),
    ([("n",), ("m",)], "[n]"),
    ([None, (2,)], "[2]"),
    ([None], "[...]"),
]
CASES = [
    *((name, 13, [shape], given, text) for name in ("ArgMax", "ArgMin") for given, shape, text in ARG),
    *(
        (name, opset, [shape], given, text)
        for name in ("ReduceMax", "ReduceMin")
        for opset in (1, 11, 13)
        for given, shape, text in REDUCTION
    ),
    *(("Max", 13, shapes, {}, f"float32{text}") for shapes, text in BROADCAST),
    *(("Max", opset, shapes, {}, f"float32{text}") for opset in (1, 6) for shapes, text in ONE_SHAPE),
    *(("Hardmax", 13, [shape], {}, str(TensorType("float32", shape))) for shape in [(2, 3), ("n", None), (0, 4), None]),
]


@pytest.mark.parametrize(("name", "opset", "shapes", "given", "expected"), CASES)
def test_type_of_an_output(name, opset, shapes, given, expected):
    assert str(output(name, shapes, opset, **given)) == expected


def test_the_caller_picks_the_index_of_directml():
    result = output("DML_ARGMAX", [(2, 3, 4)], 0x4100, domain=spec.DIRECTML, axes=[0, 2])
    assert result == TensorType(None, (1, 3, 1))


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
    """With unknown axes, the rank is still known, and so are the dimensions of size 1."""
    row = spec.find(spec.ONNX, "ReduceMax", opset)
    shape = (None,) if values is None else (len(values),)
    types = [TensorType("float16", ("n", 1, None)), TensorType("int64", shape, values)]
    assert str(*infer.outputs(row, validate.attributes(row, attributes, types), types)) == f"float16{expected}"


@pytest.mark.parametrize(
    ("values", "attributes", "expected"),
    [((2,), {}, "[n, 2]"), ((0,), {}, "[n, 0]"), ((2,), {"axis": 0}, "[2, 5]"), (None, {}, "[n, ?]")],
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
    ("name", "opset", "shapes", "given", "error", "message"),
    [
        ("ArgMax", 13, [(0, 0)], {"axis": 1}, SpecError, "nothing to choose from: axis 1 of its input has no"),
        ("ReduceMin", 12, [(2, 0)], {}, SpecError, "nothing to choose from: axis 1 of its input has no element"),
        ("Min", 8, [(2,), (3,)], {}, SpecError, f"Min-8 cannot broadcast sizes 2 and 3 {SIZES}"),
        ("Min", 8, [(0,), (4,)], {}, SpecError, f"Min-8 cannot broadcast sizes 0 and 4 {SIZES}"),
        ("Min", 8, [(5,), (1,), (4,)], {}, SpecError, f"Min-8 cannot broadcast sizes 5 and 4 {SIZES}"),
        ("Max", 1, [(2, 3), (3,)], {}, SpecError, f"Max-1 takes inputs of one shape, not [2, 3] and [3]\n  {ONE}"),
        ("Max", 6, [(2, 3), (2,)], {}, SpecError, f"Max-6 takes inputs of one shape, not [2, 3] and [2]\n  {ONE}"),
        ("Max", 6, [(2,), (1,)], {}, SpecError, f"Max-6 takes inputs of one shape, not [2] and [1]\n  {ONE}"),
        ("Max", 6, [("n", 3), ("n", 4)], {}, SpecError, "Max-6 takes inputs of one shape, not [n, 3] and [n, 4]"),
        (
            "TopK",
            1,
            [("n", 4)],
            {"k": 5},
            SpecError,
            "TopK-1 takes 5 elements along axis 1 of its input, which has 4\n  help  use a k in [0, 4]",
        ),
    ],
)
def test_what_no_size_could_make_right(name, opset, shapes, given, error, message):
    assert message in str(error_of(error, output, name, shapes, opset, **given))


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
