"""benchmarks/saturation.py: what the model says, and that it is made of measurements."""

import re

import pytest
from click.testing import CliRunner

import extremum as ex
from benchmarks import saturation
from benchmarks.saturation import Kind
from extremum import _native

FAST = Kind("argmax", one=30e9, handover=0.0, measured=1.9)


@pytest.mark.parametrize(("threads", "speedup"), [(1, 1), (2, 2), (3, 3), (4, 10 / 3), (16, 10 / 3)])
def test_memory_is_the_limit(threads, speedup):
    assert FAST.speedup(threads, 1e8, 100e9) == pytest.approx(speedup)


def test_no_more_threads_than_memory_feeds_are_best():
    assert FAST.best(1e8, 100e9) == 4
    assert FAST.best(1e8, 10e9) == 1


def test_sharing_takes_its_time():
    slow = FAST._replace(handover=1e-4)
    assert slow.speedup(2, 3e6, 100e9) == pytest.approx(1e-4 / (0.5e-4 + 1e-4))
    assert slow.best(3e6, 100e9) == 1
    assert slow.best(3e9, 100e9) == 4


def test_the_command_measures_and_prints(monkeypatch):
    for name in ("_LARGE", "_SMALL", "_SHOWN"):
        monkeypatch.setattr(saturation, name, 1 << 16)
    before, grain = ex.get_num_threads(), _native.set_bytes_per_thread(1 << 20)
    try:
        result = CliRunner().invoke(saturation.saturation, ["--bandwidth", "250", "--seconds", "0.001"])
        assert result.exit_code == 0, result.output
        assert "250 GB/s" in result.output
        rows = re.findall(r"^\| (\w[^|]*?) \| \d+ GB/s \|", result.output, re.MULTILINE)
        assert tuple(rows) == saturation._MODELLED
        assert ex.get_num_threads() == before
        assert _native.set_bytes_per_thread(grain) == 1 << 20
    finally:
        _native.set_bytes_per_thread(grain)
