"""The operators that pick the largest or smallest: exact on every element type, at memory speed."""

from extremum._native import (
    __version__,
    argmax,
    argmin,
    get_num_threads,
    hardmax,
    maximum,
    minimum,
    set_num_threads,
)

__all__ = [
    "__version__",
    "argmax",
    "argmin",
    "get_num_threads",
    "hardmax",
    "maximum",
    "minimum",
    "set_num_threads",
]
