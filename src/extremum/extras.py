"""What has to be installed for a library that is not there.

Decides which extra of this package brings which library. A frontend that cannot import one says so with
:func:`lacking`; what no extra brings is installed by its own name.
"""

from __future__ import annotations

from extremum.errors import DependencyError

__all__ = ["EXTRAS", "lacking", "needed"]

EXTRAS = {
    **dict.fromkeys(("onnx", "ml_dtypes", "psutil"), "onnx"),
    **dict.fromkeys(("click", "rich", "tomli"), "cli"),
    **dict.fromkeys(("onnxruntime", "packaging"), "onnxruntime"),
    **dict.fromkeys(("dask", "distributed"), "dask"),
    **dict.fromkeys(("xarray", "netCDF4"), "xarray"),
    "zarr": "zarr",
}
"""The extra that brings a library, by the name under which it is imported."""


def needed(library: str) -> str:
    """Return the command that installs a library."""
    return f"pip install 'extremum[{EXTRAS[library]}]'" if library in EXTRAS else f"pip install {library}"


def lacking(what: str, error: ModuleNotFoundError, *, beside: str | None = None) -> ImportError:
    """Return the error about what cannot be had because a library is not there; the extra of another may bring both."""
    library = (error.name or "").partition(".")[0]
    if library in ("", "extremum"):
        return error  # a mistake of ours, or a broken installation
    return DependencyError(f"{what} needs {library}", remedy=needed(beside or library))
