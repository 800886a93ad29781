"""A docstring gets what it lacks from the functions that it resembles, section by section."""

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
