"""Tensors of PyTorch and JAX on the CPU, in their own memory.

A library is imported where it is used, so that nothing is loaded that the caller has not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import refuse_device
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, first_line
from extremum.interop import Adopted, Kept
from extremum.loading import load_module

__all__ = ["ADAPTERS"]


def _torch_adopt(x: Any) -> Adopted | None:
    """Return a tensor's own memory; None for what is no tensor, or one with rules of its own, such as a masked one."""
    import torch

    if type(x) not in (torch.Tensor, torch.nn.Parameter):
        _torch_refuse_nested(x)
        return None
    try:
        array: NDArray[Any] = x.numpy()
    except (RuntimeError, TypeError):
        # What cannot be had so is refused, or had in another way.
        array = _torch_memory(x)
    return Adopted(array, _torch_tensor, None, False, "torch")


def _torch_memory(x: Any) -> NDArray[Any]:
    import torch

    if x.device.type != "cpu":
        refuse_device(x, x.device)
    if x.requires_grad:
        raise ArgumentError(
            "a tensor that requires its gradient: an index has none, and a value's would be lost",
            given="torch.Tensor with requires_grad=True",
            remedy="pass x.detach()",
        )
    _torch_refuse_nested(x)
    if x.layout is not torch.strided:
        raise ElementTypeError(f"the elements are laid out as {x.layout}", remedy="pass x.to_dense()")
    # A sign or a conjugation to be applied later is a bit of the tensor, which its memory does not show.
    plain = x.resolve_conj().resolve_neg()
    try:
        if plain.dtype is torch.bfloat16:
            array: NDArray[Any] = plain.view(torch.int16).numpy().view(load_module("ml_dtypes").bfloat16)
        else:
            array = plain.numpy()
    except TypeError as error:
        raise ElementTypeError(f"elements of type {x.dtype} have no order here: {error}") from None
    except RuntimeError as error:
        raise ArgumentTypeError(
            f"a tensor without elements of its own, as within torch.vmap: {first_line(error)}",
            given="torch.Tensor",
            remedy="call it outside of torch.vmap, on the whole tensor and with its axes",
        ) from None
    return array


def _torch_refuse_nested(x: Any) -> None:
    """Refuse a tensor whose rows have different lengths."""
    if getattr(x, "is_nested", False):
        raise ElementTypeError(
            "a nested tensor has rows of different lengths",
            given=f"torch.Tensor with layout {x.layout}",
            remedy="pass torch.nested.to_padded_tensor(x, padding), or each of x.unbind()",
        )


def _torch_tensor(result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as a tensor that shares its memory."""
    import torch

    array = np.asarray(result)
    try:
        return torch.from_numpy(array)
    except TypeError:
        # ml_dtypes' bfloat16, which is nobody's but its own. (To ask first would cost every other call.)
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)


def _jax_adopt(x: Any) -> Adopted | None:
    """Return an array's own memory where it is on the host; None for what is no array."""
    import jax

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
    return Adopted(np.asarray(x), _jax_array, library="jax")


def _jax_array(result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as an array of JAX, whose integers have 32 bits unless it was told otherwise."""
    import jax

    dtype = jax.numpy.asarray(np.zeros((), np.asarray(result).dtype)).dtype
    if dtype != result.dtype and dtype.kind in "iu" and result.size and int(result.max()) > np.iinfo(dtype).max:
        raise ArgumentError(
            f"{int(result.max())} does not fit {dtype}, the widest integer JAX has now",
            remedy="set jax_enable_x64, or pass numpy.asarray(x)",
        )
    return jax.numpy.asarray(result, dtype=dtype)


ADAPTERS: dict[str, Callable[[Any], Adopted | None]] = {"torch": _torch_adopt, "jax": _jax_adopt, "jaxlib": _jax_adopt}
"""Of each library, what returns a tensor's own memory; None for its other objects."""
