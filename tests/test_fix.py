"""A fixed model runs in stock onnxruntime and answers bit by bit as this package does; the rest of it is untouched."""

import dataclasses

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremum import backend, dtypes
from extremum import fix as fixing
from extremum.check import check
from extremum.errors import ArgumentError, ModelError
from extremum.fix import REWRITES, fix
from extremum.fix import verify as verification
from extremum.fix.verify import same_bits
from models import model
from refusal import refusal

ORT = f"onnxruntime {onnxruntime.__version__}"

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
]
RAISED = [
    *((name, element, 1, 8) for name in ("Max", "Min") for element in ("float16", "float32", "float64")),
    *((name, "float64", 6, 8) for name in ("Max", "Min")),
    *((name, element, 1, 6) for name in ("ArgMax", "ArgMin") for element in ("int16", "uint16", "uint32")),
    *((name, element, 1, 9) for name in ("ArgMax", "ArgMin") for element in ("uint64", "float16")),
    *(("Hardmax", element, 1, 9) for element in ("float16", "float64")),
]
CARRIED_IN_FLOAT = ("bfloat16",)


def one_node(name, element, opset, attributes="", inputs=None):
    """A model of one node on tensors of rank 2; bfloat16 comes in and goes out as float, as NumPy has none."""
    count = inputs or (2 if name in ("Max", "Min") else 1)
    onnx_name = dtypes.from_name(element).onnx.removeprefix("tensor(").removesuffix(")")
    outside = "float" if element in CARRIED_IN_FLOAT else onnx_name
    names = [f"x{index}" for index in range(count)]
    header = ", ".join(f"{outside}[m{index}, n{index}] {each}" for index, each in enumerate(names))
    if name not in ("Max", "Min") or opset < 8:
        header = ", ".join(f"{outside}[m, n] {each}" for each in names)
    if outside == onnx_name:
        body = f"y = {name} {attributes} ({', '.join(names)})"
    else:
        casts = " ".join(f"{each}n = Cast <to=16> ({each})" for each in names)
        body = f"{casts} r = {name} {attributes} ({'n, '.join(names)}n) y = Cast <to={onnx.TensorProto.FLOAT}> (r)"
    if name.startswith("Arg"):
        body = body.replace(" r = ", " y = ").partition(" y = Cast")[0]
    result = "int64" if name.startswith("Arg") else outside
    version = 3 if opset < 9 else 9
    return onnx.parser.parse_model(
        f'<ir_version: {version}, opset_import: ["" : {opset}]> g ({header}) => ({result}[p, q] y) {{ {body} }}'
    )


def in_stock(fixed, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(fixed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def stock_refuses(given):
    try:
        in_stock(given, {})
    except Exception as error:
        return "NOT_IMPLEMENTED" in str(error) or "INVALID_GRAPH" in str(error)
    return False


def edges(element):
    """Values at which a rewrite could go wrong."""
    if element.startswith(("int", "uint")):
        limits = np.iinfo(element)
        values = {limits.min, limits.min + 1, limits.max // 2, limits.max // 2 + 1, limits.max - 1, limits.max, 0, 1}
        return np.array(sorted(values), element)
    limits = ml_dtypes.finfo(dtypes.from_name(element).dtype)
    values = [-np.inf, limits.min, -1, -limits.smallest_subnormal, -0.0, 0.0, limits.smallest_subnormal, 1, limits.max]
    values = np.array([float(value) for value in [*values, np.inf, np.nan]]).astype(limits.dtype)
    return values.astype(np.float32) if element == "bfloat16" else values


def assert_same(given, fixed, feeds):
    (expected,) = backend.run_model(given, feeds)
    (answer,) = in_stock(fixed, feeds)
    assert same_bits(answer, expected), (answer, expected)


def feeds_of(given, element, seed, sizes=(4, 6)):
    random = np.random.default_rng(seed)
    values = edges(element)
    return {each.name: values[random.integers(len(values), size=sizes)] for each in given.graph.input}


@pytest.mark.parametrize(("name", "element", "opset"), REFUSED)
def test_what_onnxruntime_refuses_runs_there_with_the_same_bits(name, element, opset):
    attributes = "" if name in ("Max", "Min") else "<axis=1>"
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
            f"--raise-opset {later}, if the whole model may be raised",
        )
    ]
    assert fix(given, raise_opset=later - 1).changes == ()
    fixed = fix(given, raise_opset=later)
    assert fixed.model.opset_import[0].version == later
    for seed in range(5):
        feeds = feeds_of(given, element, seed)
        expected = backend.run_model(given, feeds)
        assert all(map(same_bits, in_stock(fixed.model, feeds), expected))


def test_an_opset_that_need_not_be_raised_is_not():
    fixed = fix(one_node("ArgMax", "int16", 7, "<axis=1>"), raise_opset=13)
    assert fixed.model.opset_import[0].version == 7


@pytest.mark.parametrize("element", ["uint64", "int16", "bfloat16"])
@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("attributes", ["<axis=0>", "<axis=-1, keepdims=0>", "<axis=1, select_last_index=1>", ""])
def test_attributes_are_kept(name, element, attributes):
    given = one_node(name, element, 13, attributes)
    fixed = fix(given)
    for seed in range(5):
        assert_same(given, fixed.model, feeds_of(given, element, seed))


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


@given(st.data())
def test_a_rewritten_index_is_right_on_any_values(data):
    given_model, fixed = _uint64()
    values = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
    assert_same(given_model, fixed, {"x0": np.array([values], np.uint64)})


def _uint64():
    if not _UINT64:
        given_model = one_node("ArgMin", "uint64", 13, "<axis=1>")
        _UINT64.extend((given_model, fix(given_model).model))
    return _UINT64


_UINT64 = []


def test_rewrites_subgraphs_and_functions():
    functions = """<domain: "own", opset_import: ["" : 13]>
        Last <last: int = 1> (x) => (y) { a = Abs (x) y = ArgMax <axis=1, select_last_index: int = @last> (a) }"""
    body = """(bool c, int16[n, 5] x) => (int64[n, 1] y, int64[n, 1] z) {
        y = If (c) <
            then_branch = t () => (r) { r = ArgMax <axis=1> (x) },
            else_branch = e () => (r) { m = Max (x, x) r = ArgMin <axis=1> (m) }>
        z = own.Last <last=0> (x)
    }"""
    given_model = model(body, functions=functions)
    fixed = fix(given_model)
    assert [change.place for change in fixed.changes] == [
        "graph.node[0].then_branch.node[0]",
        "graph.node[0].else_branch.node[0]",
        "graph.node[0].else_branch.node[1]",
        "functions[0].node[1]",
    ]
    x = np.array([[3, -7, 7, 7, -7], [0, 0, 0, 0, 0]], np.int16)
    for condition in (False, True):
        feeds = {"c": np.array(condition), "x": x}
        assert all(map(same_bits, in_stock(fixed.model, feeds), backend.run_model(given_model, feeds)))


def test_everything_else_stays_byte_for_byte():
    given_model = model(
        "(int16[n, 5] x, float[n] w) => (int64[n, 1] y, float[n] v) { v = Neg (w) [top] y = ArgMax <axis=1> (x) }"
    )
    given_model.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(5.0), "unused"))
    given_model.graph.doc_string = "about it"
    given_model.metadata_props.add(key="owner", value="somebody")
    before = given_model.SerializeToString(deterministic=True)
    fixed = fix(given_model)
    assert given_model.SerializeToString(deterministic=True) == before
    assert [node.op_type for node in fixed.model.graph.node] == ["Neg", "Cast", "ArgMax"]
    assert fixed.model.graph.node[2].name == "top"
    restored = onnx.ModelProto()
    restored.CopyFrom(fixed.model)
    del restored.graph.node[1:]
    restored.graph.node.append(given_model.graph.node[1])
    assert restored.SerializeToString(deterministic=True) == before


def test_new_names_meet_no_old_ones():
    given_model = model('(int16[5] x) => (y, "y/0", "y//0") { "y/0" = Neg (x) "y//0" = Abs (x) y = ArgMax (x) }')
    fixed = fix(given_model)
    names = [name for node in fixed.model.graph.node for name in node.output]
    assert len(names) == len(set(names)) == 4


def test_a_model_that_runs_is_not_modified():
    given_model = model("(float[3] x) => (int64[1] y) { y = ArgMax (x) }")
    fixed = fix(given_model)
    assert fixed.summary() == f"not modified: {ORT} takes every node"
    assert fixed.model is given_model


def test_a_node_that_breaks_its_promise_is_not_rewritten():
    fixed = fix(model("(int16[3] x, int16[3] z) => (y, w) { y = ArgMax <axis=4> (x) w = Max (x, z) }"))
    assert fixed.summary() == f"not modified: 1 node cannot be rewritten for {ORT}"
    assert [str(each) for each in fixed.refusals] == [
        "ArgMax-13 has axis=4, but its input has rank 1\n"
        "  at    graph.node[0], opset 13\n"
        "  given x: int16[3], axis=4\n"
        "  help  use a value in [-1, 0]"
    ]


def test_a_function_called_with_two_types_is_not_rewritten():
    functions = '<domain: "own", opset_import: ["" : 13]> F (x) => (y) { y = ArgMax (x) }'
    body = "(int16[3] a, float[3] b) => (y, z) { y = own.F (a) z = own.F (b) }"
    (refused,) = fix(model(body, functions=functions)).refusals
    assert refused.reason == "ArgMax-13 is in a function that is called with several types of tensors"
    assert refused.remedy == "inline the function first"


def test_an_axis_that_comes_with_the_call_needs_inlining():
    functions = '<domain: "own", opset_import: ["" : 13]> F <k> (x) => (y) { y = ArgMax <axis: int = @k> (x) }'
    body = "(bfloat16[3] a) => (y) { y = own.F <k=0> (a) }"
    (refused,) = fix(model(body, functions=functions)).refusals
    assert refused.reason == "ArgMax-13 gets its axis from the call of its function"


def test_a_hardmax_of_unknown_rank_needs_a_shape():
    given_model = model("(double[3, 4] x, int64[r] s) => (y) { a = Reshape (x, s) y = Hardmax (a) }")
    (refused,) = fix(given_model).refusals
    assert (refused.reason, refused.remedy) == (
        "the rank of the input of Hardmax-13 is not known",
        "state the shape in the model",
    )


def test_an_index_of_unknown_rank_is_rewritten():
    given_model = model("(uint64[3, 4] x, int64[r] s) => (y) { a = Reshape (x, s) y = ArgMax <axis=1> (a) }")
    assert len(fix(given_model).changes) == 1


def test_a_replacement_that_answers_otherwise_is_not_taken(monkeypatch):
    monkeypatch.setattr(verification, "same_bits", lambda first, second: False)
    (refused,) = fix(model("(int16[3] x) => (int64[1] y) { y = ArgMax (x) }")).refusals
    assert str(refused) == (
        f"what would replace ArgMax-13 gives other answers in {ORT}\n"
        "  at    graph.node[0]\n"
        "  given int16 on wider integers"
    )


def through(element, *, back):
    """A rewrite that looks right: everything in another element type."""

    def build(fragment, site):
        operands = [fragment.cast(name, element) for name in site.node.input]
        result = fragment.like(site.node, *operands)
        if back:
            fragment.cast(result, site.inputs[0].element)

    return build


@pytest.mark.parametrize(
    ("body", "build"),
    [
        ("(uint64[n] x) => (y) { y = ArgMax (x) }", through("int64", back=False)),
        ("(uint64[n] x) => (y) { y = ArgMin (x) }", through("float64", back=False)),
        ("(int16[n] x) => (y) { y = ArgMax (x) }", through("int8", back=False)),
        ("(uint16[n] x, uint16[n] z) => (y) { y = Min (x, z) }", through("int8", back=True)),
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


def test_a_library_of_someone_else_is_not_needed():
    given_model = model("(int16[3] x) => (y, z) { y = ArgMax (x) z = own.Special (x) }")
    fixed = fix(given_model)
    assert len(fixed.changes) == 1
    (note,) = fixed.notes
    assert note.startswith(f"compared node by node, not as a whole: {ORT} does not load the fixed model; given: ")


def test_says_what_was_not_compared():
    assert fix(one_node("ArgMax", "int16", 13)).notes == ()
    (note,) = fix(model("(bfloat16[3] x) => (int64[1] y) { y = ArgMax (x) }")).notes
    assert note == f"compared as a whole here and loaded in {ORT}, which takes no bfloat16 from Python"
    (note,) = fix(model("(int16[3] x, string[3] s) => (y, t) { y = ArgMax (x) t = Identity (s) }")).notes
    assert note == (
        "compared node by node, not as a whole: input 's' cannot be drawn: the model does not state its type and rank"
    )


def test_refuses_a_target_that_is_none():
    given_model = model("(int16[3] x) => (y) { y = ArgMax (x) }")
    assert refusal(ArgumentError, fix, given_model, "directml-9_9") == "there is no target 'directml-9_9'"


def test_refuses_to_raise_a_model_with_functions():
    functions = '<domain: "own", opset_import: ["" : 7]> F (x) => (y) { y = Neg (x) }'
    given_model = model("(uint64[3] x) => (y, z) { y = ArgMax (x) z = own.F (x) }", opset=7, functions=functions)
    assert refusal(ModelError, fix, given_model, raise_opset=9) == (
        "the opset of a model with functions cannot be raised"
    )


DIRECTML = [
    ("ArgMax", "bfloat16", "directml-4_1", 13),
    ("ArgMin", "float64", "directml-3_0", 13),
    ("Max", "bfloat16", "directml-3_0", 13),
    ("Min", "bfloat16", "directml-4_1", 13),
    ("Hardmax", "float32", "directml-4_1", 11),
    ("Hardmax", "float64", "directml-4_1", 13),
    ("Hardmax", "bfloat16", "directml-5_1", 13),
]


@pytest.mark.parametrize(("name", "element", "target", "opset"), DIRECTML)
def test_what_directml_refuses(name, element, target, opset):
    onnx_name = dtypes.from_name(element).onnx.removeprefix("tensor(").removesuffix(")")
    operands = "a, b" if name in ("Max", "Min") else "a"
    body = f"({onnx_name}[2, 3] a, {onnx_name}[2, 3] b) => (y) {{ y = {name} ({operands}) }}"
    given_model = model(body, opset=opset)
    fixed = fix(given_model, target)
    assert fixed.summary() == f"1 node rewritten for DirectML {target.removeprefix('directml-')}"
    assert fixed.notes == ()
    random = np.random.default_rng(0)
    values = edges(element).astype(dtypes.from_name(element).dtype)
    for _ in range(10):
        feeds = {each: values[random.integers(len(values), size=(2, 3))] for each in "ab"}
        answers, expected = (backend.run_model(each, feeds) for each in (fixed.model, given_model))
        assert all(map(same_bits, answers, expected))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("(uint64[3] x) => (y) { y = ArgMax (x) }", "nothing that DirectML 3_0 takes stands for ArgMax-13 of uint64"),
        ("(double[3] x) => (y) { y = Max (x) }", "DirectML 3_0 does not run what would replace Max-13"),
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
