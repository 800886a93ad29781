"""How large and how deep a model may be once its functions are put where they are called."""

import pytest

from extremum.errors import ModelError
from extremum.graph.load import DEEPEST, DEEPEST_GRAPH, MOST_NODES, require_bounded, require_shallow
from hostile_models import chain_of_functions, deep_type, doubling, long_chain, nested
from refusal import refusal


@pytest.mark.parametrize(
    "proto", [doubling(10), chain_of_functions(DEEPEST - 3), nested(DEEPEST_GRAPH - 1), long_chain(10)]
)
def test_what_stays_within_the_limits(proto):
    require_bounded(proto)


@pytest.mark.parametrize("count", [18, 30, 62])
def test_functions_that_double(count):
    with pytest.raises(ModelError) as caught:
        require_bounded(doubling(count))
    assert caught.value.reason == f"the functions of the model make more than {MOST_NODES} nodes where they are called"
    assert caught.value.remedy == "inline them, so that the model shows its size"


def test_depth_of_functions():
    assert refusal(ModelError, require_bounded, chain_of_functions(DEEPEST)) == (
        f"graphs and functions of the model stand more than {DEEPEST} deep inside each other"
    )


@pytest.mark.parametrize("depth", [DEEPEST_GRAPH, 64, 5000])
def test_depth_of_graphs(depth):
    message = f"graphs of the model stand more than {DEEPEST_GRAPH} deep inside each other"
    assert refusal(ModelError, require_bounded, nested(depth)) == message
    assert refusal(ModelError, require_shallow, nested(depth).graph.node) == message


def test_the_deepest_model_that_is_taken_can_be_serialised_and_read():
    proto = nested(DEEPEST_GRAPH - 1)
    assert proto.FromString(proto.SerializeToString()) == proto


def test_depth_of_types():
    assert (
        refusal(ModelError, require_bounded, deep_type(9))
        == "a type of the model is more than 8 types inside each other"
    )
    require_bounded(deep_type(8))
