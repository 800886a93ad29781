"""onnx's own node tests of the eight operators: those of the others take seconds to make."""

from importlib import import_module
from unittest.mock import patch

import numpy as np

OPERATORS = ("argmax", "argmin", "hardmax", "max", "min", "reduce_max", "reduce_min", "top_k")


def family_alone():
    """Let onnx's loader and runner make the node tests of the family alone, for the time of a block."""

    def imports(package):
        # They divide by zero.
        with np.errstate(divide="ignore"):
            for name in OPERATORS:
                import_module(f"{package.__name__}.{name.replace('_', '')}")

    return patch("onnx.backend.test.loader.import_recursive", imports)
