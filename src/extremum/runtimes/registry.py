"""The adapters there are: those of this package, of other packages and of files; and the runtimes that they give."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import stat
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from extremum.errors import ArgumentError, DependencyError, ExecutionError, first_line
from extremum.runtimes.adapters import ADAPTERS
from extremum.runtimes.runtime import Runtime

_GROUP = "extremum.runtimes"
_FILES: dict[str, Path] = {}  # the adapters that are files, by the name of their runtimes before the colon


def known() -> list[str]:
    """Return the names of the runtimes that have an adapter, installed or not."""
    return list(
        dict.fromkeys((*ADAPTERS, *sorted(each.name for each in entry_points(group=_GROUP)), *_FILES))
    )


def add_file(path: str | os.PathLike[str]) -> list[Runtime]:
    """Add the runtimes of an adapter that is a Python file, until the process ends, and return them in a list.

    Parameters
    ----------
    path : str or path-like
        The file. Its function ``runtimes`` takes nothing and returns the runtimes.

    Raises
    ------
    ArgumentError
        If another runtime already has one of these names.
    ExecutionError
        If the file cannot be run, or does not return runtimes.
    DependencyError
        If a package that it needs is not installed.
    OSError
        If the file cannot be read.
    """
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise ArgumentError(
            f"{str(path)!r} is not a regular file", remedy="name the Python file of an adapter"
        )
    file = Path(path).absolute()
    result = _of_file(file)
    names = [each.name.partition(":")[0] for each in result]
    for name in names:
        if name in known() and _FILES.get(name) != file:
            raise ArgumentError(
                f"there is a runtime {name!r} already", where=str(path), remedy="give it another name"
            )
    _FILES.update(dict.fromkeys(names, file))
    return result


def files() -> list[Path]:
    """Return the adapters that are files."""
    return list(dict.fromkeys(_FILES.values()))


def installed(names: Sequence[str] | None = None) -> Iterator[Runtime]:
    """Yield a :class:`Runtime` for each way in which an installed runtime can execute a model.

    Parameters
    ----------
    names : sequence of str, optional
        Names of :func:`known`; all by default.

    Warns
    -----
    RuntimeWarning
        If an adapter fails. The other runtimes are still yielded.
    """
    if names is None:
        names = known()
    for name in names:
        with contextlib.suppress(DependencyError):
            try:
                yield from _open(name)
            except ExecutionError as error:
                warnings.warn(error.one_line(), RuntimeWarning, stacklevel=2)


def find(name: str) -> Runtime:
    """Return the runtime of a name, such as ``onnxruntime`` or ``onnxruntime:cuda``.

    Raises
    ------
    ArgumentError
        If there is no such runtime, or it is not installed.
    ExecutionError
        If its adapter fails, or an installed package cannot be imported.

    Examples
    --------
    >>> from extremum import runtimes
    >>> runtimes.find("onnx.reference").name
    'onnx.reference'
    """
    group = name.partition(":")[0]
    # Looking for adapters of other packages takes longer than checking a model.
    if group not in ADAPTERS and group not in known():
        raise ArgumentError(f"there is no runtime {name!r}", remedy=f"the runtimes are {', '.join(known())}")
    try:
        by_name = {each.name: each for each in _open(group)}
    except DependencyError as error:
        raise ArgumentError(error.reason, given=error.given, remedy=error.remedy) from None
    if name not in by_name:
        raise ArgumentError(f"there is no runtime {name!r} here", remedy=f"there are {', '.join(by_name)}")
    return by_name[name]


def shown(runtime: Runtime) -> str:
    """Return name and version, as messages state them."""
    return f"{runtime.name} {runtime.version}"


@functools.cache
def _open(name: str) -> list[Runtime]:
    """Return the runtimes of an adapter; a DependencyError says that they are not installed."""
    if name in _FILES:
        return _of_file(_FILES[name])
    adapter, installs = ADAPTERS.get(name, (None, None))
    with _blaming(name, f"{name} is not installed", installs and f"pip install {installs}"):
        if adapter is None:
            (entry,) = entry_points(group=_GROUP, name=name)
            adapter = entry.load()
        return _require_runtimes(adapter())


def _of_file(path: Path) -> list[Runtime]:
    # Like a script, an adapter can import files next to it, here and in child processes.
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    with _blaming(path.name, f"'{path.name}' imports a package that is not installed"):
        spec = importlib.util.spec_from_file_location(f"extremum_adapter_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise ValueError("a Python file ends in .py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return _require_runtimes(module.runtimes())


@contextlib.contextmanager
def _blaming(name: str, absent: str, remedy: str | None = None) -> Iterator[None]:
    """Turn an error in an adapter into one that says that a package is absent, or where the adapter fails."""
    try:
        yield
    except (Exception, SystemExit) as error:
        frames = _frames_of_adapter(error)
        if isinstance(error, DependencyError) or _lacks_a_package(error, frames):
            raise DependencyError(
                absent,
                given=None if getattr(error, "name", None) == name else first_line(error),
                remedy=remedy,
            ) from None
        raise ExecutionError(
            f"the adapter of the runtime {name!r} fails",
            where=_last_place(error, frames),
            given=": ".join(filter(None, (type(error).__name__, first_line(error)))),
            remedy="mend the adapter, or what it imports; EXTREMUM_TRACEBACK=1 shows the traceback",
        ) from error


def _frames_of_adapter(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of the adapter and of what it calls, without those of importlib and importlib_metadata."""
    others = re.compile(rf"<frozen importlib|.*[\\/]importlib(_metadata)?[\\/]|{re.escape(__file__)}$")
    return [each for each in traceback.extract_tb(error.__traceback__) if not others.match(each.filename)]


def _lacks_a_package(error: BaseException, frames: list[traceback.FrameSummary]) -> bool:
    """Return whether a package is not installed, as opposed to a mistake in an adapter or in a package."""
    if isinstance(error, ModuleNotFoundError):
        # The adapter itself imports it; an installed package that lacks another one is broken.
        return len({each.filename for each in frames}) == 1
    return isinstance(error, ImportError) and error.name is None


def _last_place(error: BaseException, frames: list[traceback.FrameSummary]) -> str | None:
    places = [(each.filename, each.lineno) for each in frames]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    return "{}, line {}".format(*places[-1]) if places else None


def _require_runtimes(value: Any) -> list[Runtime]:
    """Return what an adapter returns, if it is a list of runtimes."""
    if not isinstance(value, Iterable):
        raise TypeError(f"runtimes() gives {type(value).__name__}, and not a list of runtimes")
    result = list(value)
    for each in result:
        for name in ("name", "version"):
            if not isinstance(getattr(each, name, None), str):
                raise TypeError(f"{type(each).__name__}.{name} must be text")
        if not callable(getattr(each, "load", None)):
            raise TypeError(f"{type(each).__name__}.load must be a method that takes a model")
    return result
