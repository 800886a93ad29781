"""benchmarks/large.py: what it measures, and the chart that it draws."""

import numpy as np
import pytest

pytest.importorskip("distributed")

from benchmarks import large
from extremum.large.source import open_source


def test_a_case_is_timed_with_both(tmp_path):
    rows = list(large.matrix(1, [((40, 30), (10, 7), "float32", 0), ((40,), (3,), "uint8", None)]))
    assert [row[4] for row in rows] == ["synchronous", "threads"] * 2
    assert all(float(row[5]) > 0 for row in rows)


def test_the_cost_of_a_chunk_is_drawn(tmp_path):
    costs = list(large.chunk_costs((10, 20)))
    assert [cost[0] for cost in costs] == [10, 20]
    large.draw(costs, tmp_path / "chunks.png")
    assert (tmp_path / "chunks.png").read_bytes().startswith(b"\x89PNG")


def test_reading_alone_reads_it_all(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 300)))
    large.read_only(open_source(str(tmp_path / "x.npy")), 1_000_000)
