"""datetime64 and timedelta64: compared as the integers they are stored as, and NaT is their NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum as ex
from agreement import assert_identical
from extremum import reference
from extremum.errors import ElementTypeError
from extremum.operations import Order, Tie
from law_cases import arrays_and_axes
from refusal import refusal

ENDS = {Order.MAX: (ex.max, ex.argmax), Order.MIN: (ex.min, ex.argmin)}
LIMITS = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max, 0])


@st.composite
def times(draw):
    """An array of times in any layout, with NaT and the limits of the type, and some of its axes."""
    x, axes = draw(arrays_and_axes(dtypes=st.just(np.dtype(np.int64))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if x.flags.writeable and x.base is None:
        x[...] = np.where(rng.random(x.shape) < 0.3, rng.choice(LIMITS, x.shape), x)
    unit = draw(st.sampled_from(["M8[D]", "m8[us]", ">M8[s]"]))
    return x.astype(">i8").view(unit) if unit[0] == ">" else x.view(unit), axes


@given(times(), st.sampled_from(Order), st.sampled_from(Tie), st.booleans())
def test_reductions_of_times(case, order, tie, omit):
    x, axes = case
    plain = x.astype(x.dtype.newbyteorder("="))
    values, indices = (each.squeeze(axes) for each in reference.find(plain, order, axes, tie, omit=omit))
    extreme, place = ENDS[order]
    options = {"axis": axes, "select_last_index": tie is Tie.LAST, "nan_policy": "omit" if omit else "propagate"}
    missing = np.array("NaT", plain.dtype)
    found = extreme(x, **options, return_index=True, default=missing)
    assert_identical(found.indices, indices)
    assert_identical(found.values, np.where(indices == -1, missing, values))
    assert_identical(place(x, **options, default=-1), indices)
    if not omit:
        assert_identical(place(x, **options), indices)


@given(times(), st.booleans())
def test_maximum_and_minimum_of_times(case, omit):
    x, _ = case
    y = np.roll(x, 1)
    policy = "omit" if omit else "propagate"
    for ours, numpys in ((ex.maximum, np.fmax if omit else np.maximum), (ex.minimum, np.fmin if omit else np.minimum)):
        expected = numpys(x, y)
        assert_identical(ours(x, y, nan_policy=policy), expected.astype(expected.dtype.newbyteorder("=")))


def test_units_meet_in_the_finer_one():
    days, seconds = np.array(["2020-01-02"], "M8[D]"), np.array(["2020-01-02T00:00:01"], "M8[s]")
    assert_identical(ex.maximum(days, seconds), seconds)


def test_hardmax_of_times_is_of_integers():
    assert_identical(ex.hardmax(np.array([3, 9, 9], "m8[s]")), np.array([0, 1, 0]))


@pytest.mark.parametrize("other", [np.zeros(1), np.zeros(1, "m8[s]"), 3])
def test_times_and_others_are_refused(other):
    assert "times compare with times of their kind" in refusal(
        ElementTypeError, ex.maximum, np.zeros(1, "M8[s]"), other
    )


def test_a_default_is_a_time():
    nothing = np.array(["NaT"], "M8[s]")
    assert ex.max(nothing, nan_policy="omit", default=np.datetime64("2020-01-01")) == np.datetime64("2020-01-01")
    text = "max: default is 5, which is no element of datetime64[s]"
    assert refusal(ElementTypeError, ex.max, nothing, nan_policy="omit", default=5) == text
