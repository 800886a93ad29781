"""benchmarks/large.py: what it measures, and the chart that it draws."""

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da

import extremum.dask as ed
from benchmarks import large
from extremum.large.source import open_source


def test_a_case_is_timed_with_both(tmp_path):
    rows = list(large.matrix(1, [((40, 30), (10, 7), "float32", 0), ((40,), (3,), "uint8", None)]))
    assert [row[4] for row in rows] == ["synchronous", "threads"] * 2
    assert all(float(row[5]) > 0 for row in rows)


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


def test_reading_alone_reads_it_all(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 300)))
    large.read_only(open_source(str(tmp_path / "x.npy")), 1_000_000)
