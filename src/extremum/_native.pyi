"""Types of the native module; the docstrings live with the code in native/python/src."""

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from extremum.policy import NanPolicy
from extremum.values import ValuesIndices

__version__: str

T = TypeVar("T", bound=np.generic)
Axis = SupportsIndex | tuple[SupportsIndex, ...]

@overload
def argmax(
    x: NDArray[Any],
    /,
    axis: None = None,
    *,
    keepdims: Literal[False] = False,
    select_last_index: bool = False,
    dtype: type[np.int64] = ...,
    out: None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
    default: int | None = None,
) -> np.int64: ...
@overload
def argmax(
    x: NDArray[Any],
    /,
    axis: Axis | None = None,
    *,
    keepdims: bool = False,
    select_last_index: bool = False,
    dtype: DTypeLike = np.int64,
    out: NDArray[Any] | None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
    default: int | None = None,
) -> NDArray[Any]: ...
@overload
def argmax(
    x: Any,
    /,
    axis: Axis | None = None,
    *,
    keepdims: bool = False,
    select_last_index: bool = False,
    dtype: DTypeLike = np.int64,
    out: NDArray[Any] | None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
    default: int | None = None,
) -> Any: ...
@overload
def argmin(
    x: NDArray[Any],
    /,
    axis: None = None,
    *,
    keepdims: Literal[False] = False,
    select_last_index: bool = False,
    dtype: type[np.int64] = ...,
    out: None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
    default: int | None = None,
) -> np.int64: ...
@overload
def argmin(
    x: NDArray[Any],
    /,
    axis: Axis | None = None,
    *,
    keepdims: bool = False,
    select_last_index: bool = False,
    dtype: DTypeLike = np.int64,
    out: NDArray[Any] | None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
    default: int | None = None,
) -> NDArray[Any]: ...
@overload
def argmin(
    x: Any,
    /,
    axis: Axis | None = None,
    *,
    keepdims: bool = False,
    select_last_index: bool = False,
    dtype: DTypeLike = np.int64,
    out: NDArray[Any] | None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
    default: int | None = None,
) -> Any: ...
@overload
def maximum(*arrays: NDArray[T], out: None = None, nan_policy: NanPolicy = "propagate") -> NDArray[T]: ...
@overload
def maximum(*arrays: Any, out: NDArray[Any] | None = None, nan_policy: NanPolicy = "propagate") -> Any: ...
@overload
def minimum(*arrays: NDArray[T], out: None = None, nan_policy: NanPolicy = "propagate") -> NDArray[T]: ...
@overload
def minimum(*arrays: Any, out: NDArray[Any] | None = None, nan_policy: NanPolicy = "propagate") -> Any: ...
@overload
def hardmax(
    x: NDArray[T],
    /,
    axis: Axis = -1,
    *,
    out: NDArray[T] | None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
) -> NDArray[T]: ...
@overload
def hardmax(
    x: Any,
    /,
    axis: Axis = -1,
    *,
    out: NDArray[Any] | None = None,
    nan_policy: NanPolicy = "propagate",
    where: ArrayLike | None = None,
) -> Any: ...
@overload
def max(
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
def max(
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
def max(
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
def max(
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
@overload
def min(
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
def min(
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
def min(
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
def min(
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
) -> Any: ...
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
) -> tuple[int, tuple[tuple[Any, Any], ...]]: ...
def extremum(
    function: str, operands: tuple[NDArray[Any], ...], *, largest: bool, omit: bool, out: NDArray[Any] | None
) -> Any: ...
def set_kept_memory(n: int, /) -> None: ...
def get_kept_memory() -> int: ...
def set_num_threads(n: int, /) -> None: ...
def get_num_threads() -> int: ...
def instruction_sets() -> tuple[str, ...]: ...
def get_instruction_set() -> str: ...
def set_instruction_set(name: str, /) -> None: ...
def set_bytes_per_thread(n: int, /) -> int: ...
def set_small_limit(n: int, /) -> int: ...
def read_bandwidth(array: NDArray[Any], /) -> None: ...
