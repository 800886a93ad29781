"""The array functions on Dask's arrays: lazy, in one pass, with the same bits for any chunks and any scheduler.

A reduction is a tree of tasks, an elementwise function one task for each chunk, and a model one session in each
process. Errors that need no elements are raised at once: chunks of unknown size along a reduced axis, masks that do not
fit, arrays of other libraries. Only masks are rechunked, and axes of length 1. :mod:`extremum.partials` does the work
of a reduction's tasks, and the order in which they run does not change the result.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import multiprocessing
import operator
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeVar, overload

import numpy as np

from extremum import _native, elementwise, reductions
from extremum.errors import ArgumentError, ArgumentTypeError, ExtremumError, ModelError, required_by, within

with required_by("extremum.dask"):
    import dask.array as da
    from dask import config, delayed
    from dask.base import tokenize
    from dask.core import flatten
    from dask.layers import ArrayBlockIdDep, ArraySliceDep

from extremum.arrays import class_name
from extremum.groups import refuse_groups
from extremum.indices import axis_error, integers
from extremum.interop import Operand, as_operand, common_library
from extremum.partials import Form, Part, Pieces, TopK
from extremum.reductions import Index, Reduction, flag, index_type
from extremum.selection import Selection, one_axis
from extremum.signatures import ArgKeywords, MinMax, MinMaxIndices, ValueKeywords, ValuesIndices, like, result_of

if TYPE_CHECKING:
    import onnx
    from dask.array import Array
    from typing_extensions import Unpack

    from extremum.backend import PreparedModel
    from extremum.signatures import Axes, Axis, HardmaxOptions, No, TopKOptions, Yes

__all__ = ["argmax", "argmin", "hardmax", "max", "maximum", "min", "minimum", "minmax", "run", "top_k"]
__dir__ = __all__.copy

_TEXT = """{what} of a Dask array; the result is lazy.

    The signature and every bit of the answer are those of :func:`extremum.{name}`.{note}

    Parameters
    ----------
    x : dask.array.Array
        Any chunks, also uneven and empty ones; their sizes along the reduced axes have to be known.
    {options}
        As for :func:`extremum.{name}`.{mask}
    split_every : int, optional
        How many parts one task merges; by default Dask's setting of that name, or 16. It does not change the answer.

    Returns
    -------
    {returns}

    Raises
    ------
    AxisError, ElementTypeError
        At once, as in :func:`extremum.{name}`.
    ArgumentError
        At once if chunks along a reduced axis have unknown sizes, or (ArgumentTypeError) `x` is not a Dask array; when
        the result is computed, if the elements decide, such as a slice in which no element takes part.

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
        At least one is Dask's. They are broadcast, and cut wherever one of them has a chunk boundary.
    out : None
        A lazy result cannot be written to an array: pass it to ``dask.array.store``.
    nan_policy : str, default "propagate"
        As for :func:`extremum.{name}`.
    where : array_like of bool, optional
        The positions to compare, Dask's or NumPy's. Elsewhere the result has the elements of the first operand.

    Returns
    -------
    dask.array.Array
        In the type of ``numpy.result_type``.

    Raises
    ------
    ArgumentError, ElementTypeError
        At once, as in :func:`extremum.{name}`, and if chunks of unknown size meet chunks of known size or a different
        number of chunks. When the result is computed, for NaN under ``raise``.
    ArgumentTypeError
        An array is of another library, or no operand is Dask's.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> extremum.dask.{name}(da.arange(4, chunks=2), 2).compute()
    {example}
    """

_MASK = """ A mask may be Dask's too; it gets the chunks of `x`.
    out : None
        A lazy result cannot be written to an array: pass it to ``dask.array.store``."""
_OPTIONS = "axis, keepdims, select_last_index, nan_policy, where, default"


One = TypeVar("One", covariant=True)
Both = TypeVar("Both", covariant=True)


class _ArgOptions(ArgKeywords, total=False):
    split_every: int | None


class _ValueOptions(ValueKeywords, total=False):
    split_every: int | None


class _Arg(Protocol):
    def __call__(self, x: Array, /, axis: Axes = None, **options: Unpack[_ArgOptions]) -> Array: ...


class _Elementwise(Protocol):
    def __call__(self, *arrays: Any, out: None = None, **options: Unpack[HardmaxOptions]) -> Array: ...


class _Values(Protocol[One, Both]):
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: No = False, **options: Unpack[_ValueOptions]
    ) -> One: ...
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: Yes, **options: Unpack[_ValueOptions]
    ) -> Both: ...
    @overload
    def __call__(
        self, x: Array, /, axis: Axes = None, *, return_index: bool, **options: Unpack[_ValueOptions]
    ) -> One | Both: ...


def _plan(call: Reduction, x: Any, out: Any, values: bool, index: Index, default: Any) -> tuple[Pieces, Any]:
    """Return a call on a Dask array, and the mask in the chunks of the array."""
    _require_chunked(call.function, x, out)
    dtype = _element_type(call.function, x)
    where = None if call.where is None else _align_mask(call.function, call.where, x)
    call.where = None
    pieces = Pieces.plan(call, x.shape, dtype, values=values, index=index, default=default).cut(x.numblocks)
    if pieces.has_indices:
        _require_known(call.function, x, pieces.axes)
    return pieces, where


def _text(name: str, what: str, example: str, options: str, returns: str = "dask.array.Array", **parts: str) -> str:
    parts = {"note": "", "mask": _MASK} | parts
    return _TEXT.format(name=name, what=what, options=options, returns=returns, example=example, **parts)


def _reduction(name: str, what: str, example: str, returns: str = "dask.array.Array") -> Any:
    is_arg, largest = name.startswith("arg"), reductions.ENDS[name]
    options = f"{_OPTIONS}, dtype" if is_arg else f"{_OPTIONS}, return_index, index_dtype"

    @like(name, _text(name, what, example, options, returns))
    def function(x: Array, /, axis: Axes = None, *, split_every: int | None = None, **options: Any) -> Any:
        default, dtype = options.pop("default"), options.pop("dtype" if is_arg else "index_dtype")
        out, with_index = options.pop("out", None), options.pop("return_index", True)
        call = Reduction(name, largest, axis, **options)
        index = index_type(name, dtype) if flag(name, "return_index", with_index) else None
        pieces, mask = _plan(call, x, out, not is_arg, index, default)
        return result_of(name, _reduce(pieces, x, mask, split_every))

    return function


argmax: _Arg = _reduction(
    "argmax",
    "Index of the largest element over any set of axes",
    """>>> int(extremum.dask.argmax(x).compute()), extremum.dask.argmax(x, axis=1).compute()
    (3, array([1, 0]))""",
)
argmin: _Arg = _reduction(
    "argmin",
    "Index of the smallest element over any set of axes",
    """>>> extremum.dask.argmin(x, axis=0).compute()
    array([0, 1, 0])""",
)
max: _Values[Array, ValuesIndices[Array, Array]] = _reduction(
    "max",
    "Largest element over any set of axes, with its index on request,",
    """>>> best = extremum.dask.max(x, axis=1, return_index=True)
    >>> best.values.compute(), best.indices.compute()
    (array([5., 7.]), array([1, 0]))""",
    "dask.array.Array, or ValuesIndices of two",
)
min: _Values[Array, ValuesIndices[Array, Array]] = _reduction(
    "min",
    "Smallest element over any set of axes, with its index on request,",
    """>>> extremum.dask.min(x, axis=0).compute()
    array([1., 0., 5.])""",
    "dask.array.Array, or ValuesIndices of two",
)
minmax: _Values[MinMax[Array], MinMaxIndices[Array, Array]] = _reduction(
    "minmax",
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

    If an axis has several chunks, there are two passes: the first finds the indices, the second writes the ones and
    reads no element. Each chunk is read once and does not stay in memory until its index is known.""",
    ),
)
def hardmax(
    x: Array,
    /,
    axis: Axis | None = -1,
    *,
    out: None = None,
    split_every: int | None = None,
    **options: Unpack[HardmaxOptions],
) -> Array:
    """Write the ones: in one pass where each slice lies in one chunk, else from the indices alone."""
    call = Reduction("hardmax", (True,), axis, keepdims=True, **options)
    pieces, mask = _plan(call, x, out, False, np.dtype(np.int64), -1)
    dtype = np.dtype(np.int64) if pieces.dtype.kind in "mM" else pieces.dtype.newbyteorder("=")
    # An error about NaN names a slice of the whole result, which only the two passes below know.
    if pieces.call.nan_policy != "raise" and all(x.numblocks[axis] == 1 for axis in pieces.axes):
        kernel = partial(_whole, pieces.axes, pieces.call.nan_policy, _unknown("hardmax", [x, mask], x.ndim))
        return _blockwise(kernel, x, mask, dtype)
    (indices,) = _reduce(pieces, x, mask, split_every)
    axes = tuple(range(x.ndim))
    kernel = partial(_ones, pieces.axes, x.shape, dtype)
    about = {"token": "extremum-ones", "align_arrays": False, "dtype": dtype, "meta": _META}
    return da.blockwise(kernel, axes, ArraySliceDep(x.chunks), axes, indices, axes, **about)


@like(
    "top_k",
    _text(
        "top_k",
        "The k largest or smallest elements along an axis, with their indices,",
        """>>> best = extremum.dask.top_k(x, 2)
    >>> best.values.compute(), best.indices.compute()
    (array([[5., 5.],
           [7., 7.]]), array([[1, 2],
           [0, 2]]))""",
        "k, axis, mode, sorted, nan_policy",
        "ValuesIndices of two dask.array.Array, in one chunk along the axis",
        note="""

    The best comes first, whatever `sorted` says. A slice of a chunk sends its k best elements, or all if there are
    fewer.""",
        mask="",
    ),
)
def top_k(
    x: Array,
    /,
    k: SupportsIndex,
    axis: SupportsIndex | None = -1,
    *,
    split_every: int | None = None,
    **options: Unpack[TopKOptions],
) -> ValuesIndices[Array, Array]:
    """Select the k best."""
    _require_chunked("top_k", x)
    number = one_axis(x, axis)
    _require_known("top_k", x, None if number is None else (number,))
    selection = Selection.of(x, k, number, options["mode"], options["sorted"], options["nan_policy"])
    return _select(selection, x, None, split_every)


def top_k_over(
    x: Array, k: SupportsIndex, axes: Sequence[int], *, split_every: int | None = None, **options: Any
) -> ValuesIndices[Array, Array]:
    """Select the k best over several axes; the result has a new last axis instead of them."""
    axes = tuple(sorted(axes))
    _require_known("top_k", x, axes)
    others = tuple(length for axis, length in enumerate(x.shape) if axis not in axes)
    count = math.prod(x.shape[axis] for axis in axes)
    # The selection is made in slices that hold the elements of all these axes.
    slices = Form((*others, count), x.dtype)
    selection = Selection.of(slices, k, len(others), options["mode"], options["sorted"], options["nan_policy"])
    return _select(selection, x, axes, split_every)


def _select(
    selection: Selection, x: Array, axes: tuple[int, ...] | None, split_every: int | None
) -> ValuesIndices[Array, Array]:
    pieces = TopK.of(selection, x.shape, _element_type("top_k", x), axes).cut(x.numblocks)
    return ValuesIndices(*_reduce(pieces, x, None, split_every))


def _elementwise(name: str, superlative: str, example: str) -> _Elementwise:
    @like(name, _ELEMENTWISE_TEXT.format(name=name, superlative=superlative, example=example))
    def function(*arrays: Any, **options: Any) -> Array:
        out, nan_policy, where = options["out"], options["nan_policy"], options["where"]
        reductions.require_policy(name, nan_policy)
        dask_arrays = [x for x in arrays if isinstance(x, da.Array)]
        if not dask_arrays:
            refuse_groups(name, *arrays)
            raise ArgumentTypeError(f"{name}: no operand is a Dask array", remedy=f"call extremum.{name}, or pass one")
        _require_chunked(name, dask_arrays[0], out)
        operands = [_operand(name, x) for x in arrays]
        probes = (np.ones((1,) * x.ndim, _element_type(name, x)) if hasattr(x, "ndim") else x for x in operands)
        dtype = np.asarray(elementwise.extremum(name, tuple(probes), None, "propagate")).dtype
        # For shapes and chunks, a mask is one more operand.
        operands.append(None if where is None else _mask(name, where))
        shapes = [_probe_shape(x) for x in operands if hasattr(x, "ndim")]
        kernel = partial(_compare, name, nan_policy, _unknown(name, operands, builtins.max(map(len, shapes))))
        rank = len(elementwise.broadcast_shape(name, shapes))
        axes = tuple(range(rank))
        pairs = (part for x in operands for part in (x, axes[rank - x.ndim :] if hasattr(x, "ndim") else None))
        return da.blockwise(kernel, axes, *pairs, token=f"extremum-{name}", dtype=dtype, meta=_META)

    return function


maximum = _elementwise("maximum", "largest", "array([2, 2, 2, 3])")
minimum = _elementwise("minimum", "smallest", "array([0, 1, 2, 2])")


# How many processors a task of a scheduler uses: one, because the scheduler keeps the others busy. For the kernels the
# number is a setting of the process, so it is set while any task runs and restored after the last task. Other calls at
# that time, such as the caller's own, compute the same result, on one processor too.
_lock = threading.Lock()
_running = 0
_before = 1


def _most() -> int | None:
    """Return how many processors the current task may use; None, for all, in the caller's own thread."""
    is_own = threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None
    return None if is_own else 1


@contextlib.contextmanager
def share() -> Iterator[None]:
    """Use this task's share of the processors: all of them if no scheduler runs other tasks."""
    global _running, _before
    if _most() is None:
        yield
        return
    with _lock:
        if not _running:
            _before = _native.get_num_threads()
            _native.set_num_threads(1)
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            # Keep what the caller has set in the meantime.
            if not _running and _native.get_num_threads() == 1:
                _native.set_num_threads(_before)


def _require_chunked(function: str, x: Any, out: Any = None) -> None:
    if not isinstance(x, da.Array):
        refuse_groups(function, x)
        at_once = "extremum.backend.run_model" if function == "run" else f"extremum.{function}"
        raise ArgumentTypeError(
            f"{function}: {class_name(x)} is not a Dask array",
            remedy=f"pass dask.array.from_array(x, chunks=...), or call {at_once}",
        )
    if out is not None:
        raise ArgumentError(
            f"{function}: out cannot receive a result that is computed later",
            remedy="omit out, and pass the result to dask.array.store",
        )


def _unknown_axes(x: Any) -> tuple[int, ...]:
    return tuple(axis for axis, sizes in enumerate(x.chunks) if any(map(math.isnan, sizes)))


def _require_known(function: str, x: Any, axes: Iterable[int] | None = None) -> None:
    """Refuse chunks of unknown size along some axes, or along any: an index counts from the start of its chunk."""
    for axis in _unknown_axes(x):
        if axes is None or axis in axes:
            reason = f"{function}: the sizes of the chunks along axis {axis} are not known"
            given = f"dask array of {x.dtype} with {x.numblocks} chunks"
            raise ArgumentError(reason, given=given, remedy="call x.compute_chunk_sizes() first")


def _probe_shape(x: Any) -> tuple[int, ...]:
    """Return the shape of an array with 2 for each unknown length, which broadcasts as that length does."""
    return tuple(2 if math.isnan(length) else length for length in x.shape)


def _element_type(function: str, x: Any) -> np.dtype[Any]:
    with within(function):
        return as_operand(getattr(x, "_meta", x)).array.dtype


def _align_mask(function: str, where: Any, x: Any) -> Any:
    """Return a mask that has the chunks of its array along each axis, or one chunk of length 1."""
    if not isinstance(where, da.Array):
        where = da.asarray(reductions.as_mask(function, where))
    unknown = _unknown(function, [x, where], x.ndim)
    probe = np.broadcast_to(np.zeros((), where.dtype), _probe_shape(where))
    reductions.as_mask(function, probe, _probe_shape(x))
    chunks = dict(enumerate(x.chunks[x.ndim - where.ndim :]))
    axes = [axis for axis in chunks if axis + x.ndim - where.ndim not in unknown]
    return where.rechunk({axis: (1,) if where.shape[axis] == 1 else chunks[axis] for axis in axes})


def _require_equal(function: str, unknown: dict[int, list[int]], blocks: Sequence[Any]) -> None:
    """Refuse chunks of unknown size that turn out to have different lengths: a length of 1 would be broadcast."""
    rank = builtins.max(map(np.ndim, blocks))
    for axis, sharing in unknown.items():
        lengths = [blocks[at].shape[axis - rank] for at in sharing]
        if len(set(lengths)) > 1:
            words = " and ".join(map(str, lengths))
            reason = f"{function}: chunks of unknown size that meet along axis {axis} have {words} elements"
            raise ArgumentError(reason, remedy="call compute_chunk_sizes() of each array first")


_WIDTH = 16
"""How many parts a task merges by default: Dask's own number for indices."""

_META = np.empty(0)
"""Says that results are NumPy's arrays; Dask adapts its rank and type."""


def _reduce(pieces: Pieces, x: Any, where: Any, split_every: int | None) -> tuple[Any, ...]:
    """Return the results of a reduction as lazy arrays."""
    function = pieces.call.function
    width = split_every if split_every is not None else config.get("split_every", None) or _WIDTH
    if not isinstance(width, int) or width < 2:
        raise ArgumentError(f"{function}: split_every={width!r} merges nothing", remedy="pass an integer above 1")
    types = pieces.types
    # Tasks have the axes of the array only; a new axis comes last.
    has_new = None in pieces.result_axes
    rank = len(pieces.result_axes) - has_new
    kernel = partial(_part, pieces, _unknown(function, [x, where], x.ndim))
    parts = _blockwise(kernel, x, where, x.dtype)
    # In the step `chunk`, the merge gets only one part.
    steps = dict.fromkeys(("chunk", "combine"), partial(_merge, pieces)) | {"aggregate": partial(_finish, pieces)}
    form = {"axis": pieces.axes, "keepdims": pieces.call.keepdims, "output_size": pieces.length}
    # The dtype is that of parts. In Dask 2025.1 it has to support a sum, which times do not.
    about = {"name": f"extremum-{function}", "dtype": object, "meta": np.empty((0,) * rank, types[0])}
    result = da.reduction(parts, **steps, **form, **about, split_every=width, concatenate=False)
    if not types[1:]:
        return (result,)
    shape = {rank: pieces.length} if has_new else {}
    return tuple(_pick(result, at, tuple(range(rank)), shape, dtype) for at, dtype in enumerate(types))


def _blockwise(kernel: Any, x: Any, where: Any, dtype: np.dtype[Any]) -> Any:
    """Apply a function to the number, the slices and the elements of each chunk, and to its mask."""
    axes = tuple(range(x.ndim))
    place = (ArrayBlockIdDep(x.chunks), axes, ArraySliceDep(x.chunks), axes)
    mask = () if where is None else (where, axes[x.ndim - where.ndim :])
    options = {"token": "extremum-chunk", "align_arrays": False, "dtype": dtype, "meta": _META}
    return da.blockwise(kernel, axes, *place, x, axes, *mask, **options)


Message = tuple[tuple[int, ...], tuple[float, ...], Part]
"""A part as it travels: with the number and the start (NaN if unknown) of its first chunk."""


def _part(
    pieces: Pieces, unknown: dict[int, list[int]], number: Any, place: tuple[slice, ...], block: Any, where: Any = None
) -> Message:
    _require_equal(pieces.call.function, unknown, [block, where])
    start = tuple(each.start for each in place)
    with share():
        return number, start, pieces.part(as_operand(block), start, where)


def _merge(pieces: Pieces, several: Any, axis: Any, keepdims: bool) -> Message:
    numbers, starts, parts = zip(*flatten([several], container=list), strict=True)
    with share():
        return numbers[0], starts[0], pieces.merge(parts)


def _finish(pieces: Pieces, several: Any, axis: Any, keepdims: bool) -> Any:
    numbers, starts, parts = zip(*flatten([several], container=list), strict=True)
    origin = pieces.along([0 if math.isnan(start) else start for start in starts[0]], 0)
    try:
        with share():
            results = pieces.finish(parts, origin)
    except ExtremumError as error:
        if not any(map(math.isnan, pieces.shape)):
            raise
        where = f"chunk {pieces.along(numbers[0], 0)} of the result, from whose start the slice is counted"
        raise error.with_context(where=where) from None
    return results if results[1:] else results[0]


def _pick(several: Any, number: int, axes: tuple[int, ...], new: dict[int, int], dtype: np.dtype[Any]) -> Any:
    """Return one result of tasks with several: `axes` are its axes in the tasks, `new` the lengths of the others."""
    options = {"new_axes": new, "token": "extremum-result", "dtype": dtype, "meta": _META}
    return da.blockwise(operator.itemgetter(number), range(len(axes) + len(new)), several, axes, **options)


def _ones(axes: tuple[int, ...], whole: Any, dtype: np.dtype[Any], place: tuple[slice, ...], indices: Any) -> Any:
    # The other lengths come from the indices: before the computation they may be unknown.
    lengths = {axis: place[axis].stop - place[axis].start for axis in axes}
    shape = tuple(lengths.get(axis, length) for axis, length in enumerate(indices.shape))
    return reductions.ones(indices, axes, whole, tuple(each.start for each in place), shape, dtype)


def _whole(
    axes: Any, nan_policy: str, unknown: dict[int, list[int]], number: Any, place: Any, block: Any, where: Any = None
) -> Any:
    _require_equal("hardmax", unknown, [block, where])
    with share():
        return reductions.hardmax(block, axes, None, nan_policy, where)


def _operand(function: str, x: Any) -> Any:
    if isinstance(x, bool | int | float):
        return x
    if isinstance(x, da.Array):
        # Dask would repeat each chunk of such an axis, even a chunk without elements.
        return x.rechunk({axis: 1 for axis, sizes in enumerate(x.chunks) if sum(sizes) == 1 and len(sizes) > 1})
    with within(function):
        operand = as_operand(x)
        common_library([Operand(operand.array, library="dask"), operand])
        return operand.whole(class_name(x))


def _mask(function: str, where: Any) -> Any:
    if not isinstance(where, da.Array):
        return reductions.as_mask(function, where)
    reductions.as_mask(function, np.ones((), _element_type(function, where)))
    return _operand(function, where)


def _unknown(function: str, arrays: Sequence[Any], rank: int) -> dict[int, list[int]]:
    """Return each axis of unknown length with the operands that share it; refuse operands that cannot be matched."""
    by_axis: dict[int, list[int]] = {}
    operands = {at: x for at, x in enumerate(arrays) if hasattr(x, "ndim")}
    for axis in range(rank):
        sharing = {at: x for at, x in operands.items() if axis >= rank - x.ndim and x.shape[axis - rank] != 1}
        cut = [x for x in sharing.values() if isinstance(x, da.Array) and axis - rank + x.ndim in _unknown_axes(x)]
        if not cut:
            continue
        if len(cut) < len(sharing) or len({x.numblocks[axis - rank] for x in cut}) > 1:
            _require_known(function, cut[0], (axis - rank + cut[0].ndim,))
        by_axis[axis] = list(sharing)
    return by_axis


def _compare(function: str, nan_policy: str, unknown: dict[int, list[int]], *blocks: Any) -> Any:
    _require_equal(function, unknown, blocks)
    with share():
        return elementwise.extremum(function, blocks[:-1], None, nan_policy, blocks[-1])


def run(
    model: onnx.ModelProto | bytes | str | os.PathLike[str], array: Any, axis: int = 0, *, output: str | None = None
) -> Any:
    """Run an ONNX model on every chunk of a Dask array, with one session in each process that computes.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        A model with one input. It travels with the graph. A model above 2 GB stays in its file, which every process
        has to see.
    array : dask.array.Array
        The input, in chunks along `axis` and along no other axis.
    axis : int, default 0
        The axis of the input along which the entries of a batch lie. Entries must not depend on each other.
    output : str, optional
        The name of the only output to return; by default all outputs.

    Returns
    -------
    dask.array.Array or tuple of dask.array.Array
        The outputs, in the chunks of the input: one array if the model has one output or `output` names one.

    Raises
    ------
    ArgumentError
        Chunks have unknown sizes along another axis, lie along another axis or differ from the batch that the model
        declares, or an output has no axis that grows with the batch, or no output has the name `output`.
    AxisError
        The axis is out of range.
    ModelError
        `model` is not an ONNX model, or has several inputs.
    InputError
        The array does not fit the model's input.

    Examples
    --------
    >>> import dask.array as da
    >>> import onnx
    >>> import extremum.dask
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int32[n, 3] x) => (int64[n, 1] y) { y = ArgMax<axis=1>(x) }'
    >>> x = da.from_array([[1, 5, 2], [7, 0, 7], [0, 0, 1]], chunks=(2, 3)).astype("int32")
    >>> extremum.dask.run(onnx.parser.parse_model(text), x).compute().ravel()
    array([1, 0, 2])
    """
    from extremum.backend import batch_outputs, prepare

    _require_chunked("run", array)
    if getattr(axis, "shape", ()):
        raise ArgumentTypeError(
            f"run: a second array, {class_name(axis)}, stands in the place of axis",
            remedy="pass one array; a model with several inputs runs in extremum.backend.run_model on computed arrays",
        )
    axis = batch_axis(axis, array)
    for other, count in enumerate(array.numblocks):
        if other != axis and count > 1:
            reason = f"run: axis {other} is cut into {count} chunks, and a model takes whole entries"
            raise ArgumentError(reason, remedy=f"pass x.rechunk({{{other}: -1}}), or axis={other}")
    _require_known("run", array, set(range(array.ndim)) - {axis})
    session = prepare(model, threads=_most())
    content = as_it_travels(model, session)
    outputs = batch_outputs(session, array, axis, array.chunks[axis], output)
    # One node for all chunks: each process gets the model once.
    node = delayed(content, name=f"extremum-model-{tokenize(content)}", traverse=False)
    options = {"token": "extremum-run", "dtype": array.dtype, "meta": _META}
    several = da.blockwise(_run, (axis,), node, None, array, range(array.ndim), **options)
    results = []
    for each in outputs:
        new = {at: length for at, length in enumerate(each.shape) if at != each.batch}
        results.append(_pick(several, each.number, (each.batch,), new, each.dtype))
    return tuple(results) if results[1:] else results[0]


def batch_axis(axis: Any, array: Array) -> int:
    """Return the axis of a batch as a non-negative number, or refuse it."""
    number = integers("run", axis, array)
    rank = len(array.shape)
    if isinstance(number, tuple):
        raise ArgumentTypeError(f"run: axis {axis!r} is not one axis", remedy="pass an int")
    if not -rank <= number < rank:
        raise axis_error("run", number, array.shape)
    return number % rank


def as_it_travels(model: Any, session: PreparedModel) -> bytes | str:
    """Return a model as bytes, or the name of its file."""
    try:
        return session.model.SerializeToString()
    except ValueError:
        # The model is larger than protobuf writes into one message.
        if not isinstance(model, str | os.PathLike):
            raise ModelError("run: the model has more than 2 GB", remedy="pass the name of its file") from None
        return os.path.abspath(model)  # noqa: PTH100 - Path.absolute keeps what `..` stands for


_loading = threading.Lock()


@functools.lru_cache(maxsize=4)
def _session(model: bytes | str, threads: int | None) -> PreparedModel:
    from extremum.backend import prepare

    return prepare(model, threads=threads)


def _run(model: bytes | str, block: Any) -> tuple[Any, ...]:
    # Dask nests the chunk in a list of one item for each of its axes.
    while isinstance(block, list):
        (block,) = block
    with _loading:
        session = _session(model, _most())
    with share():
        # Text becomes objects, whichever library ran the model: text of fixed width would differ in type by chunk.
        outputs = session.run([block])
        return tuple(x.astype(object) if isinstance(x, np.ndarray) and x.dtype.kind in "SUT" else x for x in outputs)
