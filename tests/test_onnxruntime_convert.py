"""Conversion: what each version becomes, where nodes are found, what stays, what is refused."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from extremum import spec
from extremum.errors import ArgumentError, AxisError, ElementTypeError, ModelError, SpecError
from extremum.onnxruntime import Change, convert
from models import model
from refusal import refusal

ROWS = [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.ONNX for row in rows]


def only_node(proto):
    """Domain, operator and attributes of the one node of a model."""
    (node,) = proto.graph.node
    return node.domain, node.op_type, {each.name: helper.get_attribute_value(each) for each in node.attribute}


def becomes(row):
    if row.name == "Hardmax":
        return "OneHot", {"to_last": 1} if row.since < 13 else {}
    order = {"order": b"max" if "Max" in row.name else b"min"}
    if row.name.startswith("Arg"):
        return "ArgReduce", order
    if row.name.startswith("Reduce"):
        return "Reduce", {**order, "identity": 0} if row.since == 12 else order
    return "Extremum", {**order, "broadcast": 0} if row.since < 8 else order


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_a_version_becomes(row):
    conversion = convert(model(f"(float[2, 2] x) => (y) {{ y = {row.name}(x) }}", opset=row.since))
    operator, attributes = becomes(row)
    assert only_node(conversion.model) == ("ai.extremum", operator, attributes)
    assert conversion.modified
    assert conversion.changes == (Change("graph.node[0]", str(row), operator),)
    assert str(conversion) == f"graph.node[0]: {row} -> ai.extremum.{operator}"


def test_attributes_keep_their_names_and_consumed_inputs_goes():
    stated = {"axis": -1, "keepdims": 0, "select_last_index": 1}
    text = ", ".join(f"{name} = {value}" for name, value in stated.items())
    converted = convert(model(f"(float[2, 2] x) => (y) {{ y = ArgMax <{text}> (x) }}")).model
    assert only_node(converted) == ("ai.extremum", "ArgReduce", {"order": b"max", **stated})
    converted = convert(model("(float[2] x) => (y) { y = Max <consumed_inputs = [0]> (x) }", opset=1)).model
    assert only_node(converted) == ("ai.extremum", "Extremum", {"order": b"max", "broadcast": 0})


def rich_model():
    """Something of everything a model can hold."""
    inner = helper.make_graph(
        [helper.make_node("Hardmax", ["x"], ["h"], name="inner", axis=0)],
        "inner",
        [],
        [helper.make_tensor_value_info("h", TensorProto.FLOAT, None)],
    )
    top = helper.make_node("Max", ["x", "w"], ["m"], name="top", doc_string="the larger")
    top.metadata_props.add(key="from", value="a test")
    nodes = [
        top,
        helper.make_node("If", ["c"], ["k"], then_branch=inner, else_branch=inner),
        helper.make_node("Gelu", ["m"], ["g"], domain="com.microsoft"),
        helper.make_node("Arg", ["g"], ["a"], domain="own", along=1),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "kg"]
        + [helper.make_tensor_value_info("a", TensorProto.INT64, None)],
        [onnx.numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")],
        doc_string="a graph",
        value_info=[helper.make_tensor_value_info("m", TensorProto.FLOAT, ["n", 3])],
    )
    arg = helper.make_node("ArgMin", ["v"], ["r"])
    arg.attribute.add(name="axis", type=onnx.AttributeProto.INT, ref_attr_name="along")
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "Arg", ["v"], ["r"], [arg], [helper.make_opsetid("", 13)], ["along"])
    proto = helper.make_model(
        graph, producer_name="somebody", opset_imports=imports, functions=[function], ir_version=9, doc_string="a model"
    )
    helper.set_model_props(proto, {"license": "none"})
    return proto


def test_everything_else_stays_byte_for_byte():
    original = rich_model()
    before = original.SerializeToString(deterministic=True)
    conversion = convert(original)
    assert original.SerializeToString(deterministic=True) == before
    assert [str(change) for change in conversion.changes] == [
        "graph.node[0] 'top': Max-13 -> ai.extremum.Extremum",
        "graph.node[1].else_branch.node[0] 'inner': Hardmax-13 -> ai.extremum.OneHot",
        "graph.node[1].then_branch.node[0] 'inner': Hardmax-13 -> ai.extremum.OneHot",
        "functions[0].node[0]: ArgMin-13 -> ai.extremum.ArgReduce",
    ]
    undone = conversion.model
    for importer in (undone, undone.functions[0]):
        assert importer.opset_import.pop() == helper.make_opsetid("ai.extremum", 1)
    branches = [attribute.g for attribute in undone.graph.node[1].attribute]
    twins = [attribute.g for attribute in original.graph.node[1].attribute]
    bodies = [(undone.graph, original.graph), *zip(branches, twins, strict=True)]
    for body, twin in [*bodies, (undone.functions[0], original.functions[0])]:
        for node, old in zip(body.node, twin.node, strict=True):
            if node.domain == "ai.extremum":
                node.domain, node.op_type = old.domain, old.op_type
                node.ClearField("attribute")
                node.attribute.extend(old.attribute)
                if not old.HasField("domain"):
                    node.ClearField("domain")
    assert undone.SerializeToString(deterministic=True) == before


def test_a_model_without_the_family_is_not_modified():
    proto = model("(float[2] x) => (y) { y = Neg(x) }")
    conversion = convert(proto)
    assert conversion.model is proto
    assert not conversion.modified
    assert (conversion.changes, str(conversion)) == ((), "not modified")


def test_converting_twice_changes_nothing_more():
    once = convert(rich_model()).model
    assert not convert(once).modified


def test_a_function_of_the_same_name_is_no_node_of_the_family():
    proto = model(
        "(float[2] x) => (y) { y = own.ArgMax(x) }",
        functions='<domain: "own", opset_import: ["" : 13]> ArgMax (x) => (y) { y = Neg(x) }',
    )
    assert not convert(proto).modified


def test_a_functions_attribute_is_passed_on():
    converted = convert(rich_model()).model.functions[0].node[0]
    axis = {attribute.name: attribute for attribute in converted.attribute}["axis"]
    assert (axis.ref_attr_name, axis.type) == ("along", onnx.AttributeProto.INT)


def test_only_what_onnxruntime_refuses():
    proto = model("(float[2, 2] x, uint32[2, 2] u) => (y, z) { y = ArgMax(x) z = ArgMax(u) }")
    assert [str(change) for change in convert(proto, "unsupported").changes] == [
        "graph.node[1]: ArgMax-13 -> ai.extremum.ArgReduce"
    ]
    unknown = model("(x) => (y) { y = ArgMax(x) }")
    assert convert(unknown, nodes="unsupported").modified


def test_weights_beside_the_file_are_not_read(tmp_path):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[700_000_000], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="not_there.bin")
    proto = model("(float[1] x) => (y) { y = Max(x, w) }")
    proto.graph.initializer.append(weight)
    path = tmp_path / "large.onnx"
    path.write_bytes(proto.SerializeToString())
    conversion = convert(path)
    assert conversion.modified
    assert conversion.model.graph.initializer[0] == weight


@pytest.mark.parametrize(
    ("body", "opset", "error", "message"),
    [
        (
            "(float[3] x) => (y) { y = ArgMax <select_last_index = 1> (x) }",
            11,
            SpecError,
            "ArgMax-11 has no attribute 'select_last_index' (it came with ArgMax-12)\n"
            "  at    graph.node[0], opset 11\n"
            "  given x: float32[3], select_last_index=1\n"
            "  help  use opset 12 or later, or drop the attribute if its value is 0",
        ),
        (
            "(float[3] x) => (y) { y = Hardmax(x) }",
            11,
            AxisError,
            "Hardmax-11 has axis=1, but its input has rank 1\n"
            "  at    graph.node[0], opset 11\n"
            "  given x: float32[3]\n"
            "  help  use a value in [-1, 0]",
        ),
        (
            "(int8[3] x) => (y) { n = Identity(x) y = Max(n) }",
            8,
            ElementTypeError,
            "Max-8 does not take int8 (it came with Max-12)\n"
            "  at    graph.node[1], opset 8\n"
            "  given n: int8[3]\n"
            "  help  the element types of Max-8 are: float16, float32, float64",
        ),
    ],
)
def test_what_a_version_forbids_is_refused(body, opset, error, message):
    with pytest.raises(error) as caught:
        convert(model(body, opset=opset))
    assert str(caught.value) == message


def test_an_attribute_of_a_function_that_the_version_lacks_is_refused():
    proto = model(
        "(float[2] x) => (y) { y = own.Last <last = 1> (x) }",
        functions="""<domain: "own", opset_import: ["" : 11]> Last <last> (x) => (y) {
          y = ArgMax <select_last_index: int = @last> (x)
        }""",
    )
    with pytest.raises(SpecError) as caught:
        convert(proto)
    assert caught.value.where == "functions[0].node[0], opset 11"


def test_bad_arguments():
    assert refusal(ModelError, convert, b"not a model") == "the bytes hold no ONNX model"
    assert refusal(ArgumentError, convert, model("(x) => (y) { y = Neg(x) }"), "some") == "nodes is 'some'"
    with pytest.raises(FileNotFoundError):
        convert("no/such/model.onnx")


@pytest.mark.parametrize("stated", [{"axes": [1, 0]}, {"keepdims": 0}, {"axes": [-1], "keepdims": 1}])
def test_the_axes_of_an_attribute_stay_one(stated):
    text = ", ".join(f"{name} = {value}" for name, value in stated.items())
    converted = convert(model(f"(float[2, 2] x) => (y) {{ y = ReduceMin <{text}> (x) }}")).model
    assert only_node(converted) == ("ai.extremum", "Reduce", {"order": b"min", **stated})


@pytest.mark.parametrize(("given", "kept"), [("x, a", ["x", "a"]), ("x", ["x"]), ('x, ""', ["x"])])
def test_the_axes_of_an_input_stay_one(given, kept):
    body = f"(float[2, 2] x, int64[k] a) => (y) {{ y = ReduceMax <noop_with_empty_axes = 1> ({given}) }}"
    converted = convert(model(body, opset=18)).model
    assert only_node(converted) == ("ai.extremum", "Reduce", {"order": b"max", "noop_with_empty_axes": 1})
    assert converted.graph.node[0].input == kept


def test_a_list_of_no_axes_goes():
    proto = model("(float[2, 2] x) => (y) { y = ReduceMax (x) }")
    proto.graph.node[0].attribute.append(helper.make_attribute("axes", [], attr_type=onnx.AttributeProto.INTS))
    assert only_node(convert(proto).model) == ("ai.extremum", "Reduce", {"order": b"max"})
