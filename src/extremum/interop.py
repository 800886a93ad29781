"""Arrays of other libraries: read without a copy where the protocol allows, returned as arrays of the same library.

The module of a value's type selects its adapter, so that this file imports no library that the caller has not imported.
Values without an adapter go through the protocols of :mod:`extremum.arrays` and come out as NumPy's. The columns of a
table become one array only if this changes no element. Nulls are missing elements; times keep their zone.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import dlpack, groups
from extremum.arrays import (
    as_array,
    as_result,
    class_name,
    is_numpy_masked,
    misfit_of,
    not_there,
    refuse_device,
)
from extremum.engine import NATIVE, Engine
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, ExtremumError, first_line
from extremum.loading import attribute, load_module


class _Library:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules.get(self._name), name)


jax, pandas, polars, pyarrow, torch = map(_Library, ("jax", "pandas", "polars", "pyarrow", "torch"))

Wrap = Callable[[NDArray[Any], tuple[int, ...]], Any]
"""Makes a result an array of the caller's library; gets, for each axis of the result, the axis of the input, or -1."""

Labels = tuple[Any, ...]
"""The labels along each axis, None for an axis without labels; empty where no axis has any."""

_Maker = Callable[..., Any]


@dataclass(slots=True)
class Operand:
    """An array of any library in the form that the kernels read, and the way back to the library."""

    array: NDArray[Any]
    wrap: Wrap = lambda result, axes: as_result(result)
    # False where an element is missing; None if no element is missing.
    valid: NDArray[np.bool_] | None = None
    # Whether a mask of the caller hides the missing elements; nulls are skipped only if the NaN policy is `omit`.
    masked: bool = False
    # The library of the array; all arrays of one call have to be of one library.
    library: str = "numpy"
    # The labels along each axis, as `labels_of` returns them; equal for all operands of one call, and for its mask.
    labels: Labels = ()
    # The time zone of elements that are instants: here they are in UTC, and `wrap` restores their zone.
    zone: str | None = None
    # Whether the elements come from a list or another sequence, whose integers may take any type that holds them.
    is_sequence: bool = False
    # Who searches the array, and finishes the results.
    engine: Engine = NATIVE

    def require_no_zone(self, out: Any) -> None:
        """Refuse to write instants into an array that cannot store their time zone."""
        if out is not None and self.zone:
            raise ArgumentError(
                f"out is NumPy's and has no time zone, and the elements are in the zone {self.zone}",
                remedy="omit out, or convert the elements to UTC without a zone first",
            )

    @property
    def missing(self) -> int:
        """The number of missing elements."""
        if self.valid is None:
            return 0
        return int(self.valid.size - np.count_nonzero(self.valid))

    def whole(self, given: str, remedy: str = "") -> NDArray[Any]:
        """Return the elements, or refuse an array with missing elements."""
        if count := self.missing:
            raise not_there(count, "masked" if self.masked else "missing", given, remedy)
        return self.array


# mypy does not accept a class as hashable.
_class_of: Callable[[object], Any] = type

_TABLES = "extremum.tables"

_FRONTENDS = {
    **dict.fromkeys(groups.CLASSES, "extremum.groups"),
    ("xarray", "DataArray"): "extremum.xarray.by_axis",
    ("xarray", "Dataset"): "extremum.xarray.by_axis",
    ("dask", "Array"): "extremum.dask",
    ("cubed", "Array"): "extremum.cubed",
    ("pandas", "DataFrame"): _TABLES,
    ("polars", "DataFrame"): _TABLES,
    ("pyarrow", "Table"): _TABLES,
    ("pyarrow", "RecordBatch"): _TABLES,
}
"""The module with array functions for a class, by the package and name of the class.

The order decides between arrays of several: groups are refused, and xarray's labels stay.
"""

_GPU = "extremum.gpu"

_DEVICES = {"CUDA": _GPU, "ROCm": _GPU}
"""The module with array functions for arrays on a device, by the name of the device.

A class alone does not tell: a tensor on a GPU has the class of a tensor in memory that the CPU reads.
"""


def frontend(function: str, *values: Any) -> Any:
    """Return the array function for one of the values, if its library has its own functions; this reads no element."""
    modules = {module for value in values if (module := _module_of(value)) is not None}
    if not modules:
        return None
    order = [*_FRONTENDS.values(), *_DEVICES.values()]
    name = min(modules, key=order.index)
    module = load_module(name)
    own = getattr(module, "BY_AXIS", vars(module)).get(function)
    if own is not None:
        return own
    available = " and ".join(module.__all__)
    raise ArgumentTypeError(f"{function}: {name} has {available} only", remedy="call x.compute()")


def device_of(x: Any) -> str | None:
    """Return the name of the device that has the elements of an array; None where the CPU reads them."""
    return _device_finder(_class_of(x))(x)


@functools.lru_cache(maxsize=256)
def _device_finder(cls: Any) -> Callable[[Any], str | None]:
    """Return the function that finds the device of the arrays of a class."""
    tensor = attribute("torch", "Tensor")
    if tensor is None or not issubclass(cls, tensor):
        return _device_by_protocol
    if cls is tensor:
        return _device_of_tensor
    if cls.__torch_dispatch__ is not tensor.__torch_dispatch__:
        # Such a class answers for its operations itself, and is refused.
        return lambda x: None
    # The functions of a subclass may do anything.
    return lambda x: _device_of_tensor(tensor.as_subclass(x, tensor))


def _device_by_protocol(x: Any) -> str | None:
    if hasattr(x, "__dlpack_device__"):
        return dlpack.device_elsewhere(x)
    return "CUDA" if hasattr(x, "__cuda_array_interface__") else None


def _device_of_tensor(x: Any) -> str | None:
    if x.is_cpu:
        return None
    device = x.device
    if device.type == "cuda":
        return f"{'ROCm' if torch.version.hip else 'CUDA'}:{device.index}"
    return str(device)


def _module_of(value: Any) -> str | None:
    """Return the module with array functions for a value: by its class, or else by the device that has its elements."""
    module = _module_of_class(_class_of(value))
    if module is None and (device := device_of(value)) is not None:
        module = _DEVICES.get(device.partition(":")[0])
        if module == _GPU and not has_kernels():
            # Then the array is refused, like one on any other device.
            return None
    return module


@functools.cache
def has_kernels() -> bool:
    """Whether the libraries are installed that the functions for arrays on a GPU need."""
    return all(find_spec(name) is not None for name in ("torch", "triton"))


@functools.lru_cache(maxsize=256)
def _module_of_class(cls: Any) -> str | None:
    for base in cls.__mro__:
        key = (base.__module__.partition(".")[0], base.__name__)
        if key in _FRONTENDS:
            return _FRONTENDS[key]
    return None


def as_operand(x: object) -> Operand:
    """Return any array-like value in the form that the kernels read, with the way back to the caller's library."""
    adapter = _adapter(_class_of(x))
    try:
        operand = None if adapter is None else adapter(x)
        if operand is None:
            operand = Operand(as_array(x), is_sequence=isinstance(x, Sequence))
    except ExtremumError:
        raise
    except (RuntimeError, TypeError, ValueError) as error:
        # The library, or that of an element of a sequence, has no elements to give: they are deleted, traced or keys.
        raise ElementTypeError(
            f"the elements cannot be read: {first_line(error)}",
            given=class_name(x),
            remedy="convert it to an array of NumPy first",
        ) from error
    return operand


@functools.lru_cache(maxsize=256)
def _adapter(cls: Any) -> Callable[[Any], Operand | None] | None:
    """Return the function that reads the arrays of a class."""
    if cls is np.ndarray:
        return Operand
    if cls is Operand:
        return lambda x: x
    if is_numpy_masked(cls):
        return _masked
    for base in cls.__mro__:
        if adapter := _ADAPTERS.get(base.__module__.partition(".")[0]):
            return adapter
    if not issubclass(cls, np.ndarray | np.generic) and hasattr(cls, "__array_namespace__"):
        return _by_protocol
    return None


def common_library(operands: Sequence[Operand]) -> Operand:
    """Return the operand whose `wrap` returns the result; refuse arrays of two libraries other than NumPy."""
    libraries = {each.library: each for each in operands if each.library != "numpy"}
    if len(libraries) > 1:
        raise ArgumentTypeError(
            f"arrays of {' and of '.join(sorted(libraries))} in one call",
            remedy="convert them to arrays of one library first",
        )
    with_labels = [each for each in operands if each.labels]
    if not with_labels:
        return next(iter(libraries.values()), operands[0])
    # An operand of a lower rank is broadcast, and its labels are those of the last axes.
    whole = max(with_labels, key=lambda each: each.array.ndim)
    for each in with_labels:
        if not are_alike(each.labels, whole.labels):
            raise ArgumentError(
                "the operands differ in their labels, and elements are compared by place",
                remedy="align them first, as x.align(y) does, or pass x.to_numpy()",
            )
    return whole


def labels_of(x: Any) -> Labels:
    """Return the labels of an array or a table of any library; this computes nothing."""
    find = _LABELS.get(_adapter(_class_of(x)))
    return () if find is None else find(x)


def are_alike(labels: Labels, others: Labels) -> bool:
    """Whether two arrays that are broadcast, by their last axes, have the same labels wherever both have labels."""
    return all(
        own is None or other is None or _are_equal(own, other)
        for own, other in zip(reversed(labels), reversed(others), strict=False)
    )


def _are_equal(labels: Any, others: Any) -> bool:
    """Whether the labels of one axis are equal; pandas' own test holds NaN for equal."""
    if type(labels) is list or type(others) is list:
        return list(labels) == list(others)
    return bool(labels.equals(others))


def _pandas_labels(x: Any) -> Labels:
    if isinstance(x, pandas.Series | pandas.DataFrame):
        return tuple(x.axes)
    return ()


def _polars_labels(x: Any) -> Labels:
    if isinstance(x, polars.DataFrame):
        return (None, list(x.columns))
    return ()


def _pyarrow_labels(x: Any) -> Labels:
    if isinstance(x, pyarrow.Table | pyarrow.RecordBatch):
        return (None, list(x.column_names))
    return ()


def _xarray_labels(x: Any) -> Labels:
    """Return the indexes of a DataArray, which are pandas'; a Variable has none."""
    indexes = getattr(x, "indexes", None)
    return () if indexes is None else tuple(map(indexes.get, x.dims))


def is_table(x: object) -> bool:
    """Whether a value is a table of a known library."""
    return _module_of_class(_class_of(x)) == _TABLES


def split_table(table: Any) -> Table:
    """Return the columns of a table."""
    makers: dict[Any, Callable[[Any], Table]]
    makers = {
        _pandas_operand: _pandas_table,
        _polars_operand: _polars_table,
        _pyarrow_operand: _pyarrow_table,
    }
    return makers[_adapter(_class_of(table))](table)


def _refuse_uncomputed(x: Any) -> Operand:
    """Refuse a lazy array in a call that computes at once."""
    raise ArgumentTypeError(
        f"an array of {type(x).__module__.partition('.')[0]} is yet to be computed, and this call computes at once",
        remedy="compute it first: x.compute()",
    )


def _masked(x: Any) -> Operand:
    """NumPy's masked arrays: elements that the mask hides are missing."""
    mask = np.ma.getmaskarray(x)
    # The complement of a 0-d array is a scalar.
    valid = np.asarray(~mask) if mask.any() else None
    return Operand(as_array(np.ma.getdata(x, subok=False)), valid=valid, masked=True)


def _by_protocol(x: Any) -> Operand:
    """Arrays of the array API standard that export their memory through DLPack; results are in their own namespace."""
    namespace = x.__array_namespace__()

    def wrap(result: NDArray[Any], axes: tuple[int, ...]) -> Any:
        array = np.asarray(result)
        if hasattr(namespace, "from_dlpack") and array.flags.writeable:
            # DLPack may not carry the type.
            with suppress(BufferError, RuntimeError, TypeError, ValueError):
                return namespace.from_dlpack(array)
        return namespace.asarray(array)

    return Operand(as_array(x), wrap, library=type(x).__module__.partition(".")[0])


def _torch_operand(x: Any) -> Operand | None:
    """Return a tensor's own memory; None for other objects and for MaskedTensor, which has rules of its own."""
    cls = type(x)
    if cls in (torch.Tensor, torch.nn.Parameter):
        try:
            # Within torch.func.functionalize a tensor has no memory, and its `numpy` would show any.
            if x.data_ptr() or not x.numel():
                return Operand(x.numpy(), _torch_tensor, None, False, "torch")
        except (RuntimeError, TypeError):
            # The code below refuses such a tensor or reads it in another way.
            pass
    if cls is attribute("torch.fx.proxy", "Proxy"):
        raise _without_elements(x, "its elements are known when the graph runs")
    if not issubclass(cls, torch.Tensor):
        return None
    if cls.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__ and hasattr(cls, "get_mask"):
        return None
    x = strided_tensor(x)
    if x.device.type != "cpu":
        refuse_device(x, x.device)
    is_bfloat16 = x.dtype is torch.bfloat16
    try:
        has_memory = x.data_ptr() or not x.numel()
        array: NDArray[Any] = (x.view(torch.int16) if is_bfloat16 else x).numpy()
    except TypeError as error:
        raise ElementTypeError(f"elements of type {x.dtype} have no order here: {error}") from None
    except RuntimeError as error:
        raise _without_elements(x, first_line(error)) from None
    if not has_memory:
        raise _without_elements(x, "it has no memory")
    if is_bfloat16:
        array = array.view(load_module("ml_dtypes").bfloat16)
    return Operand(array, _torch_tensor, None, False, "torch")


def strided_tensor(x: Any) -> Any:
    """Return a tensor on any device, as one of the plain class, or refuse one whose memory is not its elements."""
    cls = type(x)
    if cls.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        _refuse_nested(x)
        # What a tracer passes around: its memory, if it has any, holds nothing.
        raise _without_elements(x, f"{cls.__qualname__} answers for its operations itself")
    if cls is not torch.Tensor:
        # The functions of a subclass may do anything; the memory is that of a tensor.
        x = torch.Tensor.as_subclass(x, torch.Tensor)
    _refuse_nested(x)
    x = without_gradient(x)
    if torch._C._functorch.is_functorch_wrapped_tensor(x):
        raise _without_elements(x, "a transform of torch.func has wrapped it")
    if x.layout is not torch.strided:
        raise ElementTypeError(f"the elements are laid out as {x.layout}", remedy="pass x.to_dense()")
    # A bit of the tensor marks a pending negation or conjugation, which its memory does not show.
    return x.resolve_conj().resolve_neg()


def without_gradient(x: Any) -> Any:
    """Return a tensor as one of which nothing is recorded, or refuse one whose gradient would be lost."""
    if not x.requires_grad:
        return x
    if torch.is_grad_enabled():
        raise ArgumentError(
            "a tensor that requires its gradient: an index has none, and a value's would be lost",
            given="torch.Tensor with requires_grad=True",
            remedy="pass x.detach()",
        )
    return x.detach()


def _refuse_nested(x: Any) -> None:
    if x.is_nested:
        raise ElementTypeError(
            "a nested tensor has rows of different lengths",
            given=f"torch.Tensor with layout {x.layout}",
            remedy="pass torch.nested.to_padded_tensor(x, padding), or each of x.unbind()",
        )


def _without_elements(x: Any, why: str) -> ArgumentTypeError:
    """Return the error about a tensor that stands for the elements of a later run, or of several tensors."""
    return ArgumentTypeError(
        f"a tensor without elements of its own, as within torch.vmap and torch.export: {why}",
        given=class_name(x),
        remedy="call it outside of what traces it, on the whole tensor and with its axes",
    )


def _torch_tensor(result: NDArray[Any], axes: tuple[int, ...]) -> Any:
    array = np.asarray(result)
    try:
        return torch.from_numpy(array)
    except TypeError:
        # PyTorch does not know ml_dtypes' bfloat16. A check before the call would slow down other types.
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)


def _jax_operand(x: Any) -> Operand | None:
    """Return an array's own memory if it is on the host; None for other objects."""
    if not isinstance(x, jax.Array):
        return None
    if isinstance(x, jax.core.Tracer):
        raise ArgumentTypeError(
            "a traced array has no elements yet",
            given=type(x).__qualname__,
            remedy="call it outside of jax.jit, or by jax.pure_callback",
        )
    for device in x.devices():
        if device.platform != "cpu":
            refuse_device(x, device)
    return Operand(np.asarray(x), _jax_array, library="jax")


def _jax_array(result: NDArray[Any], axes: tuple[int, ...]) -> Any:
    """Return a result as an array of JAX, whose integers have 32 bits unless ``jax_enable_x64`` is set."""
    dtype = jax.numpy.asarray(np.zeros((), np.asarray(result).dtype)).dtype
    if (
        dtype != result.dtype
        and dtype.kind in "iu"
        and result.size
        and int(result.max()) > np.iinfo(dtype).max
    ):
        raise ArgumentError(
            f"{int(result.max())} does not fit {dtype}, the widest integer JAX has now",
            remedy="set jax_enable_x64, or pass numpy.asarray(x)",
        )
    return jax.numpy.asarray(result, dtype=dtype)


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table, and how columns become a table again."""

    library: str
    names: Sequence[Any]
    columns: tuple[Any, ...]
    shape: tuple[int, int]
    # Whether axis 0 is reduced column by column, because the columns are not one block of memory of one type.
    by_column: bool
    # `frame` makes a table of the library's columns; `row` makes a Series of one row, if rows may have any type.
    frame: Callable[[list[Any]], Any]
    row: Callable[[list[Any]], Any]
    labels: Labels
    # The way back for all columns as one array.
    wrap: Wrap


@contextmanager
def column(name: Any, function: str = "") -> Iterator[None]:
    """Add the name of the column to an error."""
    try:
        yield
    except ExtremumError as error:
        place = f"column {name!r}"
        raise type(error)(
            error.reason,
            where=f"{function}, {place}"
            if function and not error.reason.startswith(f"{function}:")
            else place,
            given=error.given,
            remedy=error.remedy,
        ) from None


def _type_of_column(x: Operand) -> str:
    """Name the element type of a column, with the time zone of instants."""
    if x.zone:
        return f"{x.array.dtype} in the zone {x.zone}"
    return str(x.array.dtype)


def _kind_of_column(x: Operand) -> tuple[str, str | None]:
    """Return what columns need in common before they have a common type: times, durations or numbers, and the zone."""
    kind: str = x.array.dtype.kind
    if kind not in "mM":
        kind = ""
    return kind, x.zone


def _table_operand(table: Table) -> Operand:
    """Return all columns as one array, or refuse columns that cannot be compared without loss."""
    columns: list[Operand] = []
    for name, each in zip(table.names, table.columns, strict=True):
        with column(name):
            columns.append(as_operand(each))
    types = [_type_of_column(x) for x in columns]
    words = [f"{name!r}: {each}" for name, each in zip(table.names, types, strict=True)]
    refusal = partial(
        ElementTypeError,
        given=", ".join(words[:8]) + (", ..." if words[8:] else ""),
        remedy="choose columns that compare, or convert them; axis=0 reduces each column in its own type",
    )
    # NumPy has a common type for times and durations, and for durations and numbers, so compare the kinds first.
    kinds = [_kind_of_column(x) for x in columns]
    if other := next((at for at, kind in enumerate(kinds) if kind != kinds[0]), 0):
        pair = f"columns {table.names[0]!r} and {table.names[other]!r}"
        raise refusal(f"{pair} do not compare: {types[0]} and {types[other]}")
    if columns:
        dtype = np.result_type(*(x.array.dtype for x in columns)).newbyteorder("=")
    else:
        dtype = np.dtype(np.float64)
    array = np.empty(table.shape, dtype, order="F")
    valid = np.ones(table.shape, np.bool_, order="F")
    for at, each in enumerate(columns):
        if (misfit := misfit_of(each.array, dtype)) is not None:
            raise refusal(
                f"column {table.names[at]!r} holds {misfit}, and {dtype}, the common type of the columns, does not"
            )
        array[:, at] = each.array
        if each.valid is not None:
            valid[:, at] = each.valid
    zone = columns[0].zone if columns else None
    return Operand(
        array, table.wrap, None if valid.all() else valid, False, table.library, table.labels, zone
    )


def _column_wrap(
    names: Sequence[str], zone: str | None, as_column: _Maker, as_instant: _Maker, frame: _Maker
) -> Wrap:
    """Return the way back for libraries in which only columns have names: to a column, a value or a table."""

    def wrap(result: Any, axes: tuple[int, ...]) -> Any:
        if not axes:
            if zone is None or result.dtype.kind != "M":
                return as_result(result)
            return as_instant(result)
        if not axes[1:]:
            return as_column(result)
        # NumPy cannot infer the number of columns if the result has no elements.
        rows = result.reshape(math.prod(result.shape[:-1]), -1) if result.size else result
        own = names if axes[-1] == 1 else [f"column_{at}" for at in range(result.shape[-1])]
        return frame([as_column(each) for each in rows.T], own)

    return wrap


def _pandas_operand(x: Any) -> Operand | None:
    if isinstance(x, pandas.DataFrame):
        table = _pandas_table(x)
        if table.by_column:
            return _table_operand(table)
        return Operand(as_array(x.to_numpy()), table.wrap, library="pandas", labels=labels_of(x))
    if not isinstance(x, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        return None
    zone = _zone(x.dtype)
    # The NumPy type with the same elements; categories have no such type.
    own = x.dtype.subtype if isinstance(x.dtype, pandas.SparseDtype) else x.dtype
    if isinstance(own, pandas.DatetimeTZDtype):
        own = np.dtype(f"M8[{own.unit}]")
    elif not isinstance(own, np.dtype):
        own = getattr(x.dtype, "numpy_dtype", None)
    if own is None or (own.kind == "O" and not isinstance(x.dtype, np.dtype)):
        raise ElementTypeError(
            f"NumPy has no type for elements of type {x.dtype}",
            given=f"pandas.{type(x).__name__}",
            remedy="convert them first, as x.astype(type) does",
        )
    valid = None
    elements = x
    # In an array of NumPy's own type, NaN stands for a missing element.
    if not isinstance(x.dtype, np.dtype | pandas.DatetimeTZDtype) and x.dtype.name != own.name:
        missing = np.asarray(x.isna())
        valid = ~missing if missing.any() else None
    if valid is None:
        elements = x.to_numpy(dtype=own)
    elif not isinstance(x.dtype, pandas.SparseDtype):
        elements = x.to_numpy(dtype=own, na_value=np.zeros((), own)[()])

    def wrap(result: NDArray[Any], axes: tuple[int, ...]) -> Any:
        values = _pandas_in_zone(result, zone)
        if not axes or not isinstance(x, pandas.Series | pandas.Index):
            return values
        if isinstance(x, pandas.Index):
            # An index has float16 in Arrow's memory alone.
            return pandas.Index(values, dtype=x.dtype if result.dtype == np.float16 else None)
        return pandas.Series(values, index=x.index if axes == (0,) else None, name=x.name)

    array = as_array(np.asarray(elements))
    return Operand(array, wrap, valid, False, "pandas", labels_of(x), zone and str(zone))


def _pandas_table(x: Any) -> Table:
    def frame(columns: list[Any]) -> Any:
        return pandas.concat(columns, axis=1).set_axis(x.columns, axis=1)

    def row(columns: list[Any]) -> Any:
        alike = len({each.dtype for each in columns}) == 1
        if alike:
            elements = pandas.concat(columns)
        else:
            elements = pandas.Series([each.iloc[0] for each in columns], dtype=object)
        return elements.set_axis(x.columns).rename(None)

    def wrap(result: NDArray[Any], axes: tuple[int, ...]) -> Any:
        # All columns are in one zone: other tables are refused.
        zone = _zone(x.dtypes.iloc[0]) if result.dtype.kind == "M" else None
        if len(axes) < 2:
            values = _pandas_in_zone(result, zone)
            if axes and axes[0] >= 0:
                return pandas.Series(values, index=x.axes[axes[0]])
            return values
        labels = (
            own if axis == at else None for at, (axis, own) in enumerate(zip(axes, x.axes, strict=True))
        )
        table = pandas.DataFrame(result, *labels)
        for at in range(0 if zone is None else len(table.columns)):
            table.isetitem(at, _pandas_in_zone(result[:, at], zone))
        return table

    columns = tuple(x.iloc[:, at] for at in range(x.shape[1]))
    dtypes = set(x.dtypes)
    by_column = len(dtypes) > 1 or not all(isinstance(dtype, np.dtype) for dtype in dtypes)
    return Table("pandas", list(x.columns), columns, x.shape, by_column, frame, row, labels_of(x), wrap)


def _zone(dtype: Any) -> Any:
    """Return the time zone of a type of pandas or PyArrow."""
    return getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None)


def _pandas_in_zone(result: NDArray[Any], zone: Any) -> Any:
    if zone is None or result.dtype.kind != "M":
        return as_result(result)
    instants = pandas.DatetimeIndex(result.reshape(-1), tz="UTC").tz_convert(zone)
    return instants.array if result.ndim else instants[0]


def _polars_operand(x: Any) -> Operand | None:
    if isinstance(x, polars.LazyFrame | polars.Expr):
        lazy = "a LazyFrame" if isinstance(x, polars.LazyFrame) else "an expression"
        raise ArgumentTypeError(
            f"{lazy} of Polars has no elements yet, and this call computes at once",
            remedy="collect first: frame.collect(), or frame.select(expression).collect()",
        )
    if isinstance(x, polars.DataFrame):
        return _table_operand(_polars_table(x))
    if not isinstance(x, polars.Series):
        return None
    zone = _polars_require_order(x)
    valid = None
    if x.dtype.is_nested():
        flat = x
        while isinstance(flat.dtype, polars.Array):
            flat = flat.explode()
        if count := flat.null_count():
            # Polars would convert nulls to NaN.
            raise not_there(count, "null", "polars.Series")
    elif x.null_count():
        # The fill value is never read. With nulls, NumPy would get floats for integers; for times it gets NaT.
        valid = x.is_not_null().to_numpy()
        if x.dtype == polars.Null:
            x = x.cast(polars.Float64).fill_null(0.0)
        elif not x.dtype.is_temporal():
            x = x.fill_null(False if x.dtype == polars.Boolean else 0)
    wrap = _polars_back(x.name, (), zone)
    return Operand(as_array(np.asarray(x.to_numpy())), wrap, valid, library="polars", zone=zone)


def _polars_table(x: Any) -> Table:
    names = x.columns
    for name, dtype in x.schema.items():
        if isinstance(dtype, polars.Array):
            raise ElementTypeError(
                f"column {name!r} holds an array in each place, and the columns of a table have one element there",
                given=f"{name!r}: {dtype}",
                remedy="pass the column alone, or its elements as columns of their own",
            )
    frame = partial(polars.DataFrame, schema=names)
    # All columns are in one zone: other tables are refused.
    wrap = _polars_back("", names, next((getattr(dtype, "time_zone", None) for dtype in x.dtypes), None))
    return Table(
        "polars", names, tuple(x.get_columns()), x.shape, bool(names), frame, frame, labels_of(x), wrap
    )


def _polars_back(name: str, names: Sequence[str], zone: str | None) -> Wrap:
    """Return the way back: instants get their time zone, and a single instant becomes Python's datetime."""

    def as_column(result: NDArray[Any]) -> Any:
        series = polars.Series(name, result)
        has_zone = zone is not None and isinstance(series.dtype, polars.Datetime)
        if has_zone:
            return series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        return series

    def as_instant(result: NDArray[Any]) -> Any:
        if (
            np.datetime_data(result.dtype)[0] == "ns"
            and result.view(np.int64)[()] % 1000
            and not np.isnat(result)
        ):
            raise ArgumentError(
                f"the instant {result} in UTC has nanoseconds, and Python's datetime has none",
                remedy="pass keepdims=True, for a result that keeps them",
            )
        return as_column(result.reshape(1)).item()

    return _column_wrap(names, zone, as_column, as_instant, polars.DataFrame)


_DECIMALS = (
    "NumPy has no decimals: cast them to float64, which may round them, or to integers of the smallest unit"
)


def _polars_require_order(x: Any) -> str | None:
    """Refuse elements for which NumPy has no type or no order; return the time zone of the others."""
    inner = x.dtype
    while isinstance(inner, polars.Array):
        inner = inner.inner
    zone: str | None = getattr(inner, "time_zone", None)
    way = _polars_way_to_order(inner)
    if way is None and zone is not None and x.dtype.is_nested():
        way = "convert them to UTC without a zone first"
    if way is not None:
        raise ElementTypeError(
            f"elements of type {x.dtype} have no order here", given="polars.Series", remedy=way
        )
    return zone


def _polars_way_to_order(kind: Any) -> str | None:
    """Return what makes elements of a type ones that NumPy orders; None if they are."""
    if kind in (polars.Int128, polars.UInt128):
        return "NumPy has no integers of 128 bits: cast them to Int64 or UInt64 first"
    if kind.is_nested():
        return "pass a field or the elements of the lists, as x.struct.field(name) and x.explode() give them"
    if kind.is_decimal():
        return _DECIMALS
    # The types, in addition to numbers, that NumPy has and orders.
    if kind.is_numeric() or kind in (
        polars.Boolean,
        polars.Date,
        polars.Datetime,
        polars.Duration,
        polars.Null,
    ):
        return None
    return "cast them to a type of numbers or times first, as x.cast(type) does"


def _pyarrow_operand(x: Any) -> Operand | None:
    if isinstance(x, pyarrow.Table | pyarrow.RecordBatch):
        return _table_operand(_pyarrow_table(x))
    if isinstance(x, pyarrow.Scalar):
        raise ElementTypeError("a PyArrow scalar is not an array", given=f"{x!r}", remedy="pass x.as_py()")
    if not isinstance(x, pyarrow.Array | pyarrow.ChunkedArray):
        return None
    if pyarrow.types.is_dictionary(x.type):
        x = x.cast(x.type.value_type)
    own = x.type
    valid = None
    kinds = ("boolean", "integer", "floating", "null", "date", "timestamp", "duration")
    if not any(getattr(pyarrow.types, f"is_{kind}")(own) for kind in kinds):
        other = "cast them to a type of numbers or times first, as x.cast(type) does"
        raise ElementTypeError(
            f"elements of type {own} have no order here",
            given=f"pyarrow.{type(x).__name__}",
            remedy=_DECIMALS if pyarrow.types.is_decimal(own) else other,
        )
    if x.null_count:
        # The fill value is never read.
        valid = x.is_valid().to_numpy(zero_copy_only=False)
        x = x.cast(pyarrow.float64()) if pyarrow.types.is_null(own) else x
        x = x.fill_null(pyarrow.scalar(False if pyarrow.types.is_boolean(own) else 0, x.type))
    if isinstance(x, pyarrow.ChunkedArray):
        array = x.to_numpy()
    else:
        array = x.to_numpy(zero_copy_only=False)
    wrap = _pyarrow_back(pyarrow.Table.from_arrays, (), own)
    return Operand(as_array(array), wrap, valid, library="pyarrow", zone=_zone(own))


def _pyarrow_table(x: Any) -> Table:
    names = x.column_names
    frame = partial(type(x).from_arrays, names=x.column_names)
    # Columns of several types that compare are timestamps mixed with dates, or no times at all.
    own = next(iter((*filter(pyarrow.types.is_timestamp, x.schema.types), *x.schema.types, pyarrow.null())))
    wrap = _pyarrow_back(type(x).from_arrays, names, own)
    return Table("pyarrow", names, tuple(x.columns), x.shape, bool(names), frame, frame, labels_of(x), wrap)


def _pyarrow_back(frame: _Maker, names: Sequence[str], own: Any) -> Wrap:
    """Return the way back: NumPy's times do not record their zone, nor whether they are dates."""
    zone = _zone(own)

    def as_column(result: NDArray[Any]) -> Any:
        array = pyarrow.array(result)
        if not pyarrow.types.is_timestamp(array.type):
            return array
        if pyarrow.types.is_date64(own):
            return array.cast(own)
        return pyarrow.array(result, type=pyarrow.timestamp(array.type.unit, zone))

    return _column_wrap(names, zone, as_column, lambda result: as_column(result.reshape(1))[0], frame)


def _xarray_operand(x: Any) -> Operand | None:
    """Return the elements alone, for masks and inputs of models: :mod:`extremum.xarray` has functions of its own."""
    return as_operand(x.data) if hasattr(x, "data") else None


_ADAPTERS: dict[str, Callable[[Any], Operand | None]] = {
    "torch": _torch_operand,
    "jax": _jax_operand,
    "jaxlib": _jax_operand,
    "pandas": _pandas_operand,
    "polars": _polars_operand,
    "pyarrow": _pyarrow_operand,
    "cubed": _refuse_uncomputed,
    "dask": _refuse_uncomputed,
    "xarray": _xarray_operand,
}
"""For each library, the function that makes an operand of its arrays; it returns None for other objects."""

_LABELS: dict[Any, Callable[[Any], Labels]] = {
    _pandas_operand: _pandas_labels,
    _polars_operand: _polars_labels,
    _pyarrow_operand: _pyarrow_labels,
    _xarray_operand: _xarray_labels,
}
"""For each library with labels, by its function above, the function that returns them."""
