"""The array functions on Dask's arrays: lazy, in one pass, the same bits whatever the chunks and whoever computes them.

Decides the signatures, which are those of the array functions; ``split_every``, how many parts one task of a tree
merges, is Dask's own. ``extremum.argmax(x)`` and the others come here by themselves. No array is computed before it is
asked for, and none is given other chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from extremum.extras import lacking

try:
    from extremum.dask import chunked, elementwise, one_hot
except ModuleNotFoundError as error:
    raise lacking("extremum.dask", error) from None
from extremum.dask.models import run
from extremum.dask.tree import reduced
from extremum.errors import ArgumentError
from extremum.partials import Pieces
from extremum.policy import NanPolicy
from extremum.reductions import Reduction, index_type
from extremum.values import MinMax, MinMaxIndices, ValuesIndices

__all__ = ["argmax", "argmin", "hardmax", "max", "maximum", "min", "minimum", "minmax", "run"]

Axis = SupportsIndex | tuple[SupportsIndex, ...]

_TEXT = """{what} of a Dask array, yet to be computed.

    The signature is that of :func:`extremum.{name}`, and so is the answer, in every bit.

    Parameters
    ----------
    x : dask.array.Array
        Of any chunks, also uneven ones and some without elements. Their sizes along the reduced axes must be known.
    {options}
        As for :func:`extremum.{name}`. A mask may be Dask's too; it is cut as `x` is.
    out : None
        A lazy result is written to no array: pass it to ``dask.array.store``.
    split_every : int, optional
        How many parts one task merges: 16, or what Dask's setting of that name says. The answer does not depend on it.

    Returns
    -------
    {returns}

    Raises
    ------
    AxisError, ElementTypeError
        At once, as :func:`extremum.{name}`.
    ArgumentError
        At once where chunks along a reduced axis are of unknown size, `x` is no Dask array, or an option has no such
        value; what the elements decide, such as a slice that has none, when it is computed.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    {example}
    """

_REDUCING = "axis, keepdims, select_last_index, nan_policy, where, default"
_LAZY = "dask.array.Array"


def _planned(
    call: Reduction, x: Any, out: Any, values: bool, index: np.dtype[Any] | None, defaults: tuple[Any, ...] | None
) -> tuple[Pieces, Any]:
    """Return a call about a Dask array, and its mask in the chunks of the array."""
    chunked.require_chunked(call.function, x, out)
    dtype = chunked.element_type(call.function, x)
    where = None if call.where is None else chunked.aligned(call.function, call.where, x)
    call.where = None
    pieces = Pieces.planned(call, x.shape, dtype, values=values, index=index, defaults=defaults)
    chunked.require_known(call.function, x, pieces.axes)
    return pieces, where


def _arg(name: str, what: str, example: str) -> Callable[..., Any]:
    """Make ``argmax`` or ``argmin``."""

    def arg(
        x: Any,
        /,
        axis: Axis | None = None,
        *,
        keepdims: bool = False,
        select_last_index: bool = False,
        dtype: DTypeLike = np.int64,
        out: None = None,
        nan_policy: NanPolicy = "propagate",
        where: Any = None,
        default: int | None = None,
        split_every: int | None = None,
    ) -> Any:
        call = Reduction(name, (name == "argmax",), axis, keepdims, select_last_index, nan_policy, where)
        defaults = None if default is None else (default,)
        pieces, mask = _planned(call, x, out, False, index_type(name, dtype), defaults)
        return reduced(pieces, x, mask, split_every)[0]

    options = f"{_REDUCING}, dtype"
    arg.__doc__ = _TEXT.format(name=name, what=what, options=options, returns=_LAZY, example=example)
    arg.__name__ = arg.__qualname__ = name
    return arg


def _end(name: str, what: str, example: str) -> Callable[..., Any]:
    """Make ``max`` or ``min``."""

    def end(
        x: Any,
        /,
        axis: Axis | None = None,
        *,
        keepdims: bool = False,
        return_index: bool = False,
        select_last_index: bool = False,
        nan_policy: NanPolicy = "propagate",
        where: Any = None,
        default: Any = None,
        index_dtype: DTypeLike = np.int64,
        out: None = None,
        split_every: int | None = None,
    ) -> Any:
        call = Reduction(name, (name == "max",), axis, keepdims, select_last_index, nan_policy, where)
        index = index_type(name, index_dtype) if return_index else None
        pieces, mask = _planned(call, x, out, True, index, None if default is None else (default,))
        results = reduced(pieces, x, mask, split_every)
        return ValuesIndices(*results) if return_index else results[0]

    options = f"{_REDUCING}, return_index, index_dtype"
    returns = f"{_LAZY}, or ValuesIndices of two"
    end.__doc__ = _TEXT.format(name=name, what=what, options=options, returns=returns, example=example)
    end.__name__ = end.__qualname__ = name
    return end


argmax = _arg(
    "argmax",
    "Index of the largest element over any set of axes",
    """>>> int(extremum.dask.argmax(x).compute()), extremum.dask.argmax(x, axis=1).compute()
    (3, array([1, 0]))""",
)
argmin = _arg(
    "argmin",
    "Index of the smallest element over any set of axes",
    """>>> extremum.dask.argmin(x, axis=0).compute()
    array([0, 1, 0])""",
)
max = _end(
    "max",
    "Largest element over any set of axes, with its index on request,",
    """>>> best = extremum.dask.max(x, axis=1, return_index=True)
    >>> best.values.compute(), best.indices.compute()
    (array([5., 7.]), array([1, 0]))""",
)
min = _end(
    "min",
    "Smallest element over any set of axes, with its index on request,",
    """>>> extremum.dask.min(x, axis=0).compute()
    array([1., 0., 5.])""",
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
    where: Any = None,
    default: Any = None,
    index_dtype: DTypeLike = np.int64,
    split_every: int | None = None,
) -> Any:
    """Smallest and largest element of a Dask array over any set of axes, with their indices on request, in one pass.

    Parameters
    ----------
    x, axis, keepdims, return_index, select_last_index, nan_policy, where, index_dtype, split_every
        As for :func:`extremum.dask.max`.
    default
        As for :func:`extremum.minmax`.

    Returns
    -------
    MinMax or MinMaxIndices
        Of Dask arrays, yet to be computed, as :func:`extremum.minmax` has them of elements.

    Raises
    ------
    AxisError, ElementTypeError, ArgumentError
        As :func:`extremum.dask.max`.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> low, high = extremum.dask.minmax(da.arange(7, chunks=2))
    >>> int(low.compute()), int(high.compute())
    (0, 6)
    """
    index = index_type("minmax", index_dtype) if return_index else None
    call = Reduction("minmax", (False, True), axis, keepdims, select_last_index, nan_policy, where)
    pair = default if isinstance(default, tuple) else (default, default)
    if len(pair) != 2:
        raise ArgumentError(f"minmax: default has {len(pair)} values", remedy="pass one, or a smallest and a largest")
    pieces, mask = _planned(call, x, None, True, index, None if default is None else pair)
    results = reduced(pieces, x, mask, split_every)
    return MinMaxIndices(*results) if return_index else MinMax(*results)


def hardmax(
    x: Any,
    /,
    axis: Axis = -1,
    *,
    out: None = None,
    nan_policy: NanPolicy = "propagate",
    where: Any = None,
    split_every: int | None = None,
) -> Any:
    """Ones at the first maximum of a Dask array along an axis or several, zeros elsewhere, in the chunks of the array.

    Over an axis that is cut into chunks it takes two passes over them: the first finds the indices, the second writes
    the ones. The second reads no element: each chunk is still read once, and not kept until its index is known.

    Parameters
    ----------
    x, where, out, split_every
        As for :func:`extremum.dask.argmax`.
    axis, nan_policy
        As for :func:`extremum.hardmax`.

    Returns
    -------
    dask.array.Array
        Yet to be computed.

    Raises
    ------
    AxisError, ElementTypeError, ArgumentError
        As :func:`extremum.dask.argmax`.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> extremum.dask.hardmax(da.from_array([[1, 5, 5], [7, 0, 7]], chunks=(1, 2))).compute()
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    call = Reduction("hardmax", (True,), axis, True, False, nan_policy, where)
    pieces, mask = _planned(call, x, out, False, np.dtype(np.int64), (-1,))
    return one_hot.hardmax(pieces, x, mask, split_every)


def maximum(*arrays: Any, out: None = None, nan_policy: NanPolicy = "propagate") -> Any:
    """Elementwise largest of Dask arrays, of NumPy's beside them and of numbers, broadcast and yet to be computed.

    Parameters
    ----------
    *arrays : dask.array.Array, array_like or number
        At least one of Dask's. They are cut where any of them is.
    out : None
        A lazy result is written to no array: pass it to ``dask.array.store``.
    nan_policy : str, default "propagate"
        As for :func:`extremum.maximum`.

    Returns
    -------
    dask.array.Array
        In the type of ``numpy.result_type``.

    Raises
    ------
    ArgumentError, ElementTypeError
        At once, as :func:`extremum.maximum`, and where chunks of unknown size meet known ones, or others in number;
        NaN under ``raise`` when it is computed.
    ArgumentTypeError
        There are arrays of another library, or none of Dask's.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> extremum.dask.maximum(da.arange(4, chunks=2), 2).compute()
    array([2, 2, 2, 3])
    """
    return elementwise.extremum("maximum", arrays, out, nan_policy)


def minimum(*arrays: Any, out: None = None, nan_policy: NanPolicy = "propagate") -> Any:
    """Elementwise smallest of Dask arrays, of NumPy's beside them and of numbers, broadcast and yet to be computed.

    Parameters
    ----------
    *arrays, out, nan_policy
        As for :func:`extremum.dask.maximum`.

    Returns
    -------
    dask.array.Array
        In the type of ``numpy.result_type``.

    Raises
    ------
    ArgumentError, ElementTypeError, ArgumentTypeError
        As :func:`extremum.dask.maximum`.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> extremum.dask.minimum(da.arange(4, chunks=2), 2).compute()
    array([0, 1, 2, 2])
    """
    return elementwise.extremum("minimum", arrays, out, nan_policy)
