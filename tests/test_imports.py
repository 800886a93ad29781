"""`import extremum` is light; a message about a part that is not installed says which command installs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from extremum.errors import EXTRAS, needed

HEAVY = (
    "onnx",
    "onnxruntime",
    "dask",
    "xarray",
    "cubed",
    "zarr",
    "h5py",
    "netCDF4",
    "ml_dtypes",
    "psutil",
    "click",
    "rich",
    "torch",
    "triton",
)
# A statement, and the heavy packages that it loads.
LOADED = {
    "import extremum; extremum.argmax([1]); extremum.max([1]); extremum.maximum([1], 2)": set(),
    "import extremum.spec, extremum.validate, extremum.infer, extremum.lower": set(),
    "from extremum.tensors import element_of; element_of('bfloat16').dtype": {"ml_dtypes"},
    "import extremum.large": set(),
    "import extremum.check, extremum.fix": {"onnx", "ml_dtypes"},
}


@pytest.mark.parametrize("statement", LOADED)
def test_what_is_loaded(statement):
    code = f"import sys; {statement}; print(*(name for name in {HEAVY} if name in sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(output.split()) == LOADED[statement]


# Parts that are not installed.


ROOT = Path(__file__).parents[1]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
(OPTIONAL,) = re.findall(r"\[project\.optional-dependencies\]\n(.*?)\n\n", PROJECT, re.DOTALL)
PARTS = dict(re.findall(r"^(\w+) = \[(.*)\]$", OPTIONAL, re.MULTILINE))


@pytest.mark.parametrize("library", EXTRAS)
def test_an_extra_brings_its_library(library):
    listed = PARTS[EXTRAS[library]].lower().replace("-", "_")
    assert re.search(rf"[\"\[,]{library.lower()}\b", listed)
    assert needed(library) == f"pip install 'extremum[{EXTRAS[library]}]'"


FRONTENDS = {
    "import extremum.backend": ("extremum.backend needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.check": ("extremum.check needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.fix": ("extremum.fix needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.conformance": ("extremum.conformance needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.runtimes": ("extremum.runtimes needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.onnxruntime": ("extremum.onnxruntime needs onnx", "onnx", "extremum[onnxruntime]"),
    "import extremum.directml as d; d.lower('')": ("extremum.directml.lower needs onnx", "onnx", "extremum[onnx]"),
    "from extremum.onnxruntime import InferenceSession": (
        "onnxruntime cannot be imported",
        "onnxruntime",
        "extremum[onnxruntime]",
    ),
    "import extremum.dask": ("extremum.dask needs dask", "dask", "extremum[dask]"),
    "import extremum.xarray": ("extremum.xarray needs xarray", "xarray", "extremum[xarray]"),
    "import extremum.gpu": ("extremum.gpu needs torch", "torch", "extremum[gpu]"),
    "import extremum.cubed": ("extremum.cubed needs cubed", "cubed", "pip install cubed"),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_frontend_says_what_it_needs():
    # Each statement runs in a forked child, as in a process of its own; the array functions are loaded already.
    code = """
import os, sys, extremum
for statement, (_, library, _) in {}.items():
    if not os.fork():
        sys.modules[library] = None
        try:
            exec(statement)
        except ImportError as error:
            print(type(error).__name__, *str(error).splitlines(), sep="|", flush=True)
        os._exit(0)
    os.wait()
"""
    command = [sys.executable, "-c", code.format(FRONTENDS)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line, (reason, _, remedy) in zip(output.splitlines(), FRONTENDS.values(), strict=True):
        assert line.startswith(f"DependencyError|{reason}|")
        assert remedy in line
