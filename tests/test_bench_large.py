"""benchmarks/large.py: what it measures, and the chart that it draws."""

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da

import extremum.dask as ed
from benchmarks import large


def test_a_case_is_timed_with_both(tmp_path):
    rows = list(
        large.matrix(1, [((40, 30), (10, 7), "float32", 0, "max"), ((40,), (3,), "uint8", None, "argmax, NaN omitted")])
    )
    assert [row[5] for row in rows] == ["synchronous", "threads"] * 2
    assert all(float(row[6]) > 0 for row in rows)


def test_the_cost_of_a_chunk_is_drawn_and_printed(tmp_path, monkeypatch, capsys):
    costs = list(large.chunk_costs((10, 20)))
    assert [cost.chunks for cost in costs] == [10, 20]
    monkeypatch.setattr(large, "chunk_costs", lambda: costs)
    large.main(["chunks", str(tmp_path / "chunks.png")])
    assert (tmp_path / "chunks.png").read_bytes().startswith(b"\x89PNG")
    row = capsys.readouterr().out.strip().splitlines()[-1].strip("| ").split(" | ")
    cost = costs[-1]
    assert row == [
        "20",
        *(f"{us:.0f}" for us in (cost.ours, cost.idle, cost.ours - cost.idle, cost.graph, cost.theirs)),
    ]


def test_a_graph_that_does_nothing_has_the_same_tasks():
    lazy = ed.max(da.zeros((40,), chunks=2), split_every=4)
    idle = large._idle(lazy)
    ours, theirs = lazy.__dask_graph__(), idle.__dask_graph__()
    assert set(ours) == set(theirs)
    assert ours.get_all_dependencies() == theirs.get_all_dependencies()
    assert idle.compute(scheduler="synchronous") == 0


@pytest.mark.parametrize("name", large.NAMES)
def test_files_are_timed_beside_a_loop(tmp_path, name):
    large.write_stack(tmp_path / name, (4, 30, 20))
    assert 10_000_000 < large.command_peak(tmp_path / name, 0, tmp_path / "y.npy") < 1_000_000_000
    for axis in range(3):
        mine, theirs = large.streamed(tmp_path / name, axis), large.looped(tmp_path / name, axis)
        np.testing.assert_array_equal(mine, theirs)
        assert mine.shape == tuple(np.delete((4, 30, 20), axis))
