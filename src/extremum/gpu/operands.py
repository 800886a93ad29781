"""Arrays on a GPU as the kernels see them: tensors of PyTorch, with NumPy's names for their element types.

Arrays of other libraries come in and go out through DLPack, without a copy.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import ml_dtypes
import numpy as np
import torch

from extremum.engine import Engine
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, first_line
from extremum.gpu import launcher
from extremum.gpu.operators import is_traced
from extremum.interop import Operand, device_of, strided_tensor, without_gradient
from extremum.reductions import Ints, as_mask, require_bool

_INFINITY = {
    torch.float16: 0x7C00,
    torch.bfloat16: 0x7F80,
    torch.float32: 0x7F800000,
    torch.float64: 0x7FF0000000000000,
}
"""The bits of infinity: those of NaN are greater."""

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
TYPES = {
    **{getattr(torch, name): np.dtype(name) for name in _NAMES},
    torch.bfloat16: np.dtype(ml_dtypes.bfloat16),
}
"""NumPy's name for each element type of PyTorch that is compared here."""
_TENSOR_TYPES = {name: own for own, name in TYPES.items()}


def tensor_type(dtype: np.dtype[Any]) -> torch.dtype:
    """Return PyTorch's name for an element type of NumPy."""
    if dtype not in _TENSOR_TYPES:
        raise ElementTypeError(f"PyTorch has no elements of type {dtype}", remedy="use a type that it has")
    return _TENSOR_TYPES[dtype]


# The place of NaN: the best of all, the worst of all, or not there.
BEST, WORST, ABSENT = 1, -1, 0


class Elements:
    """A tensor with the shape and the element type as NumPy names them, by which a reduction decides."""

    __slots__ = ("dtype", "shape", "tensor")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.shape = tuple(tensor.shape)
        self.dtype = TYPES.get(tensor.dtype)
        if self.dtype is None:
            raise ElementTypeError(
                f"elements of type {tensor.dtype} have no order here",
                remedy="convert to bool, an integer, float16, bfloat16, float32 or float64",
            )

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def kind_of(dtype: torch.dtype) -> tuple[str, int]:
    """Return how a kernel makes keys of elements: the kind, and the bits of infinity."""
    if dtype.is_floating_point:
        return "float", _INFINITY[dtype]
    return ("signed" if dtype.is_signed else "unsigned"), 0


def operand_of(function: str, x: Any, engine: Engine) -> Operand:
    """Return an array on a GPU as an operand with :class:`Elements` and an engine, or refuse it."""
    if isinstance(x, torch.Tensor):
        tensor = _plain(x)
        wrap: Any = _as_it_is
        library = "torch"
    else:
        tensor = _by_dlpack(function, x)
        wrap = _way_back(x)
        library = type(x).__module__.partition(".")[0]
    on_cpu = tensor.device.type == "cpu"
    if on_cpu and not launcher.INTERPRETED:
        raise ArgumentTypeError(
            f"{function}: the elements are on the CPU, and this function takes arrays on a GPU",
            remedy=_where_to_go(function),
        )
    if not on_cpu and (launcher.INTERPRETED or tensor.device.type != "cuda"):
        where = "the CPU alone under TRITON_INTERPRET=1" if launcher.INTERPRETED else "GPUs of NVIDIA and AMD"
        raise ElementTypeError(
            f"{function}: the elements are on the device {tensor.device}, and the kernels run on {where}",
            remedy="copy the array to the CPU first",
        )
    elements: Any = Elements(tensor)
    return Operand(elements, wrap, library=library, engine=engine)


def _as_it_is(result: torch.Tensor, axes: Ints) -> torch.Tensor:
    return result


def _where_to_go(function: str) -> str:
    """Return what helps whoever has something else than an array on a GPU, beside arrays there or alone."""
    return f"copy it to the GPU, or call extremum.{function} without arrays on a GPU"


def _plain(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose memory is its elements, or refuse it."""
    return without_gradient(x) if is_traced(x) else strided_tensor(x)


def _by_dlpack(function: str, x: Any) -> torch.Tensor:
    if device_of(x) is None and not (launcher.INTERPRETED and hasattr(x, "__dlpack__")):
        raise ArgumentTypeError(
            f"{function}: {type(x).__qualname__} is not an array on a GPU", remedy=_where_to_go(function)
        )
    strides = getattr(x, "strides", None)
    if isinstance(strides, tuple) and any(stride < 0 for stride in strides):
        # CuPy has negative strides, PyTorch has not.
        x = x.copy()
    try:
        return torch.from_dlpack(x)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ElementTypeError(
            f"{function}: the elements are on the device {device_of(x)}, and PyTorch cannot read them there: "
            f"{first_line(error)}",
            given=type(x).__qualname__,
            remedy="install PyTorch with support of this device, or copy the array to the CPU first",
        ) from None


def _way_back(x: Any) -> Any:
    """Return the function that makes a tensor an array of the library of `x`, in the same memory."""
    if hasattr(x, "__array_namespace__"):
        namespace = x.__array_namespace__()
    else:
        # Arrays of CuPy do not know their namespace in every version.
        namespace = sys.modules[type(x).__module__.partition(".")[0]]

    def wrap(result: torch.Tensor, axes: Ints) -> Any:
        return namespace.from_dlpack(result)

    return wrap


def mask_of(function: str, where: Any, device: torch.device) -> Elements:
    """Return a mask of any library as a tensor on the device of its array, or refuse it."""
    if isinstance(where, torch.Tensor):
        mask = Elements(_plain(where))
    elif device_of(where) is not None:
        mask = Elements(_by_dlpack(function, where))
    elif launcher.is_capturing():
        raise ArgumentError(
            f"{function}: a CUDA graph is being captured, and where is on the CPU",
            remedy="move the mask to the device of the array first",
        )
    else:
        mask = Elements(torch.from_numpy(np.array(as_mask(function, where))).to(device))
    require_bool(function, mask)
    if mask.tensor.device != device:
        raise ArgumentError(
            f"{function}: where is on the device {mask.tensor.device}, and the array on {device}",
            remedy="move the mask to the device of the array",
        )
    return mask


def common_device(arrays: list[Any]) -> torch.device:
    """Return the device of :class:`Elements` among other operands, or refuse those of several devices."""
    devices = {each.tensor.device: None for each in arrays if isinstance(each, Elements)}
    if len(devices) > 1:
        raise ArgumentError(
            f"the operands are on the devices {' and '.join(map(str, devices))}",
            remedy="move them to one device first",
        )
    (device,) = devices
    return device
