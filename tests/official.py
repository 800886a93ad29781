"""onnx's own node tests of the eight operators: those of the others take seconds to make."""

from contextlib import nullcontext
from importlib import import_module
from unittest.mock import patch

import numpy as np
from onnx.backend.test import loader
from onnx.backend.test.case.node import collect_testcases

OPERATORS = ("argmax", "argmin", "hardmax", "max", "min", "reduce_max", "reduce_min", "top_k")


def family_alone():
    """Let onnx's loader and runner make the node tests of the family alone, for the time of a block."""

    def imports(package):
        # They divide by zero.
        with np.errstate(divide="ignore"):
            for name in OPERATORS:
                import_module(f"{package.__name__}.{name.replace('_', '')}")

    # Older releases of onnx have the tests as files.
    return patch.object(loader, "import_recursive", imports) if hasattr(loader, "import_recursive") else nullcontext()


def node_tests():
    """onnx's own tests of nodes, those of the family among them."""
    if hasattr(loader, "load_node_model_tests"):
        with family_alone():
            return loader.load_node_model_tests()
    with np.errstate(all="ignore"):
        return collect_testcases(None)
