"""The array functions on xarray's DataArray and Dataset, by the names of dimensions, over NumPy and over Dask.

Results keep the name, the attributes and the coordinates of the dimensions that remain. A Dataset is reduced variable
by variable. Over Dask the result is lazy. Options are those of the array functions: NaN is the extremum by default,
where xarray's own methods skip it as ``nan_policy="omit"`` does.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum.arrays import class_name, misfit_of
from extremum.errors import ArgumentError, ArgumentTypeError, ExtremumError, required_by, within
from extremum.groups import refuse_groups
from extremum.interop import labels_of
from extremum.reductions import Reduction, nan, require_labels
from extremum.selection import one_axis
from extremum.signatures import MinMax, MinMaxIndices, ValuesIndices, like

with required_by("extremum.xarray"):
    import xarray as xr

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from extremum.signatures import ArgKeywords, HardmaxOptions, No, TieOptions, TopKOptions, ValueKeywords, Yes

__all__ = [
    "argmax",
    "argmin",
    "hardmax",
    "idxmax",
    "idxmin",
    "idxtop_k",
    "max",
    "maximum",
    "min",
    "minimum",
    "minmax",
    "top_k",
]
__dir__ = __all__.copy

X = TypeVar("X", xr.DataArray, xr.Dataset)

Dims = Hashable | Sequence[Hashable] | None
"""One name, several, or None for all dimensions."""


def require_labelled(function: str, x: Any) -> None:
    """Refuse anything but a DataArray or a Dataset."""
    if isinstance(x, xr.DataArray | xr.Dataset):
        return
    refuse_groups(function, x)
    remedy = "pass xarray.DataArray(x, dims=..., coords=...)"
    if hasattr(ex, function):
        remedy = f"call extremum.{function}, with axis instead of dim"
    raise ArgumentTypeError(f"{function}: {class_name(x)} is neither a DataArray nor a Dataset", remedy=remedy)


def dims_of(function: str, dim: Any, x: Any) -> tuple[Hashable, ...]:
    """Return the dimensions that a caller names, in the order of the array."""
    if dim is None or dim is ...:
        return tuple(x.dims)
    # A tuple may be the name of a dimension too.
    names = [dim] if isinstance(dim, Hashable) and (not isinstance(dim, tuple) or dim in x.dims) else list(dim)
    for name in names:
        if name not in x.dims:
            reason = f"{function}: there is no dimension {name!r}"
            given = f"dimensions {', '.join(map(repr, x.dims))}"
            raise ArgumentError(reason, given=given, remedy="name dimensions of the array")
    return tuple(name for name in x.dims if name in names)


def each_variable(x: xr.Dataset, function: str, dim: Any, call: Callable[[xr.DataArray, Any], Any]) -> Any:
    """Return Datasets of the results of each variable; variables without any of the dimensions stay unchanged."""
    dims = dims_of(function, dim, x)
    by_name: dict[Hashable, Any] = {}
    for name, variable in x.data_vars.items():
        if own := [each for each in dims if each in variable.dims]:
            with within(f"variable {name!r}"):
                by_name[name] = call(variable, own)

    def together(results: dict[Hashable, Any]) -> xr.Dataset:
        return xr.Dataset({name: results.get(name, x[name]) for name in x.data_vars}, attrs=x.attrs)

    first = next(iter(by_name.values()), None)
    if isinstance(first, tuple):
        return type(first)(*(together({name: each[at] for name, each in by_name.items()}) for at in range(len(first))))
    return together(by_name)


def mask(function: str, where: Any, x: xr.DataArray) -> Any:
    """Return a mask as an array whose dimensions are those of `x`, matched by name."""
    if isinstance(where, xr.Dataset):
        where = where[x.name]
    if not isinstance(where, xr.DataArray):
        require_labels(function, where, labels_of(x))
        return where
    strange = [name for name in where.dims if name not in x.dims]
    try:
        if strange:
            raise ValueError(f"the dimension {strange[0]!r} is not one of {', '.join(map(repr, x.dims))}")
        where, _ = xr.align(where, x, join="exact", copy=False)
    except ValueError as error:
        raise ArgumentError(f"{function}: where does not fit: {error}", remedy="align it with x first") from None
    return where.variable.set_dims({name: x.sizes[name] for name in x.dims}).transpose(*x.dims).data


def reduced(
    x: xr.DataArray, dims: Sequence[Hashable], result: Any, *, keepdims: bool = False, new: Sequence[Hashable] = ()
) -> Any:
    """Return a result over some dimensions, or each of several, with the coordinates of the others.

    `new` are dimensions that the result has after those of the array.
    """
    if isinstance(result, tuple):
        return type(result)(*(reduced(x, dims, each, keepdims=keepdims, new=new) for each in result))
    names = [*(name for name in x.dims if keepdims or name not in dims), *new]
    coords = {name: coord for name, coord in x.coords.items() if not set(coord.dims) & set(dims)}
    data = np.asarray(result) if isinstance(result, np.generic) else result
    array = xr.DataArray(data, coords=coords, dims=names, attrs=x.attrs)
    # If `x` has no name, xarray would take the name of Dask's array.
    array.name = x.name
    return array


def _reduce(name: str, x: Any, dim: Any, *, where: Any, **options: Any) -> Any:
    require_labelled(name, x)
    if isinstance(x, xr.Dataset):
        return each_variable(x, name, dim, lambda each, own: _reduce(name, each, own, where=where, **options))
    dims = dims_of(name, dim, x)
    result = getattr(ex, name)(x.data, tuple(map(x.get_axis_num, dims)), where=mask(name, where, x), **options)
    return reduced(x, () if name == "hardmax" else dims, result, keepdims=options.get("keepdims", False))


_TEXT = """{what}.

    Parameters
    ----------
    x : xarray.DataArray or xarray.Dataset
        Over NumPy or over Dask. Each variable of a Dataset is reduced over the given dimensions that it has.
    dim : {dim}{where}
    {options}
        As for :func:`extremum.{name}`.{more}

    Returns
    -------
    {returns}

    Raises
    ------
    ArgumentError, ElementTypeError
        There is no such dimension, or as in :func:`extremum.{name}`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={{"hour": [6, 12, 18]}})
    {example}
    """

_DIMS = """hashable or sequence of hashable, optional
        The dimensions to reduce; all of them by default."""
_WHERE = """
    where : xarray.DataArray or array_like of bool, optional
        Elements that take part; a DataArray is matched by the names of its dimensions."""
_CLASSES = "xarray.DataArray or xarray.Dataset"
_OPTIONS = "keepdims, select_last_index, nan_policy, default"
_AS_DICT = """
    as_dict : bool, default False
        Return one array of indices for each dimension, as xarray's ``argmax(dim=[...])`` does, in place of one
        row-major index over all dimensions in the order of the array."""
_FILL_VALUE = """
    fill_value : scalar, optional
        The result where no element takes part. Without it such a slice is an error. NaN becomes NaT where the
        labels are times or durations. Where the labels are text, NaN stays a float and the result has dtype object."""


def _text(name: str, what: str, example: str, options: str, returns: str, **parts: str) -> str:
    parts = {"dim": _DIMS, "where": _WHERE, "more": ""} | parts
    return _TEXT.format(name=name, what=what, options=options, returns=returns, example=example, **parts)


_LABELLED_DIMS = """hashable or sequence of hashable, optional
        A dimension with a coordinate, or several; optional if the array has only one dimension."""


class _Arg(Protocol):
    @overload
    def __call__(self, x: X, dim: Dims = None, *, as_dict: No = False, **options: Unpack[ArgKeywords]) -> X: ...
    @overload
    def __call__(
        self, x: xr.DataArray, dim: Dims = None, *, as_dict: Yes, **options: Unpack[ArgKeywords]
    ) -> dict[Hashable, xr.DataArray]: ...


class _Max(Protocol):
    @overload
    def __call__(self, x: X, dim: Dims = None, *, return_index: No = False, **options: Unpack[ValueKeywords]) -> X: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
    ) -> ValuesIndices[X, X]: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: bool, **options: Unpack[ValueKeywords]
    ) -> X | ValuesIndices[X, X]: ...


class _MinMax(Protocol):
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: No = False, **options: Unpack[ValueKeywords]
    ) -> MinMax[X]: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
    ) -> MinMaxIndices[X, X]: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: bool, **options: Unpack[ValueKeywords]
    ) -> MinMax[X] | MinMaxIndices[X, X]: ...


def _arg(name: str, what: str, example: str) -> _Arg:
    returns = f"{_CLASSES}, or a dict of DataArrays by dimension"

    @like(name, _text(name, what, example, f"{_OPTIONS}, dtype", returns, more=_AS_DICT), without=("out",))
    def arg(x: Any, dim: Dims = None, *, as_dict: bool = False, **options: Any) -> Any:
        if as_dict and isinstance(x, xr.Dataset):
            reason = f"{name}: variables of a Dataset have dimensions of their own, so there is no one dict for them"
            raise ArgumentError(reason, remedy="call it for each variable, or without as_dict")
        index = _reduce(name, x, dim, **options)
        return _by_dimension(index, x, dims_of(name, dim, x)) if as_dict else index

    return arg


def _by_dimension(index: xr.DataArray, x: xr.DataArray, dims: tuple[Hashable, ...]) -> dict[Hashable, xr.DataArray]:
    """Split row-major indices over several dimensions of `x` into an index along each."""
    shape = x.shape
    axes = tuple(map(x.get_axis_num, dims))

    def along(indices: Any, at: int) -> Any:
        return ex.unravel(indices, shape, axes)[at]

    return {each: _of_each_block(index, partial(along, at=at), index.dtype) for at, each in enumerate(dims)}


def _of_each_block(index: xr.DataArray, function: Callable[..., Any], dtype: Any) -> xr.DataArray:
    """Apply a function to indices when they are computed."""
    data = index.data
    if hasattr(data, "map_blocks"):
        return index.copy(data=data.map_blocks(function, dtype=dtype, meta=np.empty((0,) * data.ndim, dtype)))
    return index.copy(data=function(data))


def _end(name: str, what: str, example: str, returns: str = f"{_CLASSES}, or ValuesIndices of two") -> Any:
    @like(name, _text(name, what, example, f"{_OPTIONS}, return_index, index_dtype", returns), without=("out",))
    def end(x: Any, dim: Dims = None, **options: Any) -> Any:
        return _reduce(name, x, dim, **options)

    return end


argmax = _arg(
    "argmax",
    "Index of the largest element over the dimensions that are named",
    """>>> extremum.xarray.argmax(x, "hour").values, int(extremum.xarray.argmax(x))
    (array([1, 0]), 3)
    >>> {name: int(index) for name, index in extremum.xarray.argmax(x, as_dict=True).items()}
    {'day': 1, 'hour': 0}""",
)
argmin = _arg(
    "argmin",
    "Index of the smallest element over the dimensions that are named",
    """>>> extremum.xarray.argmin(x, "day").values
    array([0, 1, 0])""",
)
max: _Max = _end(
    "max",
    "Largest element over the dimensions that are named",
    """>>> extremum.xarray.max(x, "day").hour.values
    array([ 6, 12, 18])""",
)
min: _Max = _end(
    "min",
    "Smallest element over the dimensions that are named",
    """>>> extremum.xarray.min(x, "day").values
    array([1, 0, 5])""",
)
minmax: _MinMax = _end(
    "minmax",
    "Smallest and largest element over the dimensions that are named, in one pass",
    """>>> low, high = extremum.xarray.minmax(x, "hour")
    >>> low.values, high.values
    (array([1, 0]), array([5, 7]))""",
    "MinMax of two DataArrays or Datasets, or MinMaxIndices of four",
)


class _Idx(Protocol):
    @overload
    def __call__(self, x: X, dim: str | None = None, *, fill_value: Any = None, **options: Unpack[TieOptions]) -> X: ...
    @overload
    def __call__(
        self, x: X, dim: Dims, *, fill_value: Any = None, **options: Unpack[TieOptions]
    ) -> X | dict[Hashable, xr.DataArray]: ...


class _IdxTopK(Protocol):
    @overload
    def __call__(
        self, x: X, k: SupportsIndex, dim: str | None = None, *, fill_value: Any = None, **options: Unpack[TopKOptions]
    ) -> X: ...
    @overload
    def __call__(
        self, x: X, k: SupportsIndex, dim: Dims, *, fill_value: Any = None, **options: Unpack[TopKOptions]
    ) -> X | dict[Hashable, xr.DataArray]: ...


def _labels(name: str, superlative: str, example: str) -> _Idx:
    arg, index_of = ("argmax", argmax) if name == "idxmax" else ("argmin", argmin)
    text = _text(
        arg,
        f"Coordinate label of the {superlative} element along a dimension",
        f""">>> extremum.xarray.{name}(x, "hour").values
    {example}""",
        "select_last_index, nan_policy",
        f"{_CLASSES}, or a dict of DataArrays by dimension if several are given",
        dim=_LABELLED_DIMS,
        more=_FILL_VALUE,
    )

    @like(arg, text, name=name, without=("keepdims", "dtype", "out", "default"))
    def labels(x: Any, dim: Dims = None, *, fill_value: Any = None, **options: Any) -> Any:
        if isinstance(x, xr.Dataset):
            return _labels_of_each(name, x, dim, partial(labels, fill_value=fill_value, **options))
        dims = _labelled_dims(name, x, dim)
        indices = index_of(x, dims, as_dict=True, default=-1, **options)
        lack = "the slice at {} of the result has no element to choose from: all are NaN or masked"
        result = {each: _labels_at(name, at, x.coords[each], fill_value, lack) for each, at in indices.items()}
        return result[dims[0]] if dim is None or dim in dims else result

    return labels


def _labels_of_each(function: str, x: xr.Dataset, dim: Any, call: Callable[[xr.DataArray, Any], Any]) -> Any:
    """Return the labels of each variable along one dimension."""
    if not isinstance(dim, Hashable) or dim is None:
        raise ArgumentError(f"{function}: of a Dataset it takes one dimension", remedy="pass its name as dim")
    return each_variable(x, function, dim, lambda variable, own: call(variable, own[0]))


def _labelled_dims(function: str, x: Any, dim: Any) -> tuple[Hashable, ...]:
    """Return the dimensions that a caller names, or refuse those without a coordinate."""
    require_labelled(function, x)
    dims = dims_of(function, dim, x)
    if dim is None and len(dims) != 1:
        raise ArgumentError(f"{function}: the array has {len(dims)} dimensions", remedy="pass the names of some as dim")
    for each in dims:
        if each not in x.coords:
            plain = "top_k" if function == "idxtop_k" else "argmax or argmin"
            raise ArgumentError(f"{function}: dimension {each!r} has no coordinate", remedy=f"use {plain}")
    return dims


def _labels_at(function: str, index: xr.DataArray, coord: xr.DataArray, fill_value: Any, lack: str) -> xr.DataArray:
    """Return the label at each index, and the fill value where the index is -1, or refuse it for what it lacks."""
    # Labels of pandas' own types become objects, to keep their time zone.
    is_plain = isinstance(coord.dtype, np.dtype) and coord.dtype.kind != "O"
    names = coord.values if is_plain or coord.name not in coord.indexes else coord.to_index().to_numpy(object)
    if fill_value is not None:
        filler = _filler(function, names, fill_value)
        # The index -1 takes the last element.
        names = np.concatenate([names.astype(filler.dtype), filler])

    def look(block: Any, block_info: Any = None) -> Any:
        places = np.atleast_1d(block)
        if fill_value is None and (places == -1).any():
            # Name the first such place; Dask gives each chunk its start.
            starts = [start for start, _ in block_info[0]["array-location"]] if block_info else [0] * np.ndim(block)
            place = tuple((np.argwhere(np.asarray(block) == -1)[0] + starts).tolist())
            lacking = lack.format(place) if place else lack.replace("the slice at {} of the result", "the array")
            raise ArgumentError(
                f"{function}: {lacking}",
                given=f"dimension {coord.name!r} of {coord.size}",
                remedy="pass fill_value for such slices",
            )
        # A 0-d index would give a bare element instead of an array.
        return names[places].reshape(np.shape(block))

    return _of_each_block(index, look, names.dtype).rename(coord.name)


def _filler(function: str, names: NDArray[Any], fill_value: Any) -> NDArray[Any]:
    """Return the fill value as an array of one element, in a type that holds it and the labels, or refuse it."""
    own, value = names.dtype, np.asarray(fill_value)
    if own.kind in "mM" and value.ndim == 0 and fill_value != fill_value:
        return np.array(["NaT"], own)
    if own.kind == "O" or value.ndim or (own.kind in "UST") != (value.dtype.kind in "UST"):
        filler = np.empty(1, object)
        filler[0] = fill_value
        return filler
    try:
        filler = np.asarray([fill_value], np.result_type(own, value.dtype))
    except (TypeError, ValueError):
        reason = f"{function}: fill_value={fill_value!r} is no label of {own}"
        raise ArgumentError(reason, remedy="pass a label of the coordinate's type, or numpy.nan") from None
    for each, what in ((names, "the label"), (value, "fill_value")):
        if filler.dtype.kind != "O" and (misfit := misfit_of(each, filler.dtype)) is not None:
            reason = (
                f"{function}: {what} {misfit} does not fit {filler.dtype}, the type of labels and fill_value together"
            )
            given = f"labels of {own}, fill_value={fill_value!r}"
            raise ArgumentError(reason, given=given, remedy="pass a fill_value of the type of the labels")
    return filler


idxmax = _labels("idxmax", "largest", "array([12,  6])")
idxmin = _labels("idxmin", "smallest", "array([ 6, 12])")


@like(
    "hardmax",
    _text(
        "hardmax",
        "Ones at the first maximum along the dimensions that are named, zeros elsewhere",
        """>>> extremum.xarray.hardmax(x, "hour").values
    array([[0, 1, 0],
           [1, 0, 0]])""",
        "nan_policy",
        f"{_CLASSES}, with all coordinates and attributes",
        dim="""hashable or sequence of hashable
        The dimensions that together hold exactly one 1.""",
    ),
    without=("out",),
)
def hardmax(x: X, dim: Dims, **options: Unpack[HardmaxOptions]) -> X:
    """Write the ones."""
    result: X = _reduce("hardmax", x, dim, **options)
    return result


@like(
    "top_k",
    _text(
        "top_k",
        "The k largest or smallest elements over the dimensions that are named, with their indices, best first",
        """>>> best = extremum.xarray.top_k(x, 2, "hour")
    >>> best.values.values
    array([[5, 5],
           [7, 7]])
    >>> x.hour[best.indices].values
    array([[12, 18],
           [ 6, 18]])
    >>> extremum.xarray.top_k(x, 3).values.values
    array([7, 7, 5])""",
        "k, mode, sorted, nan_policy",
        """ValuesIndices of two xarray.DataArray or xarray.Dataset
        One dimension stays, with length `k` and without its coordinates, because each slice has its own order. Several
        dimensions become a new last one, named ``k``, and the indices count row-major over them, in the order of the
        array. The coordinates of the other dimensions stay. :func:`idxtop_k` gives the labels.""",
        where="",
    ),
)
def top_k(x: X, k: SupportsIndex, dim: Dims = None, **options: Unpack[TopKOptions]) -> ValuesIndices[X, X]:
    """Select the k best."""
    require_labelled("top_k", x)
    dims = dims_of("top_k", dim, x)
    # Of a Dataset, variables that have only one of several dimensions get the new one too.
    select = partial(_select, k=k, options=options, new=() if len(dims) == 1 else ("k",))
    best = each_variable(x, "top_k", dims, select) if isinstance(x, xr.Dataset) else select(x, dims)
    return cast("ValuesIndices[X, X]", best)


def _select(x: xr.DataArray, dims: Sequence[Hashable], k: Any, options: Any, new: tuple[str, ...]) -> Any:
    """Select the k best over some dimensions, along the one that stays or a new one."""
    if not new:
        return reduced(x, dims, ex.top_k(x.data, k, x.get_axis_num(dims[0]), **options), keepdims=True)
    if new[0] in x.dims and new[0] not in dims:
        raise ArgumentError(
            f"top_k: the array has a dimension {new[0]!r}, and the result needs one of that name",
            remedy=f"rename it: x.rename({new[0]}=...)",
        )
    most = math.prod(x.sizes[name] for name in dims)
    if isinstance(k, int) and k > most:
        raise ArgumentError(
            f"top_k: k is {k}, and there are {most} elements over {', '.join(map(repr, dims))}",
            given=f"sizes {dict(x.sizes)}",
            remedy=f"pass k from 0 to {most}",
        )
    if hasattr(x.data, "dask"):
        from extremum.dask.selection import top_k_over

        return reduced(x, dims, top_k_over(x.data, k, x.get_axis_num(dims), **options), new=new)
    # A Variable has no labels to stack.
    slices = x.variable.stack({new[0]: dims})
    return reduced(x, dims, ex.top_k(slices.data, k, -1, **options), new=new)


@like(
    "top_k",
    _text(
        "top_k",
        "Coordinate labels of the k largest or smallest elements along a dimension, best first",
        """>>> extremum.xarray.idxtop_k(x, 2, "hour").values
    array([[12, 18],
           [ 6, 18]])""",
        "k, mode, nan_policy",
        f"""{_CLASSES}, or a dict of DataArrays by dimension if several are given
        Labels in place of the indices of :func:`top_k`, along the dimension that stays, or a new one named ``k``.""",
        dim=_LABELLED_DIMS,
        where="",
        more=_FILL_VALUE.replace("where no element takes part", "where a slice has fewer than `k` numbers"),
    ),
    name="idxtop_k",
    without=("sorted",),
)
def _idxtop_k(x: Any, k: SupportsIndex, dim: Dims = None, *, fill_value: Any = None, **options: Any) -> Any:
    """Look up the labels of the k best."""
    if isinstance(x, xr.Dataset):
        return _labels_of_each(
            "idxtop_k", x, dim, lambda each, own: idxtop_k(each, k, own, fill_value=fill_value, **options)
        )
    dims = _labelled_dims("idxtop_k", x, dim)
    best = top_k(x, k, dims, **options)
    indices = best.indices
    if options["nan_policy"] == "omit":
        # NaN fills what a slice lacks.
        fields = {"dask": "parallelized", "output_dtypes": [np.int64], "keep_attrs": True}
        indices = xr.apply_ufunc(_of_numbers, best.values, indices, **fields)
    several = {dims[0]: indices} if len(dims) == 1 else _by_dimension(indices, x, dims)
    lack = f"place {{}} of the result has no element: its slice has fewer than {operator.index(k)} that are not NaN"
    result = {each: _labels_at("idxtop_k", at, x.coords[each], fill_value, lack) for each, at in several.items()}
    return result[dims[0]] if dim is None or dim in dims else result


idxtop_k: _IdxTopK = _idxtop_k


def _of_numbers(values: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
    """Return indices, with -1 for that of NaN."""
    return indices if values.dtype.kind in "biu" else np.where(nan(values), -1, indices)


_ELEMENTWISE_TEXT = """Elementwise {superlative}, broadcast by the names of dimensions.

    Parameters
    ----------
    *arrays : xarray.DataArray, xarray.Dataset, array_like or number
        At least one is xarray's; shared dimensions must have equal labels.
    nan_policy : str, default "propagate"
        As for :func:`extremum.{name}`.
    where : xarray.DataArray or array_like of bool, optional
        The positions to compare; its labels have to be equal, too. Elsewhere the result has the elements of the
        first operand.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        In the type of ``numpy.result_type``, with the attributes that the operands share.

    Raises
    ------
    ArgumentError, ElementTypeError
        The labels differ, or as in :func:`extremum.{name}`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> row, column = xr.DataArray([1, 5], dims="x"), xr.DataArray([3, 6], dims="y")
    >>> extremum.xarray.{name}(row, column).values.tolist()
    {example}
    """


_Bare = NDArray[Any] | float


class _Elementwise(Protocol):
    @overload
    def __call__(self, *arrays: xr.DataArray | _Bare, **options: Unpack[HardmaxOptions]) -> xr.DataArray: ...
    @overload
    def __call__(self, *arrays: xr.Dataset | xr.DataArray | _Bare, **options: Unpack[HardmaxOptions]) -> xr.Dataset: ...  # type: ignore[overload-cannot-match]


def _elementwise(name: str, superlative: str, example: str) -> _Elementwise:
    @like(name, _ELEMENTWISE_TEXT.format(name=name, superlative=superlative, example=example), without=("out",))
    def function(*arrays: Any, **options: Any) -> Any:
        refuse_groups(name, *arrays)
        if not any(isinstance(x, xr.DataArray | xr.Dataset) for x in arrays):
            require_labelled(name, arrays[0] if arrays else None)
        # Align the mask with the operands as they align with each other.
        where = options.pop("where")
        several = arrays if where is None else (*arrays, where)
        for each in several:
            if labels_of(each) and not isinstance(each, xr.DataArray | xr.Dataset):
                # Its labels have no dimension that has a name.
                library = type(each).__module__.partition(".")[0]
                raise ArgumentTypeError(
                    f"{name}: arrays of {library} and of xarray in one call",
                    remedy="convert them to arrays of one library first, as xarray.DataArray(y) does",
                )

        def call(*data: Any) -> Any:
            mask = None if where is None else data[-1]
            return getattr(ex, name)(*data[: len(arrays)], where=mask, **options)

        try:
            return xr.apply_ufunc(call, *several, dask="allowed", join="exact", keep_attrs=True)
        except ExtremumError:
            raise
        except ValueError as error:
            reason = f"{name}: the operands differ in their labels: {str(error).splitlines()[0]}"
            raise ArgumentError(reason, remedy="align them first, as xarray.align(x, y) does") from None

    return function


maximum = _elementwise("maximum", "largest", "[[3, 6], [5, 6]]")
minimum = _elementwise("minimum", "smallest", "[[1, 1], [3, 5]]")


def _by_axis(name: str) -> Callable[..., Any]:
    """Make an array function that takes axes of a DataArray by number."""

    def function(x: Any, axis: Any = None, *, where: Any = None, out: Any = None, **options: Any) -> Any:
        _require_axes(name, x)
        options |= {} if name == "minmax" else {"out": out}
        result = getattr(ex, name)(x.data, axis, where=mask(name, where, x), **options)
        if out is not None:
            return result
        dims = () if name == "hardmax" else [x.dims[each] for each in Reduction(name, (), axis).axes(x.ndim)]
        return reduced(x, dims, result, keepdims=options.get("keepdims", False))

    return function


def _require_axes(name: str, x: Any) -> None:
    if isinstance(x, xr.Dataset):
        reason = f"{name}: a Dataset has no axes that could be counted"
        raise ArgumentTypeError(reason, remedy=f"call extremum.xarray.{name}, which takes dimensions by name")


def _top_k_by_axis(x: Any, k: Any, axis: Any, **options: Any) -> Any:
    _require_axes("top_k", x)
    number = one_axis(x, axis)
    return top_k(x, k, None if number is None else x.dims[number], **options)


def _by_labels(function: Callable[..., Any], *operands: Any, out: Any, **options: Any) -> Any:
    if out is not None:
        reason = f"{function.__name__}: operands with labels meet by the names of their dimensions, and out has none"
        raise ArgumentError(reason, remedy="omit out, or pass x.values")
    return function(*operands, **options)


BY_AXIS = {name: _by_axis(name) for name in ("argmax", "argmin", "max", "min", "minmax", "hardmax")}
BY_AXIS |= {"maximum": partial(_by_labels, maximum), "minimum": partial(_by_labels, minimum), "top_k": _top_k_by_axis}
"""The functions that ``extremum.argmax(x, axis=0)`` and the others call if ``x`` is xarray's."""
