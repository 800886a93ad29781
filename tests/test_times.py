"""datetime64 and timedelta64: compared as the integers they are stored as, and NaT is their NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum as ex
from agreement import assert_extremes, assert_identical
from extremum.errors import ArgumentError, ElementTypeError, ExtremumError
from extremum.operations import Order
from law_cases import arrays_and_axes, search
from refusal import error_of, refusal

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


@given(times(), st.sampled_from(["propagate", "omit"]))
def test_reductions_of_times(case, policy):
    x, axes = case
    assert_extremes(x, axes, policy=policy, find=search)


@given(times(), st.booleans())
def test_maximum_and_minimum_of_times(case, omit):
    x, _ = case
    y = np.roll(x, 1)
    policy = "omit" if omit else "propagate"
    for ours, numpys in ((ex.maximum, np.fmax if omit else np.maximum), (ex.minimum, np.fmin if omit else np.minimum)):
        expected = numpys(x, y)
        assert_identical(ours(x, y, nan_policy=policy), expected.astype(expected.dtype.newbyteorder("=")))


def test_units_meet_in_the_finer_one():
    days = np.array(["2020-01-02"], "M8[D]")
    seconds = np.array(["2020-01-02T00:00:01"], "M8[s]")
    assert_identical(ex.maximum(days, seconds), seconds)
    # For times, the ones are integers.
    assert_identical(ex.hardmax(np.array([3, 9, 9], "m8[s]")), np.array([0, 1, 0]))


FAR = {
    "years": (np.array(["2500"], "M8[Y]"), np.array(["2000"], "M8[ns]"), "the time 2500 does not fit datetime64[ns]"),
    "long ago": (np.array(["-9999"], "M8[Y]"), np.array([0], "M8[us]").astype("M8[ns]"), "the time -9999 does not fit"),
    "seconds": (np.array([2**40], "m8[s]"), np.array([1], "m8[ns]"), "the time 1099511627776 seconds does not fit"),
    "foreign bytes": (np.array(["2500"], ">M8[D]"), np.array(["2000"], ">M8[ns]"), "the time 2500-01-01 does not fit"),
}


@pytest.mark.parametrize("name", FAR)
def test_units_that_overflow_are_refused(name):
    far, near, text = FAR[name]
    for function in (ex.maximum, ex.minimum):
        for operands in ((far, near), (near, far), (near, near, far[0])):
            error = error_of(ArgumentError, function, *operands)
            assert error.reason.startswith(text)
            assert error.where == function.__name__
    # NumPy 2.5 cannot make an array from some of these lists.
    texts = (text, "elements of type object") if np.lib.NumpyVersion(np.__version__) >= "2.5.0" else text
    for function, rows in ((ex.max, [near[0], far[0]]), (ex.argmax, [[near], [far]])):
        assert error_of(ExtremumError, function, rows).reason.startswith(texts)
    nothing = np.array(["NaT"], near.dtype)
    reason = refusal(ArgumentError, ex.max, nothing, nan_policy="omit", default=far[0])
    assert reason == f"max: default={far[0]} does not fit {near.dtype.newbyteorder('=')}"


def test_units_without_a_common_one_are_refused():
    text = "maximum: operands of datetime64[Y] and datetime64[as] have no common type"
    assert refusal(ElementTypeError, ex.maximum, np.zeros(1, "M8[Y]"), np.zeros(1, "M8[as]")) == text


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=4), st.sampled_from(["D", "s", "ms", "Y"]))
def test_a_coarse_unit_is_exact_or_refused(counts, unit):
    """Python's integers do not overflow, so they show what fits."""
    far = np.array(counts, f"M8[{unit}]")
    near = np.zeros(len(counts), "M8[ns]")
    if unit == "Y":
        fits = all(-292 <= count <= 291 for count in counts)
        edge = any(count in (-293, -292, 292) for count in counts)
    else:
        factor = {"D": 86_400_000_000_000, "s": 10**9, "ms": 10**6}[unit]
        fits = all(-(2**63) < count * factor < 2**63 for count in counts)
        edge = False
    if edge:
        return
    if fits:
        expected = np.maximum(far.astype("M8[ns]"), near)
        assert_identical(ex.maximum(far, near), expected)
    else:
        assert "does not fit datetime64[ns]" in refusal(ArgumentError, ex.maximum, far, near)


@pytest.mark.parametrize("other", [np.zeros(1), np.zeros(1, "m8[s]"), 3])
def test_times_and_others_are_refused(other):
    assert "times compare with times of their kind" in refusal(
        ElementTypeError, ex.maximum, np.zeros(1, "M8[s]"), other
    )


def test_a_default_is_a_time():
    nothing = np.array(["NaT"], "M8[s]")
    assert ex.max(nothing, nan_policy="omit", default=np.datetime64("2020-01-01")) == np.datetime64("2020-01-01")
    text = "max: default is 5, which is not an element of datetime64[s]"
    assert refusal(ElementTypeError, ex.max, nothing, nan_policy="omit", default=5) == text
