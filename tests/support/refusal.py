"""How a test gets an error: the error itself, its reason, or its class, reason and remedy in one line."""

import pytest

from extremum.errors import ExtremumError


def error_of(kind, function, *arguments, **options):
    """The error that the call raises."""
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    return caught.value


def refusal(kind, function, *arguments, **options):
    """The reason of the error that the call raises, which must be of exactly this class."""
    error = error_of(kind, function, *arguments, **options)
    assert type(error) is kind
    return str(error).splitlines()[0]


def explained(function, *arguments, **options):
    """The class, the reason and the remedy of the error that the call raises, in one line."""
    error = error_of(ExtremumError, function, *arguments, **options)
    return f"{type(error).__name__}: {error.reason}" + (f"; help: {error.remedy}" if error.remedy else "")
