"""docs/conformance.md shows the recorded run, and the run has found what is known about the runtimes."""

import json
from pathlib import Path

from extremum.conformance import Outcome, card, cases
from extremum.conformance.card import COLUMNS, REFUSALS, recorded, summarised
from extremum.conformance.case import VERSIONS

DOCS = Path(__file__).parents[1] / "docs"
RUN = json.loads((DOCS / "conformance.json").read_text(encoding="utf-8"))
RUNTIMES = {each.runtime: each for each in recorded(RUN)}


def test_the_page_shows_the_recorded_run():
    fresh = card.markdown(RUN, "charts/conformance.png", differences=False)
    assert (DOCS / "conformance.md").read_text(encoding="utf-8") == fresh, (
        "in docs: extremum conformance card conformance.json --tables --picture charts/NEW.png > conformance.md"
    )
    assert (DOCS / "charts" / "conformance.png").read_bytes().startswith(b"\x89PNG")
    # docs/conf.py adds the differences on the site.
    whole = card.markdown(RUN)
    for runtime in RUNTIMES.values():
        heading = f"\n## {runtime.title}\n"
        assert (heading in whole) == bool(runtime.kinds)
        assert heading not in fresh


def test_every_runtime_ran_every_case():
    suite = list(cases())
    for runtime in RUNTIMES.values():
        assert {version for version, _ in runtime.cells} == {str(row) for row in VERSIONS}
        assert runtime.counts().total() == len(suite)
        assert runtime.counts(element=REFUSALS).total() == sum(case.question.refused for case in suite)
    assert set(RUNTIMES) >= {"extremum", "extremum:onnxruntime", "onnxruntime", "onnx.reference", "openvino", "tract"}
    assert {element for runtime in RUNTIMES.values() for _, element in runtime.cells} == set(COLUMNS)
    assert summarised(RUN) == RUN, "the single cases are too large to keep"


def test_extremum_is_exact():
    assert set(RUNTIMES["extremum"].counts()) == {Outcome.EXACT}


def test_a_session_differs_only_in_the_element_types_that_it_adds():
    session = RUNTIMES["extremum:onnxruntime"]
    assert set(session.counts()) == {Outcome.EXACT, Outcome.ACCEPTED}
    assert {kind.topic for kind in session.kinds} == {"refusals"}
    assert {title for kind in session.kinds for title in kind.titles.split()} == {"element_type"}
