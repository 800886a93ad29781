"""Arrays of other libraries: in without a copy where the protocol allows it, and out as arrays of the same library.

Decides which adapter takes a value: by the module that its type comes from, so that nothing is imported that the caller
has not imported. What no adapter knows goes through the protocols, :mod:`extremum.arrays`, and comes out as NumPy's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import as_array, as_result, is_numpy_masked, not_there
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.loading import load_module

__all__ = ["Adopted", "Kept", "Wrap", "adopt", "as_it_is", "frontend", "is_table", "one_library", "take_apart"]

Kept = Callable[[], tuple[int, ...]]
"""Says for each axis of a result which axis of the input it was, or -1."""

Wrap = Callable[[NDArray[Any], Kept], Any]
"""Makes a result an array of the caller's library."""


def as_it_is(result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as NumPy's own functions do."""
    return as_result(result)


@dataclass(slots=True)
class Adopted:
    """An array of another library, as the kernels can read it."""

    array: NDArray[Any]
    wrap: Wrap = as_it_is
    # False where an element is missing; None where all are there.
    present: NDArray[np.bool_] | None = None
    # Whether the caller hid them, as a mask does; nulls are only left out where the NaN policy says so.
    hidden: bool = False
    # Whose array it is; of one call's arrays all have to be of one library.
    library: str = "numpy"
    # What names the places along each axis, where the library has that; equal for all operands of one call.
    labels: tuple[Any, ...] = ()
    # The time zone of elements that are instants: they are in UTC here, and `wrap` gives them their zone back.
    zone: str | None = None

    def require_no_zone(self, out: Any) -> None:
        """Refuse to write instants into an array that cannot say in which zone they are."""
        if out is not None and self.zone:
            raise ArgumentError(
                f"out is NumPy's and has no time zone, and the elements are in the zone {self.zone}",
                remedy="leave out away, or convert the elements to UTC without a zone first",
            )

    def require_all(self, remedy: str, *, given: str) -> None:
        """Refuse an array of which elements are missing."""
        if self.present is not None and (count := int(self.present.size - np.count_nonzero(self.present))):
            raise not_there(count, "masked" if self.hidden else "missing", given=given, remedy=remedy)

    def mask(self, function: str) -> NDArray[Any]:
        """Return the elements of a mask, of which none may be missing: it would be neither True nor False."""
        if self.present is not None and (count := int(self.present.size - np.count_nonzero(self.present))):
            raise ArgumentError(
                f"{function}: where has {count} missing element{'s'[: count > 1]}, neither True nor False",
                remedy="fill them with what they are to mean",
            )
        return self.array


_ADAPTERS = {
    **dict.fromkeys(("torch", "jax", "jaxlib"), "tensors"),
    **dict.fromkeys(("pandas", "polars", "pyarrow"), "frames"),
}
"""The file of this folder for each library, by the first part of its types' module."""


_TABLES = "extremum.tables"

_FRONTENDS = {
    ("xarray", "DataArray"): "extremum.xarray.positional",
    ("xarray", "Dataset"): "extremum.xarray.positional",
    ("dask", "Array"): "extremum.dask",
    ("cubed", "Array"): "extremum.cubed",
    ("pandas", "DataFrame"): _TABLES,
    ("polars", "DataFrame"): _TABLES,
    ("pyarrow", "Table"): _TABLES,
    ("pyarrow", "RecordBatch"): _TABLES,
}
"""The module that has the array functions of a class, by the first part of its module and its name; labels first."""


_ORDER = tuple(dict.fromkeys(_FRONTENDS.values()))


def frontend(function: str, *values: Any) -> Any:
    """Return the array function for one of the values, if its class has functions of its own: nothing is computed."""
    name = None
    for x in values:
        cls: Any = type(x)
        other = _frontend_of(cls)
        if other and (name is None or _ORDER.index(other) < _ORDER.index(name)):
            name = other
    if name is None:
        return None
    module = load_module(name)
    if function not in module.__all__:
        raise ArgumentTypeError(
            f"{function}: {name} has {' and '.join(module.__all__)} only",
            remedy="compute the array first: x.compute()",
        )
    return getattr(module, function)


@functools.lru_cache(maxsize=256)
def _frontend_of(cls: Any) -> str | None:
    for base in cls.__mro__:
        if name := _FRONTENDS.get((base.__module__.partition(".")[0], base.__name__)):
            return name
    return None


def adopt(x: object) -> Adopted:
    """Return any array-like value as the kernels can read it, with the way back to the caller's library."""
    cls: Any = type(x)
    adapter = _adapter(cls)
    adopted = adapter(x) if adapter is not None else None
    return Adopted(as_array(x)) if adopted is None else adopted


@functools.lru_cache(maxsize=256)
def _adapter(cls: Any) -> Callable[[Any], Adopted | None] | None:
    """Return who knows the arrays of a class."""
    if cls is np.ndarray:
        return Adopted
    if cls is Adopted:
        return _as_adopted
    if is_numpy_masked(cls):
        return _masked
    for base in cls.__mro__:
        whose = base.__module__.partition(".")[0]
        if whose in _OWN:
            return _OWN[whose]
        if file := _ADAPTERS.get(whose):
            adapter: Callable[[Any], Adopted | None] = load_module(f"extremum.interop.{file}").ADAPTERS[whose]
            return adapter
    if not issubclass(cls, np.ndarray | np.generic) and hasattr(cls, "__array_namespace__"):
        return _by_protocol
    return None


def one_library(operands: Sequence[Adopted]) -> Adopted:
    """Return the operand that says how the result goes back; arrays of two libraries beside NumPy's are refused."""
    libraries = {each.library: each for each in operands if each.library != "numpy"}
    if len(libraries) > 1:
        raise ArgumentTypeError(
            f"arrays of {' and of '.join(sorted(libraries))} in one call",
            remedy="convert them to arrays of one library first",
        )
    labelled = [each.labels for each in operands if each.labels]
    for labels in labelled[1:]:
        if len(labels) != len(labelled[0]) or not all(map(_equal, labels, labelled[0])):
            raise ArgumentError(
                "the operands differ in their labels, and elements are compared by place",
                remedy="align them first, as x.align(y) does, or pass x.to_numpy()",
            )
    return next((each for each in operands if each.labels), next(iter(libraries.values()), operands[0]))


def is_table(x: object) -> bool:
    """Whether a value is a table of a library that is known here."""
    cls: Any = type(x)
    return _frontend_of(cls) == _TABLES


def take_apart(table: Any) -> Any:
    """Return the columns of a table, a :class:`~extremum.interop.frames.Table`."""
    tables = load_module("extremum.interop.frames").TABLES
    libraries = (base.__module__.partition(".")[0] for base in type(table).__mro__)
    return tables[next(library for library in libraries if library in tables)](table)


def _as_adopted(x: Adopted) -> Adopted:
    return x


def _equal(labels: Any, others: Any) -> bool:
    return bool(labels.equals(others))


def _inside(x: Any) -> Adopted | None:
    """Return what an array of xarray's is made of, where its labels do not matter, as in a mask."""
    return adopt(x.data) if hasattr(x, "data") else None


def _refuse_uncomputed(x: Any) -> Adopted:
    """Refuse an array that is yet to be computed beside one that is there."""
    raise ArgumentTypeError(
        f"an array of {type(x).__module__.partition('.')[0]} is yet to be computed, and this call computes at once",
        remedy="compute it first: x.compute()",
    )


_OWN: dict[str, Callable[[Any], Adopted | None]] = {
    "cubed": _refuse_uncomputed,
    "dask": _refuse_uncomputed,
    "xarray": _inside,
}
"""Who takes an array where it is not what a function is called for, but a mask, or an operand beside another."""


def _masked(x: Any) -> Adopted:
    """NumPy's masked arrays: what the mask hides is not there."""
    mask = np.ma.getmaskarray(x)
    # (The complement of an array without dimensions is a scalar.)
    present = np.asarray(~mask) if mask.any() else None
    return Adopted(as_array(np.ma.getdata(x, subok=False)), present=present, hidden=True)


def _by_protocol(x: Any) -> Adopted:
    """Arrays of the array API standard that export their memory through DLPack; results in their own namespace."""
    namespace = x.__array_namespace__()

    def back(result: NDArray[Any], kept: Kept) -> Any:
        array = np.asarray(result)
        if hasattr(namespace, "from_dlpack") and array.flags.writeable:
            try:
                return namespace.from_dlpack(array)
            except (BufferError, RuntimeError, TypeError, ValueError):
                # A type that DLPack does not carry.
                pass
        return namespace.asarray(array)

    return Adopted(as_array(x), back, library=type(x).__module__.partition(".")[0])
