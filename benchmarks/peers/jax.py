"""JAX on the CPU: jax.numpy under jit, waited for; its arrays have no strides, so views are left out.

XLA sizes its thread pool from the environment variable NPROC and from the processors that the process may run on, both
read when the first array is made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import reduce
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared

__all__ = ["Jax", "connect"]


class Jax:
    """One compiled function per case."""

    name = "jax"

    def __init__(self, threads: int) -> None:
        os.environ["NPROC"] = str(threads)
        os.environ["JAX_PLATFORMS"] = "cpu"
        if threads == 1:
            one_thread = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
            os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {one_thread}"
        self._jax: Any = import_module("jax")
        self._jax.config.update("jax_enable_x64", True)
        self.version: str = self._jax.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared | None:
        """Put the arrays on the device and compile."""
        if case.layout != "contiguous":
            return None
        operands = [self._jax.device_put(array) for array in arrays]
        compiled = self._jax.jit(self._function(case)).lower(*operands).compile()
        return Prepared(lambda: compiled(*operands).block_until_ready())

    def _function(self, case: Case) -> Callable[..., Any]:
        jnp = self._jax.numpy
        if case.elementwise:
            pick = jnp.maximum if case.operator == "max" else jnp.minimum
            return lambda *operands: reduce(pick, operands)

        order = case.kept + case.reduced
        pick = jnp.argmin if case.operator == "argmin" else jnp.argmax

        def index(x: Any) -> Any:
            if len(case.reduced) == 1:
                axis = case.reduced[0]
                return x.shape[axis] - 1 - pick(jnp.flip(x, axis), axis=axis) if case.last else pick(x, axis=axis)
            rows = x.transpose(order).reshape(*case.kept_shape, -1)
            return rows.shape[-1] - 1 - pick(rows[..., ::-1], axis=-1) if case.last else pick(rows, axis=-1)

        def one_hot(x: Any) -> Any:
            if len(case.reduced) == 1:
                axis = case.reduced[0]
                return self._jax.nn.one_hot(index(x), x.shape[axis], axis=axis, dtype=x.dtype)
            width = x.size // max(1, index(x).size)
            return self._jax.nn.one_hot(index(x), width, dtype=x.dtype).reshape(x.shape)

        return one_hot if case.operator == "hardmax" else index


def connect(threads: int) -> Jax:
    """Return the adapter; raises ImportError where jax is missing."""
    return Jax(threads)
