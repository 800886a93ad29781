"""benchmarks/scaling.py: what it measures, that answers are compared before, and what it prints."""

import os
import re

import numpy as np
import pytest
from click.testing import CliRunner

import extremum as ex
from benchmarks import scaling


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(scaling, "SIZES", (8, 64))


def test_numbers_of_threads_double_up_to_the_processors():
    assert [scaling.numbers(each) for each in (1, 2, 3, 8, 12)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 4, 8],
        [1, 2, 4, 8, 12],
    ]


@pytest.mark.parametrize("kind", scaling.KINDS)
def test_every_kind_is_measured(set_threads, kind):
    x = np.arange(16384, dtype=np.float32)
    call = scaling.KINDS[kind](x)
    set_threads(1)
    one = np.array(call())
    set_threads(3)
    np.testing.assert_array_equal(call(), one)


def test_a_wrong_answer_is_not_timed(set_threads, monkeypatch):
    set_threads(1)
    monkeypatch.setattr(ex, "argmax", lambda *_: ex.get_num_threads())
    with pytest.raises(AssertionError, match="argmax of everything, 8 KB, 2 threads"):
        scaling._speeds("argmax of everything", 8, 2, 0.01)


def test_the_command_prints_a_row_for_each_kind(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    before = ex.get_num_threads()
    result = CliRunner().invoke(scaling.scaling, ["--filter", "maximum", "--seconds", "0.001"])
    assert result.exit_code == 0, result.output
    rows = re.findall(r"^\| (\w.*?) \|", result.output, re.MULTILINE)
    kinds = ["bare loop", "maximum", "maximum with a row"]
    assert rows == ["2 threads over one", *kinds, "2 threads over the bare loop", *kinds]
    assert ex.get_num_threads() == before
