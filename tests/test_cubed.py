"""cubed's arrays: the same bits as for the whole array, also for axes that cubed's own argmax does not take."""

import gc

import numpy as np
import pytest

import extremum as ex
from agreement import assert_identical
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError
from refusal import error_of, refusal
from strategies import sample

cubed = pytest.importorskip("cubed", reason="cubed needs Python 3.11")


@pytest.mark.parametrize("axes", [None, (2, 0)], ids=str)
def test_indices_are_those_of_the_whole_array(axes, tmp_path):
    import extremum.cubed as exc

    x = sample(np.random.default_rng(1), np.dtype("float32"), (7, 6, 5))
    spec = cubed.Spec(tmp_path, allowed_mem="200MB")
    chunked = cubed.from_array(x, chunks=(2, 4, 3), spec=spec)
    for name, options in (("argmax", {}), ("argmin", {"select_last_index": True, "keepdims": True, "dtype": np.int32})):
        # The array function calls extremum.cubed by itself.
        result = getattr(ex, name)(chunked, axes, **options)
        expected = np.asarray(getattr(ex, name)(x, axes, **options))
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        assert_identical(result.compute(), expected)
    assert refusal(AxisError, exc.argmax, chunked, 3).startswith("argmax: axis 3 is out of range")
    assert refusal(ArgumentTypeError, exc.argmax, x) == "argmax: numpy.ndarray is not an array of cubed"


def boom(block):
    raise AssertionError("a chunk was computed")


def test_nothing_is_computed_until_it_is_asked_for(tmp_path):
    x = cubed.from_array(np.ones((6, 4)), chunks=2, spec=cubed.Spec(tmp_path, allowed_mem="200MB"))
    lazy = cubed.map_blocks(boom, x, dtype=x.dtype)
    result = ex.argmin(lazy, axis=1, nan_policy="omit", default=-1)
    assert isinstance(result, cubed.Array)
    assert (result.shape, result.dtype) == ((6,), np.int64)
    for name in ("max", "min", "minmax", "hardmax", "maximum", "minimum"):
        assert refusal(ArgumentTypeError, getattr(ex, name), lazy) == (
            f"{name}: extremum.cubed has argmax and argmin only"
        )
    for options in ({"where": np.ones((6, 4), bool)}, {"out": np.zeros((), np.int64)}):
        assert refusal(ArgumentError, ex.argmax, lazy, **options) == (
            "argmax: cubed arrays support neither where nor out"
        )
    assert refusal(ArgumentTypeError, ex.argmax, np.ones((6, 4)), where=lazy) == (
        "an array of cubed is yet to be computed, and this call computes at once"
    )
    assert "a chunk was computed" in str(error_of(AssertionError, result.compute))
    # Collected later, in the middle of a parse, a future would run Python code and break that parse.
    gc.collect()
