"""The errors of the package, for a reader: what each means, and which built-in exceptions catch it too.

Decides how they are laid out; the words are the docstrings of :mod:`extremum.errors`.
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

from extremum import errors
from extremum.errors import ExtremumError

__all__ = ["find", "listing", "record", "text"]

CLASSES = {
    name.lower(): error
    for name in errors.__all__
    if isinstance(error := getattr(errors, name), type) and issubclass(error, ExtremumError)
}


def find(name: str) -> type[ExtremumError] | None:
    """Return the class of a name, in either case, as a traceback has it or bare; None if there is none."""
    return CLASSES.get(name.lower().removeprefix(f"{errors.__name__}."))


def listing() -> str:
    """Return one line per class."""
    longest = max(map(len, CLASSES))
    return "\n".join(f"{error.__name__:<{longest}}  {_paragraphs(error)[0]}" for error in CLASSES.values())


def record(error: type[ExtremumError]) -> dict[str, Any]:
    """Return the explanation of a class as JSON can hold it."""
    what, *more = _paragraphs(error)
    return {"error": error.__name__, "caught_as": _caught_as(error), "what": what, "more": " ".join(more)}


def text(error: type[ExtremumError]) -> str:
    """Return the explanation of a class for a terminal."""
    caught = f"It is caught as {', '.join(_caught_as(error))} too."
    return "\n\n".join((error.__name__, *(textwrap.fill(each, 80) for each in (*_paragraphs(error), caught))))


def _paragraphs(error: type[ExtremumError]) -> list[str]:
    """Return what a docstring says before its sections."""
    said = inspect.cleandoc(error.__doc__ or "").partition("\n\nParameters\n")[0]
    return [" ".join(each.split()).replace("``", "`") for each in said.split("\n\n")]


def _caught_as(error: type[ExtremumError]) -> list[str]:
    known = ("builtins", errors.__name__)
    return [
        each.__name__ if each.__module__ in known else f"{each.__module__}.{each.__name__}"
        for each in error.__mro__[1:]
        if each not in (BaseException, object)
    ]
