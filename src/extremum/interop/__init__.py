"""Arrays of other libraries: in without a copy where the protocol allows it, and out as arrays of the same library.

Decides which adapter takes a value: by the module that its type comes from, so that nothing is imported that the caller
has not imported. What no adapter knows goes through the protocols, :mod:`extremum.arrays`, and comes out as NumPy's.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extremum.arrays import as_array
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.interop.adopted import Adopted, Wrap, as_it_is

__all__ = ["Adopted", "Wrap", "adopt", "as_it_is", "lazy", "one_library"]

_ADAPTERS = {
    "torch": "torch",
    "jax": "jax",
    "jaxlib": "jax",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
}
"""The file of this folder for each library, by the first part of its types' module."""


_LAZY = {"dask": "Array"}
"""The class of each library whose arrays are computed when they are asked for, by the first part of its module."""


def lazy(*values: object) -> Any:
    """Return the module that has the array functions for one of the values, if it is an array yet to be computed."""
    for x in values:
        if type(x) is not np.ndarray and (library := _library_of_lazy(_class(x))):
            return importlib.import_module(f"extremum.{library}")
    return None


def _class(x: object) -> Any:
    return type(x)


@functools.lru_cache(maxsize=256)
def _library_of_lazy(cls: type) -> str | None:
    for base in cls.__mro__:
        library = base.__module__.partition(".")[0]
        if _LAZY.get(library) == base.__name__:
            return library
    return None


def adopt(x: object) -> Adopted:
    """Return any array-like value as the kernels can read it, with the way back to the caller's library."""
    cls: Any = type(x)
    adapter = _adapter(cls)
    adopted = adapter(x) if adapter is not None else None
    return Adopted(as_array(x)) if adopted is None else adopted


@functools.lru_cache(maxsize=256)
def _adapter(cls: type) -> Callable[[Any], Adopted | None] | None:
    """Return who knows the arrays of a class."""
    if cls is np.ndarray:
        return Adopted
    if issubclass(cls, np.ma.MaskedArray):
        return _masked
    for base in cls.__mro__:
        if library := _ADAPTERS.get(base.__module__.partition(".")[0]):
            adapter: Callable[[Any], Adopted | None] = importlib.import_module(f"extremum.interop.{library}").adopt
            return adapter
    if not issubclass(cls, np.ndarray | np.generic) and hasattr(cls, "__array_namespace__"):
        from extremum.interop import array_api

        return array_api.adopt
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


def _equal(labels: Any, others: Any) -> bool:
    return bool(labels.equals(others))


def _masked(x: Any) -> Adopted:
    """NumPy's masked arrays: what the mask hides is not there."""
    mask = np.ma.getmaskarray(x)
    return Adopted(as_array(np.ma.getdata(x, subok=False)), present=~mask if mask.any() else None, hidden=True)
