"""Threads change the time, never the answer; a call or the environment sets their number, and some threads stay."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import extremum
import watched
from extremum.errors import ArgumentError


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


# The threads that stay: no more than there are processors, and idle between calls.


linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the threads of a process as files")
X = np.random.default_rng(5).integers(0, 99, (500, 1700)).astype(np.float32)


def staying():
    """What the system reports on each thread that stays."""
    tasks = [task.joinpath("status").read_text() for task in Path("/proc/self/task").iterdir()]
    return sorted(task for task in tasks if task.startswith("Name:\textremum-"))


def started(count):
    """Wait until `count` threads stay: on a busy machine a call may end before a new thread gets its name."""
    for _ in range(200):
        if len(staying()) == count:
            return
        time.sleep(0.05)
    raise AssertionError(f"{len(staying())} threads have started, not {count}")


def starts_at_the_first_call_that_pays():
    extremum.set_num_threads(2)
    extremum.argmax(X[:9])
    assert staying() == []
    extremum.argmax(np.zeros(4_000_000, np.float32))
    started(min(2, os.cpu_count()) - 1)


def no_more_than_the_processors():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    extremum.set_num_threads(16)
    x = np.zeros(4_000_000, np.float32)
    x[3_999_999] = 1
    assert extremum.argmax(x) == 3_999_999
    assert staying() == []


def switches():
    """How often each thread that stays went to sleep by itself, or was preempted by another."""
    return [re.findall(r"^\w*voluntary_ctxt_switches:\s*(\d+)$", task, re.MULTILINE) for task in staying()]


def sleeps_between_calls():
    """A thread that wakes to look for work goes to sleep again, which is counted."""
    extremum.set_num_threads(2)
    for _ in range(5):
        extremum.argmax(np.zeros(4_000_000, np.float32))
    started(1)
    for _ in range(30):
        before = switches()
        assert [len(each) for each in before] == [2]
        time.sleep(0.3)
        if switches() == before:
            return
    raise AssertionError("a thread has not slept for 0.3 s in all of 9 s")


@linux
@pytest.mark.parametrize("case", [starts_at_the_first_call_that_pays, no_more_than_the_processors])
def test_threads_that_are_started(case):
    watched.call(case)


@linux
@pytest.mark.skipif(os.cpu_count() == 1, reason="one processor has no threads to share work with")
def test_threads_sleep_between_calls():
    watched.call(sleeps_between_calls)
