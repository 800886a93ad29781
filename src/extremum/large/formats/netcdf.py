"""NetCDF files, through the NetCDF library."""

from __future__ import annotations

import contextlib
import errno
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, InputError, first_line, required_by
from extremum.large.formats.labels import Labels
from extremum.large.formats.output import Output, netcdf_name, plain_attributes
from extremum.large.formats.source import Put
from extremum.large.formats.stored import (
    MOST_NAMES,
    Coordinate,
    Description,
    as_text,
    choose,
    everything,
    inner,
    labelling,
    listed,
    meant,
    scopes,
)
from extremum.partials import Place

_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


class NetcdfFile:
    """A NetCDF file: a classic one, or HDF5."""

    copies = 1

    def __init__(self, path: Path) -> None:
        import netCDF4

        self._path = path
        self._file = netCDF4.Dataset(path)
        # Elements are decoded elsewhere.
        self._file.set_auto_maskandscale(False)
        self._file.set_auto_chartostring(False)

    def describe(self, variable: str | None) -> Description:
        """Describe the array of this name, or the only array."""
        path = variable
        if path is not None:
            path = path.strip("/")
        found = self._get(path) if path else None
        if found is None:
            is_group = path is not None and self._group(path) is not None
            below = path if is_group and path else ""
            path = choose(self._path, "variable", self._names(below), None if is_group else variable)
            found = self._get(path)
        dtype = _type_of(found)
        if dtype.hasobject:
            raise InputError(f"'{self._path}': the NetCDF library has no numbers in variable {path!r}")
        attrs = _attributes(found)
        chunks = found.chunking()
        return Description(
            shape=tuple(found.shape),
            dtype=dtype,
            path=path,
            chunks=tuple(chunks) if isinstance(chunks, list) else None,
            dims=tuple(found.dimensions),
            attrs={key: value for key, value in attrs.items() if key != "coordinates"},
            coordinates=labelling(tuple(found.dimensions), self._coordinates(str(path), found, attrs)),
        )

    def read(self, path: str | None, place: Place) -> NDArray[Any]:
        """Return the elements of an array at a place."""
        found = self._get(str(path))
        return np.asarray(found[place or ...], _type_of(found))

    def whole(self, path: str) -> tuple[NDArray[Any], Mapping[str, Any]]:
        """Return all elements of a coordinate, and its attributes."""
        found = self._get(path)
        return np.asarray(found[everything(found.shape) or ...]), _attributes(found)

    def _group(self, path: str) -> Any:
        """Return the group of this path, or None."""
        group: Any = self._file
        if not path:
            return group
        for name in path.split("/"):
            group = group.groups.get(name)
            if group is None:
                return None
        return group

    def _get(self, path: str) -> Any:
        """Return the variable of this path, or None."""
        group, _, name = path.rpartition("/")
        found = self._group(group)
        return None if found is None else found.variables.get(name)

    def _names(self, below: str) -> Iterator[str]:
        """Yield the paths of the variables below a group, without coordinates."""
        variables: list[str] = []
        coordinates: set[str] = set()
        waiting = deque([below])
        while waiting and len(variables) < MOST_NAMES:
            path = waiting.popleft()
            group = self._group(path)
            waiting.extend(inner(path, name) for name in group.groups)
            coordinates.update(meant(path, listed(_attributes(group).get("coordinates"))))
            for name, each in group.variables.items():
                variables.append(inner(path, name))
                coordinates.update(meant(path, listed(_attributes(each).get("coordinates"))))
                if name in each.dimensions:
                    coordinates.add(inner(path, name))
        plain = [each for each in variables if each not in coordinates]
        yield from plain or variables

    def _coordinates(self, path: str, found: Any, attrs: Mapping[str, Any]) -> Iterator[Coordinate]:
        """Yield the variables with the names of dimensions, and the coordinates that an attribute lists."""
        group = path.rpartition("/")[0]
        own = _attributes(self._group(group)).get("coordinates")
        for name in (*found.dimensions, *listed(attrs.get("coordinates")), *listed(own)):
            for scope in scopes(group):
                each = self._get(inner(scope, name))
                if each is not None:
                    # The last axis of characters is not a dimension of the text.
                    dims = each.dimensions[:-1] if each.dtype == "S1" else each.dimensions
                    yield Coordinate(inner(scope, name), tuple(dims), tuple(each.shape))
                    break


def _type_of(found: Any) -> np.dtype[Any]:
    """Return the type of a variable's elements; types of the file's own are objects."""
    is_plain = isinstance(found.dtype, np.dtype) and not getattr(found, "_isvlen", False)
    return found.dtype.newbyteorder("=") if is_plain else np.dtype(object)


def _attributes(found: Any) -> dict[str, Any]:
    """Return the attributes that the library reads."""
    attrs = {}
    for name in found.ncattrs():
        with contextlib.suppress(AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError):
            attrs[name] = found.getncattr(name)
    return attrs


@contextlib.contextmanager
def write_netcdf(path: Path, shape: tuple[int, ...], output: Output, labels: Labels) -> Iterator[Put]:
    """Create a NetCDF file with the coordinates of a result; the context gives the function that writes pieces."""
    with required_by("a .nc file"):
        import netCDF4
    numbers = output.as_numbers()
    if numbers.dtype.name not in _TYPES:
        raise ArgumentError(
            f"NetCDF does not store elements of type {output.dtype}", remedy="write a .npy or .zarr file"
        )

    @contextlib.contextmanager
    def attempt() -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            # For a full disk the library says only that it failed.
            raise OSError(errno.EIO, f"it could not be written: {first_line(error)}", str(path)) from None

    with attempt():
        whole = netCDF4.Dataset(str(path), "w")
    try:
        with attempt():
            kept = [
                coordinate.name for coordinate, load in labels.coordinates if _add(whole, coordinate, *load())
            ]
            dims = [netcdf_name(name) for name in labels.dims]
            for name, length in zip(dims, shape, strict=True):
                if name not in whole.dimensions:
                    whole.createDimension(name, length)
            attrs = dict(output.attrs)
            others = [name for name in kept if name not in dims]
            if others:
                attrs["coordinates"] = " ".join(others)
            array = _create(whole, labels.name, numbers.dtype, dims, {**attrs, **numbers.attrs}, numbers.fill)

        def put(place: Place, block: NDArray[Any]) -> None:
            with attempt():
                array[place or ...] = output.numbers(block)

        yield put
    finally:
        with attempt():
            whole.close()


def _add(whole: Any, coordinate: Coordinate, values: NDArray[Any], attrs: Mapping[str, Any]) -> bool:
    """Copy a coordinate as it is stored; return whether NetCDF can hold it."""
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize == 2:
        values = values.astype(np.float32)
    if kind == "b":
        values = values.astype(np.int8)
        attrs = {**attrs, "dtype": "bool"}
    if kind in "mM":
        output = Output(values.dtype, attrs)
        numbers = output.as_numbers()
        attrs = {**numbers.attrs, "_FillValue": numbers.fill}
        values = output.numbers(values)
    if values.dtype.kind in "OTU" or (kind == "S" and values.dtype.itemsize != 1):
        texts = [as_text(each) for each in values.ravel()]
        values = np.array(texts, object).reshape(values.shape)
    is_text = values.dtype.kind == "O"
    if not is_text and values.dtype.name not in _TYPES and values.dtype != "S1":
        return False
    dims = [netcdf_name(name) for name in coordinate.dims]
    if values.ndim > len(dims):
        dims.append(f"{coordinate.name}_length")
    for name, length in zip(dims, values.shape, strict=True):
        if name not in whole.dimensions:
            whole.createDimension(name, length)
    attrs = dict(attrs)
    # Coordinates of coordinates are not copied.
    attrs.pop("coordinates", None)
    if is_text:
        # It says how the bytes of characters are read, and xarray fails where there are none.
        attrs.pop("_Encoding", None)
    fill = attrs.pop("_FillValue", None)
    if is_text:
        array = _create(whole, coordinate.name, str, dims, attrs, None)
    else:
        array = _create(whole, coordinate.name, values.dtype, dims, attrs, fill)
    array[...] = values
    return True


def _create(whole: Any, name: str, dtype: Any, dims: list[str], attrs: Mapping[str, Any], fill: Any) -> Any:
    """Create a variable; an attribute that NetCDF cannot hold is left out."""
    is_number = isinstance(dtype, np.dtype) and dtype.kind in "iuf" and np.asarray(fill).dtype.kind in "iuf"
    # A dimension of length 0 can grow, and a variable that can grow has to be in chunks.
    contiguous = dtype is not str and all(len(whole.dimensions[each]) > 0 for each in dims)
    own = dtype
    if isinstance(dtype, np.dtype):
        own = dtype.newbyteorder("=")
    # NetCDF has a fill value of its own for each type, unless a variable refuses it.
    fill_value: Any = False
    if is_number:
        fill_value = np.ravel(fill)[0].astype(dtype)
    array = whole.createVariable(netcdf_name(name), own, dims, fill_value=fill_value, contiguous=contiguous)
    array.set_auto_maskandscale(False)
    array.set_auto_chartostring(False)
    for key, value in plain_attributes(attrs).items():
        if key != "_FillValue":
            with contextlib.suppress(AttributeError, RuntimeError, TypeError, UnicodeError, ValueError):
                array.setncattr(netcdf_name(key), value)
    return array
