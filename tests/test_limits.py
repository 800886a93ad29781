"""How large and how deep a model may be once its functions are put where they are called."""

import pytest

from extremum.errors import ModelError
from extremum.graph.limits import DEEPEST, MOST_NODES, require_bounded
from hostile_models import chain_of_functions, doubling, long_chain, nested
from refusal import refusal


@pytest.mark.parametrize("proto", [doubling(10), chain_of_functions(DEEPEST - 3), nested(DEEPEST - 2), long_chain(10)])
def test_what_stays_within_the_limits(proto):
    require_bounded(proto)


@pytest.mark.parametrize("count", [18, 30, 62])
def test_functions_that_double(count):
    with pytest.raises(ModelError) as caught:
        require_bounded(doubling(count))
    assert caught.value.reason == f"the functions of the model make more than {MOST_NODES} nodes where they are called"
    assert caught.value.remedy == "inline them, so that the model shows its size"


@pytest.mark.parametrize("proto", [chain_of_functions(DEEPEST), nested(DEEPEST), nested(5000)])
def test_depth(proto):
    assert refusal(ModelError, require_bounded, proto) == (
        f"graphs and functions of the model stand more than {DEEPEST} deep inside each other"
    )
