"""A result as a file takes it: its type, its attributes, and how dates and missing integers are written."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNITS = {
    "ns": "nanoseconds",
    "us": "microseconds",
    "ms": "milliseconds",
    "s": "seconds",
    "m": "minutes",
    "h": "hours",
    "D": "days",
}
# The units of NumPy that CF does not have or does not define, and a unit that holds their values.
_COARSE = {"Y": "D", "M": "D", "W": "D"}

_NAT = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Output:
    """The type and attributes of one result."""

    dtype: np.dtype[Any]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    # The integer that means a missing element; None if none can be missing, or NaN or NaT means it.
    fill: int | None = None

    def as_numbers(self) -> Output:
        """Return the result as numbers, with the attributes that say which dates or durations they mean."""
        if self.dtype.kind not in "mM":
            return self
        unit = np.datetime_data(self._fine)[0]
        if unit not in _UNITS:
            return self
        if self.dtype.kind == "M":
            meaning = {"units": f"{_UNITS[unit]} since 1970-01-01", "calendar": "proleptic_gregorian"}
        else:
            meaning = {"units": _UNITS[unit], "dtype": f"timedelta64[{unit}]"}
        return replace(self, dtype=np.dtype(np.int64), attrs={**self.attrs, **meaning}, fill=_NAT)

    def numbers(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return elements of the result as :meth:`as_numbers` says."""
        if self.dtype.kind not in "mM" or self.as_numbers() is self:
            return block
        return np.ascontiguousarray(block.astype(self._fine)).reshape(block.shape).view(np.int64)

    @property
    def _fine(self) -> np.dtype[Any]:
        """The type of dates or durations in a unit that CF has: a step of one such unit."""
        unit, count = np.datetime_data(self.dtype)
        if count == 1 and unit not in _COARSE:
            return self.dtype
        return np.dtype(f"{self.dtype.kind}8[{_COARSE.get(unit, unit)}]")


def plain_attributes(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as text, numbers and lists of one of them, which every format can hold."""
    plain = {}
    for name, value in attrs.items():
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist() if value.dtype.kind in "USO" else value
        if isinstance(value, bool | np.bool_):
            value = np.int8(value)
        if value is None or name == "":
            continue
        if not isinstance(value, str | int | float | np.ndarray | np.generic) and not _is_list(value):
            value = json.dumps(value, default=str)
        plain[str(name)] = value
    return plain


def json_attributes(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as JSON has them."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in plain_attributes(attrs).items()
    }


def fill_of_zarr(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return an attribute ``_FillValue`` of Zarr's format 3, where xarray writes floating-point numbers as base64."""
    if isinstance(value, str) and dtype.kind == "f":
        try:
            return struct.unpack("<d", base64.b64decode(value, validate=True))[0]
        except (ValueError, struct.error):
            return value
    return value


def fill_for_zarr(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a fill value as an attribute of Zarr's format 3: what :func:`fill_of_zarr` reads."""
    if dtype.kind == "f":
        return base64.b64encode(struct.pack("<d", float(value))).decode()
    return int(value)


def netcdf_name(text: str) -> str:
    """Return a name that NetCDF takes."""
    return re.sub(r"[/\x00-\x1f\x7f]", "_", text).strip() or "_"


def _is_list(value: Any) -> bool:
    """Whether it is a list of text or a list of numbers."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(each, str) for each in value) or all(type(each) in (int, float) for each in value)
