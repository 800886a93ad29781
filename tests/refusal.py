"""How a test asks for an error: by its exact class and the first line of its text, the reason."""

import pytest


def refusal(error, function, *arguments, **options):
    """The reason in the error that the call raises."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    assert caught.type is error
    return str(caught.value).splitlines()[0]
