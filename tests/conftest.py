"""Settings every test shares: reproducible hypothesis runs, threads and instruction sets put back afterwards."""

import pytest
from hypothesis import HealthCheck, settings

import extremum
from extremum import _native

settings.register_profile(
    "deterministic", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("exhaustive", deadline=None, max_examples=5000, suppress_health_check=list(HealthCheck))
settings.load_profile("deterministic")


@pytest.fixture
def each_instruction_set():
    """Iterate over the instruction sets this machine has, each one in force while it is the current item."""

    def levels():
        for name in _native.instruction_sets():
            _native.set_instruction_set(name)
            yield name

    before = _native.get_instruction_set()
    yield levels
    _native.set_instruction_set(before)


@pytest.fixture
def threads():
    """Set the number of threads; the number before the test comes back after it."""
    before = extremum.get_num_threads()
    yield extremum.set_num_threads
    extremum.set_num_threads(before)
