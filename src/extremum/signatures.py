"""The options of the array functions and the tuples that they return, described once.

The types of the native module, Dask, xarray and cubed use this description. Names and types are the keys of a
``TypedDict``; the native functions have the defaults, and :func:`like` copies them.
"""

import functools
import sys
from collections import namedtuple
from collections.abc import Callable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, SupportsIndex, TypedDict, TypeVar, cast

import numpy as np

__all__ = [
    "ArgKeywords",
    "ArgOptions",
    "Axes",
    "Axis",
    "HardmaxOptions",
    "IndexType",
    "MinMax",
    "MinMaxIndices",
    "NanPolicy",
    "No",
    "TieOptions",
    "ValueKeywords",
    "ValueOptions",
    "ValuesIndices",
    "Yes",
    "like",
]

NanPolicy = Literal["propagate", "omit", "raise"]
"""SciPy's words: NaN is the extremum, or is not there, or is an error."""

Axis = SupportsIndex | tuple[SupportsIndex, ...] | list[int]
"""One axis or several."""

Axes = Axis | None
"""None stands for all axes."""

No = Literal[False]
Yes = Literal[True]

IndexType = type[Any] | np.dtype[Any] | str
"""The type of indices: int64, int32, uint64 or uint32."""

Value = TypeVar("Value")
Index = TypeVar("Index")
Function = TypeVar("Function", bound=Callable[..., Any])


class HardmaxOptions(TypedDict, total=False):
    """Options of ``hardmax``: which elements take part; the mask is an array of any library."""

    nan_policy: NanPolicy
    where: Any


class TieOptions(HardmaxOptions, total=False):
    """The same, and which of equal elements is taken."""

    select_last_index: bool


class ArgOptions(TieOptions, total=False):
    """Options of ``argmax`` and ``argmin`` that do not change the type of the result."""

    default: int | None


class ArgKeywords(ArgOptions, total=False):
    """The same, and those that change the type for NumPy's arrays only."""

    keepdims: bool
    dtype: IndexType | None


class ValueOptions(TieOptions, total=False):
    """Options of ``max``, ``min`` and ``minmax`` that do not change the type of the result."""

    default: Any


class ValueKeywords(ValueOptions, total=False):
    """The same, and those that change the type for NumPy's arrays only."""

    keepdims: bool
    index_dtype: IndexType | None


# Python 3.10 has no generic NamedTuple.
if TYPE_CHECKING or sys.version_info >= (3, 11):

    class ValuesIndices(NamedTuple, Generic[Value, Index]):
        """The extreme values, and the index of each: what ``max`` and ``min`` return with ``return_index``."""

        values: Value
        indices: Index

    class MinMax(NamedTuple, Generic[Value]):
        """The smallest and the largest: what ``minmax`` returns."""

        min: Value
        max: Value

    class MinMaxIndices(NamedTuple, Generic[Value, Index]):
        """The smallest and the largest, and the index of each: what ``minmax`` returns with ``return_index``."""

        min: Value
        max: Value
        argmin: Index
        argmax: Index

else:
    ValuesIndices = namedtuple("ValuesIndices", "values indices")
    MinMax = namedtuple("MinMax", "min max")
    MinMaxIndices = namedtuple("MinMaxIndices", "min max argmin argmax")
    for each in (ValuesIndices, MinMax, MinMaxIndices):
        each.__class_getitem__ = classmethod(GenericAlias)


def like(
    model: str, doc: str | None = None, *, name: str | None = None, without: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """Give a function with ``**options`` the keywords of the array function of this name, with their defaults.

    What it is called with is complete: an option that the caller leaves out has its default.
    """
    import inspect

    from extremum import _native

    types = (ArgKeywords if model.startswith("arg") else ValueKeywords).__annotations__ | {"return_index": bool}
    theirs = [
        each.replace(annotation=types.get(each.name, inspect.Parameter.empty))
        for each in inspect.signature(getattr(_native, model)).parameters.values()
    ]

    def decorate(function: Function) -> Function:
        function.__name__ = function.__qualname__ = name or model
        plain = inspect.signature(function)
        own = [each for each in plain.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        known = {each.name for each in own}.union(without)
        options = {p.name: p for p in theirs if p.kind is p.KEYWORD_ONLY and p.name not in known}
        defaults = {key: each.default for key, each in options.items()}
        ordered = sorted([*options.values(), *own], key=lambda each: each.kind)

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if unknown := keywords.keys() - defaults.keys() - known:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
            return function(*arguments, **defaults | keywords)

        call.__signature__ = plain.replace(parameters=ordered)  # type: ignore[attr-defined]
        call.__doc__ = function.__doc__ if doc is None else doc
        return cast(Function, call)

    return decorate
