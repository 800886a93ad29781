"""Zarr stores, of both formats."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, required_by
from extremum.large.formats.labels import Labels
from extremum.large.formats.output import Output, fill_for_zarr, fill_of_zarr, json_attributes
from extremum.large.formats.source import Put
from extremum.large.formats.stored import (
    MOST_NAMES,
    Coordinate,
    Description,
    choose,
    everything,
    inner,
    labelling,
    listed,
    meant,
    scopes,
)
from extremum.partials import Place

_DIMS = "_ARRAY_DIMENSIONS"
"""The attribute that names the dimensions in format 2."""

_CHUNK = 16 << 20
"""The size of a chunk of a result in bytes."""


class ZarrFile:
    """A Zarr store, or a group or an array in it."""

    copies = 1

    def __init__(self, path: Path) -> None:
        import zarr

        self._path = path
        # Raises the system's error if the path does not exist or is not a folder.
        next(path.iterdir(), None)
        self._array = zarr.Array
        self._root = zarr.open(str(path), mode="r")

    def describe(self, variable: str | None) -> Description:
        """Describe the array of this name, or the only array."""
        name = variable
        if name is not None:
            name = name.strip("/")
        found = self._root if name is None else self._get(name)
        if not isinstance(found, self._array):
            is_group = found is not None
            below = name if is_group and name else ""
            name = choose(self._path, "array", self._names(below), None if is_group else variable)
            found = self._get(name)
        attrs = dict(found.attrs)
        dims = _dims(found)
        if _DIMS in attrs and found.metadata.zarr_format == 2 and found.fill_value is not None:
            # In format 2 the fill value of a store that names its dimensions is the CF attribute.
            attrs["_FillValue"] = found.fill_value
        if "_FillValue" in attrs:
            attrs["_FillValue"] = fill_of_zarr(attrs["_FillValue"], found.dtype)
        return Description(
            shape=tuple(found.shape),
            dtype=np.dtype(found.dtype),
            path=name,
            chunks=getattr(found, "shards", None) or found.chunks,
            dims=dims,
            attrs={key: value for key, value in attrs.items() if key not in ("coordinates", _DIMS)},
            coordinates=labelling(dims, self._coordinates(name, dims, attrs))
            if name and dims is not None
            else (),
            zarr_format=int(found.metadata.zarr_format),
        )

    def read(self, path: str | None, place: Place) -> NDArray[Any]:
        """Return the elements of an array at a place."""
        # Zarr reads a missing chunk as zeros, so look for the store first.
        if not self._path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._path))
        found = self._root if path is None else self._root[path]
        return np.asarray(found[place])

    def whole(self, path: str) -> tuple[NDArray[Any], Mapping[str, Any]]:
        """Return all elements of a coordinate, and its attributes."""
        found = self._root[path]
        attrs = dict(found.attrs)
        if found.metadata.zarr_format == 2 and found.fill_value is not None:
            attrs["_FillValue"] = found.fill_value
        if "_FillValue" in attrs:
            attrs["_FillValue"] = fill_of_zarr(attrs["_FillValue"], np.dtype(found.dtype))
        attrs.pop(_DIMS, None)
        return np.asarray(found[everything(found.shape)]), attrs

    def _get(self, path: str) -> Any:
        """Return the array or the group of this path, or None."""
        if isinstance(self._root, self._array) or not path:
            return None if path else self._root
        # A path may not leave the store.
        if any(part in ("", ".", "..") for part in path.split("/")):
            return None
        try:
            return self._root[path]
        except KeyError:
            return None

    def _names(self, below: str) -> Iterator[str]:
        """Yield the paths of the arrays below a group, without coordinates."""
        if isinstance(self._root, self._array):
            return
        arrays: list[str] = []
        coordinates: set[str] = set()
        waiting = deque([below])
        groups = 0
        while waiting and len(arrays) < MOST_NAMES and groups < MOST_NAMES:
            path = waiting.popleft()
            groups += 1
            group = self._get(path) if path else self._root
            coordinates.update(meant(path, listed(group.attrs.get("coordinates"))))
            for name, each in sorted(group.members()):
                if not isinstance(each, self._array):
                    waiting.append(inner(path, name))
                    continue
                arrays.append(inner(path, name))
                coordinates.update(meant(path, listed(each.attrs.get("coordinates"))))
                if name in (_dims(each) or ()):
                    coordinates.add(inner(path, name))
        plain = [each for each in arrays if each not in coordinates]
        yield from plain or arrays

    def _coordinates(
        self, path: str, dims: tuple[str, ...], attrs: Mapping[str, Any]
    ) -> Iterator[Coordinate]:
        """Yield the arrays with the names of dimensions, and the coordinates that an attribute lists."""
        group = path.rpartition("/")[0]
        own = (self._get(group) if group else self._root).attrs.get("coordinates")
        for name in (*dims, *listed(attrs.get("coordinates")), *listed(own)):
            for scope in scopes(group):
                each = self._get(inner(scope, name))
                if isinstance(each, self._array):
                    own_dims = _dims(each)
                    if own_dims is not None or each.shape == ():
                        yield Coordinate(inner(scope, name), own_dims or (), tuple(each.shape))
                    break


def _dims(found: Any) -> tuple[str, ...] | None:
    """Return the names of the axes; None if no axis has one."""
    if not found.shape:
        return ()
    names = getattr(found.metadata, "dimension_names", None) or found.attrs.get(_DIMS)
    if not isinstance(names, list | tuple) or len(names) != len(found.shape) or not any(names):
        return None
    return tuple(str(name) if name else f"dim_{axis}" for axis, name in enumerate(names))


@contextlib.contextmanager
def write_zarr(path: Path, shape: tuple[int, ...], output: Output, labels: Labels) -> Iterator[Put]:
    """Create a Zarr store; the context gives the function that writes pieces.

    A variable of a file becomes an array in a group, beside its coordinates, as xarray reads it. What has no name
    becomes an array alone.
    """
    with required_by("a .zarr file"):
        import zarr

    zarr_format = labels.zarr_format
    is_labelled = labels.is_variable
    # Without labels, nothing says which dates the numbers mean.
    numbers = output.as_numbers() if is_labelled else output
    if is_labelled:
        group = zarr.open_group(str(path), mode="w", zarr_format=zarr_format)
        dims = labels.dims
        where = {"store": group.store_path, "name": labels.name}
    else:
        group = dims = None
        where = {"store": str(path)}
    attrs = dict(numbers.attrs)
    if group is not None:
        names = [each.name for each, load in labels.coordinates if _add(group, zarr_format, each, *load())]
        others = [name for name in names if name not in labels.dims]
        if others:
            attrs["coordinates"] = " ".join(others)
    try:
        array = _create(where, zarr_format, shape, numbers.dtype, dims, attrs, numbers.fill)
    except (KeyError, TypeError, ValueError):
        raise ArgumentError(
            f"Zarr does not store elements of type {output.dtype}", remedy="name a .npy file"
        ) from None

    def put(place: Place, block: NDArray[Any]) -> None:
        array[place] = output.numbers(block) if is_labelled else block

    yield put
    if group is not None and zarr_format == 2:
        # Without this, xarray warns about such a store; in format 3 it does not look for it.
        zarr.consolidate_metadata(str(path))


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return chunks of about 16 MB, whole along the last axes."""
    chunks = [max(1, length) for length in shape]
    for axis, length in enumerate(chunks):
        inner_size = math.prod(chunks[axis + 1 :]) * itemsize
        chunks[axis] = max(1, min(length, _CHUNK // max(inner_size, 1)))
        if chunks[axis] > 1:
            break
    return tuple(chunks)


def _create(
    where: Mapping[str, Any],
    zarr_format: int,
    shape: tuple[int, ...],
    dtype: Any,
    dims: tuple[str, ...] | None,
    attrs: Mapping[str, Any],
    fill: Any,
) -> Any:
    """Create an array; its fill value is written where xarray looks for it."""
    import zarr

    plain = json_attributes({key: value for key, value in attrs.items() if key != "_FillValue"})
    options: dict[str, Any] = {}
    is_number = np.dtype(dtype).kind in "iuf" and np.asarray(fill).dtype.kind in "iuf"
    mark = np.ravel(fill)[0].astype(dtype) if is_number else None
    if dims is not None and zarr_format == 2:
        plain[_DIMS] = list(dims)
        options["fill_value"] = None if mark is None else mark.item()
    if dims is not None and zarr_format == 3:
        options["dimension_names"] = list(dims)
    if mark is not None and zarr_format == 3:
        plain["_FillValue"] = fill_for_zarr(mark, np.dtype(dtype))
    return zarr.create_array(
        **where,
        shape=shape,
        dtype=dtype,
        chunks=_chunks(shape, np.dtype(dtype).itemsize),
        zarr_format=zarr_format,
        attributes=plain,
        **options,
    )


def _add(
    group: Any, zarr_format: int, coordinate: Coordinate, values: NDArray[Any], attrs: Mapping[str, Any]
) -> bool:
    """Copy a coordinate as it is stored; return whether Zarr can hold it."""
    attrs = dict(attrs)
    # Coordinates of coordinates are not copied.
    attrs.pop("coordinates", None)
    fill = attrs.pop("_FillValue", None)
    if values.dtype == "S1" and values.ndim > len(coordinate.dims):
        values = np.char.decode(
            np.ascontiguousarray(values).view(f"S{values.shape[-1]}")[..., 0], errors="replace"
        )
    if values.dtype.kind == "O":
        values = np.array([str(each) for each in values.ravel()]).reshape(values.shape)
    if values.dtype.kind == "U":
        # It says how the bytes of characters are read, and xarray fails where there are none.
        attrs.pop("_Encoding", None)
    try:
        with warnings.catch_warnings():
            # Texts have no final specification in format 3.
            warnings.simplefilter("ignore")
            where = {"store": group.store_path, "name": coordinate.name}
            array = _create(where, zarr_format, values.shape, values.dtype, coordinate.dims, attrs, fill)
            array[...] = values
    except (KeyError, TypeError, ValueError):
        return False
    return True
