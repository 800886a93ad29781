"""The layout of a message, its one-line form, context, and that every error travels through pickle."""

import pickle

import numpy as np
import pytest

from extremum import errors
from extremum.errors import AxisError, ElementTypeError, ExtremumError, MemoryLimitError, SpecError

CLASSES = [getattr(errors, name) for name in errors.__all__]


def test_layout():
    error = SpecError("ArgMax-11 has no attribute 'x'", where="graph.node[7]", given="a: float32[2]", remedy="drop it")
    assert str(error) == (
        "ArgMax-11 has no attribute 'x'\n  at    graph.node[7]\n  given a: float32[2]\n  help  drop it"
    )


def test_parts_that_are_missing_leave_no_line():
    assert str(SpecError("wrong", remedy="right")) == "wrong\n  help  right"
    assert str(SpecError("wrong")) == "wrong"


def test_one_line():
    error = SpecError("wrong", where="there", given="two\nlines")
    assert error.one_line() == "wrong; at: there; given: two lines"


def test_context_fills_what_is_missing_and_keeps_the_rest():
    error = SpecError("wrong", where="inner").with_context(where="outer", given="2", remedy="1")
    assert (error.where, error.given, error.remedy) == ("inner", "2", "1")
    assert type(error) is SpecError


@pytest.mark.parametrize("kind", CLASSES)
def test_pickle(kind):
    error = kind("wrong", where="there", given="2", remedy="1")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


@pytest.mark.parametrize("kind", CLASSES)
def test_public_name(kind):
    assert issubclass(kind, ExtremumError)
    assert kind.__module__ == "extremum.errors"


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (SpecError, ValueError),
        (AxisError, np.exceptions.AxisError),
        (AxisError, IndexError),
        (ElementTypeError, TypeError),
        (MemoryLimitError, MemoryError),
        (errors.InputError, ValueError),
        (errors.UnknownOperatorError, NotImplementedError),
        (errors.ExecutionError, RuntimeError),
    ],
)
def test_code_written_against_numpy_catches_it(kind, builtin):
    with pytest.raises(builtin, match="wrong"):
        raise kind("wrong", given="2")
