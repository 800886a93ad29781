"""The graphs of the array functions on Dask arrays: how many tasks they have, and how those are named."""

import sys

import dask.array as da
import pytest

import extremum.dask as ed


@pytest.mark.parametrize("chunks", [(1, 9), (9, 1), (3, 4), (60, 60), (1, 1)])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_there_are_no_more_tasks_than_dask_has(chunks, axis):
    d = da.zeros((60, 60), chunks=chunks)
    for ours, theirs in ((ed.argmax, da.argmax), (ed.argmin, da.argmin), (ed.max, da.max)):
        assert len(ours(d, axis).__dask_graph__()) <= len(theirs(d, axis).__dask_graph__())


def test_equal_calls_have_equal_names_and_others_have_not():
    d = da.zeros((6, 6), chunks=3)
    calls = [
        {},
        {"axis": 0},
        {"axis": 0, "keepdims": True},
        {"select_last_index": True},
        {"nan_policy": "omit"},
        {"default": 1.0},
        {"default": 1.0 + 2**-40},
        {"where": d > 0},
        {"return_index": True},
    ]
    names = [getattr(found := ed.max(d, **call), "name", None) or found.values.name for call in calls]
    assert len(set(names)) == len(calls)
    again = [getattr(found := ed.max(d, **call), "name", None) or found.values.name for call in calls]
    assert names == again


def test_the_graph_of_many_chunks_is_made_in_time_that_grows_with_them():
    """Counted in calls of Python's own functions, which no other load changes."""

    def events(count):
        d = da.zeros((count,), chunks=1)
        total = [0]

        def note(frame, event, _):
            total[0] += 1

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            ed.argmax(d)
        finally:
            sys.setprofile(before)
        return total[0]

    events(10)
    small, large = events(1000), events(4000)
    assert large < 4.5 * small
