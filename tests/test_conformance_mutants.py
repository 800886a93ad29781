"""The suite finds out wrong runtimes: one mistake each, and at least one case that is answered otherwise."""

import pytest

from conformance_mutants import MUTANTS, answer, asked
from extremum.conformance import Outcome, cases
from extremum.runtimes.runtime import compare

# Nobody is wrong who refuses; the report says it all the same.
REFUSING = {"empty_tensors_are_refused", "functions_are_refused"}


@pytest.fixture(scope="module")
def suite():
    """Every case; a few of each topic come first, so that a mistake is found soon."""
    answered = [(case, case.expected()) for case in cases()]
    return [answered[at] for start in range(40) for at in range(start, len(answered), 40)]


def outcome(run, case, expected):
    given = asked(run, case)
    if given is None:
        return Outcome.EXACT if expected is None else Outcome.REFUSED
    return compare(case.asked, expected, given)


def test_there_are_many_of_them():
    assert len(MUTANTS) >= 25


def test_the_reference_makes_no_mistake(suite):
    assert {outcome(answer, case, expected) for case, expected in suite} == {Outcome.EXACT}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_runtime_is_found_out(name, suite):
    found = (outcome(MUTANTS[name], case, expected) for case, expected in suite)
    first = next((each for each in found if each is not Outcome.EXACT), None)
    assert first is not None
    assert (first is Outcome.REFUSED) == (name in REFUSING)
