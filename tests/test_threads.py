"""Threads change the time, never the answer; how many there are is set, or the environment says it."""

import os
import subprocess
import sys

import numpy as np
import pytest

import extremum
import twins
from agreement import assert_identical, assert_same_bits
from cases import arg_reductions
from extremum.errors import ArgumentError
from extremum.operations import Extremum, OneHot, Order
from strategies import BFLOAT16, FLOATS, nans, spread, ties

SHAPES = [
    ((600_001,), (0,)),
    ((300, 2001), (1,)),
    ((2001, 300), (0,)),
    ((4, 21, 80, 80), (1,)),
    ((5, 300, 400), (0, 2)),
]


def large(dtype, shape, seed):
    """Few distinct elements, so that every thread's part holds the extremum, or NaN in a few far places."""
    rng = np.random.default_rng(seed)
    x = ties(rng, dtype, shape) if seed % 2 else spread(rng, dtype, shape)
    if dtype in FLOATS and seed % 2:
        flat = x.reshape(-1)
        flat[rng.integers(flat.size, size=3)] = rng.choice(nans(dtype), 3)
    return x


@pytest.mark.parametrize("dtype", [np.dtype("int8"), BFLOAT16, np.dtype("float32"), np.dtype("uint64")], ids=str)
@pytest.mark.parametrize(("shape", "axes"), SHAPES, ids=lambda x: "x".join(map(str, x)))
def test_any_number_of_threads_gives_the_same_bits(set_threads, dtype, shape, axes):
    for seed in (0, 1):
        x = large(dtype, shape, seed)
        for operation, inputs in [
            *((operation, [x]) for operation in arg_reductions(axes)),
            (OneHot(axes), [x]),
            (Extremum(Order.MAX), [x, x[::-1], x[:1]]),
        ]:
            set_threads(1)
            expected = operation(*inputs)
            assert_same_bits(expected, twins.run(operation, *inputs))
            for n in (2, 3, 7):
                set_threads(n)
                assert_identical(operation(*inputs), expected)


def test_the_number_is_what_was_set(set_threads):
    for n in (1, 2, 5):
        set_threads(n)
        with pytest.raises(ArgumentError, match="set_num_threads: -1 is not a number of threads"):
            set_threads(-1)
        assert extremum.get_num_threads() == n


def in_a_new_process(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_environment_sets_the_number():
    program = "import extremum; print(extremum.get_num_threads())"
    assert in_a_new_process(program, EXTREMUM_NUM_THREADS="3").stdout == "3\n"


@pytest.mark.parametrize("text", ["0", "many", ""])
def test_an_environment_that_names_no_number_is_warned_about(text):
    done = in_a_new_process("import extremum; print(extremum.get_num_threads() >= 1)", EXTREMUM_NUM_THREADS=text)
    assert done.stdout == "True\n"
    assert f'EXTREMUM_NUM_THREADS="{text}" is not a number of threads' in done.stderr
