"""What is installed here: what a report of a mistake has to say. ``extremum --version --json`` prints it.

Decides which packages are looked for: those that are imported somewhere, and those whose arrays are taken.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from extremum import __version__, _native, get_num_threads, runtimes

__all__ = ["record"]

PACKAGES = (
    *("numpy", "ml_dtypes", "onnx", "onnxruntime", "protobuf", "click", "rich"),
    *("dask", "distributed", "xarray", "zarr", "netCDF4", "cubed"),
    *("torch", "jax", "pandas", "polars", "pyarrow"),
)


def record() -> dict[str, Any]:
    """Return versions, the machine, its instruction sets, and the runtimes that can be asked, as JSON can hold them."""
    return {
        "extremum": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "free_threaded": not getattr(sys, "_is_gil_enabled", lambda: True)(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "threads": get_num_threads(),
        "instruction_set": _native.get_instruction_set(),
        "instruction_sets": list(_native.instruction_sets()),
        "packages": {name: found for name in PACKAGES if (found := _version(name)) is not None},
        "runtimes": {each.name: each.version for each in runtimes.installed()},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
