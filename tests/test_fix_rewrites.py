"""Every rewrite gives the bits of the node it replaces, in stock onnxruntime and at feature levels of DirectML."""

import dataclasses
import functools
import re
from itertools import product

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremum import backend
from extremum.check import check
from extremum.fix import REWRITES, fix
from extremum.fix import decide as deciding
from extremum.fix.verify import same_bits
from extremum.tensors import element_of
from models import model
from sessions import loads_opset
from stock import (
    ORT,
    assert_same,
    assert_same_for_seeds,
    edges,
    feeds_of,
    in_backend,
    in_stock,
    one_node,
    stock_refuses,
)

# What the installed onnxruntime refuses: operators, element types, opsets at which it runs other types. Each type at
# one opset, each opset with one type.
REFUSED = [
    ("ArgMax ArgMin", "int16 uint16 uint32 uint64", (13,)),
    ("ArgMax", "int16", (9, 11, 12, 18)),
    ("ArgMin", "uint64", (9, 11, 12, 18)),
    ("ArgMax ArgMin Max Min Hardmax ReduceMax ReduceMin", "bfloat16", (13,)),
    ("ReduceMax", "bfloat16", (18,)),
    ("Max Min", "int16 uint16", (13,)),
    ("Max Min", "uint16", (12, 18)),
    ("Hardmax", "float64", (9, 11, 13, 18)),
    ("ReduceMax ReduceMin", "uint32 uint64", (13,)),
    ("ReduceMax ReduceMin", "uint64", (11, 18, 20)),
]


def each_of(rows):
    """One case for each operator, element type and opset of the rows."""
    return [case for names, elements, opsets in rows for case in product(names.split(), elements.split(), opsets)]


@pytest.mark.parametrize(("name", "element", "opset"), each_of(REFUSED))
def test_what_onnxruntime_refuses_runs_there_with_the_same_bits(name, element, opset):
    attributes = "<axis=1>" if name.startswith(("Arg", "Hard")) else ""
    given = one_node(name, element, opset, attributes)
    assert stock_refuses(given)
    fixed = fix(given)
    assert fixed.summary() == f"1 node rewritten for {ORT}"
    assert fixed.model.opset_import[0].version == opset
    assert check(fixed.model, select=["EX101"]).findings == ()
    assert_same_for_seeds(given, fixed, element, 5)


def selection(element, opset, attributes):
    """TopK of a matrix whose sizes are open, with a K of 2."""
    body = f"""({element}[m, n] x0) => ({element}[p, q] v, int64[r, s] i) <int64[1] k = {{2}}> {{
        v, i = TopK {attributes} (x0, k) }}"""
    return model(body, opset=opset)


@pytest.mark.parametrize(("element", "opset"), [("uint16", 11), ("uint32", 13), ("uint64", 13), ("uint64", 24)])
@pytest.mark.parametrize("attributes", ["", "<axis=0, largest=0>"])
def test_a_selection_that_onnxruntime_refuses_runs_there_with_the_same_bits(element, opset, attributes):
    given = selection(element, opset, attributes)
    if not loads_opset(opset):
        pytest.skip(f"this onnxruntime loads no opset {opset}")
    assert stock_refuses(given)
    fixed = fix(given)
    assert fixed.summary() == f"1 node rewritten for {ORT}"
    assert_same_for_seeds(given, fixed, element, 3)


def test_an_unsorted_selection_is_rewritten_with_the_same_elements_in_any_order():
    given = selection("uint16", 13, "<sorted=0>")
    fixed = fix(given)
    assert fixed.summary() == f"1 node rewritten for {ORT}"
    for seed in range(3):
        feeds = feeds_of(given, "uint16", seed)
        values, indices = in_backend(given, feeds)
        best, places = in_stock(fixed.model, feeds)
        assert np.sort(places).tolist() == np.sort(indices).tolist()
        assert np.take_along_axis(feeds["x0"], places, -1).tolist() == best.tolist()
        assert np.sort(best).tolist() == np.sort(values).tolist()


@pytest.mark.parametrize("attributes", ["", "<axis=0, largest=0>", "<sorted=0>"])
def test_a_selection_of_bfloat16_runs_in_stock_onnxruntime(attributes):
    if not loads_opset(24):
        pytest.skip("this onnxruntime loads no opset 24")
    body = f"""(float[m, n] x0) => (float[p, q] v, int64[r, s] i) <int64[1] k = {{2}}> {{
        b = Cast <to = 16> (x0) t, i = TopK {attributes} (b, k) v = Cast <to = 1> (t) }}"""
    given = model(body, opset=24)
    assert stock_refuses(given)
    fixed = fix(given)
    operators = [node.op_type for node in fixed.model.graph.node]
    assert operators == ["Cast", "Cast", "TopK", "GatherElements", "Cast"]
    if "sorted" not in attributes:
        assert_same_for_seeds(given, fixed, "bfloat16", 3)


@pytest.mark.parametrize(("name", "element"), [("ArgMax", "uint64"), ("ArgMin", "int16"), ("ArgMax", "bfloat16")])
@pytest.mark.parametrize("attributes", ["<axis=0>", "<axis=-1, keepdims=0>", "<axis=1, select_last_index=1>", ""])
def test_attributes_are_kept(name, element, attributes):
    given = one_node(name, element, 13, attributes)
    fixed = fix(given, raise_opset=18)
    assert fixed.model.opset_import[0].version == 13
    assert_same_for_seeds(given, fixed, element, 3)


@pytest.mark.parametrize(
    ("name", "element", "keepdims", "axes", "opset"),
    [
        ("ReduceMin", "uint32", 0, "0, 2", 13),
        ("ReduceMin", "uint32", 0, "2, 1", 18),
        ("ReduceMax", "uint64", 1, "0, 1, 2", 20),
        ("ReduceMax", "uint64", 0, "-1", 20),
        ("ReduceMin", "bfloat16", 1, "2, 1", 18),
        ("ReduceMin", "bfloat16", 0, "0, 1, 2", 20),
    ],
)
def test_several_axes_are_reduced_to_the_first_of_equals(name, element, keepdims, axes, opset):
    # NumPy has no bfloat16.
    outside = "float" if element == "bfloat16" else element
    inner, outer = (onnx.TensorProto.DataType.Value(each.upper()) for each in (element, outside))
    node = f"r = {name} <keepdims={keepdims}, axes=[{axes}]> (c)"
    if opset >= 18:
        node = f"a = Constant <value_ints=[{axes}]> () r = {name} <keepdims={keepdims}> (c, a)"
    body = f"({outside}[m, n, o] x) => (y) {{ c = Cast <to={inner}> (x) {node} y = Cast <to={outer}> (r) }}"
    given = model(body, opset)
    fixed = fix(given)
    assert check(fixed.model, select=["EX101"]).findings == ()
    assert_same_for_seeds(given, fixed, element, 3, (2, 3, 4))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_hardmax_keeps_its_blocks(axis, opset):
    body = f"(double[2, 3, 4] x) => (double[2, 3, 4] y) {{ y = Hardmax <axis={axis}> (x) }}"
    given = model(body, opset=opset)
    fixed = fix(given)
    assert_same_for_seeds(given, fixed, "float64", 4, (2, 3, 4))


@pytest.mark.parametrize("element", ["int16", "bfloat16"])
@pytest.mark.parametrize("name", ["Max", "Min"])
@pytest.mark.parametrize("count", [1, 3])
def test_operands_in_any_number_are_broadcast(name, element, count):
    given = one_node(name, element, 13, inputs=count)
    fixed = fix(given)
    sizes = [(4, 6), (1, 6), (4, 1)]
    for seed in range(4):
        shapes = zip((each.name for each in given.graph.input), sizes, strict=False)
        feeds = {name: feeds_of(given, element, seed, shape)[name] for name, shape in shapes}
        assert_same(given, fixed.model, feeds)


@functools.cache
def smallest_uint64():
    original = one_node("ArgMin", "uint64", 13, "<axis=1>")
    return original, fix(original).model


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_a_rewritten_index_is_right_on_any_values(values):
    assert_same(*smallest_uint64(), {"x0": np.array([values], np.uint64)})


@pytest.mark.parametrize(
    ("name", "element", "level", "opset"),
    [
        ("ArgMax", "bfloat16", "4_1", 13),
        ("ArgMin", "float64", "3_0", 13),
        ("Max", "bfloat16", "3_0", 13),
        ("Min", "bfloat16", "4_1", 13),
        ("Hardmax", "float32", "4_1", 11),
        ("Hardmax", "float64", "4_1", 13),
        ("Hardmax", "bfloat16", "5_1", 13),
        ("ReduceMax", "float64", "4_1", 13),
        ("ReduceMin", "bfloat16", "3_0", 18),
    ],
)
def test_what_directml_refuses(name, element, level, opset):
    dtype = element_of(element)
    onnx_name = onnx.TensorProto.DataType.Name(dtype.onnx_number).lower()
    operands = "a, b" if name in ("Max", "Min") else "a"
    original = model(f"({onnx_name}[2, 3] a, {onnx_name}[2, 3] b) => (y) {{ y = {name} ({operands}) }}", opset)
    fixed = fix(original, f"directml-{level}")
    # The TopK of a rewrite of double runs elsewhere.
    left = "; 1 finding of extremum check left" if element == "float64" else ""
    assert (fixed.summary(), fixed.notes) == (f"1 node rewritten for DirectML {level}{left}", ())
    random = np.random.default_rng(0)
    values = edges(element).astype(dtype.dtype)
    prepared = [backend.prepare(each) for each in (fixed.model, original)]
    for _ in range(10):
        feeds = {each: values[random.integers(len(values), size=(2, 3))] for each in "ab"}
        answers, expected = (each.run(feeds) for each in prepared)
        assert all(map(same_bits, answers, expected))


@pytest.mark.parametrize(
    ("element", "name", "reason"),
    [
        ("uint64", "ArgMax", "DirectML 3_0 takes no exact replacement of ArgMax-13 of uint64"),
        ("double", "Max", "DirectML 3_0 does not run the replacement of Max-13"),
    ],
)
def test_what_directml_refuses_for_good(element, name, reason):
    (refused,) = fix(model(f"({element}[3] x) => (y) {{ y = {name} (x) }}"), "directml-3_0").refusals
    assert refused.reason.startswith(reason)


@pytest.mark.parametrize(
    ("inputs", "node", "element", "back"),
    [
        ("uint64[n] x", "ArgMax (x)", "int64", False),
        ("uint64[n] x", "ArgMin (x)", "float64", False),
        ("int16[n] x", "ArgMax (x)", "int8", False),
        ("uint16[n] x, uint16[n] z", "Min (x, z)", "float16", True),
        ("bfloat16[n, 4] x", "ArgMax <axis=1> (x)", "float32", False),
        ("bfloat16[n] x, bfloat16[n] z", "Max (x, z)", "float32", True),
        ("double[n, 4] x", "Hardmax (x)", "float32", True),
    ],
)
def test_a_rewrite_that_looks_right_is_found_out(monkeypatch, inputs, node, element, back):
    def build(fragment):
        """Compute everything in another element type."""
        result = fragment.like(*(fragment.cast(name, element) for name in fragment.inputs))
        if back:
            fragment.cast(result, fragment.element)

    rewrite = dataclasses.replace(REWRITES[0], build=build)
    monkeypatch.setattr(deciding, "find", lambda *_: [rewrite])
    (refused,) = fix(model(f"({inputs}) => (y) {{ y = {node} }}")).refusals
    text = rf"the replacement of \w+-13 gives other answers in {ORT}; at: graph.node\[0\]; given: \w+ {rewrite.title}"
    assert re.fullmatch(text, refused.one_line())
