"""The attributes of ai.extremum's operators: every name and every kind but the right one is refused."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import AttributeProto, helper

from extremum.errors import SpecError
from extremum.onnxruntime import convert, library_path
from models import model
from refusal import refusal

INT, INTS, STRING = AttributeProto.INT, AttributeProto.INTS, AttributeProto.STRING
# As docs/onnxruntime.md lists them.
ATTRIBUTES = {
    "ArgReduce": {
        "order": STRING,
        "axes": INTS,
        "axis": INT,
        "to_last": INT,
        "keepdims": INT,
        "select_last_index": INT,
    },
    "OneHot": {"axes": INTS, "axis": INT, "to_last": INT},
    "Extremum": {"order": STRING, "broadcast": INT},
    "Reduce": {"order": STRING, "axes": INTS, "keepdims": INT, "noop_with_empty_axes": INT, "identity": INT},
}
NAMES = sorted({name for attributes in ATTRIBUTES.values() for name in attributes})
WORDS = {INT: "an integer", INTS: "a list of at least one integer", STRING: "a text"}

_TENSOR = helper.make_tensor("t", onnx.TensorProto.FLOAT, [1], [1.0])
_TYPE = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [1])
_INDICES = helper.make_tensor("i", onnx.TensorProto.INT64, [1], [0])
# An attribute of each kind, lists with and without elements, and the values that the library can name.
KINDS = {
    "int": (1, INT, "1"),
    "float": (1.5, AttributeProto.FLOAT, "1.5"),
    "text": ("max", STRING, '"max"'),
    "ints": ([1], INTS, "[1]"),
    "no ints": ([], INTS, None),
    "floats": ([0.5], AttributeProto.FLOATS, "[0.5]"),
    "no floats": ([], AttributeProto.FLOATS, None),
    "texts": (["max"], AttributeProto.STRINGS, None),
    "no texts": ([], AttributeProto.STRINGS, None),
    "tensor": (_TENSOR, AttributeProto.TENSOR, None),
    "tensors": ([_TENSOR], AttributeProto.TENSORS, None),
    "sparse tensor": (helper.make_sparse_tensor(_TENSOR, _INDICES, [2]), AttributeProto.SPARSE_TENSOR, None),
    "graph": (helper.make_graph([], "g", [], []), AttributeProto.GRAPH, None),
    "type": (_TYPE, AttributeProto.TYPE_PROTO, None),
    "types": ([_TYPE], AttributeProto.TYPE_PROTOS, None),
}


def of_one_node(operator, name, value, kind):
    node = helper.make_node(operator, ["x"], ["y"], domain="ai.extremum")
    node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    result = onnx.TensorProto.INT64 if operator == "ArgReduce" else onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", result, None)],
    )
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("ai.extremum", 1)]
    return helper.make_model(graph, ir_version=9, opset_imports=imports)


def by_library(proto):
    """What onnxruntime says to a model, without a look at it by this package's Python."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.register_custom_ops_library(str(library_path()))
    try:
        onnxruntime.InferenceSession(proto.SerializeToString(), options)
    except Exception as error:
        return str(error).partition("Exception during initialization: ")[2]
    return None


@pytest.mark.parametrize(
    ("operator", "name"), [(operator, name) for operator, known in ATTRIBUTES.items() for name in known]
)
def test_an_attribute_of_another_kind_is_refused(operator, name):
    wanted = WORDS[ATTRIBUTES[operator][name]]
    for label, (value, kind, shown) in KINDS.items():
        proto = of_one_node(operator, name, value, kind)
        if kind == ATTRIBUTES[operator][name] and label != "no ints":
            convert(proto)
            assert by_library(proto) is None
            continue
        reason = f"{operator}: attribute '{name}' is not {wanted}"
        assert refusal(SpecError, convert, proto) == reason
        shown = shown or "(an empty list, or neither numbers nor a text)"
        assert by_library(proto) == f"{reason}; given: {name}={shown}; help: give it as {wanted}", label


@pytest.mark.parametrize("operator", ATTRIBUTES)
def test_an_attribute_of_another_operator_is_refused(operator):
    own = ", ".join(ATTRIBUTES[operator])
    for name in NAMES:
        if name not in ATTRIBUTES[operator]:
            for label, (value, kind, _) in KINDS.items():
                proto = of_one_node(operator, name, value, kind)
                reason = f"{operator}: there is no attribute '{name}'"
                with pytest.raises(SpecError) as caught:
                    convert(proto)
                assert (caught.value.reason, caught.value.remedy) == (reason, f"the attributes are {own}")
                assert by_library(proto) == f"{reason}; help: the attributes are {own}", label


@pytest.mark.parametrize("operator", ATTRIBUTES)
@pytest.mark.parametrize("name", ["axe", "Axis", "keep_dims", "consumed_inputs", ""])
def test_an_attribute_that_no_operator_has_is_refused_before_onnxruntime_sees_it(operator, name):
    with pytest.raises(SpecError) as caught:
        convert(of_one_node(operator, name, 1, INT))
    assert caught.value.reason == f"{operator}: there is no attribute {name!r}"
    assert caught.value.where == "graph.node[0]"


def test_nodes_in_subgraphs_and_functions_are_looked_at():
    text = """<ir_version: 8, opset_import: ["" : 13, "ai.extremum" : 1]> g (float[3] x, bool c) => (float[3] y) {
        y = If(c) <
            then_branch = t () => (float[3] p) { p = ai.extremum.OneHot <axis = 0> (x) },
            else_branch = e () => (float[3] q) { q = Abs(x) }> }"""
    convert(onnx.parser.parse_model(text))
    with pytest.raises(SpecError) as caught:
        convert(onnx.parser.parse_model(text.replace("axis", "axes")))
    assert caught.value.where == "graph.node[0].then_branch.node[0]"
    function = (
        """<domain: "own", opset_import: ["ai.extremum" : 1]> F (a) => (b) { b = ai.extremum.OneHot <nope = 0> (a) }"""
    )
    with pytest.raises(SpecError) as caught:
        convert(model("(float[3] x) => (float[3] y) { y = own.F(x) }", functions=function))
    assert caught.value.where == "functions[0].node[0]"


def test_a_reference_to_an_attribute_of_the_function_has_a_name_and_a_kind_too():
    body = "(float[3] x) => (float[3] y) { y = own.F <along = 0> (x) }"
    function = """<domain: "own", opset_import: ["ai.extremum" : 1]> F <along> (a) => (b) {{
        b = ai.extremum.OneHot <{}: {} = @along> (a) }}"""
    convert(model(body, functions=function.format("axis", "int")))
    for name, kind in (("axes", "int"), ("axis", "ints"), ("axe", "int")):
        with pytest.raises(SpecError):
            convert(model(body, functions=function.format(name, kind)))


def test_a_version_that_is_not_there_yet():
    proto = of_one_node("OneHot", "axis", 1, INT)
    proto.opset_import[1].version = 2
    assert refusal(SpecError, convert, proto) == "ai.extremum has version 1, not 2"


def test_a_function_may_take_the_name_of_an_operator():
    proto = model(
        "(float[3] x) => (float[3] y) { y = ai.extremum.OneHot <turned = 1> (x) }",
        functions='<domain: "ai.extremum", opset_import: ["" : 13]> OneHot <turned> (a) => (b) { b = Neg(a) }',
    )
    proto.opset_import.append(helper.make_opsetid("ai.extremum", 1))
    assert not convert(proto).modified


def test_several_axes_mean_what_they_say():
    proto = of_one_node("ArgReduce", "axes", [1], INTS)
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(str(library_path()))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    assert session.run(None, {"x": np.array([[1, 2, 0], [3, 1, 2]], np.float32)})[0].tolist() == [[1], [0]]
