"""The layout of a message, its one-line form, context, and that every error travels through pickle."""

import pickle

import numpy as np
import pytest

from extremum import errors
from extremum.errors import AxisError, ElementTypeError, ExtremumError, MemoryLimitError, SpecError

CLASSES = [each for each in map(errors.__dict__.get, errors.__all__) if isinstance(each, type)]


def test_layout():
    error = SpecError("ArgMax-11 has no attribute 'x'", where="graph.node[7]", given="a: float32[2]", remedy="drop it")
    assert str(error) == (
        "ArgMax-11 has no attribute 'x'\n  at    graph.node[7]\n  given a: float32[2]\n  help  drop it"
    )

    assert error.one_line() == (
        "ArgMax-11 has no attribute 'x'; at: graph.node[7]; given: a: float32[2]; help: drop it"
    )
    assert str(SpecError("wrong", remedy="right")) == "wrong\n  help  right"
    assert str(SpecError("wrong")) == "wrong"


def test_a_name_cannot_break_out_of_its_line():
    error = SpecError("no '\x1b[2J'", where="a\r\n::error::b", given="\u202ec", remedy="##[error]d")
    assert str(error) == ("no '\\x1b[2J'\n  at    a\\r\\n::error::b\n  given \\u202ec\n  help  #\\x23[error]d")
    assert error.one_line() == r"no '\x1b[2J'; at: a\r\n::error::b; given: \u202ec; help: #\x23[error]d"


def test_the_parts_stay_as_they_are_for_programs():
    error = SpecError("no '\x1b[2J'", given="a\nb")
    assert error.record() == {
        "kind": "SpecError",
        "reason": "no '\x1b[2J'",
        "where": None,
        "given": "a\nb",
        "remedy": None,
    }


@pytest.mark.parametrize("kind", CLASSES)
def test_pickle(kind):
    error = kind("wrong", where="there", given="2", remedy="1")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert isinstance(copy, ExtremumError)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


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
