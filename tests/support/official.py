"""onnx's own node tests of the eight operators; the tests of other operators take seconds to build."""

from contextlib import nullcontext
from importlib import import_module
from unittest.mock import patch

import numpy as np
from onnx.backend.test import loader
from onnx.backend.test.case.node import collect_testcases

OPERATORS = ("argmax", "argmin", "hardmax", "max", "min", "reduce_max", "reduce_min", "top_k")


def family_alone():
    """Let onnx's loader and runner build only the family's node tests in a ``with`` block."""

    def imports(package):
        # These modules divide by zero.
        with np.errstate(divide="ignore"):
            for name in OPERATORS:
                import_module(f"{package.__name__}.{name.replace('_', '')}")

    # Older releases of onnx ship the tests as files.
    return patch.object(loader, "import_recursive", imports) if hasattr(loader, "import_recursive") else nullcontext()


def node_tests():
    """onnx's own node tests, which include the family's."""
    if hasattr(loader, "load_node_model_tests"):
        with family_alone():
            return loader.load_node_model_tests()
    with np.errstate(all="ignore"):
        return collect_testcases(None)
