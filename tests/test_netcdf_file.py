"""What `extremum apply` writes in NetCDF: the elements, and of the labels those that stay."""

import numpy as np
import onnx
import pytest
import xarray as xr

import extremum as ex
import extremum.xarray as exx
from agreement import assert_identical
from large_files import TWO_OUTPUTS, apply, sample

pytestmark = pytest.mark.usefixtures("in_a_folder")


def labelled(dtype=np.float32):
    """A file with every kind of coordinate, and the variable that is in it."""
    coords = {
        "time": np.arange("2020-01-01", "2020-01-21", dtype="datetime64[D]").astype("datetime64[ns]"),
        "y": np.linspace(40, 50, 30),
        "height": ("x", np.arange(7, dtype=np.int16)),
        "area": (("y", "x"), np.ones((30, 7))),
        "season": ("time", np.arange(20) // 5),
        "station": 7,
    }
    whole = xr.Dataset({"t": (("time", "y", "x"), sample(dtype=dtype), {"units": "K"})}, coords)
    whole.to_netcdf("x.nc", engine="netcdf4", encoding={"t": {"chunksizes": (4, 11, 7)}})
    return xr.load_dataset("x.nc").t


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("dims", [["time"], ["x", "y"], [], ["x"]], ids=str)
def test_a_result_in_netcdf_has_the_labels_that_stay(dims):
    x = labelled()
    words = [word for name in dims for word in ("--dim", name)]
    assert apply("argmax", "x.nc", *words, "-o", "y.nc") == 0
    xr.testing.assert_identical(xr.load_dataset("y.nc").t, exx.argmax(x, dims or None))
    assert apply("hardmax", "x.nc", *words, "-o", "h.nc") == 0
    xr.testing.assert_identical(xr.load_dataset("h.nc").t, exx.hardmax(x, dims or None))
    assert apply("argmin", "x.nc", *words, "-o", "k.nc", "--keepdims") == 0
    xr.testing.assert_identical(xr.load_dataset("k.nc").t, exx.argmin(x, dims or None, keepdims=True))
    assert apply("minimum", "x.nc", "h.nc", "-o", "m.nc") == 0
    xr.testing.assert_identical(xr.load_dataset("m.nc").t, exx.minimum(x, exx.hardmax(x, dims or None)))


@pytest.mark.usefixtures("small_pieces")
def test_a_result_in_netcdf_of_what_has_no_labels():
    x = sample((50, 6))
    np.save("x.npy", x)
    assert apply("argmax", "x.npy", "--axis", 0, "-o", "y.nc", "--dtype", "uint32") == 0
    found = xr.load_dataset("y.nc")["argmax"]
    assert found.dims == ("dim_1",)
    assert_identical(found.values, ex.argmax(x, 0, dtype=np.uint32))
    onnx.save(onnx.parser.parse_model(TWO_OUTPUTS.replace("] z", '] "a/z"').replace(" z =", ' "a/z" =')), "m.onnx")
    assert apply("m.onnx", "x.npy", "-o", "z.nc", "--output-name", "a/z") == 0
    found = xr.load_dataset("z.nc")["a_z"]
    assert found.dims == ("dim_0", "dim_1")
    assert_identical(found.values, -x)
    np.save("none.npy", x[:0])
    assert apply("maximum", "none.npy", "-o", "n.nc") == 0
    assert_identical(xr.load_dataset("n.nc")["maximum"].values, x[:0])
    # A variable that is its own coordinate.
    labelled()
    assert apply("hardmax", "x.nc", "--variable", "y", "-o", "h.nc") == 0
    assert_identical(xr.load_dataset("h.nc")["y_"].values, ex.hardmax(np.linspace(40, 50, 30)))
