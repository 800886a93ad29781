"""Models with faults that no exporter should make."""

from functools import partial

import numpy as np
import onnx
from onnx import helper

from extremum.graph.load import LARGE
from models import model

PLAIN = "(float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }"
# Inputs and outputs that ArgMax does not have.
FIELDS = {
    "no output": {"output": []},
    "an unnamed output": {"output": [""]},
    "one output twice": {"output": ["y", "y"]},
    "its input as output": {"output": ["x"]},
    "no input": {"input": []},
    "an unnamed input": {"input": [""]},
    "an input that is nowhere": {"input": ["nowhere"]},
}
ANY = [helper.make_node("Any", ["x"], ["z"])]
MAX = [helper.make_node("Max", ["x"], ["y"])]


def plain(element="float", nodes=(), **changes):
    """ArgMax of a matrix, with changes to the fields of its node and with more nodes."""
    proto = model(PLAIN.replace("float", element))
    proto.graph.node.extend(nodes)
    for name, value in changes.items():
        field = getattr(proto.graph.node[0], name)
        del field[:]
        field.extend(value)
    return proto


def opset(*versions, nodes=()):
    proto = plain(nodes=nodes)
    del proto.opset_import[:]
    proto.opset_import.extend(onnx.OperatorSetIdProto(domain="", version=version) for version in versions)
    return proto


def input_type(element=1, sizes=(2, 3)):
    proto = model(PLAIN)
    tensor = proto.graph.input[0].type.tensor_type
    tensor.elem_type = element
    tensor.ClearField("shape")
    for size in sizes:
        tensor.shape.dim.add(dim_value=size)
    return proto


def initializer(**fields):
    proto = model("(float[2, 3] x) => (y) { m = Max(x, w) y = ArgMax(m) }")
    proto.graph.initializer.add(name="w", **fields)
    return proto


def axis(**fields):
    return plain(attribute=[onnx.AttributeProto(name="axis", **fields)])


def functions(body, **bodies):
    """A model that calls functions of the domain `own`, given as bodies by name."""
    written = "".join(
        f'<domain: "own", opset_import: ["" : 13, "own" : 1]> {name} (x) => (y) {{ {each} }}\n'
        for name, each in bodies.items()
    )
    return model(f"(float[2, 3] x) => (y) {{ {body} }}", functions=written)


def doubling(count):
    return chain_of_functions(count, "a = own.F{0}(x) y = own.F{0}(a)")


def chain_of_functions(count, body="y = own.F{0}(x)"):
    bodies = {f"F{index}": body.format(index + 1) for index in range(count)}
    return functions("y = own.F0(x)", **bodies, **{f"F{count}": "y = Max(x)"})


def nested(depth):
    """If in If in If."""
    whole = model("(bool c, float[2, 3] x) => (y) { y = Max(x) }")
    node = whole.graph.node[0]
    # Built in place, from the outside in: protobuf cannot copy a graph that is too deep.
    for _ in range(depth + 1):
        node.op_type = "If"
        node.input[0] = "c"
        for name in ("then_branch", "else_branch"):
            held = node.attribute.add(name=name, type=onnx.AttributeProto.GRAPH).g
            held.output.add(name="y")
            held.node.add(op_type="Max", input=["x"], output=["y"])
        node = held.node[0]
    return whole


def long_chain(count):
    proto = model("(float[2, 3] x) => (y) { y = Max(x) }")
    del proto.graph.node[:]
    for index in range(count):
        proto.graph.node.add(op_type="Neg", input=[f"x{index}" if index else "x"], output=[f"x{index + 1}"])
    proto.graph.node.add(op_type="Max", input=[f"x{count}"], output=["y"])
    return proto


def wide(count):
    proto = model("(float[2, 3] x) => (y) { y = Max(x) }")
    proto.graph.node[0].input.extend(["x"] * count)
    return proto


def sparse(**fields):
    """A Max with a sparse initializer of 6 elements that stores two of them."""
    proto = model("(float[2, 3] x) => (y) { y = Max(x, w) }")
    tensor = proto.graph.sparse_initializer.add(dims=fields.get("dims", [2, 3]))
    tensor.values.CopyFrom(onnx.numpy_helper.from_array(np.array([1, 2], np.float32), "w"))
    tensor.indices.CopyFrom(onnx.numpy_helper.from_array(np.array(fields.get("indices", [0, 4])), "w_indices"))
    return proto


def held(operator, **attributes):
    """A node that holds graphs, given in ONNX's textual form."""
    proto = model("(int64 n, bool c, float[2, 3] x) => (y) { y = Max(x) }")
    node = proto.graph.node.add(op_type=operator, input=["n", "c", "x"] if operator == "Loop" else ["c"], output=["z"])
    for name, graph in attributes.items():
        value = onnx.parser.parse_graph(graph) if isinstance(graph, str) else graph
        node.attribute.append(helper.make_attribute(name, value))
    return proto


def changed(body, change, **options):
    proto = model(body, **options)
    change(proto)
    return proto


def deep_type(depth):
    proto = model(PLAIN)
    value = proto.graph.input.add(name="deep").type
    for _ in range(depth):
        value = value.sequence_type.elem_type
    value.tensor_type.elem_type = 1
    return proto


def elsewhere(location, **more):
    entries = {"location": location, **more}
    return {
        "data_type": 1,
        "dims": [3],
        "data_location": onnx.TensorProto.EXTERNAL,
        "external_data": [onnx.StringStringEntryProto(key=key, value=value) for key, value in entries.items()],
    }


def constant(**fields):
    """A Constant inside a function, and one outside."""
    body = "k = Constant<value = float[3] {1, 2, 3}>() y = Max(x, k)"
    proto = functions(f"a = own.F(x) {body.replace('Max(x', 'Max(a')}", F=body)
    for each in (proto.graph.node, proto.functions[0].node):
        tensor = next(node for node in each if node.op_type == "Constant").attribute[0].t
        tensor.CopyFrom(onnx.TensorProto(**fields))
    return proto


IF = """(bool c, float[2, 3] x) => (y) {
  y = If (c) <then_branch = t () => (a) { a = Max(x) }, else_branch = e () => (a) { a = Min(x) }>
}"""

# Every kind of place that can have a name has one, and no two kinds share a name.
NAMED = """(float[rows_, 3] input_) => (output_) <float[1, 3] weight_ = {1, 2, 3}> {
  value_ = Max(input_, weight_)
  called_ = own.Function_(value_)
  output_ = ArgMax <axis = 0> (called_)
}"""
CALL = "(float[2, 3] x) => (y) { y = own.F(x) }"
CALLED = '<domain: "own", opset_import: ["" : 13]> F (x) => (y) { y = Max(x) }'
FUNCTION = '<domain: "own", opset_import: ["" : 13]> Function_ (formal_) => (result_) { result_ = Neg(formal_) }'
NAMES = ("input_", "rows_", "output_", "weight_", "value_", "called_", "ArgMax", "axis", "Function_", "formal_", "own")


def not_utf_8(name):
    content = model(NAMED, functions=FUNCTION).SerializeToString()
    assert name.encode() in content
    return content.replace(name.encode(), b"\xff" * len(name))


def remarks():
    """Doc strings that are not UTF-8: nothing is looked up by them. One is on weights that are held apart."""
    proto = model("(float[2, 3] x) => (y) { a = own.Function_(x) b = Max(a, w) y = ArgMax(b) }", functions=FUNCTION)
    proto.graph.initializer.append(helper.make_tensor("w", 1, [LARGE // 4, 1, 1], bytes(LARGE), raw=True))
    graph = proto.graph
    for each in (proto, graph, graph.node[2], graph.input[0], graph.initializer[0], proto.functions[0]):
        each.doc_string = "remark_"
    return proto.SerializeToString().replace(b"remark_", b"\xff" * 7)


def top_k(k, count=None, attributes="", opset=13):
    """TopK of a matrix, with an input K of `count` elements or without one."""
    given = "" if count is None else f"<int64[{count}] k = {{{k}}}>"
    body = f"(float[2, 3] x) => (v, i) {given} {{ v, i = TopK {attributes} (x{', k' * (count is not None)}) }}"
    return model(body, opset=opset)


TOP_K = {
    "2^62 elements": (2**62, 1),
    "-2^63 elements": (-(2**63), 1),
    "a list without elements": ("", 0),
    "a list of 3000 numbers": (", ".join("1" * 3000), 3000),
    "no K": ("", None),
    "an axis of 2^40": (1, 1, f"<axis = {2**40}>"),
    "an axis of -2^63": (1, 1, f"<axis = {-(2**63)}>"),
    "2^62 elements by an attribute": ("", None, f"<k = {2**62}>", 1),
    "an attribute k that is a list": ("", None, "<k = [1, 2]>", 1),
}

MODELS = {
    "functions that double 30 times": lambda: doubling(30),
    "a chain of 500 functions": lambda: chain_of_functions(500),
    "a function that calls itself": lambda: functions("y = own.F(x)", F="y = own.F(x)"),
    "functions in a circle": lambda: functions("y = own.F(x)", F="y = own.G(x)", G="y = own.F(x)"),
    "a function that calls itself in a subgraph": lambda: functions(
        "y = own.F(x)",
        F="c = Constant<value = bool {1}>() "
        "y = If(c) <then_branch = t () => (a) { a = own.F(x) }, else_branch = e () => (b) { b = Max(x) }>",
    ),
    "two functions of one name": lambda: changed(
        CALL, lambda proto: proto.functions.append(proto.functions[0]), functions=CALLED
    ),
    "a function that takes the place of ArgMax": lambda: changed(
        PLAIN,
        lambda proto: proto.functions.append(helper.make_function("", "ArgMax", ["x"], ["y"], MAX, proto.opset_import)),
    ),
    "a function with more inputs and outputs than its call": lambda: changed(
        CALL,
        lambda proto: (proto.functions[0].input.extend(["x", "w"]), proto.functions[0].output.extend(["y", "x", "v"])),
        functions=CALLED,
    ),
    "graphs 28 deep": lambda: nested(28),
    "graphs 300 deep": lambda: nested(300),
    "graphs 5000 deep": lambda: nested(5000),
    "a chain of 2000 nodes": lambda: long_chain(2000),
    "a Max of 3000 operands": lambda: wide(3000),
    **{f"element type {number}": partial(input_type, number) for number in (0, 99, -1, 2**31 - 1)},
    "a size of -1": lambda: input_type(sizes=(-1, 3)),
    "a size of -2^63": lambda: input_type(sizes=(2, -(2**63))),
    "a size of 2^63 - 1": lambda: input_type(sizes=(2**63 - 1, 2**63 - 1)),
    "rank 100": lambda: input_type(sizes=(1,) * 100),
    "rank 5000": lambda: input_type(sizes=(2,) * 5000),
    **{f"opset {version}": partial(opset, version) for version in (999, 2**31, 2**63 - 1, 0, -1, -(2**63))},
    **{f"opset {version} of another operator": partial(opset, version, nodes=ANY) for version in (2**31, -(2**63))},
    "no opset": opset,
    "opset 11 and opset 13": lambda: opset(11, 13),
    "no opset of another domain": lambda: changed(PLAIN, lambda proto: proto.graph.node.add(op_type="A", domain="b")),
    "no version of the format": lambda: changed(PLAIN, lambda proto: proto.ClearField("ir_version")),
    "version -1 of the format": lambda: changed(PLAIN, lambda proto: setattr(proto, "ir_version", -1)),
    "an initializer without data": lambda: initializer(data_type=1, dims=[2, 3]),
    "an initializer with too little data": lambda: initializer(data_type=1, dims=[2, 3], raw_data=b"1234567"),
    "an initializer with too much data": lambda: initializer(data_type=1, dims=[1], raw_data=bytes(400)),
    "an initializer with its data in the wrong field": lambda: initializer(data_type=1, dims=[1], int64_data=[1]),
    "an initializer of a negative size": lambda: initializer(data_type=1, dims=[-1]),
    "an initializer of a huge size": lambda: initializer(data_type=1, dims=[2**62, 2**62]),
    "an initializer of no type": lambda: initializer(data_type=0, dims=[1], raw_data=bytes(4)),
    "an initializer of type 99": lambda: initializer(data_type=99, dims=[1], raw_data=bytes(4)),
    "an initializer of text": lambda: initializer(data_type=8, dims=[1], string_data=[b"\xff"]),
    "an initializer in a file outside": lambda: initializer(**elsewhere("/etc/hostname")),
    "an initializer above the folder": lambda: initializer(**elsewhere("../../../../../etc/hostname")),
    "an initializer in no file": lambda: initializer(**elsewhere("")),
    "an initializer in a device": lambda: initializer(**elsewhere("/dev/zero")),
    "an initializer at a place that is not a number": lambda: initializer(
        **elsewhere("w.bin", offset="here", length="-1")
    ),
    "a constant in a file outside": lambda: constant(**elsewhere("/etc/hostname")),
    "a constant without data": lambda: constant(data_type=1, dims=[3]),
    "a constant of type 99": lambda: constant(data_type=99, dims=[3], raw_data=bytes(12)),
    "a sparse initializer": sparse,
    "a sparse initializer with indices out of range": lambda: sparse(indices=[0, 6]),
    "a sparse initializer with too many indices": lambda: sparse(indices=[0, 1, 2]),
    "a sparse initializer of a negative size": lambda: sparse(dims=[-2, 3]),
    "a sparse initializer of a huge size": lambda: sparse(dims=[2**31, 2**31]),
    **{name: lambda fields=fields: plain(**fields) for name, fields in FIELDS.items()},
    # ONNX Runtime takes no int16 here: such nodes are rewritten.
    **{f"{name}, of int16": lambda fields=fields: plain("int16", **fields) for name, fields in FIELDS.items()},
    "an axis of text that is no UTF-8": lambda: axis(type=3, s=b"\xff\xfe"),
    "an axis of text": lambda: axis(type=3, s=b"one"),
    "an axis of no type": lambda: axis(i=1),
    "an axis of another type than it says": lambda: axis(type=1, i=1),
    "an axis of a type that is none": lambda: axis(type=14),
    "an axis of lists": lambda: axis(type=7, ints=[1, 2]),
    "an axis that is a tensor": lambda: axis(type=4, t=onnx.TensorProto(**elsewhere("/etc/hostname"))),
    "an axis that is a graph": lambda: axis(type=5, g=model(PLAIN).graph),
    "an axis of 2^63 - 1": lambda: axis(type=2, i=2**63 - 1),
    "an axis of -2^63": lambda: axis(type=2, i=-(2**63)),
    **{f"a TopK of {name}": partial(top_k, *given) for name, given in TOP_K.items()},
    "an axis that refers to a function's": lambda: axis(type=2, ref_attr_name="k"),
    "two axes": lambda: plain(attribute=[onnx.AttributeProto(name="axis", type=2, i=each) for each in (0, 1)]),
    "text that is no UTF-8 elsewhere": lambda: changed(
        PLAIN,
        lambda proto: proto.graph.node.add(op_type="StringNormalizer", output=["s"]).attribute.add(
            name="locale", type=3, s=b"\xff"
        ),
    ),
    "remarks that are no UTF-8": remarks,
    **{f"a name that is no UTF-8 in place of {name}": lambda name=name: not_utf_8(name) for name in NAMES},
    "names with signs of control": lambda: changed(
        PLAIN, lambda proto: setattr(proto.graph.node[0], "name", "\x1b[2J\n::error::\0")
    ),
    "a name of a million letters": lambda: plain(output=["y" * 1_000_000]),
    "one input twice": lambda: changed(PLAIN, lambda proto: proto.graph.input.append(proto.graph.input[0])),
    "one initializer twice": lambda: changed(
        "(float[2] x) => (y) <float[2] w = {1, 2}> { y = Max(x, w) }",
        lambda proto: proto.graph.initializer.append(proto.graph.initializer[0]),
    ),
    "one value of two nodes": lambda: changed(PLAIN, lambda proto: proto.graph.node.append(proto.graph.node[0])),
    "nodes in a circle": lambda: model("(float[2] x) => (y) { a = Max(x, b) b = Max(x, a) y = ArgMax(b) }"),
    "nodes in the wrong order": lambda: model("(float[2] x) => (y) { y = ArgMax(a) a = Neg(x) }"),
    "a value that hides an outer one": lambda: model(IF.replace("a = Max(x)", "x = Neg(x) a = Max(x)")),
    "an input that hides an outer one": lambda: model(IF.replace("t ()", "t (double[4] x)")),
    "an If without branches": lambda: held("If"),
    "an If with one branch": lambda: held("If", then_branch="t () => (a) { a = Max(x) }"),
    "an If with branches that give nothing": lambda: held(
        "If", then_branch="t () => () {}", else_branch="t () => () {}"
    ),
    "a Loop without a body": lambda: held("Loop"),
    "a Loop whose body gives nothing": lambda: held("Loop", body="b (i, g, v) => () {}"),
    "a Loop whose body takes nothing": lambda: held("Loop", body="b () => (g, v) { g = Max(c) v = Max(x) }"),
    "a Scan of 2 ** 40 inputs": lambda: held("Scan", num_scan_inputs=2**40, body="b (v) => (g) { g = Not(v) }"),
    "a graph among several": lambda: plain(
        attribute=[onnx.AttributeProto(name="g", type=10, graphs=[model(PLAIN).graph])]
    ),
    "a graph without nodes": lambda: model("(float[2] x) => (float[2] x) {}"),
    "a graph without anything": lambda: model("() => () {}"),
    "a graph without outputs": lambda: changed(PLAIN, lambda proto: proto.graph.ClearField("output")),
    "an output that is nowhere": lambda: changed(PLAIN, lambda proto: proto.graph.output.add(name="nowhere")),
    "an output without a name": lambda: changed(PLAIN, lambda proto: proto.graph.output.add()),
    "an output of another element type": lambda: model(PLAIN.replace("int64", "float")),
    "an output of another rank": lambda: model(PLAIN.replace("int64[1, 3]", "int64[7]")),
    "a value of another rank": lambda: changed(
        "(float[2, 3] x) => (y) { m = Max(x) y = ArgMax(m) }",
        lambda proto: proto.graph.value_info.append(helper.make_tensor_value_info("m", 1, [7])),
    ),
    "a sequence for a tensor": lambda: model(PLAIN.replace("float[2, 3]", "seq(float)")),
    "a type 500 deep": lambda: deep_type(500),
    "unknown fields": lambda: model(PLAIN).SerializeToString() + b"\xfa\x3f\x03abc",
    "an unknown domain": lambda: model("(float[2] x) => (y) { a = own.Any(x) y = Max(a) }"),
}
