"""How large and how deep a model may be once its functions are put where they are called."""

import pytest

from extremum.errors import ModelError
from extremum.graph.load import DEEPEST, DEEPEST_GRAPH, MOST_NODES, load, require_readable
from hostile_models import chain_of_functions, deep_type, doubling, long_chain, nested

TOO_DEEP = f"graphs of the model stand more than {DEEPEST_GRAPH} deep inside each other"


@pytest.mark.parametrize(
    "proto", [doubling(10), chain_of_functions(DEEPEST - 3), nested(DEEPEST_GRAPH - 1), long_chain(10), deep_type(8)]
)
def test_what_stays_within_the_limits_can_be_serialised_and_read(proto):
    assert load(load(proto).SerializeToString()) == proto


@pytest.mark.parametrize(
    ("proto", "reason", "remedy"),
    [
        *(
            (
                doubling(count),
                f"the functions of the model make more than {MOST_NODES} nodes where they are called",
                "inline them, so that the model shows its size",
            )
            for count in (18, 62)
        ),
        (
            chain_of_functions(DEEPEST),
            f"graphs and functions of the model stand more than {DEEPEST} deep inside each other",
            "inline some of the functions",
        ),
        *((nested(depth), TOO_DEEP, None) for depth in (DEEPEST_GRAPH, 64)),
        (deep_type(9), "a type of the model is more than 8 types inside each other", None),
    ],
)
def test_what_is_too_large_or_too_deep_is_refused(proto, reason, remedy):
    with pytest.raises(ModelError) as caught:
        load(proto)
    assert (caught.value.reason, caught.value.remedy) == (reason, remedy)


def test_the_nodes_of_a_deep_graph_are_refused_on_their_own():
    with pytest.raises(ModelError) as caught:
        require_readable(nested(DEEPEST_GRAPH).graph.node[0])
    assert caught.value.reason == TOO_DEEP
