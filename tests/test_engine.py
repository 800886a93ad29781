"""The two seams for arrays in another memory: a module found by the device, and an engine that a reduction is given."""

import importlib.util
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import extremum as ex
from extremum import _native, interop
from extremum.elementwise import extremum
from extremum.engine import Engine
from extremum.errors import ArgumentError
from extremum.interop import Operand
from extremum.reductions import Reduction, beyond, hardmax
from extremum.selection import top_k
from refusal import explained, refusal


class OnDevice:
    """An array on a device, of a class whose other arrays are in memory that the CPU reads."""

    def __init__(self, kind=2):
        self.kind = kind

    def __dlpack_device__(self):
        return (self.kind, 1)

    def __dlpack__(self, **options):
        raise AssertionError("asked for memory that cannot be read")


class OnCuda:
    __cuda_array_interface__ = None


@pytest.fixture
def module(monkeypatch):
    """A module with array functions for arrays on CUDA devices, which notes its calls."""
    calls = []
    names = ("argmax", "argmin", "max", "min", "minmax", "hardmax", "maximum", "minimum", "top_k")
    functions = {name: lambda *given, name=name, **options: calls.append((name, given, options)) for name in names}
    monkeypatch.setitem(sys.modules, "on_cuda", SimpleNamespace(**functions, calls=calls))
    monkeypatch.setitem(interop._DEVICES, "CUDA", "on_cuda")
    return sys.modules["on_cuda"]


@pytest.mark.parametrize("make", [OnDevice, OnCuda], ids=["DLPack", "CUDA's interface"])
def test_the_device_of_a_value_finds_the_module(make, module):
    x = make()
    plain = np.ones(3)
    for function in (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax):
        function(x, 0)
    ex.maximum(plain, x, 2)
    ex.minimum(x, plain)
    ex.top_k(x, 3)
    names = [name for name, _, _ in module.calls]
    assert names == ["argmax", "argmin", "max", "min", "minmax", "hardmax", "maximum", "minimum", "top_k"]
    assert all(any(each is x for each in given) for _, given, _ in module.calls)


def test_values_elsewhere_go_their_usual_way(module):
    assert ex.argmax(np.array([1.0, 3.0]), nan_policy="omit") == 1
    assert ex.argmax([1, 3]) == 1
    with pytest.raises(ex.errors.ElementTypeError, match="oneAPI:1"):
        ex.argmax(OnDevice(14))
    assert not module.calls


class Noting(Engine):
    """NumPy's functions, and a note of each that a reduction calls."""

    def __init__(self):
        self.calls = []

    def reduce(self, *given, **options):
        self.calls.append("reduce")
        return _native.reduce(*given, **options)


def _noting(name):
    def method(self, *given):
        self.calls.append(name)
        return getattr(Engine, name)(self, *given)

    return method


STEPS = ("is_nan", "is_empty", "first", "fill", "cast")
for step in STEPS:
    setattr(Noting, step, _noting(step))

X = np.array([[1.0, np.nan, 5.0], [np.nan, np.nan, np.nan]])
CALLS = {
    "plain": ({}, None, {"cast"}),
    "omit": ({"nan_policy": "omit"}, 9.0, {"is_empty", "fill", "cast"}),
    "mask": ({"where": np.array([[True, True, False], [False] * 3])}, 9.0, {"is_empty", "fill", "cast"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_reduction_searches_and_finishes_with_its_engine(name):
    options, default, steps = CALLS[name]
    engine = Noting()
    call = Reduction("minmax", (False, True), 1, engine=engine, **options)
    ends = call.find(Operand(X), True, np.dtype(np.int32), default)
    expected = ex.minmax(X, 1, return_index=True, index_dtype=np.int32, default=default, **options)
    np.testing.assert_array_equal([end.values for end in ends], expected[:2])
    np.testing.assert_array_equal([end.indices for end in ends], expected[2:])
    assert set(engine.calls) == {"reduce", *steps}


def test_refusals_find_their_slice_with_the_engine():
    for options, text in (({"nan_policy": "raise"}, "holds NaN"), ({"nan_policy": "omit"}, "has no element")):
        engine = Noting()
        call = Reduction("max", (True,), 1, engine=engine, **options)
        assert text in refusal(ArgumentError, call.find, Operand(X), True, None, None)
        assert "first" in engine.calls


class Elsewhere(Noting):
    """An engine of arrays that are not NumPy's, as far as the functions know."""

    of_numpy = False

    def mask(self, function, where, x):
        self.calls.append("mask")
        return np.broadcast_to(where, x.shape)

    def ones(self, x, indices, axes):
        self.calls.append("ones")
        return np.eye(x.shape[1])[indices[:, 0]]

    def extremum(self, function, arrays, dtype, nan_policy, where):
        self.calls.append("extremum")
        return np.maximum(*arrays).astype(dtype)

    def top_k(self, *given, **options):
        self.calls.append("top_k")
        return _native.top_k_plain(*given, **options)


BROUGHT = {
    "max": (
        lambda x: beyond("max", x, 1, where=MASK, default=9.0, **PLAIN),
        {"mask", "reduce", "is_empty", "fill", "cast"},
    ),
    "argmin": (lambda x: beyond("argmin", x, 1, **PLAIN), {"reduce", "cast"}),
    "hardmax": (lambda x: hardmax(x, 1, None, None, None), {"reduce", "cast", "ones"}),
    "top_k": (lambda x: top_k(x, 2, 1, None, None, None, MASK, 9.0), {"mask", "top_k", "is_empty", "cast"}),
    "maximum": (lambda x: extremum("maximum", (x, 2), None, None), {"extremum"}),
}
MASK = np.array([[True, True, False], [False] * 3])
PLAIN = {"keepdims": False, "select_last_index": False}
NUMBERS = np.array([[1.0, 7.0, 5.0], [3.0, 2.0, 0.0]])


@pytest.mark.parametrize("function", BROUGHT)
def test_an_operand_brings_its_engine_to_every_function(function):
    call, steps = BROUGHT[function]
    engine = Elsewhere()
    actual = call(Operand(NUMBERS, engine=engine))
    assert set(engine.calls) == steps
    np.testing.assert_array_equal(actual, call(NUMBERS))


def test_arrays_on_a_gpu_are_refused_without_the_libraries(monkeypatch):
    monkeypatch.setattr(interop, "has_kernels", lambda: False)
    to_cpu = "and are compared on the CPU here; help: copy the array to the CPU first"
    install = "; or install what computes on GPUs: pip install 'extremum[gpu]'"
    for function in (ex.argmax, ex.maximum, ex.hardmax):
        for kind, name in ((2, "CUDA:1"), (10, "ROCm:1")):
            assert explained(function, OnDevice(kind)).endswith(
                f"the elements are on the device {name}, {to_cpu}{install}"
            )
    # Apple's GPUs have no kernels, so there is nothing to install.
    monkeypatch.setattr(interop, "has_kernels", lambda: True)
    assert explained(ex.argmax, OnDevice(8)).endswith(f"the elements are on the device Metal:1, {to_cpu}")


@pytest.mark.parametrize("kind", [2, 10], ids=["CUDA", "ROCm"])
def test_arrays_on_a_gpu_find_its_functions(kind, monkeypatch):
    calls = []
    monkeypatch.setattr(interop, "has_kernels", lambda: True)
    monkeypatch.setitem(
        sys.modules, "extremum.gpu", SimpleNamespace(argmin=lambda *given, **options: calls.append(given))
    )
    x = OnDevice(kind)
    ex.argmin(x, 1)
    assert calls == [(x, 1)]


def test_the_libraries_are_looked_for_and_not_imported():
    both = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is not None]
    assert interop.has_kernels() == (len(both) == 2)
    code = "import sys, extremum.interop as i; i.has_kernels(); print({'torch', 'triton'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
