"""DLPack: memory of bfloat16 is read, which NumPy does not do; devices have names; what cannot be read is named."""

import gc

import ml_dtypes
import numpy as np
import pytest

import extremum as ex
from agreement import assert_identical
from extremum import dlpack
from extremum.errors import ElementTypeError
from extremum.interop import as_operand
from refusal import refusal

VALUES = np.array([[1, 3, 2, np.nan], [7, -0.0, 0, 5]], ml_dtypes.bfloat16)


class Exporter:
    """An array of bfloat16 that has DLPack and nothing else; NumPy's memory with another description."""

    def __init__(self, x, code=4, lanes=1):
        self.bits = x.view(np.int16)
        self.code = code
        self.lanes = lanes
        self.types = []

    def __dlpack_device__(self):
        return (1, 0)

    def _described(self, capsule):
        own = dlpack._type_in(capsule)
        own.code = self.code
        own.lanes = self.lanes
        self.types.append(own)
        return capsule

    def __dlpack__(self, **options):
        return self._described(self.bits.__dlpack__(**options))


class Unversioned(Exporter):
    """The same before version 1 of DLPack."""

    def __dlpack__(self):
        return self._described(self.bits.__dlpack__())


class Bare:
    """DLPack of another array, without its other ways."""

    def __init__(self, x, device=None):
        self.x = x
        self.device = device

    def __dlpack_device__(self):
        return self.device or self.x.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)


@pytest.mark.parametrize("kind", [Exporter, Unversioned], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x[:, ::2], lambda x: x[::-1].T], ids=["C", "gaps", "T"])
def test_bfloat16_is_read_in_place(kind, layout):
    plain = layout(VALUES.copy())
    x = kind(plain)
    array = as_operand(x).array
    assert array.ctypes.data == plain.ctypes.data
    assert array.strides == plain.strides
    # Whoever shares the description finds it as it was.
    assert x.types[-1].code == 4
    assert_identical(ex.argmax(x, 0), ex.argmax(plain, 0))
    assert_identical(ex.max(x, nan_policy="omit"), ex.max(plain, nan_policy="omit"))
    assert_identical(ex.maximum(x, plain), ex.maximum(plain))
    assert_identical(ex.hardmax(x), ex.hardmax(plain))


def test_the_memory_lives_as_long_as_the_array():
    array = as_operand(Exporter(VALUES.copy())).array
    gc.collect()
    assert_identical(array, VALUES)


@pytest.mark.parametrize("module", ["jax", "torch"])
def test_bfloat16_of_libraries(module):
    library = pytest.importorskip(module, reason="PyTorch is large: .ci/leg torch installs it")
    make = library.numpy.asarray if module == "jax" else library.tensor
    dtype = library.numpy.bfloat16 if module == "jax" else library.bfloat16
    x = Bare(make([1.0, 3.0, 2.0], dtype=dtype))
    assert_identical(ex.max(x), ml_dtypes.bfloat16(3))
    assert ex.argmax(x) == 1


def test_other_elements_that_numpy_lacks_are_refused():
    for x in (Exporter(VALUES, code=9), Exporter(VALUES, lanes=2)):
        for function in (ex.argmax, ex.hardmax, ex.maximum):
            assert refusal(ElementTypeError, function, x).startswith("DLPack does not give the elements: ")


@pytest.mark.parametrize(
    ("device", "name"), [((2, 1), "CUDA:1"), ((10, 0), "ROCm:0"), ((8, 0), "Metal:0"), ((99, 3), "99:3")]
)
def test_devices_have_names(device, name):
    x = Bare(np.arange(3), device)
    for function in (ex.argmax, ex.max, ex.hardmax, ex.maximum):
        text = refusal(ElementTypeError, function, x)
        assert text == f"the elements are on the device {name}, and are compared on the CPU here"


@pytest.mark.parametrize("kind", [1, 3, 11, 13])
def test_memory_that_the_cpu_reads_is_read(kind):
    assert dlpack.device_elsewhere(Bare(np.arange(3), (kind, 0))) is None


class OnCuda:
    """An array of a library that has the interface of CUDA's arrays alone."""

    @property
    def __cuda_array_interface__(self):
        return {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3}


class OnCudaAndReadable(OnCuda):
    def __array__(self, dtype=None, copy=None):
        return np.array([1, 3, 2], dtype)


def test_the_interface_of_cudas_arrays_is_a_device():
    for function in (ex.argmax, ex.max, ex.hardmax, ex.maximum):
        text = refusal(ElementTypeError, function, OnCuda())
        assert text == "the elements are on the device CUDA, and are compared on the CPU here"
        assert np.any(function(OnCudaAndReadable()))


def test_a_capsule_is_named():
    for function in (ex.argmax, ex.max, ex.hardmax, ex.maximum):
        text = refusal(ElementTypeError, function, np.arange(3).__dlpack__())
        assert text == "a capsule is not an array: it hands the memory of one to a single reader"
