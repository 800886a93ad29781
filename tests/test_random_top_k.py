"""A sample of the random calls of `top_k`, always the same one; `.ci/leg containers top-k` makes more."""

import pytest

import random_top_k
from extremum import _native


def test_containers_give_what_a_stable_sort_gives():
    assert random_top_k.run(calls=250, seed=1000) > 200


@pytest.mark.parametrize("instruction_set", _native.instruction_sets())
def test_arrays_give_what_a_stable_sort_gives(instruction_set):
    assert random_top_k.run(calls=200, seed=2000, arrays=instruction_set) > 150
