"""The errors of the package: what each one means and how it reads.

Decides the four parts of a message (reason, where, given, remedy) and their layout. Low layers raise an error with its
reason; the one boundary that knows the surroundings adds them with :meth:`ExtremumError.with_context`. The parts hold
names from models as they are; the message shows them escaped. Every class is also a subclass of the built-in exception
that code written against NumPy would catch.
"""

from __future__ import annotations

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


def __dir__() -> list[str]:
    return sorted(__all__)


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
        What would be right.

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

        Returns
        -------
        str
            The reason, followed by the other parts after semicolons.

        Examples
        --------
        >>> from extremum.errors import InputError
        >>> InputError("input 'x' is missing", remedy="pass x").one_line()
        "input 'x' is missing; help: pass x"
        """
        return "; ".join([printable(self.reason), *(f"{label}: {text}" for label, text in self._parts())])

    def record(self) -> dict[str, str | None]:
        """Return the parts as JSON can hold them, names from models as they are.

        Returns
        -------
        dict
            With ``kind``, the name of the class, ``reason``, ``where``, ``given`` and ``remedy``.

        Examples
        --------
        >>> from extremum.errors import InputError
        >>> InputError("input 'x' is missing").record()["kind"]
        'InputError'
        """
        parts = {"reason": self.reason, "where": self.where, "given": self.given, "remedy": self.remedy}
        return {"kind": type(self).__name__, **parts}

    def with_context(
        self, *, where: str | None = None, given: str | None = None, remedy: str | None = None
    ) -> ExtremumError:
        """Return the same error with the parts filled in that it does not have yet.

        Parameters
        ----------
        where, given, remedy : str, optional
            As in the constructor; a part that the error already has is kept.

        Returns
        -------
        ExtremumError
            A new error of the same class, to be raised ``from None``.

        Examples
        --------
        >>> from extremum.errors import SpecError
        >>> SpecError("wrong", where="inside").with_context(where="outside", given="2").one_line()
        'wrong; at: inside; given: 2'
        """
        return type(self)(
            self.reason, where=self.where or where, given=self.given or given, remedy=self.remedy or remedy
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception pickles its positional arguments only; the keywords travel as state.
        return type(self), (self.reason,), {"where": self.where, "given": self.given, "remedy": self.remedy}


class SpecError(ExtremumError, ValueError):
    """A node or descriptor breaks the promise of its operator's version.

    An attribute that the version does not have, an element type that it does not take, shapes that do not go together.
    The document of the version decides; ``extremum check`` finds all of them in a model at once.
    """


class ArgumentError(ExtremumError, ValueError):
    """An argument of a function has a value that cannot be meant.

    Such as an option that there is not, a slice in which no element takes part without a ``default`` for it, NaN under
    ``nan_policy="raise"``, or an index that the type asked for cannot hold.
    """


class ArgumentTypeError(ExtremumError, TypeError):
    """An argument of a function is of a type that cannot be meant.

    Such as text where an axis belongs, or an array of a library whose elements cannot be had here.
    """


class AxisError(ArgumentError, np.exceptions.AxisError):
    """An axis lies outside the array's rank, or is listed twice.

    Axes go from ``-rank`` to ``rank - 1``. An array without dimensions has none: reduce it with ``axis=None``.
    """


class ElementTypeError(ExtremumError, TypeError):
    """An element type is not among those accepted.

    Complex numbers, text and objects have no order here; convert them first. ONNX and DirectML take one element type
    for all operands, where the array functions find a common one.
    """


class InputError(ExtremumError, ValueError):
    """The inputs of a run do not fit the model: one is missing, unknown, or of another type or shape.

    ``extremum run MODEL --random`` shows what a model takes. A named size is one size in all inputs.
    """


class ModelError(ExtremumError, ValueError):
    """A file or a message is no ONNX model that can be run.

    It is damaged, no model at all, cut off, or too large or too deep to be read in safety; files beside a model have to
    lie in its folder.
    """


class FileError(ExtremumError, OSError):
    """A file is of a kind or a size that is not read.

    Pipes, devices and folders are not; nor are files larger than a model can be.
    """


class UnknownOperatorError(ExtremumError, NotImplementedError):
    """A model holds an operator for which there is no implementation.

    Operators other than this package's run in onnxruntime where it is installed, else in onnx's reference
    implementation. The error says who was asked and what they said.
    """


class ExecutionError(ExtremumError, RuntimeError):
    """Code that is not this package's failed: a node of a model while it ran, or the adapter of a runtime.

    The cause is what onnxruntime or onnx's reference implementation raised; try the other one with ``engine=``.
    """


class MemoryLimitError(ExtremumError, MemoryError):
    """A result would not fit into the memory that is available.

    It is refused before anything is allocated. Reduce a part at a time, or see the page about large arrays.
    """


class DependencyError(ExtremumError, ImportError):
    """A package or library that is needed is missing, too old, or cannot be loaded.

    The message names the command that installs it.
    """


def first_line(error: BaseException) -> str:
    r"""Return the first line of what an exception says: what follows is for its own library's readers."""
    return str(error).strip().partition("\n")[0].rstrip()


def said(error: BaseException) -> str:
    r"""Return the first line of what an exception says, with its class where the line alone says too little."""
    line, kind = first_line(error), type(error).__name__
    return line if " " in line else f"{kind}: {line}" if line else kind


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
