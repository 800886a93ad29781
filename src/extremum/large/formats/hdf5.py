"""HDF5 files, through h5py: only the array that is asked for is opened, and what labels it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import InputError
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

# What NetCDF and the scales of dimensions keep in attributes.
_INTERNAL = (
    *("CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"),
    *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_NCProperties", "_nc3_strict"),
)
# A dimension of NetCDF without a variable of its name is a dataset too, which holds nothing.
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
# What NetCDF puts before the name of a variable that has the name of a dimension, and not that dimension.
_NO_COORDINATE = "_nc4_non_coord_"


class FilterError(InputError):
    """A variable is compressed in a way that h5py does not know here."""


class Hdf5File:
    """An HDF5 file, or a NetCDF file that is one."""

    copies = 1

    def __init__(self, path: Path) -> None:
        import h5py

        with suppress(ImportError):
            # It brings decompressors.
            import hdf5plugin  # noqa: F401
        self._path = path
        self._file = h5py.File(path, "r")
        self._dataset = h5py.Dataset
        self._group = h5py.Group

    def describe(self, variable: str | None) -> Description:
        """Describe the array of this name, or the only array."""
        name = variable
        if name is not None:
            name = name.strip("/")
        found = self._get(name) if name else None
        if not isinstance(found, self._dataset):
            is_group = isinstance(found, self._group)
            below = found if is_group else self._file
            name = choose(self._path, "variable", self._names(below), None if is_group else variable)
            found = self._get(name)
        if found.shape is None:
            raise InputError(f"'{self._path}': variable {name!r} has no elements: its dataspace is null")
        assert name is not None
        _require_filters(found, f"'{self._path}': variable {name!r}")
        attrs = _attributes(found)
        dims = self._dims(found, name)
        return Description(
            shape=self._shape(found),
            dtype=found.dtype,
            path=name,
            chunks=found.chunks,
            dims=dims,
            attrs={key: value for key, value in attrs.items() if key != "coordinates"},
            coordinates=() if dims is None else labelling(dims, self._coordinates(name, found, dims, attrs)),
        )

    def read(self, path: str | None, place: Place) -> NDArray[Any]:
        """Return the elements of an array at a place."""
        return self._elements(self._get(str(path)), place)

    def whole(self, path: str) -> tuple[NDArray[Any], Mapping[str, Any]]:
        """Return all elements of a coordinate, and its attributes."""
        found = self._get(path)
        if found.dtype.kind == "O":
            block = np.asarray(found.asstr()[...])
        else:
            block = self._elements(found, everything(self._shape(found)))
        return block, _attributes(found)

    def _elements(self, found: Any, place: Place) -> NDArray[Any]:
        """Return the elements at a place; those that are not stored have the fill value."""
        shape = self._shape(found)
        if shape == found.shape:
            return np.asarray(found[place])
        ranges = [range(*each.indices(length)) for each, length in zip(place, shape, strict=True)]
        block = np.full([len(each) for each in ranges], found.fillvalue, found.dtype)
        counts = [
            max(0, min(each.stop, length) - each.start)
            for each, length in zip(ranges, found.shape, strict=True)
        ]
        there = tuple(
            slice(each.start, each.start + count) for each, count in zip(ranges, counts, strict=True)
        )
        if all(counts):
            block[tuple(map(slice, counts))] = found[there]
        return block

    def _shape(self, found: Any) -> tuple[int, ...]:
        """Return the shape of a dataset, as long as the dimensions of NetCDF that can grow.

        Such a dimension is as long as the longest variable along it; the file stores the others as far as they were
        written.
        """
        shape = list(found.shape)
        for axis, most in enumerate(found.maxshape):
            if most is None and (scale := self._scale(found, axis) or _own_scale(found)) is not None:
                shape[axis] = max(shape[axis], self._length(scale))
        return tuple(shape)

    def _length(self, scale: Any) -> int:
        """Return the length of a dimension: that of the longest dataset along it."""
        length = int(scale.shape[0]) if scale.shape else 0
        for reference, axis in _attached(scale):
            try:
                shape = self._file[reference].shape
            except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError):
                continue
            if shape is not None and 0 <= axis < len(shape):
                length = max(length, int(shape[axis]))
        return length

    def _get(self, path: str) -> Any:
        """Return what has this path, or None: nothing has it, or a link leads nowhere."""
        group, _, name = path.rpartition("/")
        for each in (path, inner(group, _NO_COORDINATE + name)):
            with suppress(KeyError, OSError, RuntimeError, ValueError):
                found = self._file.get(each)
                if found is not None and not _is_bare_dimension(found):
                    return found
        return None

    def _names(self, below: Any) -> Iterator[str]:
        """Yield the paths of the variables below a group, without coordinates, each object once."""
        import h5py

        variables: list[str] = []
        coordinates: set[str] = set()
        seen: set[tuple[int, int]] = set()
        waiting = deque([(below.name.strip("/"), below)])
        while waiting and len(seen) < MOST_NAMES:
            path, group = waiting.popleft()
            for stored_name in group:
                name = stored_name.removeprefix(_NO_COORDINATE)
                each = self._get(inner(path, name))
                if each is None or not isinstance(each, self._dataset | self._group):
                    continue
                # A link may lead back to a group that holds it.
                address = h5py.h5o.get_info(each.id)
                if (address.fileno, address.addr) in seen or len(seen) >= MOST_NAMES:
                    continue
                seen.add((address.fileno, address.addr))
                if isinstance(each, self._group):
                    waiting.append((inner(path, name), each))
                    continue
                variables.append(inner(path, name))
                coordinates.update(meant(path, listed(_text(each, "coordinates"))))
                is_scale = _text(each, "CLASS") == "DIMENSION_SCALE"
                if is_scale or name in (self._dims(each, inner(path, name)) or ()):
                    coordinates.add(inner(path, name))
            coordinates.update(meant(path, listed(_text(group, "coordinates"))))
        plain = [each for each in variables if each not in coordinates]
        yield from plain or variables

    def _scale(self, found: Any, axis: int) -> Any:
        """Return the dataset that is the scale of an axis, or None.

        The library's own function crashes if the attribute is not a list of references.
        """
        for reference in _references(found, axis):
            try:
                scale = self._file[reference]
            except (KeyError, OSError, RuntimeError, TypeError, ValueError):
                continue
            if isinstance(scale, self._dataset) and scale.shape is not None and scale.name is not None:
                return scale
        return self._scale_by_number(found, axis)

    def _scale_by_number(self, found: Any, axis: int) -> Any:
        """Return the scale of an axis of a scale, which can have none attached: NetCDF gives its dimensions numbers."""
        numbers = np.ravel(_attribute(found, "_Netcdf4Coordinates"))
        if _text(found, "CLASS") != "DIMENSION_SCALE" or len(numbers) != len(found.shape):
            return None
        for scope in scopes(found.name.strip("/").rpartition("/")[0]):
            group = self._get(scope) if scope else self._file
            for name in group:
                with suppress(KeyError, OSError, RuntimeError, ValueError):
                    each = group.get(name)
                    is_scale = isinstance(each, self._dataset) and _text(each, "CLASS") == "DIMENSION_SCALE"
                    if is_scale and _attribute(each, "_Netcdf4Dimid") == numbers[axis]:
                        return each
        return None

    def _dims(self, found: Any, path: str) -> tuple[str, ...] | None:
        """Return the names of the axes; None if no axis has one."""
        scales = [self._scale(found, axis) for axis in range(len(found.shape))]
        names = [scale.name if scale is not None else None for scale in scales]
        if names == [None] and _text(found, "CLASS") == "DIMENSION_SCALE":
            # A variable with the name of its dimension is the scale itself.
            names = [path]
        labels = _texts(found, "DIMENSION_LABELS", len(scales))
        names = [name or label for name, label in zip(names, labels, strict=True)]
        if names and not any(names):
            return None
        return tuple(name.rpartition("/")[2] if name else f"dim_{axis}" for axis, name in enumerate(names))

    def _coordinates(
        self, path: str, found: Any, dims: tuple[str, ...], attrs: Mapping[str, Any]
    ) -> Iterator[Coordinate]:
        """Yield what has the name of a dimension, the scales of an array, and what an attribute lists."""
        group = path.rpartition("/")[0]
        at_home = self._get(group) if group else self._file
        named = [*dims, *listed(attrs.get("coordinates")), *listed(_text(at_home, "coordinates"))]
        paths = [each for name in named if (each := self._nearest(group, name)) is not None]
        scales = [self._scale(found, axis) for axis in range(len(dims))]
        paths += [scale.name.strip("/") for scale in scales if scale is not None]
        for each in paths:
            one = self._get(each)
            if isinstance(one, self._dataset) and one.shape is not None:
                # The last axis of characters is not a dimension of the text.
                count = max(0, len(one.shape) - (one.dtype == "S1"))
                own = self._dims(one, each)
                if own is not None or count == 0:
                    yield Coordinate(each, (own or ())[:count], self._shape(one))

    def _nearest(self, group: str, name: str) -> str | None:
        """Return the path of a name in a group, or in the nearest group that holds it."""
        return next(
            (inner(each, name) for each in scopes(group) if self._get(inner(each, name)) is not None), None
        )


def _is_bare_dimension(found: Any) -> bool:
    """Whether a dataset stands for a dimension of NetCDF that has no variable."""
    return str(_text(found, "NAME")).startswith(_NO_VARIABLE)


def _require_filters(found: Any, what: str) -> None:
    """Refuse a variable whose chunks cannot be decompressed."""
    import h5py

    properties = found.id.get_create_plist()
    for at in range(properties.get_nfilters()):
        number, _, _, name = properties.get_filter(at)
        if not h5py.h5z.filter_avail(number):
            raise FilterError(
                f"{what} needs the HDF5 filter {number}",
                given=name.decode(errors="replace") or None,
                remedy="pip install hdf5plugin",
            )


def _attribute(found: Any, name: str) -> Any:
    """Return an attribute as NetCDF gives it: text, numbers or a list of texts; None if it is anything else."""
    try:
        value = found.attrs.get(name)
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):
        return None
    if isinstance(value, np.ndarray):
        value = value.ravel()
        if len(value) == 1:
            # NetCDF writes one value as an array.
            value = value[0]
    if isinstance(value, np.ndarray) and value.dtype.kind in "OSU":
        if all(isinstance(each, bytes | str) for each in value):
            return [as_text(each) for each in value]
        return None
    if isinstance(value, bytes | str):
        return as_text(value)
    is_number = isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf"
    return value if is_number else None


def _attributes(found: Any) -> dict[str, Any]:
    """Return the attributes that h5py reads."""
    attrs = {name: _attribute(found, name) for name in found.attrs if name not in _INTERNAL}
    return {name: value for name, value in attrs.items() if value is not None}


def _references(found: Any, axis: int) -> list[Any]:
    """Return the references to the scales of an axis."""
    import h5py

    try:
        attribute = found.attrs.get_id("DIMENSION_LIST")
        if h5py.check_vlen_dtype(attribute.dtype) != h5py.ref_dtype or attribute.shape != (len(found.shape),):
            return []
        return list(found.attrs["DIMENSION_LIST"][axis])
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):
        return []


def _own_scale(found: Any) -> Any:
    """Return a dataset that is the scale of its only axis, None for any other."""
    is_scale = len(found.shape) == 1 and _text(found, "CLASS") == "DIMENSION_SCALE"
    return found if is_scale else None


def _attached(scale: Any) -> list[tuple[Any, int]]:
    """Return the references to the datasets that a scale is attached to, each with its axis."""
    import h5py

    try:
        dtype = scale.attrs.get_id("REFERENCE_LIST").dtype
        if (
            dtype.names is None
            or len(dtype.names) != 2
            or h5py.check_ref_dtype(dtype[0]) is not h5py.Reference
        ):
            return []
        return [(reference, int(axis)) for reference, axis in scale.attrs["REFERENCE_LIST"].tolist()]
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):
        return []


def _texts(found: Any, name: str, count: int) -> list[str]:
    """Return the texts of an attribute that has this many, or empty ones."""
    try:
        values = np.ravel(found.attrs.get(name, []))
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):
        values = np.array([])
    if len(values) != count or values.dtype.kind not in "OSU":
        return [""] * count
    return [as_text(each) for each in values]


def _text(found: Any, name: str) -> str | None:
    """Return an attribute that is text."""
    value = _attribute(found, name)
    return value if isinstance(value, str) else None
