"""NumPy's table of C functions, for those that the native module does not have from its own binding."""

from __future__ import annotations

from extremum.loading import load_module

__all__ = ["table"]


def table() -> object:
    """Return the capsule with the table."""
    try:
        module = load_module("numpy._core.multiarray")
    except ImportError:
        # Before NumPy 2.
        module = load_module("numpy.core.multiarray")
    capsule: object = module._ARRAY_API
    return capsule
