"""Runtimes of ONNX models that can be asked what they answer: an adapter of a few lines for each.

Another package registers its own with an entry point of the group ``extremum.runtimes``: a function without parameters
that returns its :class:`Runtime` objects, and raises ImportError where what it needs is not installed.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import entry_points

from extremum.errors import ArgumentError, DependencyError, first_line
from extremum.extras import lacking

try:
    from extremum.runtimes.runtime import Feeds, Run, Runtime
except ModuleNotFoundError as error:
    raise lacking("extremum.runtimes", error) from None

__all__ = ["Feeds", "Run", "Runtime", "find", "installed", "known", "shown"]

GROUP = "extremum.runtimes"

# The name of the runtime, the module that adapts it, and what has to be installed.
_OWN = {
    "extremum": ("extremum.conformance.ourselves", "'extremum[onnx]'"),
    "onnxruntime": ("extremum.runtimes.onnxruntime", "'extremum[onnxruntime]'"),
    "onnx.reference": ("extremum.runtimes.reference", "'extremum[onnx]'"),
    "openvino": ("extremum.runtimes.openvino", "openvino"),
    "tract": ("extremum.runtimes.tract", "tract"),
    "tinygrad": ("extremum.runtimes.tinygrad", "tinygrad"),
    "jaxonnxruntime": ("extremum.runtimes.jaxonnxruntime", "jaxonnxruntime absl-py"),
    "onnx2torch": ("extremum.runtimes.onnx2torch", "onnx2torch"),
}


def known() -> list[str]:
    """Return the names under which runtimes are looked for, installed or not."""
    return [*_OWN, *sorted(each.name for each in entry_points(group=GROUP) if each.name not in _OWN)]


def installed(names: Sequence[str] | None = None) -> Iterator[Runtime]:
    """Yield the runtimes that can be asked here.

    Parameters
    ----------
    names : sequence of str, optional
        Names of :func:`known`; all by default.

    Yields
    ------
    Runtime
        One for each; several for a runtime that has several ways to execute a model.
    """
    for name in known() if names is None else names:
        with contextlib.suppress(ImportError, DependencyError):
            yield from _open(name)


def find(name: str) -> Runtime:
    """Return the runtime of a name, such as ``onnxruntime`` or ``onnxruntime:cuda``.

    Raises
    ------
    ArgumentError
        If there is no such runtime, or it is not installed.

    Examples
    --------
    >>> from extremum import runtimes
    >>> runtimes.find("onnx.reference").name
    'onnx.reference'
    """
    group = name.partition(":")[0]
    if group not in known():
        raise ArgumentError(f"there is no runtime {name!r}", remedy=f"the runtimes are {', '.join(known())}")
    try:
        found = {each.name: each for each in _open(group)}
    except (ImportError, DependencyError) as error:
        remedy = f"pip install {_OWN[group][1]}" if group in _OWN else None
        given = None if getattr(error, "name", None) == group else first_line(error)
        raise ArgumentError(f"{group} is not installed", given=given, remedy=remedy) from None
    if name not in found:
        raise ArgumentError(f"there is no runtime {name!r} here", remedy=f"there are {', '.join(found)}")
    return found[name]


def shown(runtime: Runtime) -> str:
    """Return name and version, as a message says them."""
    return f"{runtime.name} {runtime.version}"


@functools.cache
def _open(name: str) -> list[Runtime]:
    if name in _OWN:
        adapter: Callable[[], list[Runtime]] = import_module(_OWN[name][0]).runtimes
    else:
        (entry,) = entry_points(group=GROUP, name=name)
        adapter = entry.load()
    return list(adapter())
