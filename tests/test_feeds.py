"""Inputs get their arrays, symbolic dimensions their sizes, and a contradiction is named."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from extremum.cli.inputs import Drawing, gather, parse_assignments, parse_sizes
from extremum.errors import InputError, MemoryLimitError
from extremum.graph.types import DeclaredInput, declared_inputs

FLOAT = np.dtype("float32")
SCORES = DeclaredInput("scores", FLOAT, ("batch", 10), optional=False)
BIAS = DeclaredInput("bias", FLOAT, ("batch",), optional=False)


def test_declares_names_types_and_sizes():
    text = """
    <ir_version: 8, opset_import: ["" : 13]>
    graph (float[batch, 3] x, bfloat16[?, 2] y, int64 z, float[] w) => (float[batch, 3] out)
    <float[3] bias = {1.0, 2.0, 3.0}> { out = Add(x, bias) }
    """
    model = onnx.parser.parse_model(text)
    model.graph.input.append(onnx.helper.make_tensor_value_info("bias", onnx.TensorProto.FLOAT, [3]))
    model.graph.input.append(onnx.helper.make_tensor_sequence_value_info("several", onnx.TensorProto.FLOAT, None))
    model.graph.input.append(onnx.helper.make_tensor_value_info("odd", 99, [2]))
    assert declared_inputs(model) == (
        DeclaredInput("x", FLOAT, ("batch", 3), optional=False),
        DeclaredInput("y", np.dtype(ml_dtypes.bfloat16), ("y.0", 2), optional=False),
        DeclaredInput("z", np.dtype("int64"), (), optional=False),
        DeclaredInput("w", FLOAT, None, optional=False),
        DeclaredInput("bias", FLOAT, (3,), optional=True),
        DeclaredInput("several", None, None, optional=False),
        DeclaredInput("odd", None, (2,), optional=False),
    )


def test_assignments_split_at_the_first_equals_sign():
    assert parse_assignments(["x=a=b.npy", "layer/y:0=all.npz:c"]) == {"x": "a=b.npy", "layer/y:0": "all.npz:c"}


@pytest.mark.parametrize("text", ["x", "x=", "=x.npy", ""])
def test_refuses_a_malformed_assignment(text):
    with pytest.raises(InputError) as caught:
        parse_assignments([text])
    assert (
        caught.value.one_line() == f"{text!r} is not of the form name=file; help: write for example -i input=scores.npy"
    )


def test_refuses_an_input_assigned_twice():
    with pytest.raises(InputError, match="input 'x' is given twice"):
        parse_assignments(["x=a.npy", "x=b.npy"])


def test_sizes_split_at_the_last_equals_sign():
    assert parse_sizes(["batch=8", "n=m=0"]) == {"batch": 8, "n=m": 0}


@pytest.mark.parametrize("text", ["batch", "batch=", "=8", "batch=-1", "batch=2.0", "batch=eight", "batch=²"])
def test_refuses_a_malformed_size(text):
    with pytest.raises(InputError, match="is not of the form dimension=size"):
        parse_sizes([text])


@pytest.mark.parametrize("size", ["9" * 5000, "0" * 5000 + "9" * 20, str(2**63)])
def test_refuses_a_size_that_no_tensor_has(size):
    with pytest.raises(InputError) as caught:
        parse_sizes([f"n={size}"])
    assert caught.value.reason == "the size of dimension 'n' is too large"
    assert len(str(caught.value)) < 2000


def test_leading_zeros_count_for_nothing():
    assert parse_sizes(["n=" + "0" * 5000 + "8", f"m={2**63 - 1}"]) == {"n": 8, "m": 2**63 - 1}


def test_refuses_two_sizes_of_one_dimension():
    with pytest.raises(InputError, match="dimension 'batch' is given two sizes"):
        parse_sizes(["batch=8", "batch=9"])


def test_a_file_settles_the_dimensions_of_the_random_inputs(tmp_path):
    np.save(tmp_path / "scores.npy", np.zeros((7, 10), np.float32))
    arrays = gather([SCORES, BIAS], {"scores": f"{tmp_path}/scores.npy"}, {}, Drawing(0))
    assert arrays["bias"].shape == (7,)


def test_random_arrays_depend_on_the_seed_and_on_nothing_else(tmp_path):
    sizes = {"batch": 5}
    np.save(tmp_path / "scores.npy", np.zeros((5, 10), np.float32))
    both = gather([SCORES, BIAS], {}, sizes, Drawing(3))
    one = gather([SCORES, BIAS], {"scores": f"{tmp_path}/scores.npy"}, sizes, Drawing(3))
    other = gather([SCORES, BIAS], {}, sizes, Drawing(4))
    np.testing.assert_array_equal(both["bias"], one["bias"])
    assert not np.array_equal(both["bias"], other["bias"])


def test_without_a_drawing_nothing_is_random():
    assert gather([SCORES], {}, {}) == {}


def test_an_optional_input_keeps_its_default():
    assert gather([DeclaredInput("x", FLOAT, (2,), optional=True)], {}, {}, Drawing(0)) == {}


def test_refuses_an_input_the_model_does_not_have():
    with pytest.raises(InputError) as caught:
        gather([SCORES, BIAS], {"score": "x.npy"}, {})
    assert caught.value.one_line() == "the model has no input 'score'; help: it has scores, bias"


def test_refuses_a_dimension_the_model_does_not_have():
    with pytest.raises(InputError) as caught:
        gather([SCORES], {}, {"bach": 8}, Drawing(0))
    assert caught.value.one_line() == "the model has no symbolic dimension 'bach'; help: it has batch"


def test_says_so_where_there_is_no_symbolic_dimension_at_all():
    with pytest.raises(InputError, match="it has no symbolic dimension at all"):
        gather([DeclaredInput("x", FLOAT, (2,), optional=False)], {}, {"n": 8})


def test_refuses_a_file_that_contradicts_a_size(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((7, 10), np.float32))
    with pytest.raises(InputError, match="dimension 'batch' has two sizes") as caught:
        gather([SCORES], {"scores": f"{tmp_path}/x.npy"}, {"batch": 8})
    assert caught.value.given == f"8 as set, 7 in {tmp_path}/x.npy"


def test_refuses_files_that_contradict_each_other(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((7, 10), np.float32))
    np.save(tmp_path / "y.npy", np.zeros(6, np.float32))
    with pytest.raises(InputError, match="dimension 'batch' has two sizes") as caught:
        gather([SCORES, BIAS], {"scores": f"{tmp_path}/x.npy", "bias": f"{tmp_path}/y.npy"}, {})
    assert caught.value.given == f"7 in {tmp_path}/x.npy, 6 in {tmp_path}/y.npy"


def test_refuses_to_draw_an_open_dimension():
    with pytest.raises(InputError) as caught:
        gather([SCORES], {}, {}, Drawing(0))
    assert caught.value.one_line() == "dimension 'batch' of input 'scores' has no size; help: set it: --set batch=8"


def test_refuses_to_draw_more_than_memory_holds():
    with pytest.raises(MemoryLimitError, match="input 'scores' would not fit into memory"):
        gather([SCORES], {}, {"batch": 10**15}, Drawing(0))


def test_a_range_belongs_to_an_input_that_is_drawn(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((7, 10), np.float32))
    drawing = Drawing(0, {"scores": ("0", "1")})
    with pytest.raises(InputError, match="input 'scores' is given a file and a range"):
        gather([SCORES], {"scores": f"{tmp_path}/x.npy"}, {}, drawing)
    with pytest.raises(InputError) as caught:
        gather([BIAS], {}, {"batch": 2}, drawing)
    assert caught.value.one_line() == "the model has no input 'scores'; help: it has bias"


def test_a_range_draws_an_input_that_has_a_default():
    optional = DeclaredInput("x", FLOAT, (2,), optional=True)
    assert gather([optional], {}, {}, Drawing(0, {"x": ("3", "3")}))["x"].tolist() == [3, 3]
