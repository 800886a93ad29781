"""The array functions on Dask's arrays: lazy, in one pass, the same bits whatever the chunks and whoever computes them.

Decides the signatures, which are those of the array functions; ``split_every``, how many parts one task of a tree
merges, is Dask's own. ``extremum.argmax(x)`` and the others come here by themselves. No array is computed before it is
asked for, and none is given other chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from extremum.errors import lacking

try:
    from extremum.dask import graphs
except ModuleNotFoundError as error:
    raise lacking("extremum.dask", error) from None
from extremum.dask.models import run
from extremum.partials import Pieces
from extremum.reductions import Reduction, flag, index_type
from extremum.signatures import ArgKeywords, MinMax, MinMaxIndices, ValueKeywords, ValuesIndices, like

if TYPE_CHECKING:
    from dask.array import Array
    from typing_extensions import Unpack

    from extremum.signatures import Axes, Axis, HardmaxOptions, No, Yes

__all__ = ["argmax", "argmin", "hardmax", "max", "maximum", "min", "minimum", "minmax", "run"]


def __dir__() -> list[str]:
    return sorted(__all__)


_TEXT = """{what} of a Dask array; the result is lazy.

    The signature is that of :func:`extremum.{name}`, and so is the answer, in every bit.{note}

    Parameters
    ----------
    x : dask.array.Array
        Of any chunks, also uneven and empty ones. Their sizes along the reduced axes are known.
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

_ELEMENTWISE_TEXT = """Elementwise {superlative} of Dask arrays, NumPy's and numbers; the result is lazy.

    Parameters
    ----------
    *arrays : dask.array.Array, array_like or number
        At least one of Dask's. They are broadcast, and cut where any of them is.
    out : None
        A lazy result is written to no array: pass it to ``dask.array.store``.
    nan_policy : str, default "propagate"
        As for :func:`extremum.{name}`.
    where : array_like of bool, optional
        Positions that are compared, Dask's or NumPy's. Elsewhere the result has the elements of the first operand.

    Returns
    -------
    dask.array.Array
        In the type of ``numpy.result_type``.

    Raises
    ------
    ArgumentError, ElementTypeError
        At once, as :func:`extremum.{name}`, and where chunks of unknown size meet known ones, or others in number; NaN
        under ``raise`` when it is computed.
    ArgumentTypeError
        There are arrays of another library, or none of Dask's.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> extremum.dask.{name}(da.arange(4, chunks=2), 2).compute()
    {example}
    """

_OPTIONS = "axis, keepdims, select_last_index, nan_policy, where, default"


class _ArgOptions(ArgKeywords, total=False):
    split_every: int | None


class _ValueOptions(ValueKeywords, total=False):
    split_every: int | None


class _Arg(Protocol):
    def __call__(self, x: Array, /, axis: Axes = None, **options: Unpack[_ArgOptions]) -> Array: ...


class _Elementwise(Protocol):
    def __call__(self, *arrays: Any, out: None = None, **options: Unpack[HardmaxOptions]) -> Array: ...


class _Max(Protocol):
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: No = False, **options: Unpack[_ValueOptions]
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: Yes, **options: Unpack[_ValueOptions]
    ) -> ValuesIndices[Array, Array]: ...
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: bool, **options: Unpack[_ValueOptions]
    ) -> Array | ValuesIndices[Array, Array]: ...


class _MinMax(Protocol):
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: No = False, **options: Unpack[_ValueOptions]
    ) -> MinMax[Array]: ...
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: Yes, **options: Unpack[_ValueOptions]
    ) -> MinMaxIndices[Array, Array]: ...
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: bool, **options: Unpack[_ValueOptions]
    ) -> MinMax[Array] | MinMaxIndices[Array, Array]: ...


def _planned(
    call: Reduction, x: Any, out: Any, values: bool, index: np.dtype[Any] | None, defaults: tuple[Any, ...] | None
) -> tuple[Pieces, Any]:
    """Return a call about a Dask array, and its mask in the chunks of the array."""
    graphs.require_chunked(call.function, x, out)
    dtype = graphs.element_type(call.function, x)
    where = None if call.where is None else graphs.aligned(call.function, call.where, x)
    call.where = None
    pieces = Pieces.planned(call, x.shape, dtype, values=values, index=index, defaults=defaults)
    if pieces.cut(x.chunks).has_indices:
        graphs.require_known(call.function, x, pieces.axes)
    return pieces, where


def _text(name: str, what: str, example: str, options: str, returns: str = "dask.array.Array", note: str = "") -> str:
    return _TEXT.format(name=name, what=what, options=options, returns=returns, example=example, note=note)


def _arg(name: str, what: str, example: str) -> _Arg:
    """Make ``argmax`` or ``argmin``."""

    @like(name, _text(name, what, example, f"{_OPTIONS}, dtype"))
    def arg(x: Array, /, axis: Axes = None, *, split_every: int | None = None, **options: Any) -> Array:
        out, default, dtype = (options.pop(key) for key in ("out", "default", "dtype"))
        call = Reduction(name, (name == "argmax",), axis, **options)
        pieces, mask = _planned(call, x, out, False, index_type(name, dtype), call.ends(default))
        return graphs.reduced(pieces, x, mask, split_every)[0]

    return arg


def _end(name: str, largest: tuple[bool, ...], what: str, example: str, returns: str) -> Any:
    """Make ``max``, ``min`` or ``minmax``."""

    @like(name, _text(name, what, example, f"{_OPTIONS}, return_index, index_dtype", returns))
    def end(x: Array, /, axis: Axes = None, *, split_every: int | None = None, **options: Any) -> Any:
        default, dtype, with_index = (options.pop(key) for key in ("default", "index_dtype", "return_index"))
        out = options.pop("out", None)
        call = Reduction(name, largest, axis, **options)
        defaults = call.ends(default)
        index = index_type(name, dtype) if flag(name, "return_index", with_index) else None
        pieces, mask = _planned(call, x, out, True, index, defaults)
        found = graphs.reduced(pieces, x, mask, split_every)
        if largest[1:]:
            return MinMaxIndices(*found) if with_index else MinMax(*found)
        return ValuesIndices(*found) if with_index else found[0]

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
max: _Max = _end(
    "max",
    (True,),
    "Largest element over any set of axes, with its index on request,",
    """>>> best = extremum.dask.max(x, axis=1, return_index=True)
    >>> best.values.compute(), best.indices.compute()
    (array([5., 7.]), array([1, 0]))""",
    "dask.array.Array, or ValuesIndices of two",
)
min: _Max = _end(
    "min",
    (False,),
    "Smallest element over any set of axes, with its index on request,",
    """>>> extremum.dask.min(x, axis=0).compute()
    array([1., 0., 5.])""",
    "dask.array.Array, or ValuesIndices of two",
)
minmax: _MinMax = _end(
    "minmax",
    (False, True),
    "Smallest and largest element over any set of axes, with their indices on request, in one pass,",
    """>>> low, high = extremum.dask.minmax(x)
    >>> float(low.compute()), float(high.compute())
    (0.0, 7.0)""",
    "MinMax of Dask arrays, or MinMaxIndices of four",
)


@like(
    "hardmax",
    _text(
        "hardmax",
        "Ones at the first maximum along an axis or several, zeros elsewhere, in the chunks",
        """>>> extremum.dask.hardmax(x).compute()
    array([[0., 1., 0.],
           [1., 0., 0.]])""",
        "axis, nan_policy, where",
        note="""

    Where an axis has several chunks there are two passes: the first finds the indices, the second writes the ones and
    reads no element. Each chunk is read once, and not kept until its index is known.""",
    ),
)
def hardmax(
    x: Array, /, axis: Axis = -1, *, out: None = None, split_every: int | None = None, **options: Unpack[HardmaxOptions]
) -> Array:
    """Write the ones."""
    call = Reduction("hardmax", (True,), axis, keepdims=True, **options)
    pieces, mask = _planned(call, x, out, False, np.dtype(np.int64), (-1,))
    return graphs.hardmax(pieces, x, mask, split_every)


def _elementwise(name: str, superlative: str, example: str) -> _Elementwise:
    """Make ``maximum`` or ``minimum``."""

    @like(name, _ELEMENTWISE_TEXT.format(name=name, superlative=superlative, example=example))
    def function(*arrays: Any, **options: Any) -> Array:
        return graphs.extremum(name, arrays, **options)

    return function


maximum = _elementwise("maximum", "largest", "array([2, 2, 2, 3])")
minimum = _elementwise("minimum", "smallest", "array([0, 1, 2, 2])")
