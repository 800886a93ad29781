"""NumPy's own tests of max, argmax, nanmax, maximum and the like, run on this package's functions instead.

Defines how a NumPy call maps to one of ours (docs/coming-from.md explains it to users), and which tests do not apply.
The pytest plugin below works with any installed NumPy, from 2.0 on, that includes its tests.
"""

import os
import sys

import ml_dtypes  # noqa: F401  Both add types to the functions that they find.
import numpy as np
import numpy._core._rational_tests
import pytest

import extremum as ex
from extremum.tensors import ELEMENT_TYPES

TESTS = [
    f"numpy.{module}::{name}"
    for module, names in {
        "_core.tests.test_multiarray": ("TestArgmaxArgminCommon", "TestArgmax", "TestArgmin", "TestMinMax"),
        "_core.tests.test_umath": ("TestMaximum", "TestMinimum", "TestFmax", "TestFmin", "TestMinMax"),
        "_core.tests.test_datetime": (
            "TestDateTime::test_datetime_minmax",
            "TestDateTime::test_datetime_maximum_reduce",
        ),
        "_core.tests.test_ufunc": (
            "TestUfunc::test_identityless_reduction",
            "TestUfunc::test_initial_reduction",
            "TestUfunc::test_reduce_zero_axis",
            "TestUfunc::test_reduction_where_initial_needed",
            "TestUfunc::test_reduction_with_where_and_initial",
            "TestUfunc::test_scalar_reduction",
        ),
        "_core.tests.test_numeric": (
            "TestClip::test_clip_value_min_max_flip",
            "TestClip::test_clip_scalar_nan_propagation",
            "TestClip::test_NaT_propagation",
        ),
        "lib.tests.test_nanfunctions": (
            "TestNanFunctions_MinMax",
            "TestNanFunctions_ArgminArgmax",
            "TestNanFunctions_NumberTypes",
        ),
        "lib.tests.test_shape_base": ("TestTakeAlongAxis", "TestPutAlongAxis"),
    }.items()
    for name in names
]

# Tests that do not apply, by the end of their names; each of them has to fail.
OTHERWISE = {
    "TestUfunc::test_initial_reduction": "there is no `initial`, only a default for nothing",
    "TestUfunc::test_reduction_with_where_and_initial": "there is no `initial`, only a default for nothing",
    "TestUfunc::test_scalar_reduction": "an array without dimensions has no axis 0",
    "TestMinMax::test_scalar": "an array without dimensions has no axis 0",
    "TestClip::test_NaT_propagation": "times compare with times, not with integers",
    "TestNanFunctions_MinMax::test_allnans": "a slice of NaN alone is an error or the default, no warning",
    "TestNanFunctions_MinMax::test_subclass": "the result is a plain array, whatever class the input has",
    "TestNanFunctions_MinMax::test_initial": "there is no `initial`, only a default for nothing",
    "TestNanFunctions_MinMax::test_where": "there is no `initial`",
    "TestNanFunctions_ArgminArgmax::test_allnans": "the error has other words, and names the slice",
    "TestNanFunctions_ArgminArgmax::test_empty": "the error has other words",
    "TestNanFunctions_ArgminArgmax::test_subclass": "the result is a plain array, whatever class the input has",
}
# How many calls this package answered, and how many NumPy answered because only NumPy has the element type.
calls = {"ours": 0, "theirs": 0}
# Whether one of our functions is running: its calls of NumPy reach NumPy's own functions.
running = False


def is_ours(x):
    """Whether the elements are of a type that this package takes: not complex, objects, text or long double."""
    return np.asarray(x).dtype.name in {each.name for each in ELEMENT_TYPES} or np.asarray(x).dtype.kind in "mM"


def replaced(theirs, function, operands=1, **policy):
    """A replacement for a NumPy function: ours, but NumPy's own for other element types."""

    def call(*arguments, **options):
        global running
        if running or not all(map(is_ours, arguments[:operands])):
            calls["theirs"] += not running
            return theirs(*arguments, **options)
        calls["ours"] += 1
        if operands == 1:
            # NumPy takes axis and out as positional arguments too.
            options.update(zip(("axis", "out"), arguments[1:], strict=False))
            arguments = arguments[:1]
        running = True
        try:
            return function(*arguments, **options, **policy)
        finally:
            running = False

    call.__name__ = theirs.__name__
    return call


def reduction(theirs, function, **policy):
    """The reduction of a ufunc, which runs along the first axis by default."""
    call = replaced(theirs.reduce, function, **policy)

    def reduce(a, axis=0, dtype=None, out=None, **options):
        assert dtype is None
        return call(a, axis=axis, out=out, **options)

    return reduce


def pytest_collection_modifyitems(items):
    for item in items:
        name = item.nodeid.partition("::")[2].partition("[")[0]
        # NumPy's own functions answer for long double and complex numbers.
        foreign = hasattr(item, "callspec") and item.callspec.params.get("dtype", "") in tuple("gFDG")
        if name in OTHERWISE and not foreign:
            item.add_marker(pytest.mark.xfail(reason=OTHERWISE[name], strict=True))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"{calls['ours']:,} calls answered by extremum, {calls['theirs']:,} by NumPy")


OMIT = {"nan_policy": "omit"}
REDUCTIONS = {"max": ex.max, "amax": ex.max, "min": ex.min, "amin": ex.min, "argmax": ex.argmax, "argmin": ex.argmin}
OMITTING = {"nanmax": ex.max, "nanmin": ex.min, "nanargmax": ex.argmax, "nanargmin": ex.argmin}
ELEMENTWISE = {
    "maximum": (ex.maximum, ex.max, {}),
    "minimum": (ex.minimum, ex.min, {}),
    "fmax": (ex.maximum, ex.max, OMIT),
    "fmin": (ex.minimum, ex.min, OMIT),
}
SUBSTITUTES = {name: replaced(getattr(np, name), function) for name, function in REDUCTIONS.items()}
SUBSTITUTES |= {name: replaced(getattr(np, name), function, **OMIT) for name, function in OMITTING.items()}
for name, (function, of_axis, policy) in ELEMENTWISE.items():
    SUBSTITUTES[name] = replaced(getattr(np, name), function, operands=2, **policy)
    # This package has no identity and no accumulate.
    SUBSTITUTES[name].identity = None
    SUBSTITUTES[name].accumulate = getattr(np, name).accumulate
    SUBSTITUTES[name].reduce = reduction(getattr(np, name), of_axis, **policy)
vars(np).update(SUBSTITUTES)


if __name__ == "__main__":
    # Without this repository's settings, which turn warnings into errors.
    words = ["-q", "-c", os.devnull, "-p", "no:cacheprovider", "-W", "ignore", "--pyargs", *TESTS]
    sys.exit(pytest.main([*words, *sys.argv[1:]], plugins=[sys.modules[__name__]]))
