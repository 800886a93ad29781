"""Random files for `extremum apply`: one array in every format, against one oracle in plain NumPy.

    python tests/support/random_files.py --calls 2000 --seed 7

An array has any element type, byte order, chunks and rank. It may be filled, scaled, unsigned by an attribute or dated,
have attributes that say nothing, and lie in a group. It is written to each format that can hold it, with the library of
that format. A call on the file must give what the oracle finds in the decoded elements: the CF conventions, and a
missing element treated as NaN. What is written into a file must come back from it.
"""

import contextlib
import os
import tempfile
import warnings
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import h5py
import netCDF4
import numpy as np

import random_driver
from extremum.errors import ExtremumError
from extremum.functions import OVER_AXES, Kind, of_kind
from extremum.large import jobs, lengths, planned, steps, writing
from extremum.large.formats.hdf5 import Hdf5File
from extremum.large.formats.netcdf import NetcdfFile
from extremum.large.formats.npy import NpyFile, NpzFile
from extremum.large.formats.source import Source
from extremum.large.formats.zarr import ZarrFile

try:
    import zarr
except ImportError:
    # It needs Python 3.11.
    zarr = None

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]
WRITTEN = [*INTEGERS, *FLOATS]
CLASSIC = ["int8", "int16", "int32", "float32", "float64"]
FUNCTIONS = [*OVER_AXES, *of_kind(Kind.SELECTION)]
EPOCH = np.datetime64("2000-01-01", "ns")
DAY = 86_400_000_000_000


@dataclass
class Stored:
    """An array as it is stored, and what its elements mean."""

    raw: np.ndarray
    attrs: dict = field(default_factory=dict)
    # What is read: the decoded values, and which of them are missing; NaN and NaT are in the values.
    values: np.ndarray = None
    missing: np.ndarray = None
    # The integer that stands for a missing element in a result.
    fill: int | None = None
    chunks: tuple[int, ...] | None = None
    group: str = ""

    def __post_init__(self):
        if self.values is None:
            self.values = self.raw
        if self.missing is None:
            self.missing = np.zeros(self.raw.shape, bool)


# What is drawn.


def numbers(rng, dtype, shape):
    """Few different numbers, the ends of the type, and neighbours that float64 cannot tell apart."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "f":
        pool = np.array([np.nan, -0.0, 0.0, 1, 1, 2, -3, np.inf, -np.inf, 0.5, 0.1], dtype)
    else:
        limits = np.iinfo(dtype)
        pool = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 7]
        if dtype.itemsize == 8:
            pool += [2**53, 2**53 + 1, 2**53 + 2]
        pool = np.array(pool, dtype)
    pool = pool[rng.permutation(len(pool))[: rng.integers(1, len(pool) + 1)]]
    return pool[rng.integers(0, len(pool), shape)]


def plain(rng, shape):
    return Stored(numbers(rng, rng.choice([*INTEGERS, *FLOATS, "bool"]), shape))


def fills_of(rng, raw):
    """One or two values that mean a missing element, often some that occur."""
    unique = np.unique(raw)
    fill = rng.choice(unique) if unique.size and rng.random() < 0.7 else raw.dtype.type(3)
    attrs = {str(rng.choice(["_FillValue", "missing_value"])): raw.dtype.type(fill)}
    if raw.dtype.kind == "f" and rng.random() < 0.3:
        # A decimal fraction, which only the nearest element can stand for.
        attrs = {"missing_value": np.float64(0.1)}
    if rng.random() < 0.2:
        attrs.setdefault("missing_value", raw.dtype.type(5))
    return attrs


def is_missing(raw, attrs):
    marks = [attrs[name] for name in ("_FillValue", "missing_value") if name in attrs]
    return np.isin(raw, np.array(marks, raw.dtype))


def filled(rng, shape):
    raw = numbers(rng, rng.choice([*INTEGERS, *FLOATS]), shape)
    attrs = fills_of(rng, raw)
    missing = is_missing(raw, attrs)
    if raw.dtype.kind in "iu" and raw.dtype.itemsize == 8:
        fill = int(attrs.get("_FillValue", attrs.get("missing_value")))
        return Stored(raw, attrs, raw, missing, fill)
    wide = np.float32 if raw.dtype.itemsize <= 2 else np.float64
    wide = raw.dtype.type if raw.dtype.kind == "f" else wide
    return Stored(raw, attrs, np.where(missing, wide(np.nan), raw.astype(wide)))


def scaled(rng, shape, form):
    """Scale and offset: a negative scale turns the order round, a small one makes equal values of different numbers."""
    raw = numbers(rng, rng.choice(INTEGERS), shape)
    attrs = fills_of(rng, raw) if rng.random() < 0.5 else {}
    kind = rng.choice([np.float32, np.float64])
    # JSON has one type of floating-point numbers.
    kind = np.float64 if form.startswith("zarr") else kind
    names = [["scale_factor"], ["add_offset"], ["scale_factor", "add_offset"]][rng.integers(3)]
    attrs |= {name: kind(rng.choice([1, 0.5, -0.01, 1e-20, -3, 100])) for name in names}
    wide = np.float64
    if "add_offset" not in names or len(names) == 2:
        wide = kind
    if len(names) == 2 and raw.dtype.kind in "iu" and raw.dtype.itemsize == 4:
        wide = np.float64
    is_wide = raw.dtype.kind in "iu" and raw.dtype.itemsize == 8
    wide = np.float64 if is_wide else wide
    scale = attrs.get("scale_factor", kind(1))
    offset = attrs.get("add_offset", kind(0))
    missing = is_missing(raw, attrs)
    marks = [attrs[name] for name in ("_FillValue", "missing_value") if name in attrs]
    if is_wide and scale == 1 and offset == 0:
        return Stored(raw, attrs, raw, missing, int(marks[0]) if marks else None)
    with np.errstate(all="ignore"):
        values = raw.astype(wide)
        if "scale_factor" in attrs:
            values *= scale
        if "add_offset" in attrs:
            values += offset
    return Stored(raw, attrs, np.where(missing, wide(np.nan), values))


def unsigned(rng, shape):
    bits = rng.choice([8, 16, 32, 64])
    raw = numbers(rng, f"int{bits}", shape)
    values = raw.view(f"uint{bits}")
    attrs = {"_Unsigned": "true"}
    if rng.random() < 0.5:
        return Stored(raw, attrs, values)
    fill = raw.dtype.type(-1)
    missing = raw == fill
    attrs["_FillValue"] = fill
    if bits == 64:
        return Stored(raw, attrs, values, missing, 2**64 - 1)
    wide = np.float32 if bits <= 16 else np.float64
    return Stored(raw, attrs, np.where(missing, wide(np.nan), values.astype(wide)))


def dated(rng, shape):
    raw = rng.integers(-5, 9, shape).astype(rng.choice(["int16", "int32", "int64", "float64"]))
    attrs = {"units": "days since 2000-01-01", "calendar": "standard"}
    values = EPOCH + (raw.astype(np.int64) * DAY).astype("m8[ns]")
    if rng.random() < 0.5:
        attrs["_FillValue"] = raw.dtype.type(7)
        values = np.where(raw == 7, np.datetime64("NaT", "ns"), values)
    return Stored(raw, attrs, values)


def strange(rng, shape):
    """Attributes that say nothing about the elements, or that no library understands."""
    raw = numbers(rng, rng.choice(["int16", "int32", "int64", "float32"]), shape)
    odd = [
        {"units": "months since 2000-01-01"},
        {"units": "days since 2000-01-01", "calendar": "none"},
        {"units": "common_years since 2000-01-01"},
        {"units": "days since yesterday"},
        {"scale_factor": "much"},
        {"missing_value": "none"},
        {"valid_range": np.array([0, 1], raw.dtype)},
        {"units": "K", "long_name": "ü / \n {}", "flag_values": np.array([1, 2], raw.dtype)},
    ]
    return Stored(raw, dict(odd[rng.integers(len(odd))]))


KINDS = {
    "plain": plain,
    "filled": filled,
    "scaled": scaled,
    "unsigned": unsigned,
    "dated": dated,
    "strange": strange,
}


def draw(rng, form):
    """An array, and how it is stored."""
    rank = int(rng.integers(0, 4))
    shape = tuple(rng.integers(1, 9, rank).tolist())
    kind = rng.choice(list(KINDS))
    stored = KINDS[kind](rng, shape, form) if kind == "scaled" else KINDS[kind](rng, shape)
    if rng.random() < 0.3:
        stored.raw = stored.raw.astype(stored.raw.dtype.newbyteorder())
    if rank and rng.random() < 0.7:
        stored.chunks = tuple(int(rng.integers(1, length + 1)) for length in shape)
    if rng.random() < 0.3:
        stored.group = str(rng.choice(["g", "g/h", "labels"]))
    return stored


# How it is written. Each function returns what opens the file, its path and the variable; None if the format cannot.


def write_npy(stored, name):
    path = f"{name}.npy"
    if stored.attrs:
        if stored.fill is not None:
            return None
        np.save(path, stored.values)
    else:
        np.save(path, np.array(stored.raw, order="F" if stored.group else "C"))
    return NpyFile, path, None


def write_npz(stored, name):
    if stored.attrs:
        return None
    save = np.savez_compressed if stored.chunks else np.savez
    save(f"{name}.npz", v=stored.raw, other=np.zeros(3))
    return NpzFile, f"{name}.npz", "v"


def dims_of(stored):
    return [f"d{axis}" for axis in range(stored.raw.ndim)]


def write_netcdf(stored, name, file_format="NETCDF4", reader=NetcdfFile):
    names = CLASSIC if file_format == "NETCDF3_CLASSIC" else [*INTEGERS, "float32", "float64"]
    if stored.raw.dtype.name not in names or (file_format == "NETCDF3_CLASSIC" and stored.group):
        return None
    path = f"{name}.nc"
    endian = "native"
    if stored.raw.dtype.byteorder in "<>" and file_format == "NETCDF4":
        endian = {"<": "little", ">": "big"}[stored.raw.dtype.byteorder]
    with netCDF4.Dataset(path, "w", format=file_format) as whole:
        group = whole.createGroup(stored.group) if stored.group else whole
        for dim, length in zip(dims_of(stored), stored.raw.shape, strict=True):
            whole.createDimension(dim, length)
        options = {"chunksizes": stored.chunks, "endian": endian} if file_format == "NETCDF4" else {}
        variable = group.createVariable(
            "v", stored.raw.dtype, dims_of(stored), fill_value=stored.attrs.get("_FillValue", False), **options
        )
        variable.set_auto_maskandscale(False)
        variable.setncatts({key: value for key, value in stored.attrs.items() if key != "_FillValue"})
        variable[...] = stored.raw
        # A neighbour that spoils nothing.
        whole.createVariable("other", "i4", ()).units = "months since 2000-01-01"
    return reader, path, f"{stored.group}/v" if stored.group else "v"


def write_hdf5(stored, name):
    path = f"{name}.h5"
    with h5py.File(path, "w") as whole:
        group = whole.require_group(stored.group) if stored.group else whole
        dataset = group.create_dataset("v", data=stored.raw, chunks=stored.chunks)
        for key, value in stored.attrs.items():
            dataset.attrs[key] = value
    return Hdf5File, path, f"{stored.group}/v" if stored.group else "v"


def write_zarr(stored, name, zarr_format):
    path = f"{name}.zarr"
    if zarr is None:
        return None
    attrs = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in stored.attrs.items()}
    options = {"fill_value": None}
    fill = attrs.pop("_FillValue", None)
    if zarr_format == 2:
        attrs["_ARRAY_DIMENSIONS"] = dims_of(stored)
        options = {"fill_value": fill}
    else:
        options = {"dimension_names": dims_of(stored)}
        if fill is not None:
            from xarray.backends.zarr import FillValueCoder

            attrs["_FillValue"] = FillValueCoder.encode(fill, stored.raw.dtype)
    root = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    group = root.require_group(stored.group) if stored.group else root
    array = group.create_array(
        "v",
        shape=stored.raw.shape,
        dtype=stored.raw.dtype,
        chunks=stored.chunks or tuple(max(1, n) for n in stored.raw.shape),
        attributes=attrs,
        **options,
    )
    array[...] = stored.raw
    return ZarrFile, path, f"{stored.group}/v" if stored.group else "v"


FORMS = {
    "npy": write_npy,
    "npz": write_npz,
    "netcdf": write_netcdf,
    "netcdf by h5py": partial(write_netcdf, reader=Hdf5File),
    "classic netcdf": partial(write_netcdf, file_format="NETCDF3_CLASSIC"),
    "hdf5": write_hdf5,
    "zarr2": partial(write_zarr, zarr_format=2),
    "zarr3": partial(write_zarr, zarr_format=3),
}


# The oracle: slow, and plain.


class EmptyError(Exception):
    """A slice has no element to choose from."""


class MissingError(Exception):
    """An element is missing where none may be."""


def order_of(values, missing, largest, policy):
    """The places of a slice from best to worst; equal elements in ascending order."""
    there = [at for at in range(len(values)) if not missing[at]]
    gone = [at for at in range(len(values)) if missing[at]]
    ranked = sorted(there, key=lambda at: values[at], reverse=largest)
    # Python keeps the order of equal elements, but reversed when it sorts in reverse is still stable.
    return gone + ranked if policy == "propagate" else ranked + gone


def best_of(values, missing, largest, last, policy):
    """The place of the best element of a slice."""
    if policy == "raise" and missing.any():
        raise MissingError
    if policy == "omit" and missing.all():
        return None
    ranked = order_of(values, missing, largest, "omit" if policy == "omit" else "propagate")
    first = ranked[0]
    same = [at for at in range(len(values)) if missing[at] == missing[first]]
    if not missing[first]:
        same = [at for at in same if values[at] == values[first]]
    return same[-1] if last else same[0]


def oracle(stored, function, axes, keepdims, last, policy, default, k, mode):
    """What a call must give, one array for each result."""
    values = stored.values
    # What no call selects under "omit".
    missing = stored.missing.copy()
    if values.dtype.kind == "f":
        missing |= np.isnan(values)
    if values.dtype.kind in "mM":
        missing |= np.isnat(values)
    if stored.fill is not None:
        values = np.where(missing, np.array(stored.fill, values.dtype), values)
    # A row for each slice, over all reduced axes.
    axes = tuple(range(values.ndim)) if axes is None else tuple(sorted(axes))
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    outer = [values.shape[axis] for axis in kept]
    count = int(np.prod([values.shape[axis] for axis in axes]))
    move = [*kept, *axes]
    rows = values.transpose(move).reshape(-1, count)
    gaps = missing.transpose(move).reshape(-1, count)
    native = values.dtype.newbyteorder("=")
    if function == "top_k":
        largest = mode == "largest"
        if policy == "raise" and missing.any():
            raise MissingError
        rule = "omit" if policy == "omit" else "propagate"
        places = [order_of(row, gap, largest, rule)[:k] for row, gap in zip(rows, gaps, strict=True)]
        index = np.array(places, np.int64).reshape(len(rows), k)
        chosen = np.take_along_axis(rows, index, 1)
        if kept:
            (axis,) = axes
            return [np.moveaxis(each.reshape(*outer, k), -1, axis) for each in (chosen.astype(native), index)]
        return [each.reshape(k) for each in (chosen.astype(native), index)]
    ends = {"argmin": [False], "min": [False], "minmax": [False, True]}.get(function, [True])
    results = []
    for largest in ends:
        places = [best_of(v, m, largest, last, policy) for v, m in zip(rows, gaps, strict=True)]
        if function == "hardmax":
            ones = np.zeros(rows.shape, np.int64 if native.kind in "mM" else native)
            for row, at in enumerate(places):
                if at is not None:
                    ones[row, at] = 1
            back = np.argsort(move)
            return [ones.reshape([values.shape[axis] for axis in move]).transpose(back)]
        if None in places and default is None:
            raise EmptyError
        if function.startswith("arg"):
            found = np.array([default if at is None else at for at in places], np.int64)
        else:
            found = np.empty(len(rows), native)
            for row, at in enumerate(places):
                found[row] = default if at is None else rows[row, at]
        shape = [1 if axis in axes else values.shape[axis] for axis in range(values.ndim)] if keepdims else outer
        results.append(found.reshape(shape))
    return results


# The calls.


def same(one, other):
    """Whether two arrays have the same type and elements: bits, but for NaN."""
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    if one.dtype.kind in "mM":
        return one.tobytes() == other.tobytes()
    if one.dtype.kind != "f":
        return bool((one == other).all())
    nan = np.isnan(one)
    return bool((nan == np.isnan(other)).all() and one[~nan].tobytes() == other[~nan].tobytes())


def answer(sources, function, axes, **options):
    """The job, and what its pieces make together."""
    sources = sources if isinstance(sources, list) else [sources]
    number = axes[0] if axes is not None and len(axes) == 1 else axes
    job = planned(function, sources, number, 64_000_000, **options)
    results = [np.empty(job.shape, dtype) for dtype in job.dtypes]
    filled_places = np.zeros(job.shape, int)
    for step in steps(job):
        if step.place is not None:
            filled_places[step.place] += 1
            for result, block in zip(results, step.blocks, strict=True):
                result[step.place] = block
    assert (filled_places == 1).all()
    return job, results


def options_of(rng, stored, function):
    """Axes and options of a call: what `planned` takes, and what the oracle takes."""
    rank = stored.raw.ndim
    axes = None
    if rank and rng.random() < 0.7:
        axes = tuple(rng.permutation(rank)[: rng.integers(1, rank + 1)].tolist())
    options = {"nan_policy": str(rng.choice(["propagate", "propagate", "omit", "raise"]))}
    given = {"keepdims": False, "last": False, "default": None, "k": 0, "mode": "largest"}
    if function == "top_k":
        axes = None if axes is None else axes[:1]
        length = stored.raw.size if axes is None else stored.raw.shape[axes[0]]
        options["k"] = int(rng.integers(0, length + 1))
        options["mode"] = str(rng.choice(["largest", "smallest"]))
    elif function != "hardmax":
        options["keepdims"] = bool(rng.random() < 0.3)
        options["last"] = bool(rng.random() < 0.3)
        takes_number = function.startswith("arg") or stored.values.dtype.kind in "iuf"
        options["default"] = 1 if rng.random() < 0.5 and takes_number else None
    return axes, options, given | {name: value for name, value in options.items() if name != "nan_policy"}


def one_call(seed):
    """Draw an array and a call, and hold every format to the oracle; return how many were compared."""
    rng = np.random.default_rng(seed)
    compared = 0
    function = str(rng.choice(FUNCTIONS))
    lengths.ENOUGH = int(rng.choice([200, 2000, 64 << 20]))
    jobs.RUN = 1 if lengths.ENOUGH < 1 << 20 else 64 << 10
    for form, write in FORMS.items():
        # The same array for each format, but for what JSON cannot say.
        drawn = np.random.default_rng(seed)
        stored = draw(drawn, form)
        axes, options, given = options_of(drawn, stored, function)
        # An open file keeps its name.
        written = write(stored, f"{seed}_{form}")
        if written is None:
            continue
        reader, path, variable = written
        source = Source.open(path, reader, variable)
        call = f"seed {seed}, {form}: {function} {axes} {options} of {stored}"
        try:
            expected = oracle(stored, function, axes, policy=options["nan_policy"], **given)
        except (EmptyError, MissingError):
            expected = None
        try:
            job, results = answer(source, function, axes, **options)
        except ExtremumError as error:
            if expected is not None:
                raise AssertionError(f"{call}\nexpected {expected}") from error
            compared += 1
            continue
        assert expected is not None, f"{call}\ngave {results}, and must be refused"
        for result, right in zip(results, expected, strict=True):
            assert same(result, right), f"{call}\ngave {result!r}\nnot  {right!r}"
        for number, (result, output) in enumerate(zip(results, job.outputs, strict=True)):
            suffix = str(drawn.choice([".nc", ".zarr"] if zarr else [".nc"]))
            assert comes_back(f"{seed}_{form}_{number}{suffix}", job, output, result), f"{call}\n{result!r} in {suffix}"
        compared += 1
    return compared + both(seed)


def comes_back(path, job, output, result):
    """Whether a result that is written to a file is read from it again."""
    if result.dtype.name not in WRITTEN or (result.dtype == np.float16 and path.endswith(".nc")):
        return True
    with writing(Path(path), job.shape, output, job.labels) as put:
        put(tuple(slice(0, length) for length in job.shape), result)
    name = job.labels.name if job.labels.is_variable or path.endswith(".nc") else None
    source = Source.open(path, ZarrFile if path.endswith(".zarr") else NetcdfFile, name)
    again = source.decoding.restore(source.read(tuple(slice(0, length) for length in source.shape)))
    if output.attrs.get("units", "").startswith("days since") or again.dtype.kind in "mM":
        # The numbers mean times, where the attributes of the source say so.
        return again.shape == result.shape
    return same(again, result)


def both(seed):
    """Compare two arrays element by element, from files of two formats."""
    rng = np.random.default_rng(seed)
    function = str(rng.choice(["maximum", "minimum"]))
    policy = str(rng.choice(["propagate", "omit"]))
    rng = np.random.default_rng(seed)
    one = draw(rng, "hdf5")
    other = Stored(np.roll(one.raw, 1), one.attrs, np.roll(one.values, 1), np.roll(one.missing, 1), one.fill, None, "g")
    sources = []
    for number, (stored, write) in enumerate([(one, write_hdf5), (other, rng.choice([write_hdf5, write_netcdf]))]):
        reader, path, variable = write(stored, f"{seed}_{number}") or write_hdf5(stored, f"{seed}_{number}")
        sources.append(Source.open(path, reader, variable))
    if sources[0].dtype != sources[1].dtype:
        # netCDF and HDF5 differ in whether one is a bool.
        return 0
    _, (result,) = answer(sources, function, None, nan_policy=policy)
    rows = np.stack([one.values.reshape(-1), other.values.reshape(-1)])
    gaps = np.stack([one.missing.reshape(-1), other.missing.reshape(-1)])
    if rows.dtype.kind in "fmM":
        gaps = gaps | np.isnan(rows)
    places = [
        best_of(rows[:, at], gaps[:, at], function == "maximum", False, "propagate" if gaps[:, at].all() else policy)
        for at in range(rows.shape[1])
    ]
    expected = np.array([rows[place, at] for at, place in enumerate(places)], result.dtype).reshape(result.shape)
    if one.fill is not None:
        chosen = np.array([gaps[place, at] for at, place in enumerate(places)], bool).reshape(result.shape)
        expected[chosen] = one.fill
    equal = result == expected
    if rows.dtype.kind in "fmM":
        equal |= np.isnan(result) & np.isnan(expected)
    assert equal.all(), f"seed {seed}: {function} {policy} of {one} and {other}\ngave {result!r}\nnot  {expected!r}"
    return 1


@contextlib.contextmanager
def in_a_folder():
    """A folder of its own, and the constants as they were."""
    before = Path.cwd()
    constants = lengths.ENOUGH, jobs.RUN
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            lengths.ENOUGH, jobs.RUN = constants


def run(calls, seed):
    """Make calls from a seed on; return how many results were compared."""
    with in_a_folder(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sum(one_call(seed + number) for number in range(calls))


if __name__ == "__main__":
    random_driver.main(__doc__, run, "results of files are the oracle's")
