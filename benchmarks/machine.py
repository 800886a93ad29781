"""What the benchmark ran on: processor, caches, memory and system, as the system tells it; and holding it to N cores.

What cannot be found out is left out: nothing here decides a result.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
from pathlib import Path

__all__ = ["describe", "hold", "processor"]


def describe() -> dict[str, str]:
    """Return the facts of this machine that the readings depend on."""
    from extremum import _native

    facts = {"processor": _processor(), "cores": str(os.cpu_count()), **_caches()}
    with contextlib.suppress(AttributeError, ValueError, OSError):
        facts["memory"] = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    facts["system"] = f"{platform.system()} {platform.machine()}"
    facts["instruction set"] = _native.get_instruction_set()
    return facts


def processor() -> str:
    """Return the processor and the instruction set in force: what figures that stand beside others are known by."""
    from extremum import _native

    return f"{_processor()}, {_native.get_instruction_set()}"


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        text = path.read_text(encoding="utf-8", errors="replace")
        keys: dict[str, str] = dict(re.findall(r"^(model name|cpu family|model)\s*: (.+)$", text, re.MULTILINE))
        if "model name" in keys:
            # Clouds cut the name down to the brand; family and model still say which generation it is.
            numbers = f" (family {keys['cpu family']}, model {keys['model']})" if "cpu family" in keys else ""
            return keys["model name"].strip() + numbers
    return platform.processor() or platform.machine()


def _caches() -> dict[str, str]:
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            caches[f"L{level}{'d' if level == '1' else ''}"] = size
    return caches


def hold(threads: int) -> None:
    """Let this process run on ``threads`` processors only, where the system has such a thing.

    Some libraries size their pools from it, and those that ignore every setting are held by it all the same.
    """
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        # The last ones: systems like to put their own work on the first.
        os.sched_setaffinity(0, allowed[-threads:])
