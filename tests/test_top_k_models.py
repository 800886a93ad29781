"""TopK in models and in DirectML: K known and not, in functions and branches; both outputs; what is refused."""

import numpy as np
import onnx
import pytest

from agreement import assert_same_bits
from extremum import backend
from extremum import directml as dml
from extremum.check import check
from extremum.directml import AxisDirection, TensorDataType, TensorDesc
from extremum.directml.formats import cpp, dxdispatch
from extremum.errors import ElementTypeError, InputError, SpecError
from extremum.graph.sites import sites
from extremum.onnxruntime import convert
from models import model
from refusal import explained
from sessions import run_model
from stock import ORT

X = np.array([[3, 9, 1, 9], [5, 0, 7, 6]], np.float32)
BEST = np.array([[9, 9], [7, 6]], np.float32), np.array([[1, 3], [2, 3]])


def answers(source, inputs):
    """The outputs, which a session gives too."""
    outputs = backend.run_model(source, inputs)
    for one, other in zip(run_model(source, inputs), outputs, strict=True):
        assert_same_bits(one, other)
    return outputs


TWO = "k = Constant <value_ints = [2]> ()"
NODE = "v, i = TopK (x, k)"


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        (f"(float[a, 4] x) => (v, i) <int64[1] k = {{2}}> {{ {NODE} }}", "[a, 2]"),
        (f"(float[a, 4] x) => (v, i) {{ {TWO} {NODE} }}", "[a, 2]"),
        (f"(float[a, 4] x) => (v, i) {{ k = Constant <value = int64[1] {{2}}> () {NODE} }}", "[a, 2]"),
        (f"(float[a, b] x, int64[1] k) => (v, i) {{ {NODE} }}", "[a, ?]"),
        (f"(float[a, b] x, int64[n] m) => (v, i) {{ k = Identity (m) {NODE} }}", "[a, ?]"),
        ("(float[a, 4] x) => (float[a, b] v, int64[a, b] i) { v, i = own.of_attribute <most = 2> (x) }", "[...]"),
    ],
)
def test_k_before_the_model_runs_and_then(body, shape):
    function = (
        '<domain: "own", opset_import: ["" : 1]> of_attribute <most> (x) => (v, i) { v, i = TopK <k: int = @most> (x) }'
    )
    source = model(body, opset=12, functions=function if "own" in body else "")
    (site,) = (each for each in sites(source) if each.schema is not None)
    assert list(map(str, site.outputs())) == [f"float32{shape}", f"int64{shape}"]
    assert not check(source, select=["EX002", "EX005", "EX014", "EX015"]).findings
    for one, other in zip(answers(source, [X, np.array([2])][: len(source.graph.input)]), BEST, strict=True):
        assert_same_bits(one, other)


def test_a_call_may_replace_k_and_a_node_reads_a_new_one_each_time():
    source = model(f"(float[a, b] x, int64[1] k) => (v, i) {{ {NODE} }}", opset=11)
    source.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2]), "k"))
    prepared = backend.prepare(source)
    assert_same_bits(prepared.run({"x": X}).i, BEST[1])
    for k in (0, 1, 4, 1):
        assert prepared.run({"x": X, "k": np.array([k])}).i.tolist() == [[1, 3, 0, 2][:k], [2, 3, 0, 1][:k]]


def test_a_branch_gives_both_outputs_and_one_is_enough():
    body = f"""(float[2, 4] x, bool c) => (v, i) {{ {TWO}
        v, i = If (c) <then_branch = a () => (p, q) {{ p, q = TopK (x, k) }},
                       else_branch = b () => (p, q) {{ p, q = TopK <largest = 0> (x, k) }}> }}"""
    source = model(body, opset=13)
    assert answers(source, [X, np.array(True)]).i.tolist() == BEST[1].tolist()
    assert answers(source, [X, np.array(False)]).i.tolist() == [[2, 0], [1, 0]]
    for of in ("v, q", "w, i"):
        (one,) = answers(model(f"(float[2, 4] x) => ({of.strip('wq, ')}) {{ {TWO} {of} = TopK (x, k) }}"), [X])
        assert one.tolist() == BEST["i" in of].tolist()


LATE = f"(float[a, b] x, int64[n] k) => (v, i) {{ {NODE} }}"
KNOWN = "(float[2, 4] x) => (v, i) <int64[{}] k = {{{}}}> {{ v, i = TopK (x, k) }}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (model(KNOWN.format(1, 5)), "takes 5 elements along axis 1 of its input, which has 4; help: use a k in [0, 4]"),
        (model(KNOWN.format(1, -1)), "takes 0 or more elements, not k=-1"),
        (model(KNOWN.format(2, "1, 2")), "takes K as a list of 1 element, not of 2"),
        (model(KNOWN.format(0, "")), "takes K as a list of 1 element, not of 0"),
        (model(f"(float[2, 4] x, int64 k) => (v, i) {{ {NODE} }}"), "takes K as a list, not as a tensor of rank 0"),
        (model(f"(float[2, 4] x, int32[1] k) => (v, i) {{ {NODE} }}"), "takes K of int64, not int32"),
        (model("(float[2, 4] x) => (v, i) { v, i = TopK (x) }"), "needs the input 'K'"),
        (model('(float[2, 4] x) => (v, i) { v, i = TopK (x, "") }'), "needs the input 'K'"),
        (model("(float[2, 4] x, int64[1] k) => (v) { v = TopK (x, k) }"), "has 2 outputs, not 1"),
        (
            model("(float[2, 4] x, int64[1] k) => (v, i) { v, i = TopK <k = 2> (x, k) }"),
            "has no attribute 'k' any more: it is an input; help: give K as a list of int64 after the data",
        ),
        (
            model("(float[2, 4] x) => (v, i) { v, i = TopK <k = 2, largest = 1> (x) }", 9),
            "has no attribute 'largest' (it came with TopK-11); help: use opset 11 or later, or drop the attribute if "
            "its value is 1",
        ),
        (model("(float[2, 4] x) => (v, i) { v, i = TopK (x) }", 9), "needs the attribute 'k'"),
    ],
)
def test_what_is_refused_before_the_model_runs(source, message):
    row = "TopK-1" if source.opset_import[0].version < 10 else "TopK-11"
    for by in (backend.prepare, convert):
        if "outputs" not in message or by is backend.prepare:
            assert explained(by, source).partition(": ")[2] == f"{row} {message}"


@pytest.mark.parametrize(
    ("k", "reason", "in_session"),
    [
        (
            [5],
            "TopK-11 takes 5 elements along axis 1 of its input, which has 4",
            "k is 5, but axis 1 of the input has 4",
        ),
        ([-1], "TopK-11 takes 0 or more elements, not k=-1", "k is not one number from 0 on"),
        ([1, 2], "TopK-11 takes K as a list of 1 element, not of 2", "k is not one number from 0 on"),
        ([], "TopK-11 takes K as a list of 1 element, not of 0", "k is not one number from 0 on"),
        ([2**62], f"TopK-11 takes {2**62} elements along axis 1 of its input, which has 4", f"k is {2**62}, but"),
    ],
)
def test_a_k_that_turns_out_wrong(k, reason, in_session):
    source, inputs = model(LATE), [X, np.array(k, np.int64)]
    with pytest.raises(SpecError) as caught:
        backend.run_model(source, inputs)
    assert (caught.value.reason, caught.value.where) == (reason, "graph.node[0], opset 13")
    with pytest.raises(Exception, match=f"TopK: {in_session}"):
        run_model(source, inputs)


# DirectML.


def described(x, values, indices, *fields, structure=dml.TopK1OperatorDesc):
    tensors = (TensorDesc(TensorDataType[name], sizes) for name, *sizes in (x, values, indices))
    return structure(*tensors, *fields)


TIES = [[1, 2, 2, 3], [3, 4, 5, 5], [6, 6, 6, 6]]
STEPS = [[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]]
DOCUMENTED = [
    (STEPS, 3, 2, 1, [[11, 10], [9, 8], [7, 6]], [[3, 2], [2, 3], [3, 2]]),
    (STEPS, 2, 2, 1, [[4, 5, 10, 11], [3, 2, 9, 8]], [[2, 2, 0, 0], [1, 1, 1, 1]]),
    (TIES, 3, 3, 1, [[3, 2, 2], [5, 5, 4], [6, 6, 6]], [[3, 1, 2], [2, 3, 1], [0, 1, 2]]),
    (TIES, 3, 3, 0, [[1, 2, 2], [3, 4, 5], [6, 6, 6]], [[0, 1, 2]] * 3),
]


@pytest.mark.parametrize(("x", "axis", "k", "direction", "values", "indices"), DOCUMENTED)
def test_an_example_of_the_documents(x, axis, k, direction, values, indices):
    sizes = np.shape(values)
    tensors = ("FLOAT32", 1, 1, 3, 4), ("FLOAT32", 1, 1, *sizes), ("UINT32", 1, 1, *sizes)
    descriptions = [described(*tensors, axis, k, AxisDirection(direction))]
    if direction:
        descriptions.append(described(*tensors, axis, k, structure=dml.TopKOperatorDesc))
    for desc in descriptions:
        best, index = np.zeros(sizes, np.float32), np.zeros(sizes, np.uint32)
        dml.create_operator(desc, feature_level="2_1").dispatch([np.array(x, np.float32)], [best, index])
        assert (best.tolist(), index.tolist()) == (values, indices)


def test_outputs_go_where_their_strides_lead_and_share_no_memory():
    # Columns of one table each, the other column of which stays.
    x = np.array([2, 9, 7], np.int16)
    strided = (TensorDesc(TensorDataType[name], (2,), (2,)) for name in ("INT16", "UINT64"))
    desc = dml.TopK1OperatorDesc(TensorDesc(TensorDataType.INT16, (3,)), *strided, 0, 2, AxisDirection.INCREASING)
    best, index = np.full(4, -1, np.int16), np.full(4, 8, np.uint64)
    operator = dml.create_operator(desc)
    operator.dispatch([x], [best, index])
    assert (best.tolist(), index.tolist()) == ([2, -1, 7, -1], [0, 8, 2, 8])
    assert repr(operator).startswith("<Operator DML_TOP_K1: INT16[3] -> INT16[2] strides [2], UINT64[2] strides [2],")
    memory = bytearray(32)
    for inputs, outputs in (([x], [memory, memory]), ([memory], [memory, index])):
        with pytest.raises(InputError, match="share"):
            operator.dispatch(inputs, outputs)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((1, 2, 1), "AxisError: DML_TOP_K1-5_0 has axis=1, but its input has rank 1; help: use a value in [0, 0]"),
        ((0, 3, 1), "SpecError: output_value_tensor has sizes [2], but the result has [3]"),
        (
            (0, 5, 1),
            "SpecError: DML_TOP_K1-5_0 takes 5 elements along axis 0 of its input, which has 4; "
            "help: use a k in [0, 4]",
        ),
        ((0, -1, 1), "SpecError: DML_TOP_K1-5_0 takes 0 or more elements, not k=-1"),
        ((0, 2.5, 1), "SpecError: k is not an integer"),
        ((0, 2, 2), "SpecError: axis_direction has no value 2; help: use AxisDirection: INCREASING, DECREASING"),
    ],
)
def test_a_description_that_is_refused(fields, message):
    def make():
        dml.create_operator(described(("INT8", 4), ("INT8", 2), ("UINT32", 2), *fields))

    assert explained(make) == message


def test_a_model_becomes_dml_top_k1():
    source = model(f"(float[n, 4] x) => (v, i) {{ {TWO} v, i = TopK <largest = 0> (x, k) }}")
    lowered = dml.lower(source, sizes={"n": 2})
    (step,) = lowered.nodes[0].steps
    assert (step.inputs, step.outputs, step.output, str(step.feature_level)) == (("x",), ("v", "i"), "v", "5_0")
    assert (step.desc.axis, step.desc.k, step.desc.axis_direction) == (1, 2, AxisDirection.INCREASING)
    written = "".join(dxdispatch(lowered))
    assert '"expected": {\n"v": [0.0, 10.0, 20.0, 47.0],\n"i": [0, 3, 2, 0]' in written
    assert "op0_OutputIndexTensor" in cpp(lowered)
    (refusal,) = dml.lower(model(LATE), sizes={"a": 2, "b": 4, "n": 1}).refusals
    assert (refusal.reason, refusal.remedy) == (
        "the k of TopK-11 is not known before the model runs",
        "give it as an initializer or a Constant",
    )
    (refusal,) = dml.lower(source, "4_1", sizes={"n": 2}).refusals
    assert (type(refusal), refusal.remedy) == (ElementTypeError, "use feature level 5_0 or later")
    assert [each.remedy for each in check(source, feature_level="4_1", select=["EX102"]).findings] == [refusal.remedy]


def test_the_indices_of_one_operator_are_the_elements_of_another():
    body = f"(float[1, 4] x) => (int64[1, 1] y) {{ {TWO} v, i = TopK (x, k) y = ArgMax <axis = 1> (i) }}"
    written = "".join(dxdispatch(dml.lower(model(body))))
    assert written.count('"initialValuesDataType": "UINT64"') == 1


def test_check_asks_a_runtime_and_a_feature_level_with_as_many_elements_as_are_selected():
    source = model(f"(uint16[a, b] x) => (v, i) <int64[1] k = {{200}}> {{ {NODE} }}")
    (finding,) = check(source, runtime="onnxruntime", select=["EX106", "EX107"]).findings
    assert finding.reason == f"{ORT} does not run TopK-11 on uint16 at opset 13"
    source = model(f"(double[a, b] x) => (v, i) <int64[1] k = {{200}}> {{ {NODE} }}")
    (finding,) = check(source, feature_level="5_0", select=["EX102"]).findings
    assert finding.reason == "DML_TOP_K1-5_0 does not take FLOAT64 as input_tensor"
    (finding,) = check(model(f"(bfloat16[3] x) => (v, i) {{ {TWO} {NODE} }}", opset=24), select=["EX101"]).findings
    assert finding.remedy == "run the node with extremum.onnxruntime"
    # The reference evaluator of onnx sorts the NaNs of bfloat16 anywhere.
    source = model(f"(bfloat16[a, b] x) => (v, i) {{ {TWO} {NODE} }}", opset=24)
    (finding,) = check(source, runtime="onnx.reference", select=["EX106", "EX107"]).findings
    assert finding.reason.endswith(" answers TopK-24 on bfloat16 differently: NaN")
    assert "; expected bfloat16[1, 2] " in finding.given
    # No axis has so many: nothing is asked.
    source = model(f"(float[a, b] x) => (v, i) <int64[1] k = {{{2**62}}}> {{ {NODE} }}")
    assert check(source, runtime="onnx.reference", select=["EX106", "EX107"]).findings == ()
