"""How a test asks for an error: by its exact class and the first line of its text, the reason."""

import pytest

from extremum.errors import ExtremumError


def refusal(error, function, *arguments, **options):
    """The reason in the error that the call raises."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    assert caught.type is error
    return str(caught.value).splitlines()[0]


def explained(function, *arguments, **options):
    """The class, the reason and the remedy of the error that the call raises, in one line."""
    with pytest.raises(ExtremumError) as caught:
        function(*arguments, **options)
    remedy = caught.value.remedy
    return f"{caught.type.__name__}: {caught.value.reason}" + (f"; help: {remedy}" if remedy else "")
