"""The array functions on arrays that live on a GPU: tensors of PyTorch, and arrays of CuPy and JAX through DLPack.

The answers have the bits of those on the CPU, and are arrays of the same library on the same device. The functions of
:mod:`extremum` call these for such arrays. Within ``torch.compile`` each is an operator of the graph. Under
``TRITON_INTERPRET=1`` these take tensors on the CPU, for tests.

A call begins in ``calls.py``. If one like it has been answered, its steps (``steps.py``) are known there, and are
repeated. Otherwise the CPU's own functions decide, with the engine of ``engine.py`` in place of the native module. The
engine runs operators (``reductions.py``, ``selection.py``, ``elementwise.py``); each plans once (``plans.py``) what it
launches (``launcher.py``) of the kernels (``kernels.py``).
"""

from __future__ import annotations

from extremum.errors import required_by

with required_by("extremum.gpu", extra_of="triton"):
    from extremum.gpu.functions import argmax, argmin, hardmax, max, maximum, min, minimum, minmax, top_k

__all__ = ["argmax", "argmin", "hardmax", "max", "maximum", "min", "minimum", "minmax", "top_k"]
__dir__ = __all__.copy
