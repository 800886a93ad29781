"""The functions for arrays on a GPU, run by Triton's interpreter on the CPU: the same bits as for NumPy's arrays."""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import weakref
import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import extremum as ex
from agreement import same_bits
from commands import printed
from extremum.errors import ExtremumError
from refusal import error_of, explained
from strategies import ELEMENT_TYPES, landmarks

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
pytestmark = pytest.mark.skipif(not INTERPRETED, reason="PyTorch is large: .ci/leg gpu installs it")
if INTERPRETED:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from triton._C.libtriton import native_specialize_impl

    import random_gpu
    from extremum import gpu, interop
    from extremum.gpu import calls, engine, launcher, memory, plans, reductions
    from random_gpu import array_of, elements, exactly, laid_out, tensor_of

INDEX = ("argmax", "argmin")
VALUE = ("max", "min", "minmax")
# Stands for a mask.
MASK = object()


def as_tensors(given):
    return [tensor_of(each) if isinstance(each, np.ndarray) else each for each in given]


def assert_same(function, *given, where=None, same=None, **options):
    """Call both functions: type, shape and every bit are equal, as far as `same` says; elements stay as before."""
    # Without PyTorch there is no `exactly` to be a default.
    same = same or exactly
    before = given[0].tobytes()
    masks = ({}, {}) if where is None else ({"where": where}, {"where": tensor_of(where)})
    expected = getattr(ex, function)(*given, **options, **masks[0])
    actual = getattr(gpu, function)(*as_tensors(given), **options, **masks[1])
    if isinstance(expected, tuple):
        assert type(actual) is type(expected)
    else:
        actual, expected = (actual,), (expected,)
    for own, other in zip(actual, expected, strict=True):
        assert same(array_of(own), np.asarray(other))
    assert given[0].tobytes() == before


def some_axes(rng, rank):
    """None, one axis, or several in any order."""
    if rng.random() < 0.2:
        return None
    axes = tuple(int(axis) - rank * int(rng.integers(2)) for axis in rng.permutation(rank)[: rng.integers(rank + 1)])
    return axes[0] if len(axes) == 1 else axes


def some_options(rng, function, x):
    """Options of a reduction, drawn so that each meets each other."""
    options = {}
    if rng.random() < 0.4:
        options["select_last_index"] = True
    if rng.random() < 0.4:
        options["keepdims"] = True
    if rng.random() < 0.4:
        options["nan_policy"] = "omit"
    if rng.random() < 0.4:
        options["where"] = laid_out(rng, np.asarray(rng.random(x.shape) < 0.4))
    keyword = "dtype"
    if function in VALUE:
        keyword = "index_dtype"
        options["return_index"] = bool(rng.integers(2))
    options[keyword] = rng.choice(["int64", "int32"])
    may_be_empty = "where" in options or "nan_policy" in options or not x.size
    if may_be_empty:
        options["default"] = -7 if function in INDEX else landmarks(x.dtype)[0]
    elif rng.random() < 0.3:
        options[keyword] = rng.choice(["uint64", "uint32", "int16"])
    return options


@pytest.fixture(params=["as released", "small"])
def limits(request):
    """The limits of the plans; small ones cut short slices into tiles, parts and columns."""
    with random_gpu.limits(random_gpu.SMALL if request.param == "small" else {}):
        yield


SHAPES = [(), (1,), (37,), (3, 5), (5, 33), (70, 3), (4, 5, 6), (2, 3, 2, 5), (1, 9, 1), (0, 3), (3, 0), (2, 257)]


@pytest.mark.parametrize("function", INDEX + VALUE)
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_reductions_have_the_bits_of_the_cpu(dtype, function, limits):
    rng = np.random.default_rng(zlib.crc32(f"{dtype} {function}".encode()))
    for shape in SHAPES:
        x = laid_out(rng, elements(rng, dtype, shape))
        assert_same(function, x, some_axes(rng, x.ndim), **some_options(rng, function, x))


@pytest.mark.parametrize("mode", ["largest", "smallest"])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_the_k_best_have_the_bits_of_the_cpu(dtype, mode, limits):
    rng = np.random.default_rng(zlib.crc32(f"{dtype} {mode}".encode()))
    for shape in [(1,), (37,), (3, 5), (2, 33), (19, 3), (3, 17, 2), (0, 3), (3, 0), (2, 130), (1, 300)]:
        x = laid_out(rng, elements(rng, dtype, shape))
        axis = int(rng.integers(-x.ndim, x.ndim))
        if rng.random() < 0.2:
            axis = None
        n = x.size if axis is None else x.shape[axis]
        options = {
            "nan_policy": str(rng.choice(["propagate", "omit"])),
            "index_dtype": str(rng.choice(["int64", "int16"])),
        }
        if rng.random() < 0.4:
            options["where"] = laid_out(rng, np.asarray(rng.random(x.shape) < 0.4))
        if "where" in options or rng.random() < 0.3:
            options["default"] = landmarks(dtype)[0]
        assert_same("top_k", x, int(rng.integers(min(n, 12) + 1)), axis, mode=mode, **options)


@pytest.fixture
def launches(monkeypatch):
    """The names of the kernels that have run."""
    names = []
    launch = launcher.Launch.__call__

    def noted(self, *tensors):
        names.append(self.kernel.fn.__name__)
        launch(self, *tensors)

    monkeypatch.setattr(launcher.Launch, "__call__", noted)
    return names


def test_every_way_to_the_k_best_is_taken(launches, monkeypatch):
    x = np.random.default_rng(0).permutation(40 * 2048).astype(np.float32)
    ways = {
        (50, 7): ["select"],
        # The best of groups, the best groups, and the best elements of them.
        (2000, 9): ["reduce", "select", "select"],
        # The groups of groups.
        (40 * 2048, 60): ["reduce", "reduce", "select", "select", "select"],
        # All are sorted, by a program or by PyTorch.
        (2000, 1200): ["select"],
        (9000, 300): ["keys"],
        # Or those of the best groups, and the best of all groups.
        (40 * 2048, 300): ["reduce", "keys", "keys"],
        (40 * 2048, 40000): ["keys"],
        (40 * 2048, 1): ["reduce", "finish"],
    }
    monkeypatch.setattr(plans, "SORTED_BY_PYTORCH", 20000)
    for (n, k), kernels in ways.items():
        launches.clear()
        assert_same("top_k", x[:n], k)
        assert launches == kernels, (n, k)


def test_groups_hold_zeros_of_both_signs_what_follows_them_and_few_elements():
    x = np.where(np.arange(2003) % 3 == 0, -0.0, 0.0).astype(np.float32)
    for mode in ("largest", "smallest"):
        # All are equal, in groups of 16 and within them.
        assert_same("top_k", x, 9, mode=mode)
        assert_same("argmax", x[:50])
    # The best elements are the last three, which are not a whole group.
    x[-3:] = 5, 7, 6
    assert_same("top_k", x, 9)
    # Few elements take part, in fewer groups than are wanted.
    assert_same("top_k", x, 9, where=np.arange(2003) % 700 == 1, default=-1)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_keys_of_64_bits_are_sorted_by_both_halves(dtype):
    rng = np.random.default_rng(4)
    upper, lower, last = rng.integers(0, 3, (3, 2, 30), dtype=np.uint64)
    # Equal upper halves, with lower ones on both sides of the sign, and equal elements.
    x = ((upper << np.uint64(62)) | (lower << np.uint64(31)) | last).view(dtype)
    for mode in ("largest", "smallest"):
        assert_same("top_k", x, 12, mode=mode)
        assert_same("top_k", x, 12, mode=mode, where=rng.random(x.shape) < 0.5, nan_policy="omit", default=0)


def test_both_ends_and_all_operands_take_one_launch(launches):
    x = np.random.default_rng(1).standard_normal((6, 50))
    assert_same("minmax", x, 1, return_index=True)
    assert launches == ["reduce"]
    launches.clear()
    assert_same("maximum", x, *[x[at] * at for at in range(6)], 0.5, where=x > 0)
    assert launches == ["extremum"]
    launches.clear()
    assert_same("hardmax", x)
    assert launches == ["reduce", "ones"]
    launches.clear()
    # More operands than a kernel takes, the mask with the last ones.
    assert_same("minimum", *[np.roll(x, at) for at in range(plans.MOST_OPERANDS + 3)], where=x > 0)
    assert launches == ["extremum"] * 2


def test_random_calls_with_all_options_at_once_agree():
    # `python tests/support/random_gpu.py` makes others.
    assert random_gpu.run(150, 59) > 100


def test_the_k_best_without_order_are_in_order():
    x = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
    assert gpu.top_k(x, 3, sorted=False).values.tolist() == [9, 6, 5]


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_hardmax_has_the_bits_of_the_cpu(dtype, limits):
    rng = np.random.default_rng(zlib.crc32(str(dtype).encode()))
    for shape in [(1,), (37,), (3, 5), (4, 3, 6), (2, 3, 2, 5), (3, 0), ()]:
        x = laid_out(rng, elements(rng, dtype, shape))
        options = {}
        if rng.random() < 0.4:
            options["where"] = laid_out(rng, np.asarray(rng.random(x.shape) < 0.4))
        if rng.random() < 0.4:
            options["nan_policy"] = "omit"
        assert_same("hardmax", x, some_axes(rng, x.ndim), **options)


@pytest.mark.parametrize("function", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_maximum_has_the_bits_of_the_cpu(dtype, function, limits):
    rng = np.random.default_rng(zlib.crc32(f"{dtype} {function}".encode()))
    for shape in [(1,), (37,), (3, 5), (4, 3, 6), (2, 3, 2, 5), (3, 0), ()]:
        others = [tuple(1 if rng.random() < 0.3 else size for size in shape)[rng.integers(2) :] for _ in range(2)]
        several = [laid_out(rng, elements(rng, dtype, each)) for each in (shape, *others)][: rng.integers(1, 4)]
        if rng.random() < 0.4:
            several.append(bool(rng.integers(2)) if dtype == np.bool_ else 1)
        options = {}
        if rng.random() < 0.4:
            options["where"] = laid_out(rng, np.asarray(rng.random(shape) < 0.4))
        policy = str(rng.choice(["propagate", "omit"]))
        # Where several operands are NaN, which of them is the answer is not promised.
        assert_same(function, *several, same=same_bits, nan_policy=policy, **options)


def test_maximum_of_two_types_is_of_numpys_common_type():
    rng = np.random.default_rng(8)
    names = ("bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64")
    for one in names:
        for other in names:
            x, y = (rng.integers(0, 2 if "bool" in (one, other) else 100, 5).astype(name) for name in (one, other))
            assert_same("maximum", x, y)


MISTAKES = [
    ("argmax", ((3, 4), 2), {}),
    ("argmax", ((3, 4), (0, 0)), {}),
    ("argmax", ((3, 4), "0"), {}),
    ("argmax", ((3, 0), 1), {}),
    ("argmax", ((3, 4), 1), {"nan_policy": "skip"}),
    ("argmax", ((3, 4), 1), {"keepdims": "yes"}),
    ("argmax", ((3, 4), 1), {"dtype": "float32"}),
    ("argmax", ((3, 400), 1), {"dtype": "int8"}),
    ("argmax", ((3, 4), 1), {"default": 1.5}),
    ("max", ((3, 4), 1), {"default": "x"}),
    ("max", ((3, 4), 1), {"nan_policy": "raise"}),
    ("max", ((3, 4), 1), {"nan_policy": "omit"}),
    ("argmax", ((3, 4), 1), {"where": np.zeros((3, 1), bool)}),
    ("argmax", ((3, 4), 1), {"where": np.zeros((2, 1), bool)}),
    ("argmax", ((3, 4), 1), {"where": np.zeros((3, 4), np.int8)}),
    ("top_k", ((3, 4), 5), {}),
    ("top_k", ((3, 4), 2.0), {}),
    ("top_k", ((3, 4), 2, (0, 1)), {}),
    ("top_k", ((3, 4), 2), {"mode": "most"}),
    ("top_k", ((3, 4), 2), {"nan_policy": "raise"}),
    ("top_k", ((3, 4), 2), {"where": np.zeros((3, 1), bool)}),
    ("maximum", ((3, 4), 70000), {"nan_policy": "raise"}),
    ("hardmax", ((3, 4), 1), {"nan_policy": "raise"}),
]


@pytest.mark.parametrize(
    ("function", "given", "options"),
    MISTAKES,
    ids=[f"{function} {given} {' '.join(options)}" for function, given, options in MISTAKES],
)
def test_mistakes_have_the_words_of_the_cpu(function, given, options):
    x = np.ones(given[0], np.float16)
    x[1:2] = np.nan
    expected = error_of(ExtremumError, getattr(ex, function), x, *given[1:], **options)
    actual = error_of(ExtremumError, getattr(gpu, function), tensor_of(x), *given[1:], **options)
    assert type(actual) is type(expected)
    assert str(actual) == str(expected)


def test_what_is_not_for_a_gpu_is_refused(monkeypatch):
    x = torch.ones(3)
    assert "results on a GPU are new arrays; help: omit out" in explained(gpu.max, x, out=np.ones(()))
    assert "requires its gradient" in explained(gpu.max, torch.ones(3, requires_grad=True))
    assert "have no order here" in explained(gpu.max, torch.ones(3, dtype=torch.complex64))
    assert "the kernels run on the CPU alone under TRITON_INTERPRET=1" in explained(
        gpu.max, torch.ones(3, device="meta")
    )
    assert "list is not an array on a GPU" in explained(gpu.maximum, x, [1, 2, 3])
    monkeypatch.setattr(launcher, "INTERPRETED", False)
    # Whoever calls `extremum.maximum` with arrays in both places comes here too.
    assert "help: copy it to the GPU, or call extremum.max without arrays on a GPU" in explained(gpu.max, x)
    assert "help: copy it to the GPU, or call extremum.max without" in explained(gpu.max, [1, 2])
    for given in ((gpu.max, [1, 2]), (gpu.hardmax, [1, 2]), (gpu.top_k, [1, 2], 1), (gpu.minimum, x, [1, 2])):
        text = "the elements are on the CPU" if x is given[1] else "list is not an array on a GPU"
        assert text in explained(*given)
    # A number is not an array, nor are several.
    for given in ((gpu.argmin, 5), (gpu.hardmax, 5), (gpu.top_k, 5, 1), (gpu.maximum, 5), (gpu.maximum, 5, 6)):
        assert "int is not an array on a GPU" in explained(*given)
    assert explained(gpu.maximum) == explained(ex.maximum)
    assert "the kernels run on GPUs of NVIDIA and AMD" in explained(gpu.max, torch.ones(3, device="meta"))


def test_nothing_waits_for_the_device_while_a_graph_is_captured(monkeypatch):
    monkeypatch.setattr(launcher, "INTERPRETED", False)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    text = "a CUDA graph is being captured, and it has to see elements before it answers"
    with pytest.raises(ex.errors.ArgumentError, match=text):
        engine.Device(()).first(torch.tensor([False]))


def test_a_mask_on_the_cpu_is_refused_while_a_graph_is_captured(monkeypatch):
    monkeypatch.setattr(launcher, "is_capturing", lambda: True)
    text = "max: a CUDA graph is being captured, and where is on the CPU; help: move the mask"
    assert text in explained(gpu.max, tensor_of(X), where=[True, False, True], default=0)


def within_vmap(call):
    return torch.vmap(call)(torch.ones((2, 3)))


def functionalized(call):
    return torch.func.functionalize(call)(torch.ones(3))


@pytest.mark.parametrize("transform", [within_vmap, functionalized])
@pytest.mark.parametrize("where", [False, True], ids=["elements", "mask"])
def test_a_tensor_without_memory_of_its_own_is_refused(transform, where):
    x = torch.ones(3)

    def call(each):
        return gpu.max(x, where=each > 0) if where else gpu.max(each)

    # The answer for a plain tensor of this layout is known.
    gpu.max(x)
    text = explained(transform, call)
    assert text.startswith("ArgumentTypeError: a tensor without elements of its own, as within torch.vmap")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_masks_that_are_no_plain_tensors_are_refused():
    x = torch.ones((2, 3))
    assert "laid out as torch.sparse_coo; help: pass x.to_dense()" in explained(gpu.max, x, where=(x > 0).to_sparse())
    nested = torch.nested.nested_tensor([torch.ones(2) > 0, torch.ones(3) > 0])
    assert "a nested tensor has rows of different lengths" in explained(gpu.max, x, where=nested)


@pytest.fixture
def on_cuda(monkeypatch):
    """A tensor that says that it is on a GPU; the functions of the package find their way by that."""
    x = tensor_of(X)
    monkeypatch.setattr(interop, "device_of", lambda value: "CUDA:0" if value is x else None)
    return x


X = np.array([[3.0, 9.0, 9.0], [7.0, 2.0, 7.0]], np.float32)
CALLS = {
    "argmax": (1,),
    "argmin": (None,),
    "max": (0,),
    "min": (1,),
    "minmax": (1,),
    "hardmax": (),
    "maximum": (4.0,),
    "minimum": (4.0,),
    "top_k": (2,),
}


@pytest.mark.parametrize("function", CALLS)
def test_the_packages_functions_take_arrays_on_a_gpu(function, on_cuda):
    expected = getattr(ex, function)(X, *CALLS[function])
    actual = getattr(ex, function)(on_cuda, *CALLS[function])
    if not isinstance(expected, tuple):
        actual, expected = (actual,), (expected,)
    for own, other in zip(actual, expected, strict=True):
        assert isinstance(own, torch.Tensor)
        assert exactly(array_of(own), np.asarray(other))


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize("library", ["jax", "array_api_strict"])
def test_arrays_of_other_libraries_come_and_go_through_dlpack(library, function):
    module = pytest.importorskip("jax.numpy" if library == "jax" else library)
    x = module.asarray(X)
    expected = getattr(ex, function)(x, *CALLS[function])
    actual = getattr(gpu, function)(x, *CALLS[function])
    if not isinstance(expected, tuple):
        actual, expected = (actual,), (expected,)
    for own, other in zip(actual, expected, strict=True):
        assert type(own) is type(x)
        assert own.dtype == other.dtype
        assert np.array_equal(np.from_dlpack(own), np.from_dlpack(other))


def test_a_library_without_a_namespace_of_its_arrays(monkeypatch):
    class Array:
        """As CuPy's: its module has `from_dlpack`, and the array names no namespace."""

        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.tensor.__dlpack__(**options)

    Array.__module__ = "cupy._core.core"
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(from_dlpack=Array))
    values, indices = gpu.top_k(Array(tensor_of(X)), 1)
    assert type(values) is type(indices) is Array
    assert indices.tensor.tolist() == [[1], [0]]


def test_arrays_with_negative_strides_are_copied_by_their_library(monkeypatch):
    class Array(np.ndarray):
        """As CuPy's, whose strides may be negative; PyTorch refuses such arrays, and 2.11 aborts the process."""

    Array.__module__ = "cupy._core.core"
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(from_dlpack=np.from_dlpack))
    x = np.arange(12.0).reshape(3, 4)[::-1, ::-1].view(Array)
    assert np.asarray(gpu.argmax(x, 1)).tolist() == [0, 0, 0]
    assert np.asarray(gpu.max(x, 0)).tolist() == [11, 10, 9, 8]


def test_what_dlpack_does_not_give_is_named(monkeypatch):
    class OnOther:
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **options):
            raise BufferError("no such device")

    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=0))
    text = explained(gpu.argmax, OnOther())
    assert "the elements are on the device CUDA:0, and PyTorch cannot read them there: no such device" in text
    assert "help: install PyTorch with support of this device, or copy the array to the CPU first" in text


def test_a_missing_library_is_named():
    code = "import sys; sys.modules['triton'] = None; import extremum.gpu"
    error = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert "extremum.gpu needs triton\n  help  pip install 'extremum[gpu]'" in error


def test_the_version_names_the_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"card {number}")
    assert json.loads(printed("--version", "--json"))["gpus"] == ["card 0", "card 1"]


COMPILED = {
    "argmax": lambda x: gpu.argmax(x + 1, 1),
    "an index type": lambda x: gpu.argmin(x, 0, dtype="int32", keepdims=True),
    "an index type of NumPy": lambda x: gpu.top_k(x, 2, index_dtype=np.int32)[1] + gpu.argmax(x, dtype=np.dtype("u1")),
    "omit": lambda x: gpu.argmin(x, 0, nan_policy="omit", default=-1),
    "a mask": lambda x: gpu.max(x, (0, 1), where=x > 0, default=0.5),
    "values and indices": lambda x: gpu.max(x, 1, return_index=True)[0] + 1,
    "both ends": lambda x: gpu.minmax(x),
    "hardmax": lambda x: gpu.hardmax(x) * 2,
    "maximum": lambda x: gpu.maximum(x, x.flip(0) * 2, 0.5),
    "top_k": lambda x: gpu.top_k(x, 3)[1] + 1,
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["one shape", "any shape"])
@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.filterwarnings("ignore")
def test_torch_compile_sees_one_graph(name, dynamic):
    function = COMPILED[name]
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    for shape in ((5, 7), (6, 9)):
        x = torch.from_numpy(np.random.default_rng(3).standard_normal(shape))
        actual, expected = compiled(x), function(x)
        if not isinstance(expected, tuple):
            actual, expected = (actual,), (expected,)
        for own, other in zip(actual, expected, strict=True):
            assert torch.equal(own, other)


M = [[1.0, 5.0, 5.0], [7.0, -2.0, 7.0]]
OPERATORS = {
    "values": ("reduce", lambda x: ([x, None], [1], [True], 1, False, False, True, torch.int64)),
    "both ends, masked": ("reduce", lambda x: ([x, x > 2], [0, 1], [False, True], 0, True, True, False, torch.int32)),
    "k best": ("select", lambda x: ([x, x > 2], 2, 1, True, 1)),
    "k best of columns": ("select", lambda x: ([x, None], 2, 0, True, 1)),
    "ones": ("ones", lambda x: ([x.t(), torch.ones((1, 2), dtype=torch.int64)], [0])),
    "best of operands": ("extremum", lambda x: ([x.t(), x.t(), None], True, 1)),
    "keys": ("keys", lambda x: ([x], True, 1)),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.filterwarnings("ignore")
def test_pytorchs_own_check_of_operators_passes(name):
    operator, given = OPERATORS[name]
    checks = torch.library.opcheck(getattr(torch.ops.extremum, operator).default, given(torch.tensor(M)))
    assert set(checks.values()) == {"SUCCESS"}


@pytest.mark.filterwarnings("ignore")
def test_what_has_to_see_elements_breaks_the_graph():
    compiled = torch.compile(lambda x: gpu.max(x, 0, nan_policy="raise") + 1, backend="aot_eager")
    assert compiled(torch.tensor([1.0, 2.0])) == 3
    assert "the array holds NaN" in explained(compiled, torch.tensor([1.0, torch.nan]))
    masked = torch.compile(lambda x: gpu.min(x, where=x > 1), backend="aot_eager")
    assert masked(torch.tensor([1.0, 2.0])) == 2
    assert "has no element to choose from" in explained(masked, torch.tensor([1.0, 1.0]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", CALLS)
def test_gradients_are_refused_in_a_graph_too(function):
    own = getattr(gpu, function)
    x = torch.ones((2, 3), requires_grad=True)
    text = "a tensor that requires its gradient"
    compiled = torch.compile(lambda x: own(x * 2, *CALLS[function]), backend="aot_eager")
    assert text in explained(own, x, *CALLS[function])
    assert text in explained(compiled, x)
    with torch.no_grad():
        # Nothing is recorded, as on the CPU.
        for result in (own(x, *CALLS[function]), compiled(x)):
            assert not any(each.requires_grad for each in (result if isinstance(result, tuple) else (result,)))


def test_arrays_of_two_devices_are_refused():
    x = torch.ones(3)
    text = "max: where is on the device meta, and the array on cpu; help: move the mask to the device of the array"
    assert text in explained(gpu.max, x, where=torch.ones(3, dtype=torch.bool, device="meta"))


def test_operands_on_two_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(launcher, "INTERPRETED", False)
    with FakeTensorMode():
        operands = [torch.empty(3, device=f"cuda:{number}") for number in range(2)]
        text = "the operands are on the devices cuda:0 and cuda:1; help: move them to one device first"
        assert text in explained(gpu.maximum, *operands)


class Operations(TorchDispatchMode if INTERPRETED else object):
    """Notes the operations of PyTorch in a ``with`` block, and the elements that are allocated."""

    def __init__(self):
        super().__init__()
        self.names, self.allocated = [], []

    def __torch_dispatch__(self, function, types, given=(), options=None):
        result = function(*given, **options or {})
        name = function.name().partition("::")[2].partition(".")[0]
        self.names.append(name)
        if name in ("empty", "empty_strided"):
            self.allocated.append(result.numel())
        return result


# Views of memory that is there.
VIEWS = {"view", "detach", "permute", "expand", "_unsafe_view", "_reshape_alias", "select", "alias", "slice", "unbind"}


@pytest.mark.parametrize(
    ("call", "allocated"),
    [
        # Results alone.
        (lambda x: gpu.argmax(x, 1), [40]),
        (lambda x: gpu.max(x[:9], 0, return_index=True), [3000, 3000]),
        (lambda x: gpu.minmax(x, 1), [80, 80]),
        # Keys and places of 79 parts, in bytes.
        (lambda x: gpu.argmin(x), [1, 320 + 640]),
        (lambda x: gpu.maximum(x, x[:1]), [120000]),
        (lambda x: gpu.hardmax(x), [40, 120000]),
        # An index of -1 is there without a default.
        (lambda x: gpu.hardmax(x, nan_policy="omit"), [40, 120000]),
        (lambda x: gpu.argmin(x, 1, nan_policy="omit", default=-1), [40]),
        (lambda x: gpu.top_k(x[:, :500], 8), [320, 320]),
        # The best of 93 groups of each row, and the numbers of the 8 best groups.
        (lambda x: gpu.top_k(x, 8), [320, 320, 4 * 3720 + 2 * 3720 + 8 * 320]),
    ],
)
def test_a_call_allocates_results_and_scratch_and_waits_for_nothing(call, allocated, monkeypatch):
    monkeypatch.setattr(launcher.Launch, "__call__", lambda *given: None)
    monkeypatch.setattr(reductions, "processors_of", lambda device: 132)
    random_gpu.forget()
    x = torch.zeros((40, 3000))
    call(x)
    with Operations() as operations:
        call(x)
    assert operations.allocated == allocated
    # Nothing is copied, and nothing reads an element.
    assert set(operations.names) <= {"empty", "empty_strided"} | VIEWS
    random_gpu.forget()


def test_nothing_looks_at_elements_that_torch_compile_traces():
    with FakeTensorMode():
        slices = torch.zeros(2, dtype=torch.bool)
    text = "torch.compile traces this call, and it has to see elements before it answers"
    assert text in explained(engine.Device(()).first, slices)


def test_a_pending_negation_is_resolved():
    x = torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, -5.0]])).conj().imag
    assert x.is_neg()
    assert gpu.max(x, return_index=True) == (5.0, 1)


KNOWN = {
    "argmax": [{}, {"axis": 1}, {"axis": 1, "select_last_index": True}, {"axis": 1, "dtype": np.uint8}],
    "argmin": [{"axis": 1, "where": MASK, "default": -5}, {"nan_policy": "omit", "default": 7, "keepdims": True}],
    "max": [
        *({"axis": 0}, {"axis": 0, "keepdims": True}, {"axis": 0, "return_index": True}),
        *({"where": MASK, "default": 0.5}, {"axis": 1, "where": MASK, "default": -0.0, "return_index": True}),
    ],
    "minmax": [
        *({"axis": 1}, {"axis": 1, "return_index": True, "index_dtype": "int32"}),
        {"axis": 1, "where": MASK, "default": 2, "return_index": True},
    ],
    "hardmax": [{}, {"axis": 0, "nan_policy": "omit"}, {"where": MASK}],
    "maximum": [{"others": [3]}, {"others": [-0.0, MASK]}, {"others": [2.5], "where": MASK}],
    "top_k": [
        *({"k": 1}, {"k": 2}, {"k": 2, "axis": 0, "mode": "smallest"}, {"k": 3, "axis": None}),
        *({"k": 2, "where": MASK, "default": 4}, {"k": 2, "nan_policy": "omit", "default": 4, "index_dtype": "int16"}),
    ],
}


def given_of(x, options):
    """The arrays and the options of a call; a mask in the place of MASK."""
    mask = x > 0
    options = {name: mask if each is MASK else each for name, each in options.items()}
    others = [mask.clone() if each is MASK else each for each in options.pop("others", [])]
    return (x, *others), options


@pytest.mark.parametrize("function", KNOWN)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[:, ::2], lambda x: x.T], ids=["whole", "part", "turned"])
def test_a_call_that_is_known_decides_nothing(function, view, monkeypatch):
    own = getattr(gpu, function)
    x = torch.tensor([[-2.0, torch.nan, -0.0, 0.0], [7, 2, 7, 3], [-1, -1, torch.nan, -4]])
    for options in KNOWN[function]:
        random_gpu.forget()
        given, named = given_of(view(x.flip(1)), options)
        own(*given, **named)
        given, named = given_of(view(x.clone()), options)
        with monkeypatch.context() as patch:
            patch.setattr(calls, "_decided", None)
            actual = own(*given, **named)
        random_gpu.forget()
        expected = own(*given, **named)
        assert type(actual) is type(expected)
        if not isinstance(expected, tuple):
            actual, expected = (actual,), (expected,)
        for one, other in zip(actual, expected, strict=True):
            assert one.dtype == other.dtype
            assert exactly(array_of(one), array_of(other))


def test_calls_that_differ_a_little_are_not_taken_for_each_other():
    x = torch.tensor([[3, 9, 9], [7, 2, 7]])
    gpu.argmax(x, 1)
    gpu.top_k(x, 1)
    # True is equal to 1, and no axis.
    assert "axis True is not an integer" in explained(gpu.argmax, x, True)
    assert "k is True, not an integer" in explained(gpu.top_k, x, True)
    # Zeros are equal, and NaN is not equal to itself.
    y = torch.tensor([-1.0, -2.0])
    nothing = y > 0
    for number in (0.0, -0.0, torch.nan, 0.0, -0.0, torch.nan, 1.0, 1, True):
        for result in (gpu.max(y, where=nothing, default=number), gpu.maximum(y, number)[0]):
            assert exactly(array_of(result), np.float32(number))
    # A mask is not an operand, and one array that comes twice is not two.
    one, other = torch.tensor([True, False, False]), torch.tensor([False, False, True])
    assert gpu.maximum(one, one).tolist() == [True, False, False]
    assert gpu.maximum(one, other).tolist() == [True, False, True]
    assert gpu.maximum(one, where=other).tolist() == [True, False, False]
    assert gpu.argmax(one, where=one) == 0
    assert gpu.argmax(one, where=other) == 2


@pytest.mark.parametrize("function", ["max", "maximum", "top_k"])
def test_what_is_known_of_a_call_holds_none_of_its_elements(function):
    random_gpu.forget()
    given, options = given_of(torch.tensor([[-2.0, 7.0, 3.0]]), KNOWN[function][-1])
    results = getattr(gpu, function)(*given, **options)
    assert len(calls._KNOWN) == 1
    tensors = [*given, *options.values(), *(results if isinstance(results, tuple) else (results,))]
    alive = [weakref.ref(each) for each in tensors if isinstance(each, torch.Tensor)]
    del given, options, results, tensors
    assert [each() for each in alive] == [None] * len(alive)


def test_a_call_that_has_seen_elements_sees_those_of_the_next_call():
    x = torch.tensor([1.0, 2.0])
    for _ in range(2):
        assert gpu.max(x, nan_policy="raise") == 2
        assert gpu.min(x, where=x > 1) == 2
        assert gpu.top_k(x, 1, where=x > 1).indices.tolist() == [1]
    y = torch.tensor([torch.nan, 0.0])
    assert "the array holds NaN" in explained(gpu.max, y, nan_policy="raise")
    assert "has no element to choose from" in explained(gpu.min, y, where=y > 1)
    assert "has fewer than 1 elements" in explained(gpu.top_k, y, 1, where=y > 1)


CARD = SimpleNamespace(index=3)


class Kernel:
    """A kernel, and what it was compiled for: calls are noted."""

    def __init__(self):
        self.calls = []

    def __getitem__(self, grid):
        return lambda *arguments, num_warps: self.calls.append(("compiles", num_warps)) or Compiled(self)


class Compiled:
    function = packed_metadata = None

    def __init__(self, kernel):
        self.kernel = kernel

    def run(self, *arguments):
        self.kernel.calls.append(arguments)


@pytest.fixture
def on_card(monkeypatch):
    """A launcher that thinks that it is on a card, the current one."""
    monkeypatch.setattr(launcher, "INTERPRETED", False)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    active = SimpleNamespace(get_current_stream=lambda device: ("stream", device))
    monkeypatch.setattr(launcher, "driver", SimpleNamespace(active=active))


def test_a_kernel_is_looked_up_once_for_the_memory_that_it_is_given(on_card):
    kernel = Kernel()
    elements = torch.zeros(1000)
    launch = launcher.Launch(kernel, CARD, (3, 1, 1), (32, (1, 2)), ("float", True), 8, several=slice(2, 4))
    for start in (0, 4, 1, 5):
        launch(elements[start:], None, elements, elements[8:])
    compiles, again, other, _ = kernel.calls
    assert compiles == other == ("compiles", 8)
    # 4 elements further, memory is aligned as before. The launcher takes addresses.
    here = elements.data_ptr()
    assert again == (
        *(3, 1, 1, ("stream", 3), None, None, None, None, None),
        *(here + 16, None, (here, here + 32), 32, (1, 2), "float", True),
    )


def test_a_scratch_is_one_allocation():
    parts = [(79, torch.float32), (79, torch.int64), (5, torch.int16)]
    scratch = launcher.Scratch(torch.device("cpu"), *parts).allocate()
    here = scratch[0].memory.data_ptr()
    assert [each.data_ptr() - here for each in scratch] == [0, 320, 960]
    for each, (count, dtype) in zip(scratch, parts, strict=True):
        tensor = each.tensor()
        assert each.memory is scratch[0].memory
        assert (tensor.data_ptr(), tensor.numel(), tensor.dtype) == (each.data_ptr(), count, each.dtype)
        # Kernels see integers.
        assert each.dtype == memory.BITS[dtype.itemsize]


@pytest.mark.parametrize("vendor", ["nvidia", "amd"])
def test_tritons_compiler_takes_a_part_of_a_scratch_for_a_tensor(vendor):
    backend = importlib.import_module(f"triton.backends.{vendor}.compiler")
    backend = backend.CUDABackend if vendor == "nvidia" else backend.HIPBackend
    (part,) = launcher.Scratch(torch.device("cpu"), (79, torch.float32)).allocate()
    ways = [native_specialize_impl(backend, each, False, True, True) for each in (part, part.tensor())]
    assert ways[0] == ways[1]
    assert ways[0][0] == "*i32"


def test_a_kernel_runs_on_its_device(on_card, monkeypatch):
    devices = []
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "device", lambda device: devices.append(device) or contextlib.nullcontext())
    launcher.Launch(Kernel(), CARD, (1, 1, 1), (), ())(torch.zeros(3))
    assert devices == [3]


def test_the_benchmark_checks_every_call_and_prints_its_tables(monkeypatch):
    import benchmarks.gpu as suite

    monkeypatch.setattr(suite, "_TYPES", ("uint8", "bfloat16"))
    monkeypatch.setattr(suite, "_CALLS", 1)
    monkeypatch.setattr(suite, "_READINGS", 1)
    answer = CliRunner().invoke(suite.gpu, ["--small", "--seconds", "600"])
    assert answer.exit_code == 0, answer.output
    assert "220 calls have the bits of the CPU." in answer.output
    assert "A whole call of (40,) axis 0 float32 takes" in answer.output
    for function in ("argmax", "top_k"):
        assert f"| {function}, us in a graph (whole call) | extremum | torch |" in answer.output
    assert answer.output.count("Geometric mean") == 2


def test_the_benchmark_stops_at_a_wrong_answer(monkeypatch):
    import benchmarks.gpu as suite

    monkeypatch.setattr(suite, "_TYPES", ("int8",))
    monkeypatch.setattr(gpu, "max", gpu.min)
    answer = CliRunner().invoke(suite.gpu, ["--small", "--check-only"])
    assert answer.exit_code == 1
    assert "wrong: max of int8" in answer.output
    answer = CliRunner().invoke(suite.gpu, ["--small", "--check-only", "--seconds", "0"])
    assert "0 of 110 calls have the bits of the CPU." in answer.output
    assert CliRunner().invoke(suite.gpu, []).output.startswith("Error: there is no GPU")
