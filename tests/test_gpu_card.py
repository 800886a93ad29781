"""What only a card shows: graphs of CUDA, streams, compiled code, arrays of other libraries there, long arrays."""

import functools

import numpy as np
import pytest

import extremum as ex

pytest.importorskip("torch", reason="PyTorch is large: .ci/leg gpu installs it")
pytest.importorskip("triton", reason="PyTorch is large: .ci/leg gpu installs it")

import torch

if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

import random_gpu
from extremum import gpu
from random_gpu import array_of, exactly
from refusal import explained

CALLS = {
    "argmax of rows": lambda x: gpu.argmax(x, 1),
    "argmax of columns": lambda x: gpu.argmax(x, 0),
    "argmax of parts": lambda x: gpu.argmax(x),
    "argmin, the last": lambda x: gpu.argmin(x, 1, select_last_index=True, keepdims=True),
    "max": lambda x: gpu.max(x, 1),
    "max with a mask": lambda x: gpu.max(x, 1, where=x > 0, default=-1, return_index=True),
    "top_k with a mask": lambda x: gpu.top_k(x, 9, where=x > 0, default=-0.5),
    "min without NaN": lambda x: gpu.min(x, 0, nan_policy="omit", default=0),
    "minmax": lambda x: gpu.minmax(x, 1, return_index=True),
    "hardmax": lambda x: gpu.hardmax(x),
    "maximum": lambda x: gpu.maximum(x, x.flip(0), 0.5),
    "k of short rows": lambda x: gpu.top_k(x[:, :60], 5),
    "k of long rows": lambda x: gpu.top_k(x, 50),
    "k smallest of columns": lambda x: gpu.top_k(x, 3, 0, mode="smallest"),
    "large k": lambda x: gpu.top_k(x, 1500),
}


def drawn(seed=0):
    x = np.random.default_rng(seed).integers(-900, 900, (40, 3000)).astype(np.float32)
    x[x == 7] = -0.0
    return torch.from_numpy(x).to("cuda")


def several(results):
    return results if isinstance(results, tuple) else (results,)


def assert_same(actual, expected):
    for own, other in zip(several(actual), several(expected), strict=True):
        assert own.device.type == "cuda"
        assert exactly(array_of(own), array_of(other))


@pytest.mark.parametrize("name", CALLS)
def test_a_graph_of_cuda_replays_a_call_on_new_elements(name):
    call = CALLS[name]
    x = drawn()
    call(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = call(x)
    for seed in (1, 2):
        x.copy_(drawn(seed))
        graph.replay()
        assert_same(results, call(drawn(seed)))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_torch_compile_makes_one_graph_of_a_call(name):
    torch.compiler.reset()
    compiled = torch.compile(CALLS[name], fullgraph=True)
    assert_same(compiled(drawn()), CALLS[name](drawn()))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_runs_on_the_current_stream(name):
    call = CALLS[name]
    expected = call(drawn(3))
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        x = torch.zeros((40, 3000), device="cuda")
        # The call has to come after this.
        torch.cuda._sleep(50_000_000)
        x.copy_(drawn(3))
        results = call(x)
    stream.synchronize()
    assert_same(results, expected)


def test_what_has_to_see_elements_is_refused_while_a_graph_is_captured():
    x = drawn()
    text = "a CUDA graph is being captured, and it has to see elements before it answers"
    calls = [
        functools.partial(ex.max, x, 1, nan_policy="raise"),
        functools.partial(ex.max, x, 1, where=x > 0),
        functools.partial(ex.argmax, x, 1, nan_policy="omit"),
        functools.partial(ex.top_k, x, 5, nan_policy="raise"),
        functools.partial(ex.maximum, x, x, nan_policy="raise"),
    ]
    for call in calls:
        call()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.zeros(1, device="cuda")
            assert text in explained(call)


def test_a_mask_on_the_cpu_is_refused_while_a_graph_is_captured():
    x = drawn()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.zeros(1, device="cuda")
        text = "a CUDA graph is being captured, and where is on the CPU; help: move the mask to the device of the array"
        assert text in explained(ex.max, x, 1, where=np.ones(3000, bool), default=0)


def arrays_of(library):
    """The module of a library with arrays on the card, and their class."""
    module = pytest.importorskip("cupy" if library == "cupy" else "jax.numpy", reason=f"{library} is not installed")
    x = module.asarray([1.0])
    if "cpu" in str(x.device).lower():
        pytest.skip(f"{library} has no GPU")
    return module, type(x)


@pytest.mark.parametrize("library", ["cupy", "jax"])
def test_arrays_of_other_libraries_stay_on_the_card(library):
    module, kind = arrays_of(library)
    host = drawn().cpu().numpy()
    x = module.asarray(host)
    calls = {
        "argmax": (x, 1),
        "argmin": (x, None),
        "max": (x, 0),
        "min": (x, (0, 1)),
        "minmax": (x, 1),
        "hardmax": (x,),
        "maximum": (x, 4.0),
        "minimum": (x, x),
        "top_k": (x, 50),
    }
    for function, given in calls.items():
        expected = several(getattr(ex, function)(*[host if each is x else each for each in given]))
        for own, other in zip(several(getattr(ex, function)(*given)), expected, strict=True):
            assert type(own) is kind
            assert np.array_equal(np.asarray(own.get() if library == "cupy" else own), other)


@pytest.mark.parametrize("dtype", ["uint8", "float16"])
def test_an_array_may_have_more_elements_than_31_bits_count(dtype):
    n = (1 << 31) + 5000
    x = torch.zeros(n, dtype=getattr(torch, dtype), device="cuda")
    x[[(1 << 31) + 77, n - 3]] = 9
    assert gpu.argmax(x).item() == (1 << 31) + 77
    assert gpu.max(x, select_last_index=True, return_index=True) == (9, n - 3)
    assert gpu.top_k(x, 3).indices.tolist() == [(1 << 31) + 77, n - 3, 0]
    columns = x[: (n // 4) * 4].view(-1, 4)
    row, column = divmod((1 << 31) + 77, 4)
    assert gpu.argmax(columns, 0)[column].item() == row
    ones = gpu.hardmax(x, None)
    assert ones[(1 << 31) + 77].item() == 1
    assert int(torch.count_nonzero(ones)) == 1
    assert gpu.maximum(x, 3)[-3:].tolist() == [9, 3, 3]


def test_random_calls_agree():
    # `python tests/support/random_gpu.py` makes others.
    assert random_gpu.run(40, 4059) > 20


def test_the_packages_functions_find_the_card():
    x = drawn()
    assert ex.argmax(x, 1).device == x.device
    assert_same(ex.top_k(x, 5), gpu.top_k(x, 5))
