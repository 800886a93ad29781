"""Types of the native module; the docstrings live with the code in native/python/src."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__version__: str

def argmax(
    x: ArrayLike,
    /,
    axis: int | tuple[int, ...] | None = None,
    *,
    keepdims: bool = False,
    select_last_index: bool = False,
    dtype: DTypeLike = np.int64,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def argmin(
    x: ArrayLike,
    /,
    axis: int | tuple[int, ...] | None = None,
    *,
    keepdims: bool = False,
    select_last_index: bool = False,
    dtype: DTypeLike = np.int64,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def maximum(*arrays: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
def minimum(*arrays: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
def hardmax(x: ArrayLike, /, axis: int | tuple[int, ...] = -1, *, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
def set_num_threads(n: int, /) -> None: ...
def get_num_threads() -> int: ...
def instruction_sets() -> tuple[str, ...]: ...
def get_instruction_set() -> str: ...
def set_instruction_set(name: str, /) -> None: ...
def sweep(array: NDArray[Any], /) -> None: ...
