"""Arrays of cubed's: the same bits as of the whole array, also where its own argmax takes no such axes."""

import numpy as np
import pytest

import extremum as ex
from agreement import assert_identical
from extremum.errors import ArgumentTypeError, AxisError
from refusal import refusal
from strategies import sample

cubed = pytest.importorskip("cubed", reason="cubed needs Python 3.11")


@pytest.mark.parametrize("axes", [None, 0, (2, 0)], ids=str)
def test_indices_are_those_of_the_whole_array(axes, tmp_path):
    import extremum.cubed as exc

    x = sample(np.random.default_rng(1), np.dtype("float32"), (7, 6, 5))
    spec = cubed.Spec(tmp_path, allowed_mem="200MB")
    chunked = cubed.from_array(x, chunks=(2, 4, 3), spec=spec)
    for name, options in (("argmax", {}), ("argmin", {"select_last_index": True, "keepdims": True, "dtype": np.int32})):
        found = getattr(exc, name)(chunked, axes, **options)
        expected = np.asarray(getattr(ex, name)(x, axes, **options))
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert_identical(found.compute(), expected)
    assert refusal(AxisError, exc.argmax, chunked, 3).startswith("argmax: axis 3 is out of range")
    assert refusal(ArgumentTypeError, exc.argmax, x) == "argmax: ndarray is no array of cubed's"
