"""The error that another value of a parameter mends, for callers that spell parameters in their own way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from extremum.errors import ArgumentError, ExtremumError


class ParameterError(ExtremumError):
    """A call lacks a parameter, or another value of it helps.

    The error has no remedy. The caller knows how its users name the parameter, and raises the error of the class
    `kind` that :meth:`with_remedy` makes.

    Parameters
    ----------
    reason : str
        What is wrong.
    parameter : str
        The name of the parameter, as the functions of this package have it.
    choices : sequence of str, optional
        The values that the parameter can have.
    given : str, optional
        The values that were given.
    kind : type, optional
        The class of the error that the user sees.
    """

    def __init__(
        self,
        reason: str,
        *,
        parameter: str,
        choices: Sequence[str] = (),
        given: str | None = None,
        kind: type[ExtremumError] = ArgumentError,
    ) -> None:
        super().__init__(reason, given=given)
        self.parameter = parameter
        self.choices = tuple(choices)
        self.kind = kind

    def with_remedy(self, remedy: str) -> ExtremumError:
        """Return the error that the user sees."""
        return self.kind(self.reason, where=self.where, given=self.given, remedy=remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process may raise it.
        rebuild = partial(
            type(self), parameter=self.parameter, choices=self.choices, given=self.given, kind=self.kind
        )
        return rebuild, (self.reason,)
