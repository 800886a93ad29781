"""Peak memory of a call, seen from outside: a process of its own for every layout, its high-water mark read twice.

The child fills its input without temporaries, so that the mark before the call is what it holds; what the mark rises
by, less the output, is what the call took beyond it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import extremum
from benchmarks.inputs import LAYOUTS, span
from benchmarks.record import FootprintRecord

__all__ = ["WORK", "high_water", "lower_mark", "measure", "probe"]

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_ROOT = Path(__file__).parents[1]
_SHAPE = (64, 512, 512)
_WARM = (4, 64, 64)


def _over(axis: int | tuple[int, ...]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda x: np.asarray(extremum.argmax(x, axis=axis))


# Layout of the input and the work done on it, by the name of the line.
WORK: dict[str, tuple[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    **{f"{layout}, axis {axis}": (layout, _over(axis)) for layout in LAYOUTS for axis in (0, 1, 2, (0, 2))},
    "contiguous, hardmax": ("contiguous", lambda x: extremum.hardmax(x)),
    "contiguous, maximum of two": ("contiguous", lambda x: extremum.maximum(x, x)),
}


def measure(threads: int) -> Iterator[FootprintRecord]:
    """Measure every line of `WORK`, one child process after the other."""
    for name in WORK:
        command = [sys.executable, "-m", __name__, name, str(threads)]
        output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=_ROOT).stdout
        yield FootprintRecord(**json.loads(output))


def probe(name: str, layout: str, work: Callable[[NDArray[Any]], NDArray[Any]]) -> FootprintRecord:
    """Run some work on 64 MB in this process and return what it took."""
    work(_filled(layout, _WARM))
    x = _filled(layout, _SHAPE)
    lower_mark()
    before = high_water()
    result = work(x)
    extra = high_water() - before - result.nbytes
    return FootprintRecord(name, span(x), result.nbytes, max(0, extra))


def _filled(layout: str, shape: tuple[int, ...]) -> NDArray[Any]:
    x = LAYOUTS[layout](shape, np.dtype(np.float32))
    x[...] = np.arange(shape[-1], dtype=np.float32) % 251
    return x


def lower_mark() -> None:
    """Have the mark say what is held now, where the system can: the imports before have held more."""
    with suppress(OSError):
        # Linux's number for it.
        _RESET.write_text("5")


def high_water() -> int:
    """Return the most bytes this process has held."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    # Linux hands getrusage's mark on from the parent; this one is the process's own.
    if _STATUS.exists():
        return 1024 * int(_STATUS.read_text().split("VmHWM:")[1].split()[0])
    import resource

    mark = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return mark if sys.platform == "darwin" else 1024 * mark


if __name__ == "__main__":
    extremum.set_num_threads(int(sys.argv[2]))
    sys.stdout.write(json.dumps(asdict(probe(sys.argv[1], *WORK[sys.argv[1]]))))
