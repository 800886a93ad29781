"""Laws about the ways in: an array function, an ONNX node and a DirectML operator do what the core operation does."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum
import onnx_cases
from agreement import assert_same_bits
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from law_cases import Laid, arrays_and_axes, operands, oracle
from layouts import LAYOUTS
from strategies import index_types
from test_directml_dispatch import (
    ELEMENTS,
    KINDS,
    assert_agrees,
    random_element_wise,
    random_hardmax,
    random_reductions,
)

SEEDS = st.integers(0, 2**32 - 1)
ARRAY_FUNCTIONS = {Order.MAX: (extremum.argmax, extremum.maximum), Order.MIN: (extremum.argmin, extremum.minimum)}


@given(arrays_and_axes(), st.data())
def test_array_functions(case, data):
    """Axes counted from either end, listed or alone or all of them; defaults given or left out."""
    x, axes = case
    memory = Laid(x)
    spelt = tuple(axis - x.ndim * data.draw(st.integers(0, 1)) for axis in axes)
    if len(axes) == 1 and data.draw(st.booleans()):
        spelt = spelt[0]
    if len(axes) == x.ndim and data.draw(st.booleans()):
        spelt = None
    index = data.draw(st.sampled_from(index_types(math.prod(x.shape[axis] for axis in axes))))
    keepdims, last = data.draw(st.tuples(st.booleans(), st.booleans()))
    options = {"keepdims": keepdims, "select_last_index": last, "dtype": index}
    defaults = {"keepdims": False, "select_last_index": False, "dtype": np.int64}
    given = {name: value for name, value in options.items() if value != defaults[name] or data.draw(st.booleans())}
    for order, (find, _) in ARRAY_FUNCTIONS.items():
        operation = ArgReduce(order, axes, keepdims, Tie.LAST if last else Tie.FIRST, index)
        assert_same_bits(find(x, spelt, **given), oracle(operation, x))
    if spelt is not None:
        assert_same_bits(extremum.hardmax(x, spelt), oracle(OneHot(axes), x))
    assert memory.untouched


@given(operands())
def test_elementwise_array_functions(arrays):
    memory = [Laid(x) for x in arrays]
    for order, (_, pick) in ARRAY_FUNCTIONS.items():
        assert_same_bits(pick(*arrays), oracle(Extremum(order), *arrays))
    assert all(each.untouched for each in memory)


@given(st.sampled_from(onnx_cases.ACCEPTED), SEEDS, st.lists(st.sampled_from(LAYOUTS), min_size=4, max_size=4))
def test_onnx_nodes_of_every_version(version, seed, layouts):
    row, element = version
    rng = np.random.default_rng(seed)
    attributes, inputs = onnx_cases.question(row, rng, element.dtype)
    # An input that lists axes means what it holds: broadcast, it would name one axis several times.
    tensors, listed = inputs[: row.input.maximum], inputs[row.input.maximum :]
    laid_out = [*(layout(x, rng) for layout, x in zip(layouts, tensors, strict=False)), *listed]
    expected = onnx_cases.answer(row, attributes, laid_out)
    memory = [Laid(x) for x in laid_out]
    assert_same_bits(onnx_cases.run(row, attributes, laid_out), expected, f"{row} {attributes} of {laid_out!r}")
    assert all(each.untouched for each in memory)


@pytest.mark.parametrize("kind", KINDS)
@given(st.sampled_from(ELEMENTS), SEEDS)
def test_directml_operators(kind, data_type, seed):
    rng = np.random.default_rng(seed)
    hardmax = [random_hardmax] if data_type.name in ("FLOAT32", "FLOAT16") else []
    for questions in (random_reductions, random_element_wise, *hardmax):
        for desc, operation in questions(rng, data_type):
            assert_agrees(rng, KINDS[kind], desc, operation)
