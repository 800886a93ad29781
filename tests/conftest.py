"""Settings every test shares: reproducible hypothesis runs, the number of threads put back afterwards."""

import pytest
from hypothesis import HealthCheck, settings

import extremum
from extremum import _native

settings.register_profile(
    "deterministic", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("deterministic")


def pytest_configure(config):
    config.addinivalue_line("markers", "exhaustive: every length and many more random cases; takes many minutes")


@pytest.fixture
def set_threads():
    """Set the number of threads, with a thread for every 64 KiB; what counted before comes back after the test."""
    before = extremum.get_num_threads()
    share = _native.set_bytes_per_thread(1 << 16)
    yield extremum.set_num_threads
    extremum.set_num_threads(before)
    _native.set_bytes_per_thread(share)
