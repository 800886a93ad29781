"""The array functions on xarray's arrays: the values are those of the plain array, and labels stay."""

from functools import partial

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import extremum as ex
import extremum.xarray as exx
from agreement import assert_identical
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError
from refusal import error_of, refusal
from strategies import sample

DIMS = ("time", "y", "x")


def array(dtype=np.float32, dask=False, seed=0):
    data = sample(np.random.default_rng(seed), np.dtype(dtype), (4, 5, 6))
    coords = {
        "time": np.arange("2020-01-01", "2020-01-05", dtype="datetime64[D]").astype("datetime64[ns]"),
        "x": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
        "height": ("y", [5, 4, 3, 2, 1]),
        "area": (("y", "x"), np.ones((5, 6))),
        "station": 7,
    }
    whole = xr.DataArray(data, dims=DIMS, coords=coords, name="t", attrs={"units": "K"})
    return whole.chunk({"time": (1, 3), "y": 2, "x": (5, 1)}) if dask else whole


@pytest.fixture(params=[False, True], ids=["numpy", "dask"])
def dask(request):
    return request.param


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_values_and_indices_are_those_of_the_plain_array(dtype, dask):
    x = array(dtype, dask)
    plain = array(dtype).values
    for dim in ("y", ["x", "time"], None):
        axis = {"y": 1, None: None}.get(dim if dim is None else str(dim), (0, 2))
        for options in ({}, {"select_last_index": True, "keepdims": True}):
            expected = ex.max(plain, axis, return_index=True, **options)
            result = exx.max(x, dim, return_index=True, **options)
            assert isinstance(result.values.data, da.Array) is dask
            assert_identical(result.values.values, expected.values)
            assert_identical(result.indices.values, expected.indices)
            assert_identical(exx.argmin(x, dim, **options).values, ex.argmin(plain, axis, **options))
            low, high = exx.minmax(x, dim, **options)
            assert_identical(low.values, ex.min(plain, axis, **options))
            assert_identical(high.values, expected.values)
    assert_identical(exx.hardmax(x, ["y", "x"]).values, ex.hardmax(plain, (1, 2)))


def test_labels_and_attributes_stay(dask):
    x = array(dask=dask)
    result = exx.argmax(x, "time")
    assert (result.dims, result.name, result.attrs) == (("y", "x"), "t", {"units": "K"})
    assert set(result.coords) == {"x", "height", "area", "station"}
    xr.testing.assert_identical(result.coords["area"], x.isel(time=0).coords["area"].drop_vars("time"))
    assert set(exx.max(x, ["y"]).coords) == {"time", "x", "station"}
    kept = exx.min(x, "x", keepdims=True)
    assert kept.dims == DIMS
    assert kept.sizes["x"] == 1
    assert set(exx.hardmax(x, "y").coords) == set(x.coords)


def test_a_dict_of_indices_is_what_xarray_has(dask):
    x = array(np.int16, dask)
    indices = exx.argmax(x, ["x", "time"], as_dict=True)
    expected = array(np.int16).argmax(["time", "x"])
    assert list(indices) == ["time", "x"]
    for name, index in indices.items():
        np.testing.assert_array_equal(index.values, expected[name].values)
    xr.testing.assert_equal(
        x.compute().isel({name: index.compute() for name, index in indices.items()}).drop_vars(["time", "x", "area"]),
        exx.max(x, ["x", "time"]).compute(),
    )


def test_labels_in_place_of_indices(dask):
    x = array(np.int16, dask)
    xr.testing.assert_identical(exx.idxmax(x, "time").compute(), array(np.int16).idxmax("time").assign_attrs(units="K"))
    xr.testing.assert_identical(exx.idxmin(x, "x").compute(), array(np.int16).idxmin("x").assign_attrs(units="K"))
    both = exx.idxmax(x, ["time", "x"])
    assert list(both) == ["time", "x"]
    gone = x.where(x.time > x.time[1]).astype(float)
    labels = exx.idxmax(gone, "time", nan_policy="omit", fill_value=np.datetime64("NaT", "ns"), where=gone.x < 45)
    assert np.isnat(labels.sel(x=50).values).all()
    assert not np.isnat(labels.sel(x=40).values).any()


def test_masks_are_matched_by_name(dask):
    x = array(np.int32, dask)
    where = xr.DataArray([[True] * 4, [False] * 4, [True] * 4, [True] * 4, [True] * 4], dims=("y", "time"))
    result = exx.argmax(x, "y", where=where)
    assert_identical(result.values, ex.argmax(array(np.int32).values, 1, where=where.values.T[:, :, None]))
    # The dimensions of a Variable have names too.
    assert_identical(exx.argmax(x, "y", where=where.variable).values, result.values)
    text = "max: where is a Dataset without variable {}"
    assert refusal(ArgumentError, exx.max, x, where=where.to_dataset(name="v")) == text.format(repr(x.name))
    assert refusal(ArgumentError, exx.max, x.to_dataset(name="t"), where=where.to_dataset(name="v")) == text.format(
        "'t'"
    )
    assert refusal(ArgumentError, exx.max, x, where=where.rename(y="z")) == (
        "max: where does not fit: the dimension 'z' is not one of 'time', 'y', 'x'"
    )
    with pytest.raises(ArgumentError, match="where does not fit"):
        exx.max(x, where=xr.DataArray([True] * 6, dims="x", coords={"x": range(6)}))


def test_datasets_variable_by_variable(dask):
    x = array(np.int32, dask)
    data = xr.Dataset({"a": x, "b": x.isel(x=0, drop=True) + 1, "c": ("z", [1, 2])}, attrs={"title": "t"})
    result = exx.max(data, ["x", "time"])
    assert result.attrs == {"title": "t"}
    xr.testing.assert_identical(result.a.compute(), exx.max(x, ["x", "time"]).rename("a").compute())
    xr.testing.assert_identical(result.b.compute(), exx.max(data.b, "time").compute())
    xr.testing.assert_identical(result.c, data.c)
    low, high, argmin, argmax = exx.minmax(data, "y", return_index=True)
    xr.testing.assert_identical(argmax.compute(), exx.argmax(data, "y").compute())
    assert bool((low.a <= high.a).all())
    assert set(argmin) == {"a", "b", "c"}
    xr.testing.assert_identical(exx.idxmin(data[["a"]], "x").a.compute(), exx.idxmin(data.a, "x").rename("a").compute())
    xr.testing.assert_identical(exx.hardmax(data, "y").a.compute(), exx.hardmax(data.a, "y").compute())


def test_the_k_best_keep_the_dimension_without_its_labels(dask):
    x = array(np.int8, dask)
    for axis, dim in enumerate(DIMS):
        expected = ex.top_k(x.values, 3, axis, mode="smallest")
        best = exx.top_k(x, 3, dim, mode="smallest", sorted=True)
        for one, plain in zip(best, expected, strict=True):
            assert isinstance(one.data, da.Array) is dask
            assert_identical(one.values, plain)
            assert (one.dims, one.name, one.attrs) == (DIMS, "t", {"units": "K"})
            assert set(one.coords) == {name for name, each in x.coords.items() if dim not in each.dims}
        for one, other in zip(ex.top_k(x, 3, axis, mode="smallest"), best, strict=True):
            xr.testing.assert_identical(one.compute(), other.compute())
    data = xr.Dataset({"a": x, "b": x.isel(x=0, drop=True), "c": ("x", [1, 3, 2, 0, 5, 4])}, attrs={"title": "t"})
    values, indices = exx.top_k(data, 2, "x")
    xr.testing.assert_identical(indices.a.compute(), exx.top_k(x, 2, "x").indices.rename("a").compute())
    xr.testing.assert_identical(values.b, data.b.drop_vars("height").assign_coords(height=values.height))
    assert (values.c.values.tolist(), values.attrs) == ([5, 4], {"title": "t"})
    xr.testing.assert_identical(ex.top_k(data.c, 2, None).indices, exx.top_k(data.c, 2).indices)


@pytest.mark.parametrize("dims", [None, ("x", "time"), ("time", "y"), ("y", "x")], ids=str)
@pytest.mark.parametrize("k", [0, 1, 9, 20])
def test_the_k_best_over_several_dimensions_have_a_new_one(dims, k, dask):
    x = array(np.int8, dask)
    others = [name for name in DIMS if dims and name not in dims]
    reduced = [name for name in DIMS if name not in others]
    lines = x.compute().transpose(*others, *reduced).values.reshape(*(x.sizes[name] for name in others), -1)
    expected = ex.top_k(lines, k)
    best = exx.top_k(x, k, dims)
    for one, plain in zip(best, expected, strict=True):
        assert isinstance(one.data, da.Array) is dask
        assert_identical(one.values, plain)
        assert (one.dims, one.name, one.attrs) == ((*others, "k"), "t", {"units": "K"})
        assert set(one.coords) == set(
            x.drop_vars([each for each in x.coords if set(x[each].dims) & set(reduced)]).coords
        )
    data = exx.top_k(xr.Dataset({"a": x, "b": x.isel(x=0, drop=True)}), min(k, 4), ["x", "time"])
    assert (data.values.a.dims, data.indices.b.dims) == (("y", "k"), ("y", "k"))


def test_labels_of_the_k_best(dask):
    x = array(np.int8, dask)
    for dim in ("time", "x"):
        best = exx.top_k(x, 3, dim, mode="smallest")
        labels = exx.idxtop_k(x, 3, dim, mode="smallest")
        assert isinstance(labels.data, da.Array) is dask
        assert (labels.name, labels.dims, labels.attrs) == (dim, DIMS, {"units": "K"})
        assert_identical(labels.values, x[dim].values[best.indices.values])
    both = exx.idxtop_k(x, 4, ["x", "time"])
    place = np.unravel_index(exx.top_k(x, 4, ["x", "time"]).indices.values, (4, 6))
    for name, at in zip(("time", "x"), place, strict=True):
        assert_identical(both[name].values, x[name].values[at])
    data = exx.idxtop_k(xr.Dataset({"a": x, "b": x.isel(y=0, drop=True)}), 2, "x")
    assert_identical(data.b.values, exx.idxtop_k(x.isel(y=0), 2, "x").values)
    assert list(exx.idxtop_k(x.isel(time=0, y=0), 2, ["x"])) == ["x"]


def test_labels_of_the_k_best_where_numbers_are_few(dask):
    x = array(np.float64, dask)
    x = x.where(x.x != 30).where(x.time > x.time[0]).where(x.y != 2)
    for dim, filler in (("time", np.datetime64("NaT", "ns")), ("x", -1.0)):
        labels = exx.idxtop_k(x, 4, dim, nan_policy="omit", fill_value=filler)
        best = exx.top_k(x, 4, dim, nan_policy="omit")
        expected = x[dim].compute()[best.indices.compute()].where(best.values.compute().notnull(), filler)
        assert_identical(labels.values, expected.values)
    with pytest.raises(
        ArgumentError, match=r"idxtop_k: place \(.*\) of the result has no element: fewer than 4 of its slice"
    ):
        exx.idxtop_k(x, 4, "time", nan_policy="omit").compute()


def test_elementwise_by_the_names_of_dimensions(dask):
    x = array(np.float32, dask)
    row = x.isel(time=0, drop=True)
    result = exx.maximum(row, x, 0.5)
    assert isinstance(result.data, da.Array) is dask
    result = result.transpose(*DIMS)
    assert_identical(result.values, ex.maximum(x.values, row.values, 0.5))
    assert result.attrs == {"units": "K"}
    assert_identical(
        exx.minimum(x, x + 1, nan_policy="omit").values, ex.minimum(x.values, x.values + 1, nan_policy="omit")
    )
    shifted = x.assign_coords(x=x.x + 1)
    assert refusal(ArgumentError, exx.maximum, x, shifted).startswith("maximum: the operands differ in their labels: ")


def by_number(name, x, axis, dim, **options):
    """Compare what the array function finds with what the function that takes dimensions finds."""
    actual = getattr(ex, name)(x, axis, **options)
    expected = getattr(exx, name)(x, dim, **options)
    pairs = zip(actual, expected, strict=True) if isinstance(actual, tuple) else [(actual, expected)]
    for one, other in pairs:
        assert isinstance(one.data, da.Array) is isinstance(other.data, da.Array) is bool(x.chunks)
        assert one.name == x.name
        xr.testing.assert_identical(one.compute(), other.compute())


def test_the_array_functions_keep_labels_too(dask):
    x = array(np.float32, dask)
    where = xr.DataArray([[True] * 4, [False] * 4, *[[True] * 4] * 3], dims=("y", "time"))
    for axis, dim in ((0, "time"), (-1, "x"), ((2, 0), ["x", "time"]), (None, None)):
        for name in ("argmax", "argmin", "max", "min", "minmax"):
            options = {"where": where, "default": 7} if name != "minmax" else {"return_index": True}
            by_number(name, x, axis, dim, keepdims=name == "max", select_last_index=True, **options)
        by_number("hardmax", x, axis, dim, where=where)
    unnamed = x.rename(None)
    by_number("max", unnamed, 1, "y", return_index=True)
    xr.testing.assert_identical(ex.hardmax(x).compute(), exx.hardmax(x, "x").compute())
    row = x.isel(time=0, drop=True)
    for operands in ((row, x, 0.5), (x.values, x), (x.data, x)):
        xr.testing.assert_identical(ex.maximum(*operands).compute(), exx.maximum(*operands).compute())


def test_the_array_functions_write_to_an_array_without_labels():
    x = array(np.float32)
    out = np.empty((5, 6), np.int64)
    ones = np.empty((4, 5, 6), np.float32)
    assert ex.argmax(x, 0, out=out) is out
    assert_identical(out, ex.argmax(x.values, 0))
    assert ex.hardmax(x, 0, out=ones) is ones
    assert_identical(ones, ex.hardmax(x.values, 0))


def test_labels_of_the_k_best_under_a_mask(dask):
    x = array(np.int8, dask)
    where = x.x < 35
    labels = exx.idxtop_k(x, 4, "x", where=where, fill_value=-1.0)
    best = exx.top_k(x.isel(x=slice(3)), 3, "x")
    assert_identical(labels.values[..., :3], x.x.values[best.indices.values])
    assert (labels.values[..., 3] == -1).all()
    assert exx.top_k(x, 4, "x", where=where, default=0).indices.isel(x=3).values.tolist() == [[-1] * 5] * 4


@pytest.mark.parametrize("chunks", [None, {"x": 8195, "y": 1}], ids=["whole", "chunks"])
def test_labels_of_more_slices_than_numpy_reads_at_a_time(chunks):
    data = np.tile([[[1.0], [0.0]], [[0.0], [1.0]]], (4100, 1, 1))
    x = xr.DataArray(data, dims=("x", "y", "one"), coords={"y": [10, 20]})
    x = x if chunks is None else x.chunk(chunks)
    assert exx.idxmax(x, "y").values.ravel().tolist() == [10, 20] * 4100
    assert exx.argmax(x, ["y"], as_dict=True)["y"].values.ravel().tolist() == [0, 1] * 4100
    assert exx.hardmax(x, "y").values.tolist() == data.tolist()


@pytest.mark.parametrize("dask", [False, True], ids=["numpy", "dask"])
def test_arrays_of_pandas_beside_arrays_with_names(dask):
    x = xr.DataArray([1.0, 5.0, 9.0], dims="k", coords={"k": list("abc")})
    x = x.chunk() if dask else x
    mask = pd.Series([True, True, False], index=list("cba"))
    for function in (ex.max, exx.max, exx.argmin, partial(exx.hardmax, dim="k"), exx.idxmax):
        text = refusal(ArgumentError, function, x, where=mask)
        assert text.endswith("where and the array differ in their labels, and elements are masked by place")
    assert exx.max(x, where=mask.reindex(x.k.values)) == 9
    for operands, where in (((x, mask), None), ((x, 1), mask), ((mask, x), x > 2)):
        text = refusal(ArgumentTypeError, exx.maximum, *operands, where=where)
        assert text == "maximum: arrays of pandas and of xarray in one call"


PLAIN = array()
TWO = xr.Dataset({"a": PLAIN})
REFUSED = [
    (AxisError, ex.argmax, (PLAIN, 3), {}, "argmax: axis 3 is out of range for an array with 3 dimensions"),
    (ArgumentTypeError, ex.max, (TWO,), {}, "max: a Dataset has no axis numbers"),
    (ArgumentError, ex.maximum, (PLAIN, 1), {"out": PLAIN.values}, "maximum: operands with labels meet by the names"),
    (ArgumentTypeError, ex.top_k, (TWO, 1), {}, "top_k: a Dataset has no axis numbers"),
    (AxisError, ex.top_k, (PLAIN, 1, 3), {}, "top_k: axis 3 is out of range for an array with 3 dimensions"),
    (ArgumentError, exx.top_k, (PLAIN, 121), {}, "top_k: k is 121, and there are 120 elements over 'time', 'y', 'x'"),
    (ArgumentError, exx.top_k, (PLAIN.rename(x="k"), 1, ["time", "y"]), {}, "top_k: there is a dimension 'k', and the"),
    (ArgumentError, exx.top_k, (PLAIN.assign_coords(k=1), 1), {}, "top_k: there is a coordinate 'k', and the result"),
    (ArgumentError, exx.top_k, (TWO.rename(a="k"), 1), {}, "top_k: there is a variable 'k', and the result needs"),
    (ArgumentError, exx.idxtop_k, (PLAIN, 1, "y"), {}, "idxtop_k: dimension 'y' has no coordinate"),
    (ArgumentError, exx.idxtop_k, (PLAIN, 1), {}, "idxtop_k: the array has 3 dimensions"),
    (ArgumentError, exx.idxtop_k, (TWO, 1), {}, "idxtop_k: of a Dataset it takes one dimension"),
    (ArgumentError, exx.top_k, (PLAIN, 1, "z"), {}, "top_k: there is no dimension 'z'"),
    (ArgumentError, exx.top_k, (TWO, 7, "x"), {}, "top_k: k is 7, and there are 6 elements along axis 2"),
    (ArgumentTypeError, exx.top_k, (PLAIN, 1.0, "x"), {}, "top_k: k is 1.0, not an integer"),
    (ArgumentError, exx.argmax, (PLAIN, "z"), {}, "argmax: there is no dimension 'z'"),
    (ArgumentError, exx.max, (TWO, ["x", "z"]), {}, "max: there is no dimension 'z'"),
    (ArgumentTypeError, exx.min, (PLAIN.values,), {}, "min: numpy.ndarray is neither a DataArray nor a Dataset"),
    (ArgumentTypeError, exx.maximum, (1, 2), {}, "maximum: builtins.int is neither a DataArray nor a Dataset"),
    (ArgumentError, exx.idxmax, (PLAIN, "y"), {}, "idxmax: dimension 'y' has no coordinate"),
    (ArgumentError, exx.idxmax, (PLAIN,), {}, "idxmax: the array has 3 dimensions"),
    (ArgumentError, exx.idxmin, (TWO,), {}, "idxmin: of a Dataset it takes one dimension"),
    (ArgumentError, exx.argmax, (TWO, "y"), {"as_dict": True}, "argmax: variables of a Dataset have dimensions of"),
    *(
        (ArgumentTypeError, ex.argmax, (PLAIN.values,), {"where": where}, "an array of dask is yet to be computed, and")
        for where in (PLAIN.chunk() > 0, (PLAIN.chunk() > 0).data, (PLAIN.chunk() > 0).variable)
    ),
]


@pytest.mark.parametrize(("error", "function", "given", "options", "text"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_refused(error, function, given, options, text):
    assert refusal(error, function, *given, **options).startswith(text)


def test_variables_have_no_labels():
    where = (PLAIN == PLAIN).variable
    expected = ex.argmax(PLAIN.values, 0, nan_policy="omit", default=-1)
    assert_identical(ex.argmax(PLAIN.values, 0, where=where, default=-1), expected)
    assert_identical(ex.max(PLAIN.variable, 1), ex.max(PLAIN.values, 1))


COORDINATES = {
    "objects": np.array(["a", "b", "c"], object),
    "text": np.array(["a", "b", "c"]),
    **({"StringDType": np.array(["a", "b", "c"], "T")} if hasattr(np.dtypes, "StringDType") else {}),
    "cftime": xr.date_range("2000-01-01", periods=3, calendar="noleap", use_cftime=True),
    "interval": pd.IntervalIndex.from_breaks([0, 1, 2, 3]),
    "period": pd.period_range("2000-01", periods=3, freq="M"),
    "categories": pd.CategoricalIndex(["a", "b", "c"]),
    "Int64": pd.Index([1, 2, 3], dtype="Int64"),
    "boolean": pd.Index([True, False, True], dtype="boolean"),
    "zoned": pd.date_range("2000", periods=3, tz="Europe/Berlin"),
    "time": pd.date_range("2000", periods=3),
    "duration": pd.timedelta_range("1D", periods=3),
    "integers": np.array([1, 2, 3], np.int16),
    "MultiIndex": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["p", "q"]),
}


def labelled(labels, data, dask):
    coords = {"y": [0, 1]} if data.ndim == 2 else {}
    if isinstance(labels, pd.MultiIndex):
        coords = xr.Coordinates.from_pandas_multiindex(labels, "x").assign(coords)
    else:
        coords["x"] = labels
    x = xr.DataArray(data, dims=("y", "x")[-data.ndim :], coords=coords)
    return x.chunk({"x": 2}) if dask else x


@pytest.mark.parametrize("labels", COORDINATES.values(), ids=COORDINATES)
def test_labels_of_every_type_of_coordinate(labels, dask):
    whole = np.array([[1.0, 9.0, 3.0], [np.nan, np.nan, np.nan]])
    for data, place in ((whole[0], 1), (whole, None)):
        x = labelled(labels, data, dask)
        names = list(x.x.to_index())
        if place is not None:
            one = exx.idxmax(x).compute()
            low = exx.idxmin(x).compute()
            assert one.shape == low.shape == ()
            assert "x" not in one.coords
            assert one.values[()] == (np.asarray(names[1:2], one.dtype)[0] if one.dtype.kind in "mM" else names[1])
            assert low.item() == exx.idxmax(-x).compute().item()
            assert exx.idxmax(x).dtype == one.dtype
        result = exx.idxmax(x, "x", nan_policy="omit", fill_value=np.nan)
        assert result.dtype == result.compute().dtype
        for each, row in zip(np.atleast_1d(result.values), np.atleast_2d(data), strict=True):
            if np.isnan(row).all():
                assert each != each
                assert not isinstance(each, str)
            elif isinstance(each, np.generic):
                assert each == np.asarray(names[1:2], each.dtype)[0]
            else:
                assert each == names[1]


def test_missing_labels_of_time_are_missing_times_and_those_of_text_are_no_text(dask):
    gone = np.full((1, 3), np.nan)
    for kind in ("time", "duration"):
        for fill in (np.nan, pd.NaT):
            label = exx.idxmax(labelled(COORDINATES[kind], gone[0], dask), nan_policy="omit", fill_value=fill).compute()
            assert label.dtype == COORDINATES[kind].dtype
            assert np.isnat(label.values)
    for kind in COORDINATES.keys() & {"text", "StringDType", "objects"}:
        label = exx.idxmax(labelled(COORDINATES[kind], gone[0], dask), nan_policy="omit", fill_value=np.nan).compute()
        assert label.dtype == object
        assert isinstance(label.item(), float)
    x = labelled(COORDINATES["time"], gone[0], dask)
    text = refusal(ArgumentError, exx.idxmax, x, nan_policy="omit", fill_value=1.5)
    assert text == f"idxmax: fill_value=1.5 is not a label of {x.x.dtype}"


def test_a_slice_without_a_label_names_the_keyword_and_the_variable(dask):
    gone = np.array([[1.0, 2.0, 3.0], [np.nan, np.nan, np.nan]])
    x = labelled(COORDINATES["time"], gone, dask)
    error = error_of(ArgumentError, lambda: exx.idxmax(x, "x", nan_policy="omit").compute())
    assert error.reason.startswith("idxmax: the slice at (1,) of the result has no element to choose from")
    assert error.remedy == "pass fill_value for such slices"
    if not dask:
        for function in (exx.idxmax, exx.argmax, exx.max, exx.minmax):
            error = error_of(ArgumentError, function, xr.Dataset({"a": x}), "x", nan_policy="omit")
            assert error.where == "variable 'a'"


FILLED = {
    "a far year": (np.array(["2000-01-01"], "M8[ns]"), np.datetime64("2500", "Y"), "fill_value 2500 does not fit"),
    "far labels": (
        np.array(["2500-01-01"], "M8[s]"),
        np.datetime64(5, "ns"),
        "the label 2500-01-01T00:00:00 does not fit",
    ),
    "large numbers": (np.array([2**53 + 1]), 0.5, "the label 9007199254740993 does not fit float64"),
    "NaN beside large numbers": (np.array([2**53 + 1]), np.nan, "the label 9007199254740993 does not fit float64"),
    "a large number": (np.array([0.5]), 2**53 + 1, "fill_value 9007199254740993 does not fit float64"),
}


@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("chunked", [False, True])
def test_labels_and_fill_values_that_lose_are_refused(name, chunked):
    labels, fill_value, text = FILLED[name]
    x = xr.DataArray(np.array([1.0]), dims="t", coords={"t": labels})
    for function in (exx.idxmax, exx.idxmin):
        reason = refusal(ArgumentError, function, x.chunk() if chunked else x, "t", fill_value=fill_value)
        assert reason.startswith(f"{function.__name__}: {text}")
    assert exx.idxmax(x, "t", fill_value=labels[0]).item() == labels[0].item()


def test_a_mask_meets_operands_by_the_names_of_dimensions():
    rng = np.random.default_rng(4)
    x = xr.DataArray(rng.standard_normal((4, 6)), dims=("t", "s"), coords={"t": [1, 2, 3, 4]}, name="x")
    y = xr.DataArray(rng.standard_normal(6), dims="s")
    where = (x > 0).transpose("s", "t")
    expected = x.copy(data=ex.maximum(x.values, y.values, where=where.values.T))
    for function in (ex.maximum, exx.maximum):
        xr.testing.assert_equal(function(x, y, where=where), expected)
        xr.testing.assert_equal(function(x.chunk(t=2), y, where=where.chunk(s=4)), expected)
        xr.testing.assert_equal(function(x.to_dataset(), y, where=where).x.transpose("t", "s"), expected)
    shifted = where.assign_coords(t=[2, 3, 4, 5])
    assert refusal(ArgumentError, exx.maximum, x, y, where=shifted).startswith("maximum: the operands differ in their")
