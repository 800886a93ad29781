"""Arrays that change while a call reads its arguments or runs: the call uses them as they are once all are read."""

import contextlib
import itertools
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

import extremum
import watched
from extremum import _native
from extremum.errors import ExtremumError

SHAPE = (4, 6)


CHANGES = {
    "reshape": lambda a: setattr(a, "shape", (3, 8)),
    "flatten": lambda a: setattr(a, "shape", (24,)),
    "add axes": lambda a: setattr(a, "shape", (1,) * 20 + SHAPE),
    "grow": lambda a: a.resize((400, 600), refcheck=False),
    "shrink": lambda a: a.resize((1, 1), refcheck=False),
    "empty": lambda a: a.resize((0, 6), refcheck=False),
    "retype": lambda a: setattr(a, "dtype", np.uint8),
    "untype": lambda a: setattr(a, "dtype", "V4"),
}


class Once:
    """An argument that changes an array when it is first read, in whichever way."""

    def __init__(self, array, change, value):
        self.array = array
        self.change = change
        self.value = value

    def _look(self):
        change = self.change
        self.change = None
        if change:
            with contextlib.suppress(ValueError, TypeError):  # not every array allows every change
                change(self.array)
        return self.value

    def __index__(self):
        return self._look()

    def __bool__(self):
        return bool(self._look())

    def __array__(self, dtype=None, copy=None):
        return self._look()

    @property
    def dtype(self):
        return np.dtype(self._look())


def sites(x, out, once):
    """Calls with an argument at every place where Python code may run; `once` makes the argument from its value."""
    y = np.ones(SHAPE, np.float32)
    row = np.ones(6, np.float32)
    for function in (extremum.argmax, extremum.argmin):
        yield lambda f, v: f(x, v), (function, once(1))
        yield lambda f, v: f(x, v), (function, once(0))
        yield lambda f, v: f(x, (0, v)), (function, once(1))
        yield lambda f, v: f(x, [v, -1]), (function, once(0))
        yield lambda f, v: f(x, keepdims=v), (function, once(1))
        yield lambda f, v: f(x, 0, select_last_index=v), (function, once(1))
        yield lambda f, v: f(x, 0, dtype=v), (function, once("int32"))
    yield lambda v: extremum.argmax(y, v, out=out), (once(1),)
    yield lambda v: extremum.argmax(y, dtype=v, keepdims=True, out=out), (once("int64"),)
    yield lambda v: extremum.hardmax(x, v), (once(0),)
    yield lambda v: extremum.top_k(x, 2, v).indices, (once(1),)
    yield lambda v: extremum.top_k(x, v, 1).values, (once(2),)
    yield lambda v: extremum.hardmax(x, (0, v)), (once(1),)
    yield lambda v: extremum.hardmax(y, v, out=out), (once(0),)
    for function in (extremum.maximum, extremum.minimum):
        yield lambda f, v: f(x, v), (function, once(y))
        yield lambda f, v: f(v, x, row), (function, once(y))
        yield lambda f, v: f(3, x, v, 2.5), (function, once(row))
        yield lambda f, v: f(y, v, out=out), (function, once(row))


def outcome(call, arguments):
    """The result as bits, or the class of the error."""
    try:
        result = call(*arguments)
    except (ExtremumError, TypeError, ValueError) as error:
        return type(error)
    return np.asarray(result).tobytes(), np.shape(result), np.asarray(result).dtype


def fresh(which):
    x = np.random.default_rng(1).integers(0, 9, SHAPE).astype(np.float32)
    out = np.zeros({"out": SHAPE, "out of indices": (4,), "out of one index": (1, 1)}.get(which, SHAPE))
    return x, out.astype(np.float32 if which in ("x", "out") else np.int64)


def change_while_arguments_are_read(which):
    for name, change in CHANGES.items():
        x, out = fresh(which)
        for number in range(len(list(sites(x, out, lambda value: value)))):
            x, out = fresh(which)
            changed = x if which == "x" else out
            call, arguments = list(sites(x, out, lambda value: Once(changed, change, value)))[number]  # noqa: B023
            watched.say(f"{name}, call {number}")
            actual = outcome(call, arguments)
            call, arguments = list(sites(x, out, lambda value: value))[number]
            expected = outcome(call, arguments)
            assert actual == expected, (actual, expected)


@pytest.mark.parametrize("which", ["x", "out", "out of indices", "out of one index"])
def test_a_change_while_arguments_are_read(which):
    watched.call(change_while_arguments_are_read, which)


def beside_a_thread(change, calls, seconds):
    """Repeat the calls for some time while another thread makes the change; errors are valid answers too."""
    sys.setswitchinterval(1e-6)
    stop = threading.Event()

    def changes():
        while not stop.is_set():
            change()

    thread = threading.Thread(target=changes, daemon=True)  # the process can end even after a call fails
    thread.start()
    end = time.monotonic() + seconds
    made = 0
    while time.monotonic() < end:
        for call in calls:
            try:
                call()
            except (ExtremumError, ValueError):
                continue
            made += 1
    stop.set()
    thread.join()
    assert made


def shapes_of_another_thread(kind):
    x = np.random.default_rng(2).integers(0, 9, (512, 256)).astype(np.float32)
    y = x.copy()
    out = np.zeros_like(x)
    rows = np.zeros(512, np.int64)
    changed = {"x": x, "out": out, "rows": rows}[kind]
    shapes = [(32, 16), (512,)] if kind == "rows" else [(131072,), (2, 4, 8, 16, 32, 4), (512, 256)]

    def change():
        for shape in shapes:
            changed.shape = shape

    calls = [
        *(partial(extremum.argmax, x, -1, keepdims=keepdims) for keepdims in (False, True)),
        *(partial(extremum.argmin, x, axis) for axis in (0, None)),
        partial(extremum.hardmax, x, 0, out=out),
        partial(extremum.maximum, x, y),
        partial(extremum.minimum, x, out, out=x),
        partial(extremum.argmax, y, 1, out=rows),
    ]
    beside_a_thread(change, calls, 0.2)


@pytest.mark.parametrize("kind", ["x", "out", "rows"])
def test_shapes_that_another_thread_sets(kind):
    watched.call(shapes_of_another_thread, kind)


def elements_of_another_thread(dtype):
    for name, shape in itertools.product(_native.instruction_sets(), ((2000, 40), (20_000, 7), (9, 20_000))):
        watched.say(f"{name}, {shape}")
        _native.set_instruction_set(name)
        beside_a_writer(dtype, *shape)


def beside_a_writer(dtype, rows, columns):
    """Any answer in range is valid, and nothing is written outside the output."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 9, (rows, columns)).astype(dtype)
    other = x[::-1].copy()
    extremes = np.array([0, 100, -100, 7], dtype)
    guarded = np.zeros((rows + 2, columns), dtype)
    places = np.zeros(rows + 2, np.int64)

    def change():
        x[...] = extremes[1]
        x[...] = other
        for _ in range(100):
            x.flat[rng.integers(x.size)] = rng.choice(extremes)

    def check(function, view, axis, bound):
        last = bool(rng.integers(2))
        index = np.asarray(function(view, axis, select_last_index=last))
        assert ((index >= 0) & (index < bound)).all()

    def into(out, function, *arguments):
        function(*arguments, out=out[1:-1])
        assert not out[[0, -1]].any()

    bounds = (None, x.size), (0, rows), (1, columns)
    calls = [
        *(partial(check, extremum.argmax, x[:, ::-1], axis, bound) for axis, bound in bounds),
        *(partial(check, extremum.argmin, x, axis, bound) for axis, bound in bounds),
        partial(into, places, extremum.argmax, x, 1),
        partial(into, guarded, extremum.hardmax, x[:, ::-1]),
        partial(into, guarded, extremum.maximum, x, other),
    ]
    beside_a_thread(change, calls, 0.05)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_elements_that_another_thread_writes(dtype):
    watched.call(elements_of_another_thread, dtype)
