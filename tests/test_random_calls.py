"""A sample of the random calls that sanitizers watch; in a process of its own, which a crash may end."""

from watched import run_watched


def test_random_calls_agree_with_the_reference():
    said = run_watched("random_calls", "--sessions", "--compared", 0.5, "--calls", 600, seconds=600)
    assert "600 calls in" in said[-1]
