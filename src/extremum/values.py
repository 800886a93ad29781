"""``max``, ``min`` and ``minmax``: the extremum itself, with its index where it is wanted, in one pass.

Decides what each returns. How it is found is :mod:`extremum.reductions`'.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from extremum.errors import ArgumentError
from extremum.interop import frontend
from extremum.out import into
from extremum.plain import reduced
from extremum.policy import NanPolicy
from extremum.reductions import Reduction, adopted_for, index_type, short

__all__ = ["MinMax", "MinMaxIndices", "ValuesIndices", "max", "min", "minmax"]

T = TypeVar("T", bound=np.generic)
Axis = SupportsIndex | tuple[SupportsIndex, ...]


class ValuesIndices(NamedTuple):
    """The extreme values and where each was found."""

    values: Any
    indices: Any


class MinMax(NamedTuple):
    """The smallest and the largest."""

    min: Any
    max: Any


class MinMaxIndices(NamedTuple):
    """The smallest and the largest, and where each was found."""

    min: Any
    max: Any
    argmin: Any
    argmax: Any


class _OneEnd(Protocol):
    """The types of ``max`` and ``min``."""

    __name__: str

    @overload
    def __call__(
        self,
        x: NDArray[T],
        /,
        axis: None = None,
        *,
        keepdims: Literal[False] = False,
        return_index: Literal[False] = False,
        select_last_index: bool = False,
        nan_policy: NanPolicy = "propagate",
        where: ArrayLike | None = None,
        default: Any = None,
        index_dtype: DTypeLike = np.int64,
        out: None = None,
    ) -> T: ...
    @overload
    def __call__(
        self,
        x: NDArray[T],
        /,
        axis: Axis | None = None,
        *,
        keepdims: bool = False,
        return_index: Literal[False] = False,
        select_last_index: bool = False,
        nan_policy: NanPolicy = "propagate",
        where: ArrayLike | None = None,
        default: Any = None,
        index_dtype: DTypeLike = np.int64,
        out: NDArray[T] | None = None,
    ) -> NDArray[T]: ...
    @overload
    def __call__(
        self,
        x: Any,
        /,
        axis: Axis | None = None,
        *,
        keepdims: bool = False,
        return_index: Literal[True],
        select_last_index: bool = False,
        nan_policy: NanPolicy = "propagate",
        where: ArrayLike | None = None,
        default: Any = None,
        index_dtype: DTypeLike = np.int64,
        out: None = None,
    ) -> ValuesIndices: ...
    @overload
    def __call__(
        self,
        x: Any,
        /,
        axis: Axis | None = None,
        *,
        keepdims: bool = False,
        return_index: bool = False,
        select_last_index: bool = False,
        nan_policy: NanPolicy = "propagate",
        where: ArrayLike | None = None,
        default: Any = None,
        index_dtype: DTypeLike = np.int64,
        out: NDArray[Any] | None = None,
    ) -> Any: ...


_TEXT = """{superlative} element over any set of axes, with its index on request, in one pass.

    Parameters
    ----------
    x : array_like
        Any shape and layout; bool, any integer, float16, bfloat16, float32, float64, datetime64 or timedelta64. Never
        modified.
    axis : int or tuple of int, optional
        The axes to reduce; all of them by default.
    keepdims : bool, default False
        Keep reduced axes with length 1.
    return_index : bool, default False
        Return the indices too, as :func:`extremum.arg{name}` gives them.
    select_last_index : bool, default False
        Among equal elements take the last instead of the first; zeros of both signs are equal.
    nan_policy : str, default "propagate"
        ``propagate``: NaN (NaT) is the extremum. ``omit``: it does not take part. ``raise``: it is an error.
    where : array_like of bool, optional
        Elements that take part; broadcast to the shape of `x`.
    default : scalar, optional
        The value of a slice in which no element takes part; its index is -1. Without it such a slice is an error.
    index_dtype : data type, default int64
        Type of the indices: int64, int32, uint64 or uint32.
    out : numpy.ndarray, optional
        Receives the values; needs their shape and type.

    Returns
    -------
    array or scalar, or ValuesIndices
        Elements of `x`, bit for bit; with ``return_index`` a named tuple ``(values, indices)``. Arrays of PyTorch, JAX
        and other libraries come back as their own.

    Raises
    ------
    AxisError
        An axis is out of range or given twice.
    ArgumentError
        A slice has no element to choose from and there is no default, an element is NaN under ``raise``, an option has
        no such value, or `out` does not fit.
    ElementTypeError
        `x` holds elements that have no order here, the mask is not of bool, or the default is no element of `x`.

    Notes
    -----
    The operation behind ONNX Reduce{title} and DirectML's DML_REDUCE_FUNCTION_{upper}.

    Examples
    --------
    >>> import numpy as np
    >>> import extremum as ex
    {example}
    """


def _one_end(name: str, largest: bool, superlative: str, example: str) -> _OneEnd:
    """Make one of the two functions, which differ in their words and the end of the order."""

    def end(
        x: Any,
        /,
        axis: Axis | None = None,
        *,
        keepdims: bool = False,
        return_index: bool = False,
        select_last_index: bool = False,
        nan_policy: NanPolicy = "propagate",
        where: ArrayLike | None = None,
        default: Any = None,
        index_dtype: DTypeLike = np.int64,
        out: NDArray[Any] | None = None,
    ) -> Any:
        index = index_type(name, index_dtype) if return_index else None
        how = (axis, keepdims, select_last_index, nan_policy, where)
        plain = type(x) is np.ndarray and out is None and default is None
        if plain and (ends := reduced(name, (largest,), x, *how, True, index)):
            return ends[0][0] if index is None else ValuesIndices(*ends[0])
        if (own := frontend(name, x)) is not None:
            options: dict[str, Any] = {"keepdims": keepdims, "return_index": return_index, "where": where}
            options |= {"select_last_index": select_last_index, "nan_policy": nan_policy, "default": default}
            return own(x, axis, **options, index_dtype=index_dtype, out=out)
        if out is not None and index is not None:
            raise ArgumentError(f"{name}: out receives values alone", remedy="leave out, or return_index, away")
        adopted = adopted_for(name, x)
        ends = short(name, (largest,), adopted, how, index) if out is None and default is None else None
        if ends is None:
            call = Reduction(name, (largest,), *how)
            (found,) = call.find(adopted, True, index, None if default is None else (default,))
            if out is not None:
                return into(name, out, found.values)
            ends = (call.both(adopted, found.values, found.indices),)
        return ends[0][0] if index is None else ValuesIndices(*ends[0])

    end.__name__ = end.__qualname__ = name
    end.__doc__ = _TEXT.format(
        name=name, title=name.capitalize(), upper=name.upper(), superlative=superlative, example=example
    )
    return end


max = _one_end(
    "max",
    True,
    "Largest",
    """>>> x = np.array([[1.0, np.nan, 5.0], [7.0, 0.0, 7.0]])
    >>> ex.max(x, axis=1, nan_policy="omit")
    array([5., 7.])
    >>> ex.max(x[1], return_index=True).indices.item()
    0""",
)
min = _one_end(
    "min",
    False,
    "Smallest",
    """>>> x = np.array([[4, 2], [3, 8]])
    >>> ex.min(x, axis=0, where=[[True, False], [True, False]], default=-1)
    array([ 3, -1])""",
)


def minmax(
    x: Any,
    /,
    axis: Axis | None = None,
    *,
    keepdims: bool = False,
    return_index: bool = False,
    select_last_index: bool = False,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
    default: Any = None,
    index_dtype: DTypeLike = np.int64,
) -> Any:
    """Smallest and largest element over any set of axes, with their indices on request, in one pass.

    Parameters
    ----------
    x, axis, keepdims, return_index, select_last_index, nan_policy, where, index_dtype
        As for :func:`extremum.max`.
    default : scalar or pair of scalars, optional
        The smallest and the largest of a slice in which no element takes part; one value stands for both.

    Returns
    -------
    MinMax or MinMaxIndices
        A named tuple ``(min, max)``, or ``(min, max, argmin, argmax)`` with ``return_index``.

    Raises
    ------
    AxisError, ArgumentError, ElementTypeError
        As :func:`extremum.max`.

    Examples
    --------
    >>> import numpy as np
    >>> import extremum as ex
    >>> low, high = ex.minmax(np.array([[1, 5], [7, 0]]), axis=1)
    >>> low, high
    (array([1, 0]), array([5, 7]))
    """
    index = index_type("minmax", index_dtype) if return_index else None
    how = (axis, keepdims, select_last_index, nan_policy, where)
    if type(x) is np.ndarray and default is None and (ends := reduced("minmax", (False, True), x, *how, True, index)):
        (low, place), (high, other) = ends
        return MinMax(low, high) if index is None else MinMaxIndices(low, high, place, other)
    if (own := frontend("minmax", x)) is not None:
        options: dict[str, Any] = {"keepdims": keepdims, "return_index": return_index, "where": where}
        options |= {"select_last_index": select_last_index, "nan_policy": nan_policy, "default": default}
        return own(x, axis, **options, index_dtype=index_dtype)
    adopted = adopted_for("minmax", x)
    pair = default if isinstance(default, tuple) else (default, default)
    if len(pair) != 2:
        raise ArgumentError(f"minmax: default has {len(pair)} values", remedy="pass one, or a smallest and a largest")
    ends = short("minmax", (False, True), adopted, how, index) if default is None else None
    if ends is None:
        call = Reduction("minmax", (False, True), *how)
        found = call.find(adopted, True, index, None if default is None else pair)
        ends = tuple(call.both(adopted, each.values, each.indices) for each in found)
    (low, place), (high, other) = ends
    return MinMax(low, high) if index is None else MinMaxIndices(low, high, place, other)
