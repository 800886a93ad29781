"""`import extremum` is light: no frontend's library is loaded."""

import subprocess
import sys

import pytest

HEAVY = ("onnx", "onnxruntime", "dask", "xarray", "cubed", "zarr", "ml_dtypes", "psutil", "click", "rich")
# What is run, and which of them it loads.
LOADED = {
    "import extremum; extremum.argmax([1]); extremum.max([1]); extremum.maximum([1], 2)": set(),
    "import extremum.spec, extremum.validate, extremum.infer, extremum.lower": set(),
    "from extremum import dtypes; dtypes.from_name('bfloat16').dtype": {"ml_dtypes"},
    "import extremum.check, extremum.fix": {"onnx", "ml_dtypes"},
}


@pytest.mark.parametrize("statement", LOADED)
def test_what_is_loaded(statement):
    code = f"import sys; {statement}; print(*(name for name in {HEAVY} if name in sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(said.split()) == LOADED[statement]
