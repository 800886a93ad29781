"""Models in DirectML's operators: dispatched they give what the backend gives, and what cannot go says why."""

import numpy as np
import onnx
import pytest

from extremum import backend, dtypes, spec
from extremum import directml as dml
from extremum.directml import AxisDirection, FeatureLevel
from extremum.errors import ArgumentError, AxisError, ElementTypeError, ModelError, SpecError
from extremum.graph.types import declared_inputs
from models import model
from strategies import sample

TAKEN = {"float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
CASES = [
    (row, element)
    for (domain, _), versions in spec.OPERATORS.items()
    if domain == spec.ONNX
    for row in versions
    for element in row.types
    if element in TAKEN
]


def run(lowered, feeds):
    """Dispatch every operator; the buffers that were written, by the names of their tensors."""
    buffers = {name: np.ravel(x) for name, x in {**lowered.constants, **feeds}.items()}
    written = {}
    for node in lowered.nodes:
        for step in node.steps:
            output = step.desc.output
            if step.output not in written:
                written[step.output] = np.empty(output.extent, output.data_type.name.lower())
            operator = dml.create_operator(step.desc, feature_level=lowered.feature_level)
            operator.dispatch([{**buffers, **written}[name] for name in step.inputs], [written[step.output]])
    return written


def assert_as_backend(source, inputs, level=FeatureLevel.FL_5_1):
    lowered = dml.lower(source, level)
    assert not lowered.refusals
    names = [each.name for each in source.graph.output]
    written = run(lowered, dict(zip((each.name for each in source.graph.input), inputs, strict=True)))
    for name, expected in zip(names, backend.run_model(source, inputs), strict=True):
        assert written[name].dtype == expected.dtype
        assert written[name].tobytes() == expected.tobytes(), name
    return lowered


def random_node(rng, row, element):
    """A model of one node with random shapes and attributes, and its inputs."""
    rank = int(rng.integers(2, 6))
    shape = tuple(int(size) for size in rng.integers(1, 5, rank))
    shapes, attributes = [shape], {}
    if row.attribute("axis"):
        attributes["axis"] = int(rng.integers(0 if row.since == 1 else -rank, rank))
    if row.attribute("axes") and row.attribute("axes").input is None:
        axes = rng.permutation(rank)[: rng.integers(1, rank + 1)]
        attributes["axes"] = [int(axis) - rank * int(row.since > 1 and rng.integers(2)) for axis in axes]
    for flag in ("keepdims", "select_last_index", "noop_with_empty_axes"):
        if row.attribute(flag):
            attributes[flag] = int(rng.integers(2))
    if row.input.maximum > 1:
        shapes = [shape] * int(rng.integers(1, 5))
    if row.broadcasting is spec.Broadcasting.MULTIDIRECTIONAL:
        shapes = [
            tuple(1 if rng.random() < 0.3 else size for size in each)[int(rng.integers(0, rank + 1)) :]
            for each in shapes
        ]
    inputs = [sample(rng, np.dtype(element), each) for each in shapes]
    names = [f"x{index}" for index in range(len(inputs))]
    node = onnx.helper.make_node(row.name, names, ["y"], **attributes)
    number = dtypes.from_name(element).onnx_number
    index = onnx.TensorProto.INT64 if row.name.startswith("Arg") else number
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info(name, number, x.shape) for name, x in zip(names, inputs, strict=True)],
        [onnx.helper.make_tensor_value_info("y", index, None)],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", row.since)]), inputs


@pytest.mark.parametrize(("row", "element"), CASES, ids=str)
def test_every_version_gives_what_the_backend_gives(row, element):
    rng = np.random.default_rng(row.since)
    for _ in range(6):
        assert_as_backend(*random_node(rng, row, element))


def only_step(source, **options):
    (node,) = dml.lower(source, **options).nodes
    (step,) = node.steps
    return step


def test_argmax_keeps_the_rank_and_takes_its_direction_from_select_last_index():
    body = "(float[2, 3, 4] x) => (int64[2, 4] y) {{ y = Arg{}<axis=-2, keepdims=0, select_last_index={}>(x) }}"
    for last, direction in enumerate(AxisDirection):
        step = only_step(model(body.format("Max", last)))
        assert step.desc == dml.ArgMaxOperatorDesc(
            dml.TensorDesc(dml.TensorDataType.FLOAT32, (2, 3, 4)),
            dml.TensorDesc(dml.TensorDataType.INT64, (2, 1, 4)),
            (1,),
            direction,
        )
        assert (step.inputs, step.output, step.feature_level) == (("x",), "y", FeatureLevel.FL_3_0)
        assert isinstance(only_step(model(body.format("Min", last))).desc, dml.ArgMinOperatorDesc)


@pytest.mark.parametrize(("opset", "axes"), [(13, (1,)), (11, (1, 2))])
def test_hardmax_before_13_goes_over_all_axes_from_its_axis_on(opset, axes):
    body = "(float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Hardmax<axis=1>(x) }"
    step = only_step(model(body, opset))
    assert isinstance(step.desc, dml.ActivationHardmax1OperatorDesc)
    assert (step.desc.axes, step.feature_level) == (axes, FeatureLevel.FL_5_1)


def test_max_is_a_chain_that_gathers_in_the_output_and_broadcasts_through_strides():
    source = model("(float[2, 3] a, float[3] b, float[2, 1] c) => (float[2, 3] y) { y = Max(a, b, c) }")
    (node,) = dml.lower(source).nodes
    assert [(step.inputs, step.output) for step in node.steps] == [(("a", "b"), "y"), (("y", "c"), "y")]
    assert [step.desc.a_tensor.strides for step in node.steps] == [None, None]
    assert [step.desc.b_tensor.strides for step in node.steps] == [(0, 1), (1, 0)]
    assert {tensor.sizes for step in node.steps for tensor in step.desc.inputs.values()} == {(2, 3)}


def test_max_of_one_input_is_the_input():
    source = model("(float[4] a) => (float[4] y) { y = Min(a) }")
    assert only_step(source).inputs == ("a", "a")
    assert_as_backend(source, [np.array([-0.0, np.nan, 1, np.inf], np.float32)])


@pytest.mark.parametrize(("text", "inputs"), [("float", np.float32(2)), ("int32", np.int32(-5))])
def test_a_scalar_is_a_tensor_of_one_dimension(text, inputs):
    source = model(f"({text} a, {text} b) => ({text} y) {{ y = Max(a, b) }}")
    assert only_step(source).desc.a_tensor.sizes == (1,)
    assert_as_backend(source, [np.array(inputs), np.array(inputs + 1, inputs.dtype)])


def test_before_3_0_tensors_have_4_dimensions():
    source = model("(float[2, 3] a, float[3] b) => (float[2, 3] y) { y = Max(a, b) }")
    step = only_step(source, feature_level=FeatureLevel.FL_2_0)
    assert (step.desc.a_tensor.sizes, step.desc.b_tensor.strides) == ((1, 1, 2, 3), (0, 0, 0, 1))
    assert step.feature_level == FeatureLevel.FL_1_0
    rng = np.random.default_rng(0)
    inputs = [sample(rng, np.dtype(np.float32), shape) for shape in ((2, 3), (3,))]
    assert_as_backend(source, inputs, FeatureLevel.FL_1_0)


def test_nodes_feed_each_other_and_other_operators_are_left_alone():
    source = model(
        """(float[2, 3, 4] x, float[4] b) => (int64[2, 4] y, float[2, 3, 4] z) <float[1] zero = {0.0}>
        { m = Max(x, b, zero) h = Hardmax(m) y = ArgMax<axis=1, keepdims=0>(h) z = Abs(x) }"""
    )
    lowered = dml.lower(source)
    assert [node.place for node in lowered.nodes] == ["graph.node[0]", "graph.node[1]", "graph.node[2]"]
    assert [node.version for node in lowered.nodes] == ["Max-13", "Hardmax-13", "ArgMax-13"]
    assert lowered.constants["zero"].tolist() == [0]
    rng = np.random.default_rng(1)
    inputs = [sample(rng, np.dtype(np.float32), shape) for shape in ((2, 3, 4), (4,))]
    written = run(lowered, {"x": inputs[0], "b": inputs[1]})
    assert written["y"].tobytes() == backend.run_model(source, inputs)[0].tobytes()


def test_the_values_of_constant_nodes_are_known():
    source = model("(float[2] x) => (float[2] y) { c = Constant<value = float[2] {1.0, -1.0}>() y = Min(x, c) }")
    assert_as_backend(source, [np.array([0, 0], np.float32)])


def test_functions_are_inlined_and_subgraphs_searched():
    source = model(
        """(float[2, 3] x, bool c) => (int64[2] y)
        { s = own.Best(x) y = If(c) <
            then_branch = t () => (int64[2] p) { p = ArgMax<axis=1, keepdims=0>(x) },
            else_branch = e () => (int64[2] q) { q = Identity(s) }> }""",
        functions='<domain: "own", opset_import: ["" : 13]> Best (a) => (b) { b = ArgMin<axis=1, keepdims=0>(a) }',
    )
    places = [node.place for node in dml.lower(source).nodes]
    assert [place.partition(" ")[0] for place in places] == [
        "functions[0].node[0]",
        "graph.node[1].then_branch.node[0]",
    ]


def test_symbolic_dimensions_are_given_a_size():
    source = model("(float[n, k] x) => (int64[n, 1] y) { a = Abs(x) y = ArgMax<axis=1>(a) }")
    assert only_step(source, sizes={"n": 4, "k": 3}).desc.input_tensor.sizes == (4, 3)
    with pytest.raises(ArgumentError) as caught:
        dml.lower(source, sizes={"batch": 4})
    assert str(caught.value) == "the model has no dimension 'batch'\n  help  its symbolic dimensions are: n, k"


def test_a_dimension_without_a_name_is_called_by_its_input_and_axis_as_in_run():
    source = model("(float[?, k] X) => (int64[?, 1] y) { a = Abs(X) y = ArgMax<axis=1>(a) }")
    (declared,) = declared_inputs(source)
    assert declared.shape == ("X.0", "k")
    (refusal,) = dml.lower(source).refusals
    assert (refusal.given, refusal.remedy) == ("a: float32[X.0, k]", "give a size to X.0, k")
    assert only_step(source, sizes={"X.0": 8, "k": 3}).desc.input_tensor.sizes == (8, 3)
    with pytest.raises(ArgumentError) as caught:
        dml.lower(source, sizes={"unk__0": 8})
    assert caught.value.remedy == "its symbolic dimensions are: X.0, k"


def test_a_name_that_inference_makes_up_is_not_asked_for():
    source = model("(float[n, 3] x) => (int64[a, b] y) { i = NonZero(x) f = Cast<to = 1>(i) y = ArgMax<axis=1>(f) }")
    (refusal,) = dml.lower(source, sizes={"n": 2}).refusals
    assert (refusal.given, refusal.remedy) == ("f: float32[2, ?]", "declare the sizes of the model's inputs")


@pytest.mark.parametrize("size", [-1, 2**32, 2**63, 1.5, "8", None])
def test_a_size_that_is_none(size):
    with pytest.raises(ArgumentError) as caught:
        dml.lower(model("(float[n] x) => (int64[1] y) { y = ArgMax(x) }"), sizes={"n": size})
    assert str(caught.value) == "the size of dimension 'n' is not a number from 0 to 4294967295"


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin", "Max", "Min", "Hardmax"])
def test_a_type_that_no_level_takes_is_refused_before_anybody_is_asked_for_sizes(operator):
    result = "int64" if operator.startswith("Arg") else "double"
    for shape in ("[n, 3]", "[?, 3]", ""):
        source = model(f"(double{shape} x) => ({result} y) {{ y = {operator}(x) }}")
        for value in (*source.graph.output, *(source.graph.input if not shape else ())):
            value.type.tensor_type.ClearField("shape")
        (refusal,) = dml.lower(source).refusals
        assert type(refusal) is ElementTypeError
        assert " does not take FLOAT64 as " in refusal.reason
        assert refusal.given.startswith("x: float64[")


def test_a_level_too_low_for_the_type_is_named_before_anybody_is_asked_for_sizes():
    (refusal,) = dml.lower(model("(int64[n] x) => (int64[n] y) { y = Max(x, x) }"), FeatureLevel.FL_3_0).refusals
    assert str(refusal) == (
        "DML_ELEMENT_WISE_MAX-3_0 does not take INT64 as a_tensor (it came with DML_ELEMENT_WISE_MAX-5_0)\n"
        "  at    graph.node[0]\n  given x: int64[n]\n  help  use feature level 5_0 or later"
    )


def test_the_model_that_is_given_stays_as_it_is():
    source = model("(float[n, ?] x) => (int64[1, ?] y) { y = ArgMax(x) }")
    before = source.SerializeToString()
    dml.lower(source, sizes={"n": 4, "x.1": 3})
    assert source.SerializeToString() == before


REFUSED = {
    "a level too low": (
        "(float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }",
        SpecError,
        "DML_ARGMAX needs feature level 3_0 or later\n  at    graph.node[0]\n"
        "  given feature level 2_1\n  help  use feature level 3_0 or later",
    ),
    "a level too low for the type": (
        "(int64[2] x) => (int64[2] y) { y = Max(x, x) }",
        ElementTypeError,
        "DML_ELEMENT_WISE_MAX-2_1 does not take INT64 as a_tensor (it came with DML_ELEMENT_WISE_MAX-5_0)\n"
        "  at    graph.node[0]\n"
        "  given a_tensor: INT64[1, 1, 1, 2], b_tensor: INT64[1, 1, 1, 2], output_tensor: INT64[1, 1, 1, 2]\n"
        "  help  use feature level 5_0 or later",
    ),
    "a level too low for the rank": (
        "(float[2, 2, 2, 2, 2] x) => (float[2, 2, 2, 2, 2] y) { y = Max(x, x) }",
        SpecError,
        "DML_ELEMENT_WISE_MAX-2_1 takes tensors of 4 dimensions, but a_tensor has 5\n  at    graph.node[0]\n"
        "  given a_tensor: FLOAT32[2, 2, 2, 2, 2], b_tensor: FLOAT32[2, 2, 2, 2, 2], "
        "output_tensor: FLOAT32[2, 2, 2, 2, 2]\n  help  use feature level 3_0 or later",
    ),
    "a type of no level": (
        "(double[3] x) => (int64[1] y) { y = ArgMax(x) }",
        ElementTypeError,
        "DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor\n  at    graph.node[0]\n"
        "  given input_tensor: FLOAT64[3], output_tensor: INT64[1], axes=(0,), axis_direction=INCREASING\n"
        "  help  the element types of input_tensor in DML_ARGMAX-4_1 are: FLOAT32, FLOAT16, INT32, INT16, INT8, "
        "UINT32, UINT16, UINT8, INT64, UINT64",
    ),
    "a type that DirectML does not know": (
        "(bfloat16[3] x) => (bfloat16[3] y) { y = Hardmax(x) }",
        ElementTypeError,
        "DirectML has no tensors of bfloat16\n  at    graph.node[0]\n  help  put a Cast to float before it",
    ),
    "unknown sizes": (
        "(float[n, 3] x) => (float[n, 3] y) { y = Max(x) }",
        SpecError,
        "the sizes of 'x' are not known before the model runs, and a description states them\n  at    graph.node[0]\n"
        "  given x: float32[n, 3]\n  help  give a size to n",
    ),
    "an unknown rank": (
        "(float[] s, int64[2] k) => (float y) { x = Reshape(s, k) y = Max(x) }",
        SpecError,
        "the sizes of 'x' are not known before the model runs, and a description states them\n  at    graph.node[1]\n"
        "  given x: float32[...]\n  help  declare the sizes of the model's inputs",
    ),
    "no elements": (
        "(float[0, 3] x) => (float[0, 3] y) { y = Max(x) }",
        SpecError,
        "dimension 2 has size 0, and DirectML has no tensors without elements\n  at    graph.node[0]\n"
        "  given sizes=(1, 1, 0, 3)\n  help  leave the operator out: its result is empty too",
    ),
    "nine dimensions": (
        "(float[1,1,1,1,1,1,1,1,2] x) => (float[1,1,1,1,1,1,1,1,2] y) { y = Max(x) }",
        SpecError,
        "a tensor has 1 to 8 dimensions, not 9\n  at    graph.node[0]\n  given sizes=(1, 1, 1, 1, 1, 1, 1, 1, 2)",
    ),
    "a broken promise": (
        "(float[3] x) => (int64[1] y) { y = ArgMax<axis=1>(x) }",
        AxisError,
        "ArgMax-13 has axis=1, but its input has rank 1\n  at    graph.node[0]\n  given x: float32[3], axis=1\n"
        "  help  use a value in [-1, 0]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_node_that_cannot_go_says_where_why_and_what_would_do(case):
    body, kind, message = REFUSED[case]
    lowered = dml.lower(model(body), FeatureLevel.FL_2_1)
    (refusal,) = lowered.refusals
    assert type(refusal) is kind
    assert str(refusal) == message
    assert not lowered.nodes


def test_what_is_no_model_is_refused():
    with pytest.raises(ModelError):
        dml.lower(b"no model")
