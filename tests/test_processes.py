"""Threads and processes together: settings that change during calls, forks, pools, exits and interrupts."""

import contextlib
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import extremum
import watched
from extremum import _native

X = np.random.default_rng(3).integers(0, 99, (300, 700)).astype(np.float32)
CALLS = (
    lambda: extremum.argmax(X),
    lambda: extremum.argmax(X, 1),
    lambda: extremum.argmin(X, 0, select_last_index=True),
    lambda: extremum.maximum(X, X[::-1], 50.0),
    lambda: extremum.minimum(X, X[:1]),
    lambda: extremum.hardmax(X),
    lambda: extremum.hardmax(X.T, (0, 1)),
    lambda: extremum.argmax(X[:2, :4], 1),
)


def rounds_up_to(few):
    """A few rounds, and 200 in the exhaustive leg, which meets what hangs once in a hundred times."""
    return pytest.mark.parametrize("rounds", [few, pytest.param(200, marks=pytest.mark.exhaustive)])


def digests():
    return [np.asarray(call()).tobytes() for call in CALLS]


def many_threads(threads):
    """Change every setting as fast as possible while all functions run."""
    _native.set_bytes_per_thread(1 << 14)
    expected = digests()
    stop = threading.Event()

    def settings():
        turn = 0
        while not stop.is_set():
            turn += 1
            extremum.set_num_threads(1 + turn % 5)
            _native.set_instruction_set(_native.instruction_sets()[turn % len(_native.instruction_sets())])
            _native.set_bytes_per_thread(1 << (12 + turn % 6))
            _native.set_small_limit(turn % 40)

    changing = threading.Thread(target=settings, daemon=True)
    changing.start()
    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(lambda _: digests(), range(6 * threads)))
    stop.set()
    changing.join()
    assert all(each == expected for each in results)


def forks_during_a_kernel(rounds):
    """A child that is forked while all threads of its parent compute starts its own threads; so does its child."""
    extremum.set_num_threads(3)
    _native.set_bytes_per_thread(1 << 14)
    expected = digests()
    stop = threading.Event()

    def compute():
        while not stop.is_set():
            digests()

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(rounds):
            child = os.fork()
            if child == 0:
                grandchild = os.fork()
                if grandchild == 0:
                    os._exit(0 if digests() == expected else 1)
                os._exit(0 if digests() == expected and os.waitpid(grandchild, 0)[1] == 0 else 1)
            assert os.waitpid(child, 0)[1] == 0, turn
            assert digests() == expected
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def forks_from_a_thread(rounds):
    """A thread forks while the pool runs for others; in the child it is the only thread."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(forks_during_a_kernel, rounds).result()


def in_a_pool(number):
    return number, digests()


def pools(method, rounds):
    extremum.set_num_threads(2)
    _native.set_bytes_per_thread(1 << 14)
    expected = digests()
    for turn in range(rounds):
        with multiprocessing.get_context(method).Pool(2) as pool:
            for number, actual in pool.map(in_a_pool, range(6)):
                assert actual == expected, (turn, number)


class Index:
    """An axis that runs Python code."""

    def __index__(self):
        return sum(range(50)) % 2


class Flag:
    """A flag that runs Python code."""

    def __bool__(self):
        return sum(range(50)) > 0


FEW = np.ones((3, 4), np.float32)
# Kernels, and calls in which native code runs Python code: for an option, an argument, an error, or a copy.
AT_EXIT = {
    "kernels": digests,
    "omit": lambda: extremum.argmax(FEW, 1, nan_policy="omit", default=0),
    "number": lambda: extremum.maximum(FEW, 2.0),
    "hardmax": lambda: extremum.hardmax(FEW, where=FEW > 0),
    "axis": lambda: extremum.argmax(FEW, Index()),
    "axes": lambda: extremum.argmax(FEW, [Index()]),
    "flag": lambda: extremum.argmax(FEW, 1, keepdims=Flag()),
    "dtype": lambda: extremum.argmax(FEW, 1, dtype="uint32"),
    "out": lambda: extremum.argmax(FEW, 1, out=np.zeros(3, ">i8")),
    "refusal": lambda: extremum.argmax(FEW, 7),
    "refused axis": lambda: extremum.argmax(FEW, "0"),
}


def exits_beside_daemons(calls):
    """The interpreter ends while daemon threads are inside kernels, or run Python code that native code called."""
    _native.set_bytes_per_thread(1 << 14)
    extremum.set_num_threads(2)

    def repeat(call):
        while True:
            with contextlib.suppress(ValueError, TypeError):
                AT_EXIT[call]()

    for call in calls:
        threading.Thread(target=repeat, args=(call,), daemon=True).start()
    time.sleep(0.1)
    watched.say("ends")


def interrupted():
    """Print a line, compute until interrupted, and check that everything still works afterwards."""
    # Tests that run in the background ignore interrupts, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    x = np.zeros((4000, 4000), np.float32)
    expected = digests()
    try:
        watched.say("computes")
        for _ in range(2000):
            extremum.hardmax(x, 0)
    except KeyboardInterrupt:
        assert digests() == expected
        watched.say("interrupted")


def in_another_interpreter():
    """In an interpreter next to the main one, extremum works, or its import raises an ImportError."""
    source = """
try:
    import extremum
    assert extremum.argmax([1, 3, 2]) == 1
except ImportError as error:
    assert "interpreter" in str(error), error
"""
    if sys.version_info >= (3, 14):
        from concurrent import interpreters

        interpreter = interpreters.create()
        interpreter.exec(source)
        interpreter.close()
    else:
        interpreters = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
        interpreter = interpreters.create()
        assert interpreters.run_string(interpreter, source) is None
        interpreters.destroy(interpreter)
    assert extremum.argmax(X) == X.argmax()


def test_many_threads_and_settings():
    watched.call(many_threads, 16)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.parametrize("forks", [forks_during_a_kernel, forks_from_a_thread])
@rounds_up_to(10)
def test_forks(forks, rounds):
    watched.call(forks, rounds, seconds=300)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@rounds_up_to(1)
def test_pools(method, rounds):
    watched.call(pools, method, rounds, seconds=900)


@pytest.mark.parametrize("calls", [tuple(AT_EXIT)[at::3] for at in range(3)], ids=", ".join)
@rounds_up_to(1)
def test_daemon_threads_at_exit(calls, rounds):
    # Python before 3.14 ends such a thread by unwinding its stack, through any native code on it.
    for _ in range(rounds):
        assert watched.call(exits_beside_daemons, calls) == "ends\n"


def test_another_interpreter():
    watched.call(in_another_interpreter)


@pytest.mark.skipif(sys.platform == "win32", reason="this platform sends an interrupt to all processes of the console")
@rounds_up_to(1)
def test_an_interrupt(rounds):
    program = f"import {interrupted.__module__} as module; module.{interrupted.__name__}()"
    command = [sys.executable, "-c", program]
    for _ in range(rounds):
        with subprocess.Popen(command, env=watched.environment(), stdout=subprocess.PIPE, text=True) as child:
            watch = threading.Timer(120, child.kill)
            watch.start()
            assert child.stdout.readline() == "computes\n"
            time.sleep(0.2)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
            assert child.wait() == 0
            watch.cancel()
