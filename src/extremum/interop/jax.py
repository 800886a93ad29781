"""JAX arrays on the host."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from extremum.arrays import refuse_device
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.interop import Adopted, Kept

__all__ = ["adopt"]


def adopt(x: Any) -> Adopted | None:
    """Return an array's own memory where it is on the host; None for what is no array."""
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
    return Adopted(np.asarray(x), _array, library="jax")


def _array(result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as an array of JAX, whose integers have 32 bits unless it was told otherwise."""
    dtype = jnp.asarray(np.zeros((), np.asarray(result).dtype)).dtype
    if dtype != result.dtype and dtype.kind in "iu" and result.size and int(result.max()) > np.iinfo(dtype).max:
        raise ArgumentError(
            f"{int(result.max())} does not fit {dtype}, the widest integer JAX has now",
            remedy="set jax_enable_x64, or pass numpy.asarray(x)",
        )
    return jnp.asarray(result, dtype=dtype)
