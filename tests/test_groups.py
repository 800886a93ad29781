"""Groups and windows of an array are refused, and the call that the error names works."""

import numpy
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import extremum
import extremum.dask
import extremum.xarray
from extremum.errors import ArgumentTypeError
from extremum.functions import FUNCTIONS
from refusal import error_of, refusal

TIMES = pd.date_range("2020-01-01", periods=4)
ARRAY = xr.DataArray(
    np.random.default_rng(0).normal(size=(4, 6)),
    dims=("time", "x"),
    coords={"time": TIMES, "x": [10, 20, 30, 40, 50, 60], "land": ("x", [0, 1, 1, 0, 1, 0])},
    name="t",
)
DATASET = ARRAY.to_dataset()
SERIES = pd.Series([3.0, 1.0, 2.0, 5.0], TIMES, name="s")
FRAME = pd.DataFrame({"place": [1, 1, 2, 2], "a": [3.0, 4.0, 1.0, 2.0], "b": [1, 5, 7, 0]}, TIMES)
LABELLED = {
    "groupby": ARRAY.groupby("land"),
    "groupby of a Dataset": DATASET.groupby("land"),
    "resample": ARRAY.resample(time="2D"),
    "resample of a Dataset": DATASET.resample(time="2D"),
    "rolling": ARRAY.rolling(time=2),
    "rolling over two": ARRAY.rolling(time=2, x=2),
    "rolling of a Dataset": DATASET.rolling(x=3),
    "coarsen": ARRAY.coarsen(x=2),
    "coarsen two": ARRAY.coarsen(x=2, time=2),
    "coarsen of a Dataset": DATASET.coarsen(time=2),
    "tree": xr.DataTree(DATASET),
}
GROUPS = {
    **LABELLED,
    "groupby of a Series": SERIES.groupby([0, 0, 1, 1]),
    "groupby of a frame": FRAME.groupby("place")[["a", "b"]],
    "resample of a Series": SERIES.resample("2D"),
    "rolling of a Series": SERIES.rolling(2),
    "rolling of a frame": FRAME.rolling(2),
    "expanding": SERIES.expanding(),
    "rolling in groups": SERIES.groupby([0, 0, 1, 1]).rolling(2),
    "group_by": pl.from_pandas(FRAME).group_by("place"),
    "dynamic": pl.from_pandas(FRAME.reset_index(names="time")).group_by_dynamic("time", every="2d"),
}
# The words that the errors leave to the caller.
NAMES = {"dim": "x", "k": 2, "y": 1, "length": 2, "column": "a"}


def suggested(error, x):
    """The result of the call that an error names."""
    _, _, call = str(error).partition("\n  help  call ")
    return eval(call, {"x": x, "extremum": extremum, "numpy": numpy, **NAMES})


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("what", GROUPS)
def test_the_call_that_the_error_names_works(function, what):
    x = GROUPS[what]
    more = {"top_k": (2,), "maximum": (1,), "minimum": (1,)}.get(function, ())
    error = error_of(ArgumentTypeError, getattr(extremum, function), x, *more)
    assert (
        error.reason
        == f"{function}: {type(x).__module__}.{type(x).__qualname__} holds parts of an array, and no elements itself"
    )
    assert suggested(error, x) is not None


@pytest.mark.parametrize("function", [*FUNCTIONS, "idxmax", "idxmin"])
@pytest.mark.parametrize("what", LABELLED)
def test_functions_by_dimension_name_the_same_call(function, what):
    x = LABELLED[what]
    more = {"top_k": (2,), "maximum": (1,), "minimum": (1,), "hardmax": ("x",)}.get(function, ())
    error = error_of(ArgumentTypeError, getattr(extremum.xarray, function), x, *more)
    assert suggested(error, x) is not None
    if function in FUNCTIONS:
        assert str(error) == str(error_of(ArgumentTypeError, getattr(extremum.dask, function), x, *more))


WINDOWS = np.lib.stride_tricks.sliding_window_view(ARRAY.values, 2, axis=0)
VALUES = {
    "groupby": np.stack([ARRAY.values[:, ARRAY.land == land].max(1) for land in (0, 1)]),
    "resample": ARRAY.values.reshape(2, 2, 6).max(2),
    "rolling": np.concatenate([np.full((1, 6), np.nan), WINDOWS.max(2)]),
    "coarsen": ARRAY.values.reshape(4, 3, 2).max(2),
    "tree": ARRAY.values.max(1),
    "groupby of a Series": [3, 5],
    "groupby of a frame": [[4, 5], [2, 7]],
    "resample of a Series": [3, 5],
    "rolling of a Series": [np.nan, 3, 2, 5],
    "expanding": [3, 3, 3, 5],
    "rolling in groups": [np.nan, 3, np.nan, 5],
}


@pytest.mark.parametrize("what", VALUES)
def test_the_largest_of_each_part(what):
    x = GROUPS[what]
    result = suggested(error_of(ArgumentTypeError, extremum.max, x), x)
    result = result["t"] if isinstance(x, xr.DataTree) else result
    assert sorted(map(str, np.ravel(np.float64(result)))) == sorted(map(str, np.ravel(np.float64(VALUES[what]))))


def test_a_group_among_operands():
    assert refusal(ArgumentTypeError, extremum.maximum, 1, ARRAY, SERIES.groupby([0, 0, 1, 1])).startswith(
        "maximum: pandas.api.typing.SeriesGroupBy holds parts of an array"
    )
