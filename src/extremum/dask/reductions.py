"""``argmax``, ``argmin``, ``max``, ``min`` and ``minmax`` of a Dask array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from extremum.dask.chunks import align_mask, element_type, require_chunked, require_known
from extremum.dask.tasks import reduce
from extremum.partials import Pieces
from extremum.reductions import ENDS, Index, Reduction, flag, index_type
from extremum.signatures import (
    ArgKeywords,
    MinMax,
    MinMaxIndices,
    ValueKeywords,
    ValuesIndices,
    like,
    result_of,
)

if TYPE_CHECKING:
    from dask.array import Array
    from typing_extensions import Unpack

    from extremum.signatures import Axes, No, Yes


class _PairOptions(ValueKeywords, total=False):
    split_every: int | None


class _ValueOptions(_PairOptions, total=False):
    out: None


@like("argmax")
def argmax(
    x: Array,
    /,
    axis: Axes = None,
    *,
    out: None = None,
    split_every: int | None = None,
    **options: Unpack[ArgKeywords],
) -> Array:
    """Index of the largest element of a Dask array over any set of axes; the result is lazy.

    Every bit of the answer is that of :func:`extremum.argmax`, whatever the chunks and the scheduler.

    Parameters
    ----------
    x : dask.array.Array
        Any chunks, also uneven and empty ones; their sizes along the reduced axes have to be known.
    where : array_like of bool, optional
        Elements that take part; broadcast to the shape of `x`. A mask of Dask gets the chunks of `x`. Indices still
        count all elements.
    out : None
        A lazy result cannot be written to an array: pass it to ``dask.array.store``.
    split_every : int, optional
        How many parts one task merges; by default Dask's setting of that name, or 16. It does not change the answer.

    Returns
    -------
    dask.array.Array
        The indices, in the chunks of the axes that remain. Over several axes they count row-major within the reduced
        block, in dimension order.

    Raises
    ------
    AxisError, ElementTypeError
        At once, as for NumPy's arrays.
    ArgumentError
        At once if chunks along a reduced axis have unknown sizes, or (ArgumentTypeError) `x` is not a Dask array; when
        the result is computed, if the elements decide, such as a slice in which no element takes part.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    >>> int(extremum.dask.argmax(x).compute()), extremum.dask.argmax(x, axis=1).compute()
    (3, array([1, 0]))
    """
    return _indices("argmax", x, axis, out, split_every, **options)


@like("argmin", after=[argmax])
def argmin(
    x: Array,
    /,
    axis: Axes = None,
    *,
    out: None = None,
    split_every: int | None = None,
    **options: Unpack[ArgKeywords],
) -> Array:
    """Index of the smallest element of a Dask array over any set of axes; the result is lazy.

    Every bit of the answer is that of :func:`extremum.argmin`, whatever the chunks and the scheduler.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    >>> extremum.dask.argmin(x, axis=0).compute()
    array([0, 1, 0])
    """
    return _indices("argmin", x, axis, out, split_every, **options)


@overload
def max(
    x: Array, /, axis: Axes = None, *, return_index: No = False, **options: Unpack[_ValueOptions]
) -> Array: ...
@overload
def max(
    x: Array, /, axis: Axes = None, *, return_index: Yes, **options: Unpack[_ValueOptions]
) -> ValuesIndices[Array, Array]: ...
@overload
def max(
    x: Array, /, axis: Axes = None, *, return_index: bool, **options: Unpack[_ValueOptions]
) -> Array | ValuesIndices[Array, Array]: ...
@like("max", after=[argmax])
def max(
    x: Array, /, axis: Axes = None, *, out: None = None, split_every: int | None = None, **options: Any
) -> Any:
    """Largest element of a Dask array over any set of axes, with its index on request; the result is lazy.

    Every bit of the answer is that of :func:`extremum.max`, whatever the chunks and the scheduler.

    Returns
    -------
    dask.array.Array, or ValuesIndices of two
        The values, in the chunks of the axes that remain; with ``return_index`` the values and the indices.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    >>> best = extremum.dask.max(x, axis=1, return_index=True)
    >>> best.values.compute(), best.indices.compute()
    (array([5., 7.]), array([1, 0]))
    """
    return _values("max", x, axis, out, split_every, **options)


@overload
def min(
    x: Array, /, axis: Axes = None, *, return_index: No = False, **options: Unpack[_ValueOptions]
) -> Array: ...
@overload
def min(
    x: Array, /, axis: Axes = None, *, return_index: Yes, **options: Unpack[_ValueOptions]
) -> ValuesIndices[Array, Array]: ...
@overload
def min(
    x: Array, /, axis: Axes = None, *, return_index: bool, **options: Unpack[_ValueOptions]
) -> Array | ValuesIndices[Array, Array]: ...
@like("min", after=[max, argmax])
def min(
    x: Array, /, axis: Axes = None, *, out: None = None, split_every: int | None = None, **options: Any
) -> Any:
    """Smallest element of a Dask array over any set of axes, with its index on request; the result is lazy.

    Every bit of the answer is that of :func:`extremum.min`, whatever the chunks and the scheduler.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    >>> extremum.dask.min(x, axis=0).compute()
    array([1., 0., 5.])
    """
    return _values("min", x, axis, out, split_every, **options)


@overload
def minmax(
    x: Array, /, axis: Axes = None, *, return_index: No = False, **options: Unpack[_PairOptions]
) -> MinMax[Array]: ...
@overload
def minmax(
    x: Array, /, axis: Axes = None, *, return_index: Yes, **options: Unpack[_PairOptions]
) -> MinMaxIndices[Array, Array]: ...
@overload
def minmax(
    x: Array, /, axis: Axes = None, *, return_index: bool, **options: Unpack[_PairOptions]
) -> MinMax[Array] | MinMaxIndices[Array, Array]: ...
@like("minmax", after=[max, argmax])
def minmax(x: Array, /, axis: Axes = None, *, split_every: int | None = None, **options: Any) -> Any:
    """Smallest and largest element of a Dask array over any set of axes, in one pass; the result is lazy.

    Every bit of the answer is that of :func:`extremum.minmax`, whatever the chunks and the scheduler.

    Returns
    -------
    MinMax of two dask.array.Array, or MinMaxIndices of four
        The values at both ends, in the chunks of the axes that remain; with ``return_index`` the indices too.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    >>> low, high = extremum.dask.minmax(x)
    >>> float(low.compute()), float(high.compute())
    (0.0, 7.0)
    """
    return _values("minmax", x, axis, None, split_every, **options)


def _indices(
    function: str,
    x: Any,
    axis: Any,
    out: Any,
    split_every: int | None,
    dtype: Any = None,
    default: Any = None,
    **options: Any,
) -> Any:
    call = Reduction(function, ENDS[function], axis, **options)
    pieces, mask = planned(call, x, out, False, index_type(function, dtype), default)
    (indices,) = reduce(pieces, x, mask, split_every)
    return indices


def _values(
    function: str,
    x: Any,
    axis: Any,
    out: Any,
    split_every: int | None,
    return_index: Any = False,
    index_dtype: Any = None,
    default: Any = None,
    **options: Any,
) -> Any:
    call = Reduction(function, ENDS[function], axis, **options)
    if flag(function, "return_index", return_index):
        index = index_type(function, index_dtype)
    else:
        index = None
    pieces, mask = planned(call, x, out, True, index, default)
    return result_of(function, reduce(pieces, x, mask, split_every))


def planned(
    call: Reduction, x: Any, out: Any, values: bool, index: Index, default: Any
) -> tuple[Pieces, Any]:
    """Return a call on a Dask array, and the mask in the chunks of the array."""
    require_chunked(call.function, x, out)
    dtype = element_type(call.function, x)
    where = None if call.where is None else align_mask(call.function, call.where, x)
    call.where = None
    pieces = Pieces.plan(call, x.shape, dtype, values=values, index=index, default=default).cut(x.numblocks)
    if pieces.has_indices:
        require_known(call.function, x, pieces.axes)
    return pieces, where
