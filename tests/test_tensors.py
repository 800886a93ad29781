"""What is known of a tensor, and how it reads; what does not fit into memory is refused before it is allocated."""

import ml_dtypes
import numpy as np
import psutil
import pytest

from extremum.tensors import TensorType, require_memory


@pytest.mark.parametrize(
    ("tensor", "text", "rank", "sizes"),
    [
        (TensorType("float32", (2, 3)), "float32[2, 3]", 2, (2, 3)),
        (TensorType("float32", ("n", None)), "float32[n, ?]", 2, None),
        (TensorType("int8", ()), "int8[]", 0, ()),
        (TensorType("int8"), "int8[...]", None, None),
        (TensorType(None, (0,)), "?[0]", 1, (0,)),
        (TensorType(), "?[...]", None, None),
    ],
)
def test_what_is_known(tensor, text, rank, sizes):
    assert (str(tensor), tensor.rank, tensor.sizes) == (text, rank, sizes)


@pytest.mark.parametrize("dtype", ["float32", ">i2", "bool", ml_dtypes.bfloat16])
def test_of_an_array(dtype):
    array = np.zeros((2, 0), dtype)
    assert TensorType.of(array) == TensorType(array.dtype.name, (2, 0))


def test_lets_pass_what_fits():
    require_memory((1000, 1000), np.dtype("float32"), "output 'y'")
    require_memory((10**18, 0), np.dtype("float32"), "output 'y'")


def test_does_not_ask_for_a_small_array(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: pytest.fail("asked"))
    require_memory((512, 512), np.dtype("float32"), "output 'y'")
