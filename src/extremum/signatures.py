"""The options of the array functions and the tuples that they return, described once.

The types of the native module, Dask, xarray and cubed use this description. Names and types are the keys of a
``TypedDict``; the native functions have the defaults, and :func:`like` copies them.
"""

import functools
import inspect
import sys
from collections import namedtuple
from collections.abc import Callable, Collection, Iterable, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, SupportsIndex, TypedDict, TypeVar, cast

import numpy as np

from extremum import _native
from extremum.docstrings import completed
from extremum.errors import ArgumentTypeError
from extremum.functions import FUNCTIONS, Kind

NanPolicy = Literal["propagate", "omit", "raise"]
"""SciPy's words: NaN is the extremum, is ignored, or is an error."""

Axis = SupportsIndex | tuple[SupportsIndex, ...] | list[int]
"""One axis or several."""

Axes = Axis | None
"""None stands for all axes."""

No = Literal[False]
Yes = Literal[True]

IndexType = type[Any] | np.dtype[Any] | str
"""The type of indices: any integer that holds the last index of a slice."""

Value = TypeVar("Value")
Index = TypeVar("Index")
Function = TypeVar("Function", bound=Callable[..., Any])


class HardmaxOptions(TypedDict, total=False):
    """Which elements take part: options of ``hardmax``, ``maximum`` and ``minimum``; the mask may be of any library."""

    nan_policy: NanPolicy
    where: Any


class TieOptions(HardmaxOptions, total=False):
    """The same options, and which of equal elements wins."""

    select_last_index: bool


class ArgKeywords(TieOptions, total=False):
    """Options of ``argmax`` and ``argmin``; some change the type of the result for NumPy's arrays only."""

    default: int | None
    keepdims: bool
    dtype: IndexType | None


class ValueOptions(TieOptions, total=False):
    """Options of ``max``, ``min`` and ``minmax`` that do not change the type of the result."""

    default: Any


class ValueKeywords(ValueOptions, total=False):
    """The same options, and those that change the type of the result for NumPy's arrays only."""

    keepdims: bool
    index_dtype: IndexType | None


class TopKOptions(HardmaxOptions, total=False):
    """Options of ``top_k``."""

    mode: Literal["largest", "smallest"]
    sorted: bool
    default: Any
    index_dtype: IndexType | None


# Python 3.10 has no generic NamedTuple.
if TYPE_CHECKING or sys.version_info >= (3, 11):

    class ValuesIndices(NamedTuple, Generic[Value, Index]):
        """The extreme values, and the index of each: ``top_k``, and ``max`` and ``min`` with ``return_index``."""

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


def result_of(function: str, results: Sequence[Any]) -> Any:
    """Return values, then indices, as the array function of this name returns them."""
    if len(FUNCTIONS[function].largest) > 1:
        if results[2:]:
            return MinMaxIndices(*results)
        return MinMax(*results)
    return ValuesIndices(*results) if results[1:] else results[0]


_ELSEWHERE = {
    **dict.fromkeys(("axis", "axes", "dim", "dims"), ("axis", "dim")),
    **dict.fromkeys(("keepdim", "keep_dims"), ("keepdims",)),
    **dict.fromkeys(("skipna", "skip_nulls", "ignore_nulls"), ("nan_policy",)),
    **dict.fromkeys(("initial", "fill_value"), ("default", "fill_value")),
    **dict.fromkeys(("return_indices", "return_inverse"), ("return_index",)),
    **dict.fromkeys(("dtype", "index_dtype", "output_type"), ("dtype", "index_dtype")),
    **dict.fromkeys(("mask", "condition"), ("where",)),
    **dict.fromkeys(("output",), ("out",)),
    **dict.fromkeys(("largest", "descending", "ascending", "reverse"), ("mode",)),
    **dict.fromkeys(("n", "num", "kth"), ("k",)),
}
"""Words of other libraries, and the words for them here; the first that a function has counts."""

_NEEDLESS = {
    **dict.fromkeys(("keepdim", "keep_dims", "keepdims"), "the axis always stays, and has size k"),
    **dict.fromkeys(("out", "output"), "values and indices are new arrays"),
}
"""Words that a function with `k` has no use for, and why."""

_MEANINGS = {
    "default": ", which is the answer where no element takes part",
    "mode": "='smallest' for the smallest; the largest are found without it",
    "nan_policy": "='omit', which leaves out NaN and what is missing",
    "where": ", which is True where an element takes part",
}


@functools.cache
def _keywords(function: str) -> tuple[str, ...]:
    # Cached: reading a signature takes far longer than making an error, and inspect keeps memory.
    return tuple(inspect.signature(getattr(_native, function)).parameters)


def unknown_keyword(
    function: str, keywords: Iterable[str], own: Collection[str] = ()
) -> ArgumentTypeError | None:
    """Return the error about the first keyword that a function does not have, or None; it suggests the word used here.

    `own` are its keywords; by default, those of the array function of this name.
    """
    own = own or _keywords(function)
    name = next((each for each in keywords if each not in own), None)
    if name is None:
        return None
    return ArgumentTypeError(
        f"{function}() got an unexpected keyword argument {name!r}", remedy=_remedy(name, own)
    )


def _remedy(name: str, own: Collection[str]) -> str:
    """Return what helps whoever passes a keyword of this name to a function that has others."""
    word = next((each for each in _ELSEWHERE.get(name, ()) if each in own), None)
    if word is not None:
        return f"use {word}{_MEANINGS.get(word, '')}"
    if "k" in own and name in _NEEDLESS:
        return f"leave it out: {_NEEDLESS[name]}"
    names = ", ".join(each for each in own if each not in ("x", "arrays"))
    return f"the keywords are {names}"


def like(
    model: str, *, after: Sequence[Callable[..., Any]] = (), without: Sequence[str] = ()
) -> Callable[[Function], Function]:
    """Give a function with ``**options`` the keywords of the array function of this name, with their defaults.

    The function gets every option: an option that the caller leaves out has its default. What its docstring does not
    describe is described as in the first of `after` that does, or else as in the array function.
    """
    own_types = (ArgKeywords if FUNCTIONS[model].kind is Kind.INDEX else ValueKeywords).__annotations__
    types = {**TopKOptions.__annotations__, **own_types, "return_index": bool}
    theirs = inspect.signature(getattr(_native, model)).parameters.values()

    def decorate(function: Function) -> Function:
        plain = inspect.signature(function)
        own = [p for p in plain.parameters.values() if p.kind is not p.VAR_KEYWORD]
        exclusions = {*without, *(p.name for p in own)}
        options = [p for p in theirs if p.kind is p.KEYWORD_ONLY and p.name not in exclusions]
        options = [p.replace(annotation=types.get(p.name, p.empty)) for p in options]
        defaults = {p.name: p.default for p in options}
        parameters = sorted([*options, *own], key=lambda p: p.kind)
        names = [each.name for each in parameters]

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if not keywords:
                return function(*arguments, **defaults)
            if unknown := unknown_keyword(function.__name__, keywords, names):
                raise unknown
            return function(*arguments, **defaults | keywords)

        call.__signature__ = plain.replace(parameters=parameters)  # type: ignore[attr-defined]
        models = (*(inspect.unwrap(each).__doc__ for each in after), getattr(_native, model).__doc__)
        call.__doc__ = completed(function.__doc__, models, names)
        return cast(Function, call)

    return decorate
