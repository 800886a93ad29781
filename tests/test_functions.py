"""The table of the array functions says what they are, and every list of functions follows it."""

from importlib import import_module
from inspect import isbuiltin, signature

import numpy as np
import pytest

import extremum
from extremum.functions import FUNCTIONS, Kind

# Native functions that take no array.
SETTINGS = {"get_kept_memory", "get_num_threads", "set_kept_memory", "set_num_threads"}
X = np.array([3.0, 1.0, 4.0, 2.0])


def called(row):
    """Return the results of a function by their names."""
    arguments = {"": (), "k": (2,), "y": (2.0,)}[row.argument]
    result = getattr(extremum, row.name)(X, *arguments)
    return result._asdict() if isinstance(result, tuple) else {row.name: result}


def test_the_table_has_the_public_functions_that_take_arrays():
    native = {name for name in extremum.__all__ if isbuiltin(getattr(extremum, name))}
    assert set(FUNCTIONS) == native - SETTINGS


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_row_says_what_its_function_returns(row):
    results = called(row)
    assert tuple(results) == row.results
    assert row.main_field in ("", *results)
    if row.kind in (Kind.ONE_HOT, Kind.ELEMENTWISE):
        assert all(np.shape(each) == X.shape for each in results.values())
    if row.kind is Kind.VALUE:
        assert list(results.values()) == [X.max() if largest else X.min() for largest in row.largest]
    if row.kind is Kind.INDEX:
        (largest,) = row.largest
        assert list(results.values()) == [X.argmax() if largest else X.argmin()]


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_one_kind_have_the_same_options(row):
    def options(name):
        return {p.name for p in signature(getattr(extremum, name)).parameters.values() if p.kind is p.KEYWORD_ONLY}

    like = next(each for each in FUNCTIONS.values() if each.kind is row.kind)
    # A function with several results has no array to write them to.
    assert options(row.name) == options(like.name) - ({"out"} if row.fields else set())


@pytest.mark.parametrize("container", ["dask", "xarray"])
def test_a_container_has_every_function(container):
    pytest.importorskip(container)
    assert set(FUNCTIONS) <= set(import_module(f"extremum.{container}").__all__)
