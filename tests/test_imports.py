"""`import extremum` is light: no frontend's library is loaded."""

import subprocess
import sys

import pytest

HEAVY = [
    "onnx",
    "onnxruntime",
    "dask",
    "distributed",
    "xarray",
    "cubed",
    "zarr",
    "ml_dtypes",
    "psutil",
    "click",
    "rich",
]


def loaded_after(statement):
    code = f"import sys; {statement}; print(*(name for name in {HEAVY} if name in sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize("module", ["extremum", "extremum.spec, extremum.validate, extremum.infer, extremum.lower"])
def test_no_heavy_import(module):
    assert loaded_after(f"import {module}") == set()


def test_the_check_can_fail():
    assert "onnx" in loaded_after("import extremum.backend")


def test_a_library_whose_arrays_are_lazy_is_not_looked_for():
    heavy = loaded_after("import numpy as np, extremum as ex; ex.argmax([1]); ex.max([1]); ex.maximum([1], 2)")
    assert heavy == set()


def test_ml_dtypes_comes_with_bfloat16():
    assert loaded_after("from extremum import dtypes; dtypes.from_name('bfloat16').dtype") == {"ml_dtypes"}


def test_public_names():
    import extremum

    public = {name for name in vars(extremum) if not name.startswith("_")}
    functions = {name for name in public if callable(getattr(extremum, name))}
    assert functions | {"__version__", "errors"} == set(extremum.__all__)


def test_onnxruntime_is_loaded_only_to_be_asked():
    assert "onnxruntime" not in loaded_after("import extremum.check, extremum.fix")
