"""One file per library that can do some of this package's work: how its users call it, and how it is held to N threads.

A contender prepares a case outside the clock and hands back a call without arguments. What it cannot do it leaves out;
whether its answer is right is judged by `expected`, not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from benchmarks.peers.contender import Contender

__all__ = ["NAMES", "installed"]

NAMES = ("numpy", "method", "onnxruntime", "jax", "openvino", "bottleneck", "polars", "numkong", "torch")


def installed(threads: int, names: Sequence[str] = NAMES) -> tuple[Contender, ...]:
    """Return an adapter of every library among ``names`` that is installed, held to ``threads`` threads."""
    return tuple(peer for peer in (_connect(name, threads) for name in names) if peer is not None)


def _connect(name: str, threads: int) -> Contender | None:
    try:
        peer: Contender = import_module(f"{__name__}.{name}").connect(threads)
    except ImportError:
        return None
    return peer
