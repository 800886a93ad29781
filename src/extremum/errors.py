"""The errors of the package, and the layout of their messages.

Low layers raise an error with its reason; the boundary that knows the surroundings adds the rest with
:meth:`ExtremumError.with_context`. The parts hold names from models as they are; the message escapes them. Every class
is also a subclass of the built-in exception that NumPy would raise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from extremum.printable import printable

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AxisError",
    "DependencyError",
    "ElementTypeError",
    "ExecutionError",
    "ExtremumError",
    "FileError",
    "InputError",
    "MemoryLimitError",
    "ModelError",
    "SpecError",
    "UnknownOperatorError",
    "first_line",
    "said",
]
__dir__ = __all__.copy


class ExtremumError(Exception):
    """The root of every error this package raises.

    Parameters
    ----------
    reason : str
        What is wrong, in one sentence without a full stop.
    where : str, optional
        The place: a node path, an operator, an argument.
    given : str, optional
        The values that were given.
    remedy : str, optional
        What to do instead.

    Examples
    --------
    >>> from extremum.errors import SpecError
    >>> print(SpecError("ArgMax-13 takes 1 input", where="graph.node[0]", given="2 inputs", remedy="drop the second"))
    ArgMax-13 takes 1 input
      at    graph.node[0]
      given 2 inputs
      help  drop the second
    """

    def __init__(
        self, reason: str, *, where: str | None = None, given: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = where
        self.given = given
        self.remedy = remedy

    def _parts(self) -> list[tuple[str, str]]:
        parts = (("at", self.where), ("given", self.given), ("help", self.remedy))
        return [(label, printable(text)) for label, text in parts if text]

    def __str__(self) -> str:
        return "\n".join([printable(self.reason), *(f"  {label:<5} {text}" for label, text in self._parts())])

    def one_line(self) -> str:
        """Return the whole message on one line, for logs and command lines.

        >>> from extremum.errors import InputError
        >>> InputError("input 'x' is missing", remedy="pass x").one_line()
        "input 'x' is missing; help: pass x"
        """
        return "; ".join([printable(self.reason), *(f"{label}: {text}" for label, text in self._parts())])

    def record(self) -> dict[str, str | None]:
        """Return the parts for JSON: ``kind``, the name of the class, ``reason``, ``where``, ``given`` and ``remedy``.

        >>> from extremum.errors import InputError
        >>> InputError("input 'x' is missing").record()["kind"]
        'InputError'
        """
        parts = {"reason": self.reason, "where": self.where, "given": self.given, "remedy": self.remedy}
        return {"kind": type(self).__name__, **parts}

    def with_context(
        self, *, where: str | None = None, given: str | None = None, remedy: str | None = None
    ) -> ExtremumError:
        """Return a new error of the same class with values for the parts that this one lacks.

        >>> from extremum.errors import SpecError
        >>> SpecError("wrong", where="inside").with_context(where="outside", given="2").one_line()
        'wrong; at: inside; given: 2'
        """
        return type(self)(
            self.reason,
            where=self.where or where,
            given=self.given or given,
            remedy=self.remedy or remedy,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Python's default would do, but tblib, with which dask sends errors, would then fail to make a MemoryError.
        return type(self), (self.reason,), {"where": self.where, "given": self.given, "remedy": self.remedy}


class SpecError(ExtremumError, ValueError):
    """A node or descriptor breaks the promise of its operator's version.

    For example an attribute or element type that the version lacks, or shapes that do not fit together. The version's
    document decides; ``extremum check`` finds all such nodes of a model.
    """


class ArgumentError(ExtremumError, ValueError):
    """An argument of a function has an invalid value.

    For example an unknown option, a slice whose elements are all masked without a ``default``, NaN under
    ``nan_policy="raise"``, or an index that does not fit the requested type.
    """


class ArgumentTypeError(ExtremumError, TypeError):
    """An argument of a function is of an invalid type, such as text for an axis or an array that cannot be read."""


class AxisError(ArgumentError, np.exceptions.AxisError):
    """An axis lies outside the array's rank, or is listed twice.

    Axes go from ``-rank`` to ``rank - 1``. An array without dimensions has none: reduce it with ``axis=None``.
    """


class ElementTypeError(ExtremumError, TypeError):
    """An element type is not accepted.

    Complex numbers, text and objects have no order here; convert them first. ONNX and DirectML take one element type
    for all operands, where the array functions promote to a common one.
    """


class InputError(ExtremumError, ValueError):
    """The inputs of a run do not fit the model: one is missing, unknown, or of another type or shape.

    ``extremum run MODEL --random`` shows what a model takes. A symbolic dimension has one size in all inputs.
    """


class ModelError(ExtremumError, ValueError):
    """A file or a message is not an ONNX model that can run.

    It is damaged, cut off, not a model, or too large or too deep to read safely; external data must lie in the model's
    folder.
    """


class FileError(ExtremumError, OSError):
    """A file has a kind or size that is not read: a pipe, a device, a folder, or larger than a model can be."""


class UnknownOperatorError(ExtremumError, NotImplementedError):
    """A model holds an operator without an implementation.

    Operators of other domains run in onnxruntime if it is installed, else in onnx's reference implementation. The
    error quotes the answer of each.
    """


class ExecutionError(ExtremumError, RuntimeError):
    """Code outside this package failed: a node of a model while it ran, or the adapter of a runtime.

    The cause is the exception of onnxruntime or of onnx's reference implementation; try the other with ``engine=``.
    """


class MemoryLimitError(ExtremumError, MemoryError):
    """A result does not fit into the available memory; nothing was allocated.

    Reduce a part at a time, or see the page about large arrays.
    """


class DependencyError(ExtremumError, ImportError):
    """A required package or library is missing, too old, or fails to load. The message names the install command."""


@contextmanager
def within(place: str) -> Iterator[None]:
    """Add the place to an error that has none."""
    try:
        yield
    except ExtremumError as error:
        raise error.with_context(where=place) from None


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message."""
    return str(error).strip().partition("\n")[0].rstrip()


def said(error: BaseException) -> str:
    """Return the first line of an exception's message, with its class if the line is one word or empty."""
    line = first_line(error)
    kind = type(error).__name__
    if " " in line:
        return line
    if line:
        return f"{kind}: {line}"
    return kind


EXTRAS = {
    **dict.fromkeys(("onnx", "ml_dtypes", "psutil"), "onnx"),
    **dict.fromkeys(("click", "rich", "tomli"), "cli"),
    **dict.fromkeys(("onnxruntime", "packaging"), "onnxruntime"),
    **dict.fromkeys(("dask", "distributed"), "dask"),
    **dict.fromkeys(("xarray", "h5py", "netCDF4"), "xarray"),
    "zarr": "zarr",
    **dict.fromkeys(("torch", "triton"), "gpu"),
}
"""The extra that installs a library, by its import name."""


def needed(library: str) -> str:
    """Return the command that installs a library."""
    if library in EXTRAS:
        return f"pip install 'extremum[{EXTRAS[library]}]'"
    return f"pip install {library}"


@contextmanager
def required_by(what: str, *, extra_of: str | None = None) -> Iterator[None]:
    """Make the error of an import name the extra to install; the extra of the library `extra_of` installs both."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise lacking(what, error, extra_of=extra_of) from None


def lacking(what: str, error: ModuleNotFoundError, *, extra_of: str | None = None) -> ImportError:
    """Return the error about a missing library."""
    library = (error.name or "").partition(".")[0]
    if library in ("", "extremum"):
        return error  # a mistake in this package, or a broken installation
    return DependencyError(f"{what} needs {library}", remedy=needed(extra_of or library))
