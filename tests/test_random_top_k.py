"""A sample of the random calls of `top_k` on containers, always the same one; `.ci/leg containers` makes more."""

import random_top_k


def test_containers_give_what_a_stable_sort_gives():
    assert random_top_k.run(calls=250, seed=1000) > 200
