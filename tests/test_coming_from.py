"""What docs/coming-from.md says of other libraries, asked of them: a release of theirs may make a row untrue."""

import warnings

import numpy as np
import pytest

import extremum as ex
from extremum.errors import ArgumentError, AxisError, ElementTypeError

NAN = np.array([np.nan, np.nan])
X = np.array([[1.0, np.nan], [5.0, 2.0]])


def refused(error, function, *arguments, **options):
    with pytest.raises(error):
        function(*arguments, **options)
    return True


def test_numpy_arguments():
    assert refused(TypeError, np.argmax, X, axis=(0, 1))
    assert ex.argmax(X, axis=(0, 1)) == 1
    assert np.max(np.array([3, 5]), initial=9) == 9
    assert ex.max(np.array([3, 5]), default=9) == 5
    assert np.max(3, axis=0) == 3
    assert refused(AxisError, ex.max, 3, axis=0)
    assert refused(TypeError, ex.max, X, 0, np.empty(2))
    wide, narrow = np.zeros((), np.int64), np.array([1, 2], np.int8)
    assert np.max(narrow, out=wide) == 2
    assert refused(ElementTypeError, ex.max, narrow, out=wide)
    assert ex.argmax(narrow, dtype=np.int32, out=np.zeros((), np.int32)) == 1


def test_numpy_elementwise():
    a, b, c = np.array([1]), np.array([2]), np.array([9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's, about this very argument
        assert np.maximum(a, b, c.copy()) == 2
    assert ex.maximum(a, b, c) == 9
    assert ex.maximum(a, b, where=[False]) == 1
    assert not hasattr(ex.maximum, "reduce")
    assert not np.signbit([ex.maximum(0.0, -0.0), ex.maximum(-0.0, 0.0)]).any()
    assert ex.maximum(np.nan, 1.0, nan_policy="omit") == np.fmax(np.nan, 1.0)


def test_numpy_classes():
    class Subclass(np.ndarray):
        pass

    assert type(np.max(X.view(Subclass), axis=0)) is Subclass
    assert type(ex.max(X.view(Subclass), axis=0)) is np.ndarray
    masked = np.ma.array([1, 2], mask=True)
    assert np.ma.argmax(masked) == 0
    assert np.ma.max(masked) is np.ma.masked
    assert refused(ArgumentError, ex.argmax, masked)
    assert refused(ArgumentError, ex.max, masked)
    assert refused(ArgumentError, ex.maximum, masked, 1, nan_policy="omit")
    for x in (np.array([1j]), np.array(["a"]), np.array([None]), np.zeros(1, "V4"), np.array([(1,)], [("a", int)])):
        assert refused(ElementTypeError, ex.max, x)
    if np.dtype(np.longdouble) != np.dtype(np.float64):
        assert refused(ElementTypeError, ex.max, np.array([1], np.longdouble))


def test_numpy_of_nothing_but_nan():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.isnan(np.nanmax(NAN))
    assert caught
    assert refused(ArgumentError, ex.max, NAN, nan_policy="omit")
    assert ex.argmax(NAN, nan_policy="omit", default=-1) == -1


def test_torch():
    torch = pytest.importorskip("torch", reason="PyTorch is large: .ci/leg torch installs it")
    x = torch.tensor([[1.0, 5.0, 5.0], [9.0, 2.0, 3.0]])
    assert ex.max(x, 1, return_index=True).indices.tolist() == [1, 0]
    assert torch.amax(x, ()) == 9
    assert ex.max(x, ()).shape == x.shape
    integers, floats = torch.tensor([1]), torch.tensor([1.0])
    assert torch.maximum(integers, floats).dtype is torch.float32
    assert ex.maximum(integers, floats).dtype is torch.float64
    assert torch.nn.functional.one_hot(x.argmax(-1)).shape == (2, 2)
    assert ex.hardmax(x).shape == (2, 3)
    assert refused(TypeError, ex.max, x, dim=1)
    assert refused(ArgumentError, ex.max, x.requires_grad_())


def test_scipy():
    ndimage, stats = pytest.importorskip("scipy.ndimage"), pytest.importorskip("scipy.stats")
    x = np.array([[1.0, 9.0], [3.0, 9.0]])
    assert ex.max(x, where=x <= 5) == stats.tmax(x.ravel(), 5)
    assert tuple(map(int, ex.unravel(ex.argmax(x), x.shape))) == ndimage.maximum_position(x)
    labels = np.array([[1, 2], [1, 2]])
    assert tuple(map(int, ex.unravel(ex.argmax(x, where=labels == 1), x.shape))) == ndimage.maximum_position(
        x, labels, 1
    )
    low, high, *places = ndimage.extrema(x)
    ours = ex.minmax(x, return_index=True)
    assert (low, high) == (ours.min, ours.max)
    assert [tuple(map(int, ex.unravel(each, x.shape))) for each in ours[2:]] == places


def test_pandas_and_polars():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    column = pandas.Series([1.0, np.nan, 5.0], index=list("abc"))
    assert column.max() == ex.max(column, nan_policy="omit") == 5
    assert np.isnan(ex.max(column))
    assert column.argmax() == ex.argmax(column, nan_policy="omit")
    assert column.idxmax() == column.index[ex.argmax(column, nan_policy="omit")]
    table = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, np.nan]})
    assert table.max().equals(ex.max(table, axis=0, nan_policy="omit"))
    assert np.ndim(ex.max(table)) == 0
    assert np.isnan(pandas.Series(NAN).max())
    others = column.rename({"a": "d"})
    assert np.maximum(column, others).index.tolist() == list("abcd")
    assert refused(ArgumentError, ex.maximum, column, others)
    assert polars.Series([1.0, np.nan]).max() == 1
    nulls = polars.Series([1, None])
    assert ex.max(nulls, nan_policy="omit") == 1
    assert refused(ArgumentError, ex.max, nulls)
    assert refused(ArgumentError, ex.maximum, nulls, 0, nan_policy="omit")


def test_xarray():
    xarray = pytest.importorskip("xarray")
    import extremum.xarray as exx

    x = xarray.DataArray(X, dims=("y", "x"), coords={"y": [10, 20], "x": [1, 2]})
    assert {name: int(each) for name, each in x.argmax(["y", "x"]).items()} == {"y": 1, "x": 0}
    assert exx.argmax(x, ["y", "x"], nan_policy="omit") == 2
    assert {name: int(each) for name, each in exx.argmax(x, as_dict=True).items()} == {"y": 0, "x": 1}
    empty = xarray.DataArray(NAN, dims="a", coords={"a": [1, 2]})
    assert np.isnan(empty.max())
    assert refused(ArgumentError, exx.max, empty, nan_policy="omit")
    assert np.isnan(empty.idxmax("a"))
    assert refused(ArgumentError, exx.idxmax, empty, "a", nan_policy="omit")
    assert exx.idxmax(empty, "a", nan_policy="omit", fill_value=7) == 7
    assert np.maximum(x, x[:1]).shape == (1, 2)
    assert refused(ArgumentError, exx.maximum, x, x[:1])


def test_dask():
    array = pytest.importorskip("dask.array")
    x = np.zeros((4, 4), int)
    x[0, 2] = x[1, 0] = 1
    chunked = array.from_array(x, chunks=2)
    assert int(array.argmax(chunked).compute()) == 4
    assert int(ex.argmax(chunked).compute()) == np.argmax(x) == 2
    nan = array.from_array(NAN, chunks=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert np.isnan(array.nanmax(nan).compute())
    assert refused(ArgumentError, ex.max(nan, nan_policy="omit").compute)
    assert refused(ArgumentError, ex.argmax, chunked[chunked[:, 0] >= 0])
