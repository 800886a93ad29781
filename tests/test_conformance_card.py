"""docs/conformance.md shows the recorded run, and the run has found what is known of the runtimes."""

import json
from pathlib import Path

import pytest

from extremum.conformance import Outcome, card, cases
from extremum.conformance.card import REFUSALS, recorded, summarised

ROOT = Path(__file__).parents[1]
RUN = json.loads((ROOT / "docs" / "conformance.json").read_text(encoding="utf-8"))
RUNTIMES = {each.runtime: each for each in recorded(RUN)}
TYPES = {"float16", "float32", "float64"}


def found(runtime, outcome, topic, operator):
    """The questions of a kind of difference, with versions and element types."""
    kinds = [each for each in RUNTIMES[runtime].kinds if (each.outcome, each.topic) == (outcome, topic)]
    (kind,) = (each for each in kinds if any(version.startswith(f"{operator}-") for version in each.where))
    return set(kind.titles), kind.where, kind


def test_the_page_shows_the_recorded_run():
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    fresh = card.markdown(RUN, "charts/conformance.png", differences=False)
    assert page == fresh, (
        "in docs: extremum conformance card conformance.json --tables --picture charts/NEW.png > conformance.md"
    )
    assert (ROOT / "docs" / "charts" / "conformance.png").read_bytes().startswith(b"\x89PNG")


def test_the_site_shows_the_differences_too():
    # docs/conf.py makes that page.
    tables, whole = (card.markdown(RUN, differences=each) for each in (False, True))
    for runtime in RUNTIMES.values():
        heading = f"\n## {runtime.runtime} {runtime.version}\n"
        assert (heading in whole) == bool(runtime.kinds)
        assert heading not in tables


def test_every_case_was_asked_of_every_runtime():
    suite = list(cases())
    for runtime in RUNTIMES.values():
        assert runtime.counts().total() == len(suite)
        assert runtime.counts(element=REFUSALS).total() == sum(case.question.refused for case in suite)
    assert set(RUNTIMES) >= {"extremum", "extremum:onnxruntime", "onnxruntime", "onnx.reference", "openvino", "tract"}


def test_the_picture_has_a_column_for_every_type_that_was_asked():
    assert {element for runtime in RUNTIMES.values() for _, element in runtime.cells} == set(card.column_names())


def test_only_what_is_needed_is_kept():
    assert summarised(RUN) == RUN
    assert (ROOT / "docs" / "conformance.json").stat().st_size < 250_000


@pytest.mark.parametrize("runtime", ["extremum", "extremum:onnxruntime"])
def test_extremum_is_exact(runtime):
    assert set(RUNTIMES[runtime].counts()) == {Outcome.EXACT}


def test_nan_in_onnxruntime_depends_on_the_rank():
    titles, where, kind = found("onnxruntime", Outcome.NAN, "nan", "ArgMax")
    assert {"middle_row", "last_row", "payload_row"} <= titles
    assert not any(title.endswith("rank_1") for title in titles)
    assert set(where["ArgMax-13"]) == TYPES
    assert not kind.specified


def test_hardmax_in_onnxruntime_gives_rows_of_zeros():
    titles, where, kind = found("onnxruntime", Outcome.NAN, "nan", "Hardmax")
    assert {"first_row", "all_row"} <= titles
    assert set(where) == {"Hardmax-1", "Hardmax-11", "Hardmax-13"}
    assert kind.detail == "float16[1, 5] [[0.0, 0.0, 0.0, 0.0, 0.0]]"


def test_what_onnxruntime_refuses():
    def refused(operator):
        _, where, _ = found("onnxruntime", Outcome.REFUSED, "", operator)
        return {version: set(elements) for version, elements in where.items()}

    assert refused("ArgMax")["ArgMax-13"] == {"int16", "uint16", "uint32", "uint64", "bfloat16"}
    assert refused("Max")["Max-1"] == TYPES
    assert refused("Max")["Max-13"] == {"int16", "uint16", "bfloat16"}
    assert refused("Hardmax")["Hardmax-13"] == {"bfloat16", "float64"}


def test_hardmax_in_the_reference_evaluator_is_that_of_13():
    for topic in ("coercion", "defaults"):
        _, where, kind = found("onnx.reference", Outcome.WRONG, topic, "Hardmax")
        assert where == {
            "Hardmax-1": ("float16", "float32", "float64"),
            "Hardmax-11": ("float16", "float32", "float64"),
        }
        assert kind.specified


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin", "Max", "Min"])
def test_nan_in_tract(operator):
    _, where, _ = found("tract", Outcome.NAN, "nan", operator)
    assert set(where[f"{operator}-13"]) == TYPES


def test_infinities_in_tract():
    titles, where, kind = found("tract", Outcome.WRONG, "infinities", "ArgMax")
    assert titles == {"lowest", "highest"}
    assert set(where["ArgMax-13"]) == TYPES
    assert kind.specified


@pytest.mark.parametrize("operator", ["Max", "ReduceMax"])
def test_int64_in_onnxruntime_is_compared_by_the_lower_halves(operator):
    titles, where, kind = found("onnxruntime", Outcome.WRONG, "limits", operator)
    assert titles == {"lower_32_bits"}
    assert where[f"{operator}-13"] == ("int64",)
    assert kind.specified


def test_zeros_in_tract():
    titles, where, kind = found("tract", Outcome.ZERO, "zeros", "Max")
    assert titles == {"minus_plus", "plus_minus"}
    assert set(where["Max-13"]) == TYPES
    assert not kind.specified


@pytest.mark.parametrize("operator", ["ArgMax", "Max"])
def test_integers_of_64_bits_go_through_32_in_openvino(operator):
    titles, where, kind = found("openvino", Outcome.WRONG, "limits", operator)
    assert {"beyond_32_bits", "beyond_double"} <= titles
    assert {"int64", "uint64"} <= set(where[f"{operator}-13"])
    assert kind.specified
