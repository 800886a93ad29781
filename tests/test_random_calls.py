"""Random calls agree with the reference and touch no byte beyond an array; in processes, which a crash may end."""

import sys

import pytest

from watched import run_watched


def test_random_calls_agree_with_the_reference():
    said = run_watched("random_calls", "--sessions", "--compared", 0.5, "--calls", 1000, seconds=600)
    assert "1000 calls in" in said[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected by mprotect; the kernels' reads are the same")
@pytest.mark.parametrize("side", ["begin", "end"])
@pytest.mark.parametrize("batch", ["random", pytest.param("short", marks=pytest.mark.exhaustive)])
def test_memory_beyond_an_array_is_not_touched(batch, side):
    run_watched("guard_pages", batch, side, seconds=600)
