"""A docstring gets what it lacks from the functions that it resembles, section by section."""

from pathlib import Path

import pytest

import extremum
from extremum.docstrings import completed

MODEL = """Reverse a list.

    It stays a list.

    Parameters
    ----------
    x : list
        The list.
    start, stop : int
        The part that is reversed.
    deep : bool
        Reverse lists in it too.

    Returns
    -------
    list

    Notes
    -----
    It takes
    two lines.
    """
OWN = """Reverse a tuple.

    Parameters
    ----------
    x : tuple
        The tuple.
    *more : tuple
        Others.
    """
WHOLE = """Reverse a tuple.

Parameters
----------
x : tuple
    The tuple.
start, stop : int
    The part that is reversed.
*more : tuple
    Others.

Returns
-------
list

Notes
-----
It takes
two lines.
"""


def test_parameters_come_in_the_order_of_the_signature_and_each_entry_once():
    assert completed(OWN, [MODEL], ["x", "start", "stop", "more", "unknown"]) == WHOLE


def test_the_first_model_counts():
    assert completed("Sum.\n\nReturns\n-------\nint\n", [None, OWN, MODEL], ["x"]) == (
        "Sum.\n\nParameters\n----------\nx : tuple\n    The tuple.\n\nReturns\n-------\nint\n\n"
        "Notes\n-----\nIt takes\ntwo lines.\n"
    )


def test_without_docstrings_there_is_none():
    assert completed(None, [MODEL], ["x"]) is None
    assert completed("Sum.", [None], ["x"]) == "Sum.\n"


REDUCTIONS = ("argmax", "argmin", "max", "min", "minmax")
SHARED = ("x", "axis", "keepdims", "select_last_index", "nan_policy", "where")
DOCS = Path(__file__).parents[1] / "native" / "python" / "docs"


@pytest.mark.parametrize("name", SHARED)
def test_reductions_describe_what_they_share_in_one_way(name):
    entries = {completed("", [getattr(extremum, function).__doc__], [name]) for function in REDUCTIONS}
    texts = {entry.partition("\n\nReturns\n")[0] for entry in entries}
    assert len(texts) == 1
    assert name in texts.pop()


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.rst")), ids=lambda path: path.stem)
def test_a_native_function_has_the_text_of_its_file(path):
    assert getattr(extremum, path.stem).__doc__.rstrip() == path.read_text("utf-8").rstrip()
