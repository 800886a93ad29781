"""Memory of large results is kept for later results: bounded, separate, given back on request."""

import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import extremum as ex
import watched

MIB = 1 << 20
_multiarray = import_module("numpy._core.multiarray" if np.__version__ >= "2" else "numpy.core.multiarray")


@pytest.fixture(autouse=True)
def _limit():
    before = ex.get_kept_memory()
    yield
    ex.set_kept_memory(before)


def handler(array):
    return str(_multiarray.get_handler_name(array))


def result(mebibytes, value=1.0):
    x = np.full(int(mebibytes * MIB) // 4, value, np.float32)
    return ex.maximum(x, x)


def test_a_result_comes_where_the_last_one_was():
    ex.set_kept_memory(0)
    ex.set_kept_memory(64 * MIB)
    x = np.ones(8 * MIB // 4, np.float32)
    first = ex.maximum(x, x)
    place = first.ctypes.data
    del first
    assert ex.maximum(x, x).ctypes.data == place
    assert ex.minimum(x[:-1000], 2.0).ctypes.data == place
    assert ex.hardmax(x.reshape(-1, 1024)).ctypes.data == place
    # A slightly smaller result takes the kept memory; a result of half the size does not.
    assert ex.maximum(x[: x.size // 2], 0.0).ctypes.data != place


@pytest.mark.parametrize(("mebibytes", "owner"), [(3.99, "default_allocator"), (4, "extremum"), (16, "extremum")])
def test_only_large_results_have_memory_that_is_kept(mebibytes, owner):
    array = result(mebibytes)
    assert handler(array) == owner
    assert array.flags.owndata
    assert array.flags.writeable
    assert array.base is None


def test_threads_never_get_the_same_memory():
    def work(number):
        return all(bool((result(4 + number % 3, number + turn / 64) == number + turn / 64).all()) for turn in range(12))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(1, 17)))


@pytest.mark.parametrize("elements", [100, MIB, 2 * MIB, 2 * MIB + 3, 20 * MIB])
def test_an_array_may_be_resized(elements):
    x = np.arange(2 * MIB, dtype=np.float32)
    array = ex.maximum(x, x)
    array.resize(elements, refcheck=False)
    kept = min(elements, 2 * MIB)
    np.testing.assert_array_equal(array[:kept], np.arange(kept, dtype=np.float32))
    assert not array[kept:].any()


def held():
    """The memory of this process in MiB."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4096 >> 20


def keep_no_more_than_the_limit():
    x = np.ones(32 << 18, np.float32)
    ex.maximum(x[:10], 0.0)
    before = held()
    results = [ex.maximum(x, 0.0) for _ in range(10)]
    assert held() - before > 300
    del results
    assert 90 < held() - before < 140
    ex.set_kept_memory(40 << 20)
    assert 25 < held() - before < 45
    ex.set_kept_memory(0)
    assert held() - before < 10


def fork_while_memory_is_kept():
    ex.set_num_threads(1)
    x = np.ones(2 << 20, np.float32)
    over = threading.Event()

    def work():
        while not over.is_set():
            ex.maximum(x, 0.0)

    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            pool.submit(work)
        for _ in range(20):
            child = os.fork()
            if child == 0:
                ex.set_kept_memory(1 << 26)
                os._exit(0 if all((ex.maximum(x, float(n)) == max(n, 1)).all() for n in range(4)) else 1)
            assert os.waitpid(child, 0)[1] == 0
        over.set()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux says what memory a process has")
@pytest.mark.parametrize(
    "case", [keep_no_more_than_the_limit, fork_while_memory_is_kept], ids=lambda case: case.__name__
)
def test_in_a_process_of_its_own(case):
    watched.call(case)


def test_a_negative_number_of_bytes_is_refused():
    before = ex.get_kept_memory()
    with pytest.raises(ex.errors.ArgumentError, match="set_kept_memory: -1 is not a number of bytes"):
        ex.set_kept_memory(-1)
    assert ex.get_kept_memory() == before


class _Allocator(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")),
    )


def test_an_allocator_of_the_user_is_asked():
    c = ctypes.CDLL(None) if sys.platform != "win32" else ctypes.cdll.msvcrt
    pointer = ctypes.c_void_p
    size = ctypes.c_size_t
    c.malloc.restype = c.calloc.restype = c.realloc.restype = pointer
    c.malloc.argtypes = (size,)
    c.calloc.argtypes = (size, size)
    c.realloc.argtypes = (pointer, size)
    c.free.argtypes = (pointer,)
    sizes = []

    def malloc(_, bytes_):
        sizes.append(bytes_)
        return int(c.malloc(bytes_))

    calls = (
        ctypes.CFUNCTYPE(pointer, pointer, size)(malloc),
        ctypes.CFUNCTYPE(pointer, pointer, size, size)(lambda _, count, each: c.calloc(count, each)),
        ctypes.CFUNCTYPE(pointer, pointer, pointer, size)(lambda _, memory, bytes_: c.realloc(memory, bytes_)),
        ctypes.CFUNCTYPE(None, pointer, pointer, size)(lambda _, memory, bytes_: c.free(memory)),
    )
    addresses = [ctypes.cast(call, pointer).value for call in calls]
    allocator = _Allocator(b"of_the_user", 1, None, *addresses)
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = pointer
    api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = (pointer, ctypes.c_char_p, pointer)
    table = ctypes.cast(api.PyCapsule_GetPointer(_multiarray._ARRAY_API, None), ctypes.POINTER(pointer))
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
    x = np.ones(8 * MIB // 4, np.float32)
    before = set_handler(api.PyCapsule_New(ctypes.addressof(allocator), b"mem_handler", None))
    try:
        array = ex.maximum(x, x)
        assert handler(array) == "of_the_user"
        assert handler(np.empty(3)) == "of_the_user"
        assert sizes[0] == x.nbytes
        del array
    finally:
        set_handler(before)
    assert handler(ex.maximum(x, x)) == "extremum"
