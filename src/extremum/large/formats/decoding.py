"""How stored elements become values: missing elements, scale and offset, times.

The CF conventions say it with attributes (``_FillValue``, ``missing_value``, ``scale_factor``, ``add_offset``,
``units``); xarray decodes them. It would make float64 of 64-bit integers that have a fill value, which rounds: they are
compared here as durations, whose NaT is what is missing. What cannot be decoded stays as it is stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.large.formats.stored import Description, Read
from extremum.partials import Place

_INT64 = np.dtype(np.int64)
_KEY = np.dtype("timedelta64[ns]")
_SIGN = np.uint64(1 << 63)
_LEAST = np.iinfo(np.int64).min

_MISSING = ("_FillValue", "missing_value")
_SCALING = ("scale_factor", "add_offset")
_CODES = (*_MISSING, *_SCALING)
# Attributes that say how elements are stored. Indices into the array are not stored that way.
_OF_STORAGE = (*_CODES, "_Unsigned", "calendar", "dtype")


class Decoding:
    """Elements that are compared as they are stored."""

    def __init__(self, dtype: np.dtype[Any], attrs: Mapping[str, Any]) -> None:
        # The type of the elements that are compared, and of the values in a result.
        self.dtype = dtype
        self.value_dtype = dtype
        # The attributes of values in a result, and the number that means a missing one.
        self.attrs = attrs
        self.fill: int | None = None
        # The bytes that decoding adds for each element.
        self.extra = 0

    def decode(self, read: Read, place: Place) -> NDArray[Any]:
        """Return the elements at a place as they are compared."""
        return read(place)

    def restore(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return compared elements as values."""
        return values

    def compared(self, value: Any) -> Any:
        """Return a value, given by the user, as it is compared."""
        return value


class CfDecoding(Decoding):
    """Elements that xarray decodes."""

    def __init__(self, description: Description, read: Read, attrs: Mapping[str, Any], times: bool) -> None:
        variable = _decoded(description, read, attrs, times)
        super().__init__(variable.dtype, dict(variable.attrs))
        self.extra = variable.dtype.itemsize
        self._variable = variable
        # Some attributes fail where an element is decoded: try the first.
        self.decode(read, tuple(slice(0, 1) for _ in description.shape))

    def decode(self, read: Read, place: Place) -> NDArray[Any]:
        """Return the elements at a place as they are compared."""
        block = np.asarray(self._variable[place].values)
        if block.dtype != self.dtype:
            raise ValueError(f"they have no value of {self.dtype}")
        return block


class ScaledIntegers(Decoding):
    """Integers that are scaled to floats which cannot hold them all.

    What is missing is decided before they are rounded.
    """

    def __init__(
        self, dtype: np.dtype[Any], stored: np.dtype[Any], missing: list[int], attrs: Mapping[str, Any]
    ) -> None:
        super().__init__(dtype, _without(attrs, (*_CODES, "_Unsigned")))
        self._stored = stored
        self._missing = missing
        self._scale, self._offset = _scaling(attrs)
        self.extra = 2 * dtype.itemsize

    def decode(self, read: Read, place: Place) -> NDArray[Any]:
        """Return the elements at a place as they are compared."""
        numbers = as_stored(read(place), self._stored)
        is_missing = np.isin(numbers, np.array(self._missing, self._stored))
        values: NDArray[Any] = numbers.astype(self.dtype)
        values *= self._scale
        values += self._offset
        values[is_missing] = np.nan
        return values


class MaskedIntegers(Decoding):
    """64-bit integers some of which mean that an element is missing: none is rounded.

    A duration has 64 bits and a NaT, the smallest of them, which is treated as NaN is. So the fill value becomes NaT,
    and the numbers below it move up by one: nothing else has the fill value. An unsigned number first becomes a signed
    one of the same order.
    """

    def __init__(self, stored: np.dtype[Any], missing: list[int], attrs: Mapping[str, Any]) -> None:
        super().__init__(_KEY, attrs)
        self.value_dtype = stored
        self.fill = missing[0]
        self.extra = 24
        self._missing = missing
        self._place = self._signed(np.array([self.fill], stored))[0]

    def decode(self, read: Read, place: Place) -> NDArray[Any]:
        """Return the elements at a place as they are compared."""
        return self._keys(as_stored(read(place), self.value_dtype))

    def restore(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return compared elements as values; a missing one is the fill value."""
        keys = np.ascontiguousarray(values).reshape(values.shape).view(_INT64)
        signed = np.where(keys <= self._place, keys - (keys != _LEAST), keys)
        numbers = signed.view(np.uint64) ^ _SIGN if self.value_dtype.kind == "u" else signed
        numbers = numbers.astype(self.value_dtype, copy=False)
        return np.where(keys == _LEAST, np.array(self.fill, self.value_dtype), numbers)

    def compared(self, value: Any) -> Any:
        """Return a value, given by the user, as it is compared."""
        if value is None:
            return None
        return self._keys(np.array([value], self.value_dtype))[0]

    def _signed(self, numbers: NDArray[Any]) -> NDArray[Any]:
        if self.value_dtype.kind == "u":
            return (numbers ^ _SIGN).view(_INT64)
        return numbers

    def _keys(self, numbers: NDArray[Any]) -> NDArray[Any]:
        signed = self._signed(numbers)
        is_missing = np.isin(numbers, np.array(self._missing, self.value_dtype))
        return np.where(is_missing, _LEAST, signed + (signed < self._place)).view(_KEY)


def decoding_of(description: Description, read: Read) -> Decoding:
    """Return how the elements of an array are decoded."""
    dtype = description.dtype
    attrs = {key: value for key, value in description.attrs.items() if key not in _CODES or _is_number(value)}
    if dtype.kind == "f":
        attrs |= {key: _as_elements(attrs[key], dtype) for key in _MISSING if key in attrs}
    if dtype.kind not in "iuf" or not _is_coded(dtype, attrs):
        return Decoding(dtype, _without(attrs, _MISSING))
    if _has_times(attrs):
        decoding = _attempt(description, read, attrs, times=True)
        if decoding is not None:
            return decoding
    # Calendars and units that NumPy's dates do not have stay numbers; the attributes say what they mean.
    if dtype.kind in "iu" and dtype.itemsize == 8:
        return _of_wide_integers(dtype, attrs)
    decoding = _attempt(description, read, attrs, times=False)
    if decoding is None:
        return Decoding(dtype, _without(attrs, _CODES))
    if dtype.kind in "iu" and decoding.dtype.kind == "f" and dtype.itemsize == decoding.dtype.itemsize:
        # float32 does not hold all integers of 32 bits.
        stored = _stored_type(dtype, attrs)
        return ScaledIntegers(decoding.dtype, stored, _missing_integers(attrs, dtype, stored), attrs)
    return decoding


def attributes_of_indices(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an array that its indices have too: none that say how elements are stored."""
    kept = {key: value for key, value in attrs.items() if key not in _OF_STORAGE}
    if _has_times(attrs):
        kept.pop("units", None)
    return kept


def as_stored(block: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return integers in the processor's byte order, unsigned if the attributes say so."""
    native = block.astype(block.dtype.newbyteorder("="), copy=False)
    return native.view(dtype)


def _attempt(description: Description, read: Read, attrs: Mapping[str, Any], times: bool) -> Decoding | None:
    """Return how xarray decodes the elements, if it does and makes numbers or times of them."""
    try:
        decoding = CfDecoding(description, read, attrs, times)
    except Exception:
        # xarray and cftime have no common error for attributes that say nothing.
        return None
    return decoding if decoding.dtype.kind in "iufmM" else None


def _of_wide_integers(dtype: np.dtype[Any], attrs: Mapping[str, Any]) -> Decoding:
    """Return how integers of 64 bits are decoded, without a rounding that their attributes do not ask for."""
    stored = _stored_type(dtype, attrs)
    missing = _missing_integers(attrs, dtype, stored)
    kept = _without(attrs, (*_CODES, "_Unsigned"))
    scale, offset = _scaling(attrs)
    if scale != 1 or offset != 0:
        return ScaledIntegers(np.dtype(np.float64), stored, missing, attrs)
    if missing:
        return MaskedIntegers(stored, missing, kept)
    return _Reinterpreted(stored, kept)


def _scaling(attrs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the scale and the offset of the elements."""
    # Adding a negative zero changes nothing, not even the sign of a zero.
    return np.ravel(attrs.get("scale_factor", 1))[0], np.ravel(attrs.get("add_offset", -0.0))[0]


def _stored_type(dtype: np.dtype[Any], attrs: Mapping[str, Any]) -> np.dtype[Any]:
    """Return the type of stored integers in the processor's byte order, signed if the attributes say so."""
    unsigned = str(attrs.get("_Unsigned", "")).lower()
    if unsigned in ("true", "false"):
        return np.dtype(f"{'u' if unsigned == 'true' else 'i'}{dtype.itemsize}")
    return dtype.newbyteorder("=")


def _missing_integers(attrs: Mapping[str, Any], dtype: np.dtype[Any], stored: np.dtype[Any]) -> list[int]:
    """Return the integers that mean a missing element."""
    return [number for key in _MISSING for number in _integers(attrs.get(key), dtype, stored)]


class _Reinterpreted(Decoding):
    """64-bit integers that are compared as they are stored; an attribute may decide whether they are signed."""

    def decode(self, read: Read, place: Place) -> NDArray[Any]:
        """Return the elements at a place as they are compared."""
        return as_stored(read(place), self.dtype)


def _integers(values: Any, dtype: np.dtype[Any], stored: np.dtype[Any]) -> list[int]:
    """Return the values of an attribute that elements of this type can have."""
    found = []
    for value in np.ravel([] if values is None else values).tolist():
        if isinstance(value, float) and not value.is_integer():
            continue
        number = int(value)
        if dtype.kind != stored.kind and np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
            # The attribute has the type of the stored elements, whose sign another attribute decides.
            number = int(np.array(number, dtype.newbyteorder("=")).view(stored))
        if np.iinfo(stored).min <= number <= np.iinfo(stored).max and number not in found:
            found.append(number)
    return found


def _as_elements(marks: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the floating-point numbers that mean a missing element as elements of the array.

    Some writers give float64 for an array of float32, where no element is exactly 1e20.
    """
    exact = np.ravel(marks)
    with np.errstate(over="ignore"):
        rounded: NDArray[Any] = exact.astype(dtype.newbyteorder("="))
    fits: NDArray[np.bool_] = np.isfinite(rounded) | ~np.isfinite(exact)
    return rounded[fits]


def _without(attrs: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in attrs.items() if key not in names}


def _is_number(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind in "iuf" and array.size > 0


def _is_coded(dtype: np.dtype[Any], attrs: Mapping[str, Any]) -> bool:
    """Whether the elements are anything but the numbers that are stored."""
    if dtype.kind == "f" and not any(key in attrs for key in _SCALING):
        # NaN is missing, whether an attribute says so or not.
        marks = [mark for key in _MISSING if key in attrs for mark in np.ravel(attrs[key])]
        return _has_times(attrs) or not np.isnan(np.array(marks, np.float64)).all()
    return _has_times(attrs) or any(key in attrs for key in (*_CODES, "_Unsigned"))


def _has_times(attrs: Mapping[str, Any]) -> bool:
    """Whether the attributes say that numbers mean dates or durations."""
    units = attrs.get("units")
    if not isinstance(units, str):
        return False
    return " since " in units or str(attrs.get("dtype", "")).startswith("timedelta64")


def _decoded(description: Description, read: Read, attrs: Mapping[str, Any], times: bool) -> Any:
    """Return xarray's variable, which decodes the elements that are taken from it."""
    import xarray as xr
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Stored(BackendArray):  # type: ignore[misc]
        """The stored elements, as xarray asks for them."""

        shape = description.shape
        dtype = description.dtype

        def __getitem__(self, key: Any) -> Any:
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.BASIC, self._elements
            )

        def _elements(self, key: tuple[Any, ...]) -> Any:
            """Read a place whose axes of one element may be integers."""
            place = tuple(each if isinstance(each, slice) else slice(each, each + 1) for each in key)
            block = read(
                tuple(slice(*each.indices(n)[:2]) for each, n in zip(place, self.shape, strict=True))
            )
            return block[tuple(slice(None) if isinstance(each, slice) else 0 for each in key)]

    dims = [f"dim_{axis}" for axis in range(len(description.shape))]
    lazy = xr.Variable(dims, indexing.LazilyIndexedArray(Stored()), dict(attrs))
    is_duration = str(attrs.get("dtype", "")).startswith("timedelta64")
    with warnings.catch_warnings():
        # Several fill values, and dates beyond those of NumPy.
        warnings.simplefilter("ignore")
        return xr.conventions.decode_cf_variable(
            description.name,
            lazy,
            decode_times=times,
            decode_timedelta=times and is_duration,
            concat_characters=False,
        )
