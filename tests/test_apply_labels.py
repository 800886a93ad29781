"""``extremum apply``: what a file holds beside the numbers that are compared, and what of it a result keeps."""

import netCDF4
import numpy as np
import onnx
import pytest
import xarray as xr

import extremum as ex
import extremum.xarray as exx
from agreement import assert_identical
from commands import refused
from extremum.large import ParameterError
from extremum.large.formats.hdf5 import Hdf5File
from extremum.large.formats.netcdf import NetcdfFile
from extremum.large.formats.source import Source
from large_files import TWO_OUTPUTS, apply, left, sample, save_dataset
from refusal import refusal

pytestmark = pytest.mark.usefixtures("in_a_folder", "in_this_process")


# The labels that a result keeps.


def labelled(dtype=np.float32):
    """Write a file with every kind of coordinate, and return the variable in it."""
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
@pytest.mark.parametrize("dims", [["time"], ["x", "y"], []], ids=str)
def test_a_result_in_netcdf_has_the_labels_that_stay(dims):
    x = labelled()
    words = [word for name in dims for word in ("--dim", name)]
    apply("argmax", "x.nc", *words, "-o", "y.nc")
    xr.testing.assert_identical(xr.load_dataset("y.nc").t, exx.argmax(x, dims or None))
    apply("hardmax", "x.nc", *words, "-o", "h.nc")
    xr.testing.assert_identical(xr.load_dataset("h.nc").t, exx.hardmax(x, dims or None))
    apply("argmin", "x.nc", *words, "-o", "k.nc", "--keepdims")
    xr.testing.assert_identical(xr.load_dataset("k.nc").t, exx.argmin(x, dims or None, keepdims=True))
    if dims[:1] == ["time"]:
        # The result is as long as the axis, but the labels of the axis do not fit it.
        apply("top_k", "x.nc", *words, "--k", 20, "-o", "t.nc")
        for name, each in exx.top_k(x, 20, "time")._asdict().items():
            xr.testing.assert_identical(xr.load_dataset(f"t.{name}.nc").t, each)
    apply("minimum", "x.nc", "h.nc", "-o", "m.nc")
    xr.testing.assert_identical(xr.load_dataset("m.nc").t, exx.minimum(x, exx.hardmax(x, dims or None)))


@pytest.mark.usefixtures("small_pieces")
def test_a_result_in_netcdf_of_what_has_no_labels():
    x = sample((50, 6))
    np.save("x.npy", x)
    apply("argmax", "x.npy", "--axis", 0, "-o", "y.nc", "--dtype", "uint32")
    result = xr.load_dataset("y.nc")["argmax"]
    assert result.dims == ("dim_1",)
    assert_identical(result.values, ex.argmax(x, 0, dtype=np.uint32))
    onnx.save(onnx.parser.parse_model(TWO_OUTPUTS.replace("] z", '] "a/z"').replace(" z =", ' "a/z" =')), "m.onnx")
    apply("m.onnx", "x.npy", "-o", "z.nc", "--output-name", "a/z")
    result = xr.load_dataset("z.nc")["a_z"]
    assert result.dims == ("dim_0", "dim_1")
    assert_identical(result.values, -x)
    np.save("none.npy", x[:0])
    apply("maximum", "none.npy", "-o", "n.nc")
    assert_identical(xr.load_dataset("n.nc")["maximum"].values, x[:0])
    # A variable that is its own coordinate.
    labelled()
    apply("hardmax", "x.nc", "--variable", "y", "-o", "h.nc")
    assert_identical(xr.load_dataset("h.nc")["y_"].values, ex.hardmax(np.linspace(40, 50, 30)))


# What a file holds beside the numbers that are compared.


def other_kinds():
    """Write a file with coordinates of every kind, and a variable whose dimensions they label."""
    with netCDF4.Dataset("x.nc", "w") as whole:
        for name, length in {"x": 3, "y": 2, "n": 4}.items():
            whole.createDimension(name, length)
        group = whole.createGroup("g/h")

        def add(name, dtype, dims, values, where=whole, fill=None, **attrs):
            variable = where.createVariable(name, dtype, dims, fill_value=fill)
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            for key, value in attrs.items():
                # The library would make a number of a missing_value.
                set_it = variable.setncattr_string if isinstance(value, str) else variable.setncattr
                set_it(key, value)
            variable[...] = values

        listed = {"coordinates": "code count area text"}
        add("t", "f4", ("x", "y"), [[1, 2], [5, 3], [4, 4]], group, units="months since 2000-01-01", **listed)
        add("x", "i4", ("x",), [10, 20, 30], units="common_years since 1990-01-01", missing_value="none")
        add("y", "f8", ("y",), [1, 2], units="days since 2000-01-01", calendar="noleap")
        add("count", "i8", ("x",), [2**53 + 1, -1, 3], fill=-1)
        add("area", "i2", ("x", "y"), np.full((3, 2), 5), scale_factor=0.1)
        add("text", str, ("y",), np.array(["ab", "ü"], object))
        add("code", "S1", ("x", "n"), np.array([list("abcd")] * 3, "S1"))


NUMBERS = {"decode_times": False, "mask_and_scale": False}


@pytest.mark.parametrize("out", ["y.nc", "y.zarr"])
def test_coordinates_are_copied_as_they_are_stored(out):
    if out == "y.zarr":
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    other_kinds()
    apply("hardmax", "x.nc", "--variable", "g/h/t", "--dim", "y", "-o", out)
    engine = "zarr" if out == "y.zarr" else "netcdf4"
    with xr.open_dataset("x.nc", **NUMBERS) as before, xr.open_dataset(out, engine=engine, **NUMBERS) as after:
        result = after["t"]
        assert result.dims == ("x", "y")
        assert set(result.coords) == {"x", "y", "count", "area", "text", "code"}
        for name in result.coords:
            assert after[name].values.astype(str).tolist() == before[name].values.astype(str).tolist()
            assert after[name].attrs == before[name].attrs
        assert_identical(result.values, np.array([[0, 1], [1, 0], [1, 0]], np.float32))


def test_numbers_of_a_calendar_that_numpy_lacks_keep_their_meaning():
    other_kinds()
    apply("max", "x.nc", "--variable", "y", "-o", "y.nc")
    with xr.open_dataset("y.nc", decode_times=False) as result:
        assert (float(result.y), result.y.attrs) == (2, {"units": "days since 2000-01-01", "calendar": "noleap"})
    apply("argmax", "x.nc", "--variable", "y", "-o", "z.nc")
    with xr.open_dataset("z.nc") as result:
        assert (int(result.y), result.y.attrs) == (1, {})


@pytest.mark.parametrize("name", ["x.nc", "x.zarr", "x2.zarr"])
def test_a_result_of_times_is_times_in_every_format(name):
    days = np.array(["2020-03-01", "2020-01-01", "NaT"], "M8[ns]")
    whole = xr.Dataset({"when": ("x", days), "wait": ("x", (days - days[1]))})
    if "zarr" in name:
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
        whole.to_zarr(name, zarr_format=2 if "2" in name else 3, consolidated=False)
    else:
        whole.to_netcdf(name, engine="netcdf4")
    for variable in whole.data_vars:
        for out in ("y.npy", "y.nc", "y.zarr")[: 3 if "zarr" in name else 2]:
            for policy in ("omit", "propagate"):
                apply("max", name, "--variable", variable, "--nan-policy", policy, "-o", f"{variable}{policy}{out}")
            skipped, whole_max = (f"{variable}{policy}{out}" for policy in ("omit", "propagate"))
            if out == "y.npy":
                assert np.load(skipped) == whole[variable][0]
                assert np.isnat(np.load(whole_max))
                continue
            engine = "zarr" if out == "y.zarr" else "netcdf4"
            with xr.open_dataset(skipped, engine=engine) as one, xr.open_dataset(whole_max, engine=engine) as other:
                assert one[variable].values == whole[variable][0]
                assert np.isnat(other[variable].values)


def names_of_dimensions():
    """Write variables whose names are those of dimensions, in every way that NetCDF allows."""
    with netCDF4.Dataset("x.nc", "w") as whole:
        for name, length in {"x": 3, "y": 2, "s": 4, "n": 2}.items():
            whole.createDimension(name, length)
        group = whole.createGroup("g")

        def add(name, kind, dims, values, where=whole, **attrs):
            variable = where.createVariable(name, kind, dims)
            variable[...] = values
            variable.setncatts(attrs)

        add("y", "f4", ("x",), [1, 5, 2])
        add("t", "f4", ("y", "x"), [[1, 2, 3], [6, 5, 4]], coordinates="mark run")
        add("s", "f4", ("s", "x"), np.arange(12).reshape(4, 3))
        add("mark", "S1", (), b"m")
        add("run", "i4", (), 7)
        add("x", "i4", ("x",), [7, 8, 9], group)
        add("u", "f4", ("x",), [1, 3, 2], group)
        add("n", "S1", ("n", "x"), np.full((2, 3), b"q"))
        add("v", "f4", ("n", "s"), np.ones((2, 4)))
        return ["y", "t", "s", "run", "g/x", "g/u", "v"]


def test_names_of_variables_and_dimensions_are_those_of_netcdf():
    variables = names_of_dimensions()
    for name in variables:
        ours, library = (Source.open("x.nc", each, name) for each in (Hdf5File, NetcdfFile))
        assert (ours.shape, ours.dims, ours.variable) == (library.shape, library.dims, library.variable)
        assert sorted(map(str, ours.coordinates)) == sorted(map(str, library.coordinates))
        everything = tuple(slice(0, length) for length in ours.shape)
        assert_identical(ours.read(everything), library.read(everything))
    apply("max", "x.nc", "--variable", "y", "-o", "y.npy")
    assert np.load("y.npy") == 5
    apply("idxmax", "x.nc", "--variable", "g/u", "-o", "u.npy")
    assert np.load("u.npy") == 8
    apply("hardmax", "x.nc", "--variable", "t", "-o", "t.nc")
    assert xr.load_dataset("t.nc").t.dims == ("y", "x")
    text = "'x.nc': it has no variable 'x'; help: name one with --variable: g/u, t, v, y"
    assert refused("apply", "max", "x.nc", "--variable", "x", "-o", "z.npy") == text
    for each in (Hdf5File, NetcdfFile):
        reason = refusal(ParameterError, Source.open, "x.nc", each, None)
        assert reason == "'x.nc': it has 4 variables"


def variables_that_end_early():
    """Write variables along dimensions that can grow, each as far as it goes; return the elements of each."""
    expected = {}
    lengths = {"time": 5, "x": 2, "run": 7}
    with netCDF4.Dataset("x.nc", "w") as whole:
        for name, length in {**lengths, "time": None, "run": None}.items():
            whole.createDimension(name, length)
        group = whole.createGroup("g")

        def add(name, kind, dims, values, where=whole, **options):
            variable = where.createVariable(name, kind, dims, **options)
            there = tuple(map(slice, np.shape(values)))
            variable[there] = values
            fill = options.get("fill_value", netCDF4.default_fillvals[kind])
            elements = np.full([lengths[dim] for dim in dims], fill, kind)
            elements[there] = values
            expected["g/" * (where is group) + name] = elements

        add("time", "f8", ("time",), [0, 1, 2])
        add("whole", "f4", ("time", "x"), np.arange(10).reshape(5, 2))
        add("some", "f4", ("time", "x"), [[1, 2], [3, 4]], fill_value=-9.0, zlib=True)
        add("later", "i2", ("x", "time"), [[1, 2], [3, 4]], group)
        add("both", "i8", ("time", "run"), [[1, 2, 3], [4, 5, 6]], fill_value=-1)
        add("longest", "u1", ("run",), range(7))
        add("runs", "i4", ("run",), [7], group)
        add("none", "f8", ("time",), [])
    return expected


def test_a_variable_is_as_long_as_its_dimension_that_can_grow():
    for name, elements in variables_that_end_early().items():
        ours, library = (Source.open("x.nc", each, name) for each in (Hdf5File, NetcdfFile))
        assert (ours.shape, ours.dims, ours.coordinates) == (library.shape, library.dims, library.coordinates)
        assert_identical(ours.whole(name)[0], elements)
        for place in np.ndindex(elements.shape):
            one = tuple(slice(at, at + 1) for at in place)
            assert_identical(ours.decoding.restore(ours.read(one)), library.decoding.restore(library.read(one)))
    apply("argmin", "x.nc", "--variable", "some", "--dim", "time", "-o", "y.npy")
    assert np.load("y.npy").tolist() == [2, 2]
    apply("max", "x.nc", "--variable", "some", "--dim", "x", "-o", "y.nc")
    with xr.open_dataset("y.nc") as result, xr.open_dataset("x.nc") as whole:
        xr.testing.assert_equal(result.some, whole.some.max("x"))


def test_integers_beyond_float64_stay_exact_and_may_be_missing():
    with netCDF4.Dataset("x.nc", "w") as whole:
        whole.createDimension("x", 4)
        for name, kind, fill, numbers in (
            ("signed", "i8", -1, [2**53, 2**53 + 1, 1, -1]),
            ("unsigned", "u8", 7, [2**63, 2**63 + 1, 1, 7]),
        ):
            whole.createVariable(name, kind, ("x",), fill_value=fill)[:] = numbers
        whole.createVariable("scaled", "i8", ("x",)).scale_factor = np.int32(1)
        whole["scaled"].set_auto_maskandscale(False)
        whole["scaled"][:] = [2**53, 2**53 + 1, 1, 2]
    for name, dtype, best in (("signed", "i8", 2**53 + 1), ("unsigned", "u8", 2**63 + 1), ("scaled", "i8", 2**53 + 1)):
        words = ["x.nc", "--variable", name, "--nan-policy", "omit", "-o"]
        apply("argmax", *words, f"{name}.npy")
        assert np.load(f"{name}.npy") == 1
        apply("max", *words, f"{name}max.npy")
        assert_identical(np.load(f"{name}max.npy"), np.array(best, dtype))
    apply("max", "x.nc", "--variable", "signed", "-o", "y.nc")
    with xr.open_dataset("y.nc") as result:
        assert np.isnan(result.signed)
    assert refused("apply", "max", "x.nc", "--variable", "signed", "-o", "y.npy") == (
        "a .npy file of int64 has no mark for a missing element, and the result has one; help: use --nan-policy omit, "
        "or write a .nc or .zarr file"
    )
    assert refused("apply", "max", "x.nc", "--variable", "signed", "--nan-policy", "raise", "-o", "y.npy") == (
        "max: the array holds NaN; given: int64[4], nan_policy='raise'; help: use nan_policy='omit' or 'propagate', "
        "or mend the data"
    )


def test_the_labels_of_a_result_are_those_of_a_file_of_its_shape():
    whole = xr.Dataset({"t": (("lat", "lon"), np.arange(6.0).reshape(3, 2))}, {"lat": [30.0, 20, 10]})
    save_dataset(whole, "whole.nc")
    np.save("row.npy", np.ones((1, 2)))
    apply("maximum", "row.npy", "whole.nc", "-o", "y.nc")
    xr.testing.assert_identical(xr.load_dataset("y.nc").t, np.maximum(whole.t, 1.0))


@pytest.mark.parametrize("suffix", ["nc", "h5", "zarr"])
def test_a_missing_integer_is_known_before_float32_rounds_it(suffix):
    if suffix == "zarr":
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    # float32 makes one number of the largest two.
    numbers = np.array([2**31 - 1, 2**31 - 2, 1], np.int32)
    codes = {"missing_value": np.int32(2**31 - 1), "scale_factor": np.float32(-3)}
    data = xr.Dataset({"v": ("x", numbers, codes)})
    if suffix == "zarr":
        data.to_zarr("a.zarr", zarr_format=2)
    else:
        data.to_netcdf(f"a.{suffix}", engine="netcdf4")
    words = [f"a.{suffix}", "--variable", "v", "-o"]
    apply("argmin", *words, "first.npy", "--nan-policy", "omit")
    assert np.load("first.npy") == 1
    apply("argmin", *words, "nan.npy")
    assert np.load("nan.npy") == 0
    assert "holds NaN" in refused("apply", "argmin", *words, "none.npy", "--nan-policy", "raise")


@pytest.mark.parametrize("form", ["nc", "h5", "2.zarr", "3.zarr"])
def test_a_mark_of_another_type_means_the_nearest_element(form):
    numbers = np.array([1, 1e20, 0.1, 3], np.float32)
    for name, mark, best in (("large", 1e20, 3), ("fraction", 0.1, 1), ("beyond", 1e300, 1)):
        path = f"{name}.{form}"
        save_dataset(xr.Dataset({"v": ("x", numbers, {"missing_value": mark})}), path)
        apply("argmax", path, "--variable", "v", "--nan-policy", "omit", "-o", f"{name}.npy")
        assert np.load(f"{name}.npy") == best
        apply("argmin", path, "--variable", "v", "-o", f"{name}-nan.npy")
        assert np.load(f"{name}-nan.npy") == {"large": 1, "fraction": 2, "beyond": 2}[name]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_result_of_a_zarr_group_has_the_labels_that_stay(zarr_format):
    pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    x = labelled()
    x.to_dataset().to_zarr("x.zarr", zarr_format=zarr_format, consolidated=False)
    for out, engine in (("y.nc", "netcdf4"), ("y.zarr", "zarr")):
        apply("argmin", "x.zarr", "--dim", "time", "-o", out)
        with xr.open_dataset(out, engine=engine) as result:
            xr.testing.assert_identical(result.t.load(), exx.argmin(x, "time"))


FILES = ["x.nc", "x.h5", "x.2.zarr", "x.3.zarr"]


@pytest.mark.parametrize("path", FILES)
def test_indices_of_truth_values_are_numbers(path):
    save_dataset(xr.Dataset({"wet": ("x", [False, False, True])}, {"x": [10, 20, 30]}), path)
    apply("argmax", path, "--variable", "wet", "-o", "y.nc")
    with xr.open_dataset("y.nc") as result:
        assert_identical(result.wet.values, np.int64(2))
    suffix, engine = (".zarr", "zarr") if path.endswith(".zarr") else (".nc", "netcdf4")
    apply("top_k", path, "--variable", "wet", "--k", 2, "-o", f"best{suffix}")
    for name, expected in (("values", np.array([True, False])), ("indices", np.array([2, 0]))):
        with xr.open_dataset(f"best.{name}{suffix}", engine=engine) as result:
            assert_identical(result.wet.values, expected)

    apply("hardmax", path, "--variable", "wet", "-o", f"ones{suffix}")
    with xr.open_dataset(f"ones{suffix}", engine=engine) as result:
        assert_identical(result.wet.values, np.array([False, False, True]))


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", "NETCDF4_CLASSIC", "NETCDF4"])
def test_texts_beside_an_array_are_read_again(form, suffix):
    if suffix == ".zarr":
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    names = ["a", "ü", ""]
    data = xr.Dataset({"t": (("name", "x"), np.ones((3, 2), np.float32))}, {"name": names, "place": ("name", names)})
    data.to_netcdf("x.nc", engine="netcdf4", format=form)
    apply("max", "x.nc", "--variable", "t", "--dim", "x", "-o", f"y{suffix}")
    engine = "zarr" if suffix == ".zarr" else "netcdf4"
    with xr.open_dataset(f"y{suffix}", engine=engine) as result:
        assert [result[each].values.astype(str).tolist() for each in ("name", "place")] == [names, names]


@pytest.mark.parametrize("path", FILES)
def test_a_scalar_keeps_its_coordinates(path):
    coords = {"height": 2.5, "run": 7}
    save_dataset(xr.Dataset({"t": ((), 3.0)}, coords), path)
    apply("max", path, "--variable", "t", "-o", "y.nc")
    with xr.open_dataset("y.nc") as result:
        assert {name: float(each) for name, each in result.t.coords.items()} == coords


@pytest.mark.usefixtures("small_pieces")
def test_labels_in_place_of_indices():
    x = labelled()
    for function, own in (("idxmax", exx.idxmax), ("idxmin", exx.idxmin)):
        apply(function, "x.nc", "--dim", "time", "--nan-policy", "omit", "-o", f"{function}.nc")
        expected = own(x, "time", nan_policy="omit")
        xr.testing.assert_equal(xr.load_dataset(f"{function}.nc").t, expected)
    apply("idxmax", "x.nc", "--dim", "y", "--default", "-1", "-o", "y.npy")
    assert_identical(np.load("y.npy"), exx.idxmax(x, "y", fill_value=-1.0).values)
    words = ["apply", "idxmax", "x.nc", "-o", "z.npy"]
    assert refused(*words) == "idxmax gives the labels of one dimension; help: give one --axis or --dim"
    text = "'x.nc': dimension 'x' has no coordinate; help: use argmax or argmin, which give its index"
    assert refused(*words, "--dim", "x") == text
    text = "idxmax: default=1 is not a label of datetime64[ns]; "
    assert refused(*words, "--dim", "time", "--default", 1).startswith(text)
    narrow = xr.DataArray(
        np.full((2, 3), np.nan), dims=("y", "x"), coords={"x": np.array([1, 2, 3], np.int16)}, name="t"
    )
    narrow.to_netcdf("narrow.nc", engine="netcdf4")
    words = ["apply", "idxmin", "narrow.nc", "--dim", "x", "--nan-policy", "omit", "-o", "z.npy", "--default"]
    assert refused(*words, 40_000).startswith("idxmin: default=40000 does not fit int16; ")
    for other in (0.5, "nan", "inf"):
        assert refused(*words, other).startswith(f"idxmin: default is {other}, which is not an element of int16; ")


def test_arrays_in_groups_have_paths():
    zarr = pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    x = sample((4, 5))
    root = zarr.open_group("n.zarr", mode="w")
    for name in ("0", "labels/0", "labels/deep/1"):
        root.create_array(name, data=x)
    for words in ("n.zarr --variable labels/0", "n.zarr/labels --variable 0", "n.zarr/labels/0", "n.zarr/labels/deep"):
        out = f"{len(left())}.npy"
        apply("argmax", *words.split(), "-o", out)
        assert np.load(out) == ex.argmax(x)
    text = "'n.zarr': it has 3 arrays; help: name one with --variable: 0, labels/0, labels/deep/1"
    assert refused("apply", "argmax", "n.zarr", "-o", "y.npy") == text
    other_kinds()
    text = "'x.nc': it has no variable 't'; help: name one with --variable: g/h/t"
    assert refused("apply", "argmax", "x.nc", "--variable", "t", "-o", "y.npy") == text
    assert refused("apply", "argmax", "n.zarr", "--variable", "../x", "-o", "y.npy").startswith(
        "'n.zarr': it has no array '../x'; "
    )
