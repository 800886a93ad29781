"""What does not fit into memory is refused before it is allocated."""

import numpy as np
import psutil
import pytest

from extremum.errors import MemoryLimitError
from extremum.memory import require_memory


def test_lets_pass_what_fits():
    require_memory((1000, 1000), np.dtype("float32"), "output 'y'")
    require_memory((10**18, 0), np.dtype("float32"), "output 'y'")


def test_refuses_what_does_not_fit():
    needed = 4 * 10**15
    with pytest.raises(MemoryLimitError, match="output 'y' would not fit into memory") as caught:
        require_memory((10**9, 10**6), np.dtype("float32"), "output 'y'")
    assert caught.value.given.startswith(f"float32[1000000000, 1000000]: {needed:,} bytes, of which ")


def test_asks_for_what_is_available_now(monkeypatch):
    class Memory:
        available = 2_000_000

    monkeypatch.setattr(psutil, "virtual_memory", Memory)
    require_memory((500_000,), np.dtype("float32"), "output 'y'")
    with pytest.raises(MemoryLimitError, match="would not fit") as caught:
        require_memory((500_001,), np.dtype("float32"), "output 'y'")
    assert caught.value.given == "float32[500001]: 2,000,004 bytes, of which 2,000,000 are available"


def test_does_not_ask_for_a_small_array(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: pytest.fail("asked"))
    require_memory((512, 512), np.dtype("float32"), "output 'y'")
