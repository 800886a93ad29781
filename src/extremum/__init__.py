"""The operators that pick the largest or smallest: exact on every element type, at memory speed."""

# Import this first: in a second interpreter, its error says more than that of NumPy.
from extremum._native import (
    __version__,
    argmax,
    argmin,
    get_kept_memory,
    get_num_threads,
    hardmax,
    max,
    maximum,
    min,
    minimum,
    minmax,
    set_kept_memory,
    set_num_threads,
    top_k,
)

# isort: split
# This import tells the native module which functions it calls.
from extremum import callbacks as callbacks
from extremum import errors
from extremum.indices import unravel
from extremum.signatures import MinMax, MinMaxIndices, ValuesIndices

__all__ = [
    "MinMax",
    "MinMaxIndices",
    "ValuesIndices",
    "__version__",
    "argmax",
    "argmin",
    "errors",
    "get_kept_memory",
    "get_num_threads",
    "hardmax",
    "max",
    "maximum",
    "min",
    "minimum",
    "minmax",
    "set_kept_memory",
    "set_num_threads",
    "top_k",
    "unravel",
]

# Packages that the caller has imported are attributes too.
_PACKAGES = (
    "backend",
    "check",
    "conformance",
    "cubed",
    "dask",
    "directml",
    "fix",
    "gpu",
    "onnxruntime",
    "runtimes",
    "xarray",
)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in _PACKAGES if name in globals())])
