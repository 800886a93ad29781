"""Types of the native module; the docstrings are files in native/python/docs, the options are in signatures.py."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar as TypeVarWithDefault
from typing_extensions import Unpack

from extremum.signatures import (
    ArgKeywords,
    Axes,
    Axis,
    HardmaxOptions,
    IndexType,
    MinMax,
    MinMaxIndices,
    No,
    TieOptions,
    TopKOptions,
    ValueKeywords,
    ValueOptions,
    ValuesIndices,
    Yes,
)

__version__: str

T = TypeVar("T", bound=np.generic)
N = TypeVar("N", bound=np.number[Any])
F = TypeVar("F", bound=np.floating[Any])
A = TypeVar("A", bound=np.ndarray[Any, Any])
I = TypeVarWithDefault("I", bound=np.integer[Any], default=np.int64)

class Best(HardmaxOptions, total=False):
    """Options of ``top_k`` that do not change the type of the result."""

    mode: Literal["largest", "smallest"]
    sorted: bool
    default: Any

class ArgPlain(TieOptions, total=False):
    """Options of ``argmax`` and ``argmin`` that do not change the type of the result."""

    default: int | None
    out: None

class Indexed(ValueOptions, total=False):
    """Options of ``max``, ``min`` and ``minmax`` that do not change the type of the result; no array to write to."""

    out: None

class Pairs(ValueOptions, total=False):
    """Options of ``minmax`` without an index; the type of the index then does not matter."""

    index_dtype: IndexType | None

class Values(Pairs, Indexed, total=False):
    """Options of ``max`` and ``min`` without an index."""

@overload
def argmax(
    x: NDArray[Any],
    /,
    axis: None = None,
    *,
    keepdims: No = False,
    dtype: type[I] = ...,
    **options: Unpack[ArgPlain],
) -> I: ...
@overload
def argmax(
    x: NDArray[Any],
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    dtype: type[I] = ...,
    **options: Unpack[ArgPlain],
) -> NDArray[I]: ...
@overload
def argmax(x: Any, /, axis: Axes = None, *, out: A, **options: Unpack[ArgKeywords]) -> A: ...
@overload
def argmax(
    x: Any, /, axis: Axes = None, *, out: NDArray[Any] | None = None, **options: Unpack[ArgKeywords]
) -> Any: ...

argmin = argmax

@overload
def max(
    x: NDArray[T],
    /,
    axis: None = None,
    *,
    keepdims: No = False,
    return_index: No = False,
    **options: Unpack[Values],
) -> T: ...
@overload
def max(
    x: NDArray[T],
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    return_index: No = False,
    **options: Unpack[Values],
) -> NDArray[T]: ...
@overload
def max(
    x: NDArray[T],
    /,
    axis: None = None,
    *,
    keepdims: No = False,
    return_index: Yes,
    index_dtype: type[I] = ...,
    **options: Unpack[Indexed],
) -> ValuesIndices[T, I]: ...
@overload
def max(
    x: NDArray[T],
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    return_index: Yes,
    index_dtype: type[I] = ...,
    **options: Unpack[Indexed],
) -> ValuesIndices[NDArray[T], NDArray[I]]: ...
@overload
def max(
    x: NDArray[T],
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    return_index: bool,
    index_dtype: type[I] = ...,
    **options: Unpack[Indexed],
) -> T | NDArray[T] | ValuesIndices[T, I] | ValuesIndices[NDArray[T], NDArray[I]]: ...
@overload
def max(
    x: Any, /, axis: Axes = None, *, return_index: No = False, out: A, **options: Unpack[ValueKeywords]
) -> A: ...
@overload
def max(
    x: Any, /, axis: Axes = None, *, return_index: Yes, out: None = None, **options: Unpack[ValueKeywords]
) -> ValuesIndices[Any, Any]: ...
@overload
def max(
    x: Any,
    /,
    axis: Axes = None,
    *,
    return_index: bool = False,
    out: NDArray[Any] | None = None,
    **options: Unpack[ValueKeywords],
) -> Any: ...

min = max

@overload
def minmax(
    x: NDArray[T],
    /,
    axis: None = None,
    *,
    keepdims: No = False,
    return_index: No = False,
    **options: Unpack[Pairs],
) -> MinMax[T]: ...
@overload
def minmax(
    x: NDArray[T],
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    return_index: No = False,
    **options: Unpack[Pairs],
) -> MinMax[NDArray[T]]: ...
@overload
def minmax(
    x: NDArray[T],
    /,
    axis: None = None,
    *,
    keepdims: No = False,
    return_index: Yes,
    index_dtype: type[I] = ...,
    **options: Unpack[ValueOptions],
) -> MinMaxIndices[T, I]: ...
@overload
def minmax(
    x: NDArray[T],
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    return_index: Yes,
    index_dtype: type[I] = ...,
    **options: Unpack[ValueOptions],
) -> MinMaxIndices[NDArray[T], NDArray[I]]: ...
@overload
def minmax(
    x: Any, /, axis: Axes = None, *, return_index: No = False, **options: Unpack[ValueKeywords]
) -> MinMax[Any]: ...
@overload
def minmax(
    x: Any, /, axis: Axes = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
) -> MinMaxIndices[Any, Any]: ...
@overload
def minmax(
    x: Any, /, axis: Axes = None, *, return_index: bool, **options: Unpack[ValueKeywords]
) -> MinMax[Any] | MinMaxIndices[Any, Any]: ...
@overload
def maximum(*arrays: float, out: None = None, **options: Unpack[HardmaxOptions]) -> Any: ...
@overload
def maximum(
    *arrays: NDArray[F] | float, out: None = None, **options: Unpack[HardmaxOptions]
) -> NDArray[F]: ...
@overload
def maximum(*arrays: NDArray[N] | int, out: None = None, **options: Unpack[HardmaxOptions]) -> NDArray[N]: ...
@overload
def maximum(*arrays: NDArray[T], out: None = None, **options: Unpack[HardmaxOptions]) -> NDArray[T]: ...
@overload
def maximum(*arrays: Any, out: A, **options: Unpack[HardmaxOptions]) -> A: ...
@overload
def maximum(*arrays: Any, out: NDArray[Any] | None = None, **options: Unpack[HardmaxOptions]) -> Any: ...

minimum = maximum

@overload
def hardmax(
    x: NDArray[T],
    /,
    axis: Axis | None = -1,
    *,
    out: NDArray[T] | None = None,
    **options: Unpack[HardmaxOptions],
) -> NDArray[T]: ...
@overload
def hardmax(
    x: Any, /, axis: Axis | None = -1, *, out: NDArray[Any] | None = None, **options: Unpack[HardmaxOptions]
) -> Any: ...
@overload
def top_k(
    x: NDArray[T],
    /,
    k: SupportsIndex,
    axis: SupportsIndex | tuple[SupportsIndex] | None = -1,
    *,
    index_dtype: type[I] = ...,
    **options: Unpack[Best],
) -> ValuesIndices[NDArray[T], NDArray[I]]: ...
@overload
def top_k(
    x: Any,
    /,
    k: SupportsIndex,
    axis: SupportsIndex | tuple[SupportsIndex] | None = -1,
    **options: Unpack[TopKOptions],
) -> ValuesIndices[Any, Any]: ...
def top_k_plain(
    x: NDArray[T],
    k: int,
    axis: int | None,
    *,
    function: str,
    largest: bool,
    sorted: bool,
    nan_first: bool,
    times: bool = False,
    where: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[T], NDArray[np.int64]]: ...
def reduce(
    x: NDArray[Any],
    axis: Any,
    *,
    function: str,
    largest: Sequence[bool],
    keepdims: bool,
    select_last_index: bool,
    omit: bool,
    times: bool,
    where: NDArray[np.bool_] | None,
    values: bool,
    index: np.dtype[Any] | None,
) -> tuple[int, list[list[Any]]]: ...
def extremum(
    function: str, operands: tuple[NDArray[Any], ...], *, largest: bool, omit: bool, out: NDArray[Any] | None
) -> Any: ...
def register(find: Callable[[str], Any], /) -> str | None: ...
def set_kept_memory(n: int, /) -> None: ...
def get_kept_memory() -> int: ...
def set_num_threads(n: int, /) -> None: ...
def get_num_threads() -> int: ...
def instruction_sets() -> tuple[str, ...]: ...
def get_instruction_set() -> str: ...
def set_instruction_set(name: str, /) -> None: ...
def set_bytes_per_thread(n: int, /) -> int: ...
def set_small_limit(n: int, /) -> int: ...
