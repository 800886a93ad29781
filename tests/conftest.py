"""Settings every test shares: reproducible hypothesis runs, the number of threads put back afterwards."""

import contextlib
import os
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import agreement
import extremum
from extremum import _native

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads spin after the import, in hundreds of processes.

settings.register_profile(
    "deterministic", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
# `.ci/leg deep`: other arrays in every run; a failure prints how to repeat it.
settings.register_profile(
    "deep", deadline=None, max_examples=5000, print_blob=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("deterministic")


def pytest_configure(config):
    config.addinivalue_line("markers", "exhaustive: every length and many more random cases; takes many minutes")


def pytest_make_parametrize_id(config, val, argname):
    """Name a row of a table by its values, so that a failure says which row it is of."""
    if not isinstance(val, tuple | list | dict | np.ndarray):
        return None
    text = np.array2string(val, separator=", ") if isinstance(val, np.ndarray) else repr(val)
    # An address differs between the processes of one run, and a long text says less than its number.
    return text if len(text) <= 60 and " at 0x" not in text else None


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["compared"] = agreement.compared


class Compared:
    """The results compared by the processes that pytest-xdist has started."""

    total = 0


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    Compared.total += getattr(node, "workeroutput", {}).get("compared", 0)


def pytest_terminal_summary(terminalreporter):
    total = Compared.total + agreement.compared
    if total:
        terminalreporter.write_line(f"{total:,} results compared with what they must be")


@pytest.fixture
def without_onnxruntime(monkeypatch):
    """As if onnxruntime were not installed."""
    # Imported here because .ci/test-arrays runs tests without onnx.
    from extremum.runtimes import registry

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for name in ("library", "session"):
        monkeypatch.delitem(sys.modules, f"extremum.onnxruntime.{name}", raising=False)
    registry._open.cache_clear()
    yield
    registry._open.cache_clear()


@pytest.fixture
def in_process(monkeypatch):
    """Run every runtime of the suite, a check and a fix in this process: starting another one takes half a second."""
    from extremum import check, conformance, runtimes
    from extremum.fix.target import opened
    from extremum.runtimes.process import InProcess

    def here(name, limit=None):
        return contextlib.nullcontext(InProcess(runtimes.find(name)))

    for function in (conformance.run, check.check, opened.__wrapped__):
        monkeypatch.setitem(function.__globals__, "Subprocess", here)


@pytest.fixture
def set_threads():
    """Set the number of threads, with a thread for every 64 KiB; the old settings return after the test."""
    before = extremum.get_num_threads()
    share = _native.set_bytes_per_thread(1 << 16)
    yield extremum.set_num_threads
    extremum.set_num_threads(before)
    _native.set_bytes_per_thread(share)


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    """Run the test in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def in_this_process(monkeypatch):
    """Read NetCDF files with h5py in this process: to start another one for each takes most of the time of a test."""
    from extremum.large.formats import suffixes
    from extremum.large.formats.hdf5 import Hdf5File

    monkeypatch.setattr(suffixes, "_H5PY", Hdf5File)


@pytest.fixture
def small_pieces(monkeypatch):
    """Cut a large file into many pieces where it would otherwise be one."""
    monkeypatch.setattr("extremum.large.lengths.ENOUGH", 3000)
