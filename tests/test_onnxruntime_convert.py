"""Conversion: what each version becomes, where nodes are found, what stays, what is refused, attributes included."""

import subprocess
import sys

import onnx
import onnxruntime
import pytest
from onnx import AttributeProto, TensorProto, helper

from extremum import spec
from extremum.errors import ArgumentError, ModelError, SpecError
from extremum.onnxruntime import NodeConversion, convert, library_path
from models import model
from refusal import error_of, explained, refusal

ROWS = [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.ONNX for row in rows]


def only_node(proto):
    """Domain, operator and attributes of the one node of a model."""
    (node,) = proto.graph.node
    return node.domain, node.op_type, {each.name: helper.get_attribute_value(each) for each in node.attribute}


def one_node(row):
    """A node of a version on a matrix, in ONNX's textual form."""
    if row.name == "TopK":
        return "y, i = TopK <k = 1> (x)" if row.since == 1 else "y, i = TopK (x, k)"
    return f"y = {row.name}(x)"


def becomes(row):
    if row.name == "TopK":
        return "TopK", {"k": 1} if row.since == 1 else {}
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
    conversion = convert(model(f"(float[2, 2] x, int64[1] k) => (y) {{ {one_node(row)} }}", opset=row.since))
    operator, attributes = becomes(row)
    assert only_node(conversion.model) == ("ai.extremum", operator, attributes)
    assert conversion.modified
    assert conversion.changes == (NodeConversion("graph.node[0]", str(row), operator),)
    assert str(conversion) == f"graph.node[0]: {row} -> ai.extremum.{operator}"


@pytest.mark.parametrize(
    ("node", "opset", "operator", "attributes"),
    [
        (
            "ArgMax <axis = -1, keepdims = 0, select_last_index = 1>",
            13,
            "ArgReduce",
            {"order": b"max", "axis": -1, "keepdims": 0, "select_last_index": 1},
        ),
        ("TopK <k = 2, axis = -2>", 1, "TopK", {"k": 2, "axis": -2}),
        ("Max <consumed_inputs = [0]>", 1, "Extremum", {"order": b"max", "broadcast": 0}),
        ("ReduceMin <axes = [1, 0]>", 13, "Reduce", {"order": b"min", "axes": [1, 0]}),
        ("ReduceMin <keepdims = 0, axes: ints = []>", 13, "Reduce", {"order": b"min", "keepdims": 0}),
        ("ReduceMin <axes = [-1], keepdims = 1>", 13, "Reduce", {"order": b"min", "axes": [-1], "keepdims": 1}),
    ],
)
def test_attributes_keep_their_names_and_consumed_inputs_goes(node, opset, operator, attributes):
    converted = convert(
        model(f"(float[2, 2] x) => (y) {{ y{', i' * node.startswith('TopK')} = {node} (x) }}", opset=opset)
    ).model
    assert only_node(converted) == ("ai.extremum", operator, attributes)


RICH = """
<ir_version: 9, producer_name: "somebody", doc_string: "a model",
 opset_import: ["" : 13, "com.microsoft" : 1, "own" : 1]>
g (float[n, 3] x, bool c) => (float[a, b] k, float[n, 3] g, int64[n, 1] a) <float[3] w = {1, 2, 3}, float[n, 3] m> {
  [top] m = Max (x, w)
  k = If (c) <
    then_branch = first () => (float[a, b] h) { [inner] h = Hardmax <axis = 0> (x) },
    else_branch = second () => (float[a, b] h) { [inner] h = Hardmax <axis = 0> (x) }
  >
  g = com.microsoft.Gelu (m)
  a = own.Arg <along = 1> (g)
}
<domain: "own", opset_import: ["" : 13]> Arg <along> (v) => (r) { r = ArgMin <axis: int = @along> (v) }
"""


def rich_model():
    """A model with a bit of everything that a model can hold."""
    proto = onnx.parser.parse_model(RICH)
    proto.graph.doc_string = "a graph"
    proto.graph.node[0].doc_string = "the larger"
    proto.graph.node[0].metadata_props.add(key="from", value="a test")
    helper.set_model_props(proto, {"license": "none"})
    return proto


def test_everything_else_stays_byte_for_byte():
    original = rich_model()
    before = original.SerializeToString(deterministic=True)
    conversion = convert(original)
    assert original.SerializeToString(deterministic=True) == before
    assert [str(change) for change in conversion.changes] == [
        "graph.node[0] 'top': Max-13 -> ai.extremum.Extremum",
        "graph.node[1].then_branch.node[0] 'inner': Hardmax-13 -> ai.extremum.OneHot",
        "graph.node[1].else_branch.node[0] 'inner': Hardmax-13 -> ai.extremum.OneHot",
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
                node.domain = old.domain
                node.op_type = old.op_type
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


def test_converting_twice_changes_nothing_more_and_functions_refer_to_their_attributes():
    once = convert(rich_model()).model
    assert not convert(once).modified
    axis = {attribute.name: attribute for attribute in once.functions[0].node[0].attribute}["axis"]
    assert (axis.ref_attr_name, axis.type) == ("along", onnx.AttributeProto.INT)


@pytest.mark.parametrize("domain", ["own", "ai.extremum"])
def test_a_function_of_the_same_name_is_no_node_of_the_family(domain):
    name = "ArgMax" if domain == "own" else "OneHot"
    proto = model(
        f"(float[2] x) => (y) {{ y = {domain}.{name} <turned = 1> (x) }}",
        functions=f'<domain: "{domain}", opset_import: ["" : 13]> {name} <turned> (x) => (y) {{ y = Neg(x) }}',
    )
    proto.opset_import.append(helper.make_opsetid("ai.extremum", 1))
    assert not convert(proto).modified


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


def test_an_attribute_of_a_function_that_the_version_lacks_is_refused():
    proto = model(
        "(float[2] x) => (y) { y = own.Last <last = 1> (x) }",
        functions="""<domain: "own", opset_import: ["" : 11]> Last <last> (x) => (y) {
          y = ArgMax <select_last_index: int = @last> (x)
        }""",
    )
    assert error_of(SpecError, convert, proto).where == "functions[0].node[0], opset 11"


def test_bad_arguments():
    assert refusal(ModelError, convert, b"not a model") == "the bytes hold no ONNX model"
    assert refusal(ArgumentError, convert, model("(x) => (y) { y = Neg(x) }"), "some") == "nodes is 'some'"
    error_of(FileNotFoundError, convert, "no/such/model.onnx")


@pytest.mark.parametrize(("given", "kept"), [("x, a", ["x", "a"]), ("x", ["x"]), ('x, ""', ["x"])])
def test_the_axes_of_an_input_stay_one(given, kept):
    body = f"(float[2, 2] x, int64[k] a) => (y) {{ y = ReduceMax <noop_with_empty_axes = 1> ({given}) }}"
    converted = convert(model(body, opset=18)).model
    assert only_node(converted) == ("ai.extremum", "Reduce", {"order": b"max", "noop_with_empty_axes": 1})
    assert converted.graph.node[0].input == kept


def test_conversion_needs_no_onnxruntime():
    code = "import sys; sys.modules['onnxruntime'] = None; from extremum.onnxruntime import convert, library_path"
    subprocess.run([sys.executable, "-c", f"{code}; assert library_path().exists()"], check=True)


# The attributes of ai.extremum's operators: every wrong name and every wrong kind is refused.

INT = AttributeProto.INT
INTS = AttributeProto.INTS
STRING = AttributeProto.STRING
# As docs/onnxruntime.md lists them.
AXES = {"axes": INTS, "axis": INT, "to_last": INT}
ATTRIBUTES = {
    "ArgReduce": {"order": STRING, **AXES, "keepdims": INT, "select_last_index": INT},
    "OneHot": AXES,
    "Extremum": {"order": STRING, "broadcast": INT},
    "Reduce": {"order": STRING, "axes": INTS, "keepdims": INT, "noop_with_empty_axes": INT, "identity": INT},
    "TopK": dict.fromkeys(("axis", "k", "largest", "sorted"), INT),
}
NAMES = sorted({name for attributes in ATTRIBUTES.values() for name in attributes})
WORDS = {INT: "an integer", INTS: "a list of at least one integer", STRING: "a text"}

_TENSOR = helper.make_tensor("t", onnx.TensorProto.FLOAT, [1], [1.0])
# Values of each kind of attribute, empty lists too, their kind, and their text where the library can show it.
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
    "graph": (helper.make_graph([], "g", [], []), AttributeProto.GRAPH, None),
    "type": (helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [1]), AttributeProto.TYPE_PROTO, None),
}


def of_one_node(operator, name, value, kind):
    text = """<ir_version: 9, opset_import: ["" : 13, "ai.extremum" : 1]>
        g (float[2, 3] x) => ({}[a, b] y) {{ {} = ai.extremum.{} (x) }}"""
    element = "int64" if operator == "ArgReduce" else "float"
    outputs = "y, i" if operator == "TopK" else "y"
    proto = onnx.parser.parse_model(text.format(element, outputs, operator))
    proto.graph.node[0].attribute.append(helper.make_attribute(name, value, attr_type=kind))
    return proto


def by_library(proto):
    """onnxruntime's error for a model that this package's Python code has not seen, or None."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.register_custom_ops_library(str(library_path()))
    try:
        onnxruntime.InferenceSession(proto.SerializeToString(), options)
    except Exception as error:
        return str(error).partition("Exception during initialization: ")[2]
    return None


@pytest.mark.parametrize("operator", ATTRIBUTES)
@pytest.mark.parametrize("name", NAMES)
def test_an_attribute_of_another_kind_or_operator_is_refused(operator, name):
    known = ATTRIBUTES[operator]
    # An unknown name is refused before its kind is checked: an int, an empty list and a tensor suffice.
    labels = KINDS if name in known else ("int", "no ints", "tensor")
    for label in labels:
        value, kind, text = KINDS[label]
        proto = of_one_node(operator, name, value, kind)
        if name not in known:
            reason = f"{operator}: there is no attribute '{name}'"
            remedy = f"the attributes are {', '.join(known)}"
            given = ""
        elif kind == known[name] and label != "no ints":
            convert(proto)
            assert by_library(proto) is None
            continue
        else:
            reason = f"{operator}: attribute '{name}' is not {WORDS[known[name]]}"
            remedy = f"give it as {WORDS[known[name]]}"
            given = f"; given: {name}={text or '(an empty list, or neither numbers nor a text)'}"
        assert explained(convert, proto) == f"SpecError: {reason}; help: {remedy}"
        assert by_library(proto) == f"{reason}{given}; help: {remedy}", label


@pytest.mark.parametrize("operator", ATTRIBUTES)
def test_an_attribute_that_no_operator_has_is_refused_before_onnxruntime_sees_it(operator):
    for name in ("axe", "Axis", "keep_dims", "consumed_inputs", ""):
        error = error_of(SpecError, convert, of_one_node(operator, name, 1, INT))
        assert error.reason == f"{operator}: there is no attribute {name!r}"
        assert error.where == "graph.node[0]"


def test_nodes_in_subgraphs_and_functions_are_looked_at():
    text = """<ir_version: 8, opset_import: ["" : 13, "ai.extremum" : 1]> g (float[3] x, bool c) => (float[3] y) {
        y = If(c) <
            then_branch = t () => (float[3] p) { p = ai.extremum.OneHot <axis = 0> (x) },
            else_branch = e () => (float[3] q) { q = Abs(x) }> }"""
    convert(onnx.parser.parse_model(text))
    error = error_of(SpecError, convert, onnx.parser.parse_model(text.replace("axis", "axes")))
    assert error.where == "graph.node[0].then_branch.node[0]"
    function = (
        """<domain: "own", opset_import: ["ai.extremum" : 1]> F (a) => (b) { b = ai.extremum.OneHot <nope = 0> (a) }"""
    )
    error = error_of(SpecError, convert, model("(float[3] x) => (float[3] y) { y = own.F(x) }", functions=function))
    assert error.where == "functions[0].node[0]"


def test_a_reference_to_an_attribute_of_the_function_has_a_name_and_a_kind_too():
    body = "(float[3] x) => (float[3] y) { y = own.F <along = 0> (x) }"
    function = """<domain: "own", opset_import: ["ai.extremum" : 1]> F <along> (a) => (b) {{
        b = ai.extremum.OneHot <{}: {} = @along> (a) }}"""
    convert(model(body, functions=function.format("axis", "int")))
    for name, kind in (("axes", "int"), ("axis", "ints"), ("axe", "int")):
        error_of(SpecError, convert, model(body, functions=function.format(name, kind)))


def test_a_version_that_is_not_there_yet():
    proto = of_one_node("OneHot", "axis", 1, INT)
    proto.opset_import[1].version = 2
    assert refusal(SpecError, convert, proto) == "ai.extremum has version 1, not 2"
