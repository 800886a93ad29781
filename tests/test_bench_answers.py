"""benchmarks/answers.py: what it measures, that answers are compared before, and what it prints."""

import re
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

import extremum as ex
from benchmarks import answers
from benchmarks.answers import Case

SMALL = [Case(element, 0, layout) for element, layout in product(answers.TYPES, answers.LAYOUTS)]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    shapes = [(600,), (20, 20), (300, 2), (200, 3), (3, 2000), (5, 40), (20, 10), (50, 4), (2, 100, 200)]
    layouts = zip(answers.LAYOUTS.items(), shapes, strict=True)
    axes = {name: (lambda _, shape=shape: shape, axis) for (name, (_, axis)), shape in layouts}
    monkeypatch.setattr(answers, "LAYOUTS", axes)
    monkeypatch.setattr(answers, "CASES", SMALL[:2])


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_every_contender_answers_rightly(case):
    names = set(answers.contenders(case))
    assert {"argmax", "max", "max, index", "minmax", "where, half"} < names
    assert ("omit, 5 % NaN" in names) == case.element.startswith("float")


def test_a_wrong_answer_is_not_timed(monkeypatch):
    monkeypatch.setattr(ex, "max", lambda *arguments, **_: np.max(*arguments[:2]) + 1)
    with pytest.raises(AssertionError, match=r"float32 0 MB, columns: max"):
        answers.contenders(SMALL[1])


def test_a_demand_is_met_from_one_side():
    least, most = (next(each for each in answers.DEMANDS if each.least is side) for side in (True, False))
    assert (least.met(least.limit + 1), least.met(least.limit - 0.1)) == (True, False)
    assert (most.met(most.limit + 1), most.met(most.limit - 0.1)) == (False, True)


def test_what_is_missed_stands_beside_bare_loops(monkeypatch):
    monkeypatch.setattr(answers, "DEMANDS", [each._replace(limit=0) for each in answers.DEMANDS if not each.least])
    figures = list(answers.measure(SMALL[1], 0.01))
    assert {figure.demand.words for figure in figures} == {each.words for each in answers.DEMANDS}
    assert all(figure.bound > 0 for figure in figures)


@pytest.mark.parametrize("ratio", [1.0, 1.19, 1.2, 1.25, 1.5])
def test_a_figure_is_met_where_bare_loops_are_near(ratio):
    demand = next(each for each in answers.DEMANDS if each.limit == 1.2)
    assert answers.Figure(demand, "minmax", ratio, 1.15).met == (ratio <= 1.25)
    least = demand._replace(least=True)
    assert answers.Figure(least, "minmax", 1 / ratio, 0.9).met == (ratio <= 1.2)


def test_the_command_prints_a_row_for_each_case():
    result = CliRunner().invoke(answers.answers, ["--filter", "columns", "--seconds", "0.01", "--every"])
    assert result.exit_code == 0, result.output
    assert re.findall(r"^\| (float32.*?) \|", result.output, re.MULTILINE) == ["float32 0 MB, columns"]
    assert "float32 0 MB, columns: where, half: where / all" in result.output


def test_small_calls_are_timed():
    assert all(seconds > 0 for seconds in answers.cost_of_calls(0.01).values())
