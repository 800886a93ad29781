"""Every rewrite gives the bits of the node it stands for, in stock onnxruntime and at feature levels of DirectML."""

import dataclasses
import functools

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremum import backend, dtypes
from extremum import fix as fixing
from extremum.check import check
from extremum.fix import REWRITES, fix
from extremum.fix.target import same_bits
from models import model
from stock import ORT, assert_same, edges, feeds_of, in_backend, in_stock, one_node, stock_refuses

# What the installed onnxruntime refuses at an opset it otherwise runs: operator, element type, opset.
REFUSED = [
    *(
        (name, element, opset)
        for name in ("ArgMax", "ArgMin")
        for element in ("int16", "uint16", "uint32", "uint64")
        for opset in (9, 11, 12, 13, 18)
    ),
    *((name, "bfloat16", opset) for name in ("ArgMax", "ArgMin", "Max", "Min", "Hardmax") for opset in (13, 18)),
    *((name, element, opset) for name in ("Max", "Min") for element in ("int16", "uint16") for opset in (12, 13, 18)),
    *(("Hardmax", "float64", opset) for opset in (9, 11, 13, 18)),
    *(
        (name, element, opset)
        for name in ("ReduceMax", "ReduceMin")
        for element in ("uint32", "uint64")
        for opset in (11, 13, 18, 20)
    ),
    *((name, "bfloat16", opset) for name in ("ReduceMax", "ReduceMin") for opset in (13, 18, 20)),
]
RAISED = [
    *((name, element, 1, 8) for name in ("Max", "Min") for element in ("float16", "float32", "float64")),
    *((name, "float64", 6, 8) for name in ("Max", "Min")),
    *((name, element, 1, 6) for name in ("ArgMax", "ArgMin") for element in ("int16", "uint16", "uint32")),
    *((name, element, 1, 9) for name in ("ArgMax", "ArgMin") for element in ("uint64", "float16")),
    *(("Hardmax", element, 1, 9) for element in ("float16", "float64")),
]


@pytest.mark.parametrize(("name", "element", "opset"), REFUSED)
def test_what_onnxruntime_refuses_runs_there_with_the_same_bits(name, element, opset):
    attributes = "<axis=1>" if name.startswith(("Arg", "Hard")) else ""
    given = one_node(name, element, opset, attributes)
    assert stock_refuses(given)
    fixed = fix(given)
    assert fixed.summary() == f"1 node rewritten for {ORT}"
    assert fixed.refusals == ()
    assert fixed.model.opset_import[0].version == opset
    assert check(fixed.model, select=["EX101"]).findings == ()
    for seed in range(20):
        assert_same(given, fixed.model, feeds_of(given, element, seed))


@pytest.mark.parametrize(("name", "element", "opset", "later"), RAISED)
def test_the_opset_is_raised_on_request_only(name, element, opset, later):
    given = one_node(name, element, opset, "" if name in ("Max", "Min") else "<axis=1>")
    assert stock_refuses(given)
    refused = fix(given)
    assert refused.changes == ()
    assert [(each.reason, each.remedy) for each in refused.refusals] == [
        (
            f"{name}-{6 if opset == 6 else 1} of {element} can be rewritten from opset {later} on",
            f"allow opset {later} with raise_opset, if the whole model may be raised",
        )
    ]
    assert fix(given, raise_opset=later - 1).changes == ()
    fixed = fix(given, raise_opset=later)
    assert fixed.model.opset_import[0].version == later
    for seed in range(2):
        feeds = feeds_of(given, element, seed)
        expected = in_backend(given, feeds)
        assert all(map(same_bits, in_stock(fixed.model, feeds), expected))


@pytest.mark.parametrize("element", ["uint64", "int16", "bfloat16"])
@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("attributes", ["<axis=0>", "<axis=-1, keepdims=0>", "<axis=1, select_last_index=1>", ""])
def test_attributes_are_kept(name, element, attributes):
    given = one_node(name, element, 13, attributes)
    fixed = fix(given)
    for seed in range(5):
        assert_same(given, fixed.model, feeds_of(given, element, seed))


@pytest.mark.parametrize("element", ["uint32", "uint64", "bfloat16"])
@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(("axes", "opset"), [("0, 2", 13), ("2, 1", 18), ("-1", 20), ("0, 1, 2", 20)])
def test_several_axes_are_reduced_to_the_first_of_equals(name, element, keepdims, axes, opset):
    given = one_node(name, element, opset, f"<keepdims={keepdims}, axes=[{axes}]>")
    for value in given.graph.input:
        value.type.tensor_type.shape.dim.add(dim_param="o")
    given.graph.output[0].type.tensor_type.ClearField("shape")
    if opset >= 18:
        (node,) = (each for each in given.graph.node if each.op_type == name)
        (stated,) = (each for each in node.attribute if each.name == "axes")
        given.graph.initializer.append(onnx.numpy_helper.from_array(np.array(stated.ints), "axes"))
        node.attribute.remove(stated)
        node.input.append("axes")
    fixed = fix(given)
    assert check(fixed.model, select=["EX101"]).findings == ()
    for seed in range(5):
        assert_same(given, fixed.model, feeds_of(given, element, seed, (2, 3, 4)))


@pytest.mark.parametrize("element", ["uint32", "bfloat16"])
def test_nothing_is_rewritten_along_axes_that_nobody_knows(element):
    given = model(f"({element}[m, n] x, int64[k] axes) => (y) {{ y = ReduceMax (x, axes) }}", opset=18)
    (refusal,) = fix(given).refusals
    assert refusal.reason == "the axes of ReduceMax-18 are not known before the model runs"


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_hardmax_keeps_its_blocks(axis, opset):
    body = f"(double[2, 3, 4] x) => (double[2, 3, 4] y) {{ y = Hardmax <axis={axis}> (x) }}"
    given = model(body, opset=opset)
    fixed = fix(given)
    for seed in range(10):
        assert_same(given, fixed.model, feeds_of(given, "float64", seed, (2, 3, 4)))


@pytest.mark.parametrize("element", ["int16", "bfloat16"])
@pytest.mark.parametrize("name", ["Max", "Min"])
@pytest.mark.parametrize("count", [1, 3])
def test_operands_in_any_number_are_broadcast(name, element, count):
    given = one_node(name, element, 13, inputs=count)
    fixed = fix(given)
    sizes = [(4, 6), (1, 6), (4, 1)]
    for seed in range(10):
        feeds = {}
        for each, shape in zip(given.graph.input, sizes, strict=False):
            feeds[each.name] = feeds_of(given, element, seed, shape)[each.name]
        assert_same(given, fixed.model, feeds)


@functools.cache
def smallest_uint64():
    original = one_node("ArgMin", "uint64", 13, "<axis=1>")
    return original, fix(original).model


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_a_rewritten_index_is_right_on_any_values(values):
    assert_same(*smallest_uint64(), {"x0": np.array([values], np.uint64)})


DIRECTML = [
    ("ArgMax", "bfloat16", "directml-4_1", 13),
    ("ArgMin", "float64", "directml-3_0", 13),
    ("Max", "bfloat16", "directml-3_0", 13),
    ("Min", "bfloat16", "directml-4_1", 13),
    ("Hardmax", "float32", "directml-4_1", 11),
    ("Hardmax", "float64", "directml-4_1", 13),
    ("Hardmax", "bfloat16", "directml-5_1", 13),
    ("ReduceMax", "float64", "directml-4_1", 13),
    ("ReduceMin", "bfloat16", "directml-3_0", 18),
]


@pytest.mark.parametrize(("name", "element", "target", "opset"), DIRECTML)
def test_what_directml_refuses(name, element, target, opset):
    onnx_name = dtypes.from_name(element).onnx.removeprefix("tensor(").removesuffix(")")
    operands = "a, b" if name in ("Max", "Min") else "a"
    body = f"({onnx_name}[2, 3] a, {onnx_name}[2, 3] b) => (y) {{ y = {name} ({operands}) }}"
    original = model(body, opset=opset)
    fixed = fix(original, target)
    assert fixed.summary() == f"1 node rewritten for DirectML {target.removeprefix('directml-')}"
    assert fixed.notes == ()
    random = np.random.default_rng(0)
    values = edges(element).astype(dtypes.from_name(element).dtype)
    for _ in range(10):
        feeds = {each: values[random.integers(len(values), size=(2, 3))] for each in "ab"}
        answers, expected = (backend.run_model(each, feeds) for each in (fixed.model, original))
        assert all(map(same_bits, answers, expected))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("(uint64[3] x) => (y) { y = ArgMax (x) }", "DirectML 3_0 takes no exact replacement of ArgMax-13 of uint64"),
        ("(double[3] x) => (y) { y = Max (x) }", "DirectML 3_0 does not run the replacement of Max-13"),
    ],
)
def test_what_directml_refuses_for_good(body, reason):
    (refused,) = fix(model(body), "directml-3_0").refusals
    assert refused.reason.startswith(reason)


def test_every_rewrite_is_found_by_what_it_is_for():
    for each in REWRITES:
        assert each.families
        assert each.elements
        assert each.answers


def through(element, *, back):
    """A rewrite that looks right: everything in another element type."""

    def build(fragment):
        result = fragment.like(*(fragment.cast(name, element) for name in fragment.inputs))
        if back:
            fragment.cast(result, fragment.element)

    return build


@pytest.mark.parametrize(
    ("body", "build"),
    [
        ("(uint64[n] x) => (y) { y = ArgMax (x) }", through("int64", back=False)),
        ("(uint64[n] x) => (y) { y = ArgMin (x) }", through("float64", back=False)),
        ("(int16[n] x) => (y) { y = ArgMax (x) }", through("int8", back=False)),
        ("(uint16[n] x, uint16[n] z) => (y) { y = Min (x, z) }", through("float16", back=True)),
        ("(bfloat16[n, 4] x) => (y) { y = ArgMax <axis=1> (x) }", through("float32", back=False)),
        ("(bfloat16[n] x, bfloat16[n] z) => (y) { y = Max (x, z) }", through("float32", back=True)),
        ("(double[n, 4] x) => (y) { y = Hardmax (x) }", through("float32", back=True)),
    ],
)
def test_a_rewrite_that_looks_right_is_found_out(monkeypatch, body, build):
    rewrite = dataclasses.replace(REWRITES[0], build=build)
    monkeypatch.setattr(fixing, "find", lambda *_: rewrite)
    (refused,) = fix(model(body)).refusals
    assert "gives other answers" in refused.reason
