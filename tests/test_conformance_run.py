"""Running the suite in runtimes: how answers are judged, what a crash or a hang costs, and the commands."""

import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import commands
from extremum import runtimes
from extremum.conformance import Outcome, Selection, card, cases, run
from extremum.conformance.card import record, recorded
from extremum.errors import ArgumentError, InputError
from extremum.operations import results
from extremum.runtimes.comparison import compare
from hostile_runtimes import make_known
from refusal import refusal
from stock import FINDS_NAN_ALONG_A_VECTOR

TIES = Selection(operators=["ArgMax"], versions=[13], elements=["int8"], topics=["ties"])


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)


def marks(*places):
    """An output of Hardmax with a value at each of these places."""
    y = np.zeros((3, 4), np.float32)
    for row, column, value in places:
        y[row, column] = value
    return y


@pytest.mark.parametrize(
    ("name", "change", "outcome"),
    [
        ("argmax_13_float32_ties_rows", lambda y: y, Outcome.EXACT),
        ("argmax_13_float32_ties_rows", lambda y: y.astype(np.int32), Outcome.TYPE),
        ("argmax_13_float32_ties_rows", lambda y: y[:, 0], Outcome.SHAPE),
        ("argmax_13_float32_ties_rows", lambda y: y + np.array([[1], [3], [1]]), Outcome.TIE),
        ("argmax_13_float32_ties_rows", lambda y: y * 0, Outcome.WRONG),
        ("argmax_13_float32_ties_rows", lambda y: y[:2], Outcome.WRONG),
        ("argmax_13_float32_zeros_minus_plus", lambda y: y + 1, Outcome.ZERO),
        ("argmax_13_float32_nan_middle_row", lambda y: y - 1, Outcome.NAN),
        ("argmax_13_float32_refusals_axis_2", lambda y: np.zeros(1), Outcome.ACCEPTED),
        ("max_13_float32_zeros_minus_plus", lambda y: -y, Outcome.ZERO),
        ("max_13_float32_zeros_minus_plus", lambda y: y + 1, Outcome.WRONG),
        ("max_13_float32_zeros_minus_plus", lambda y: np.full(y.shape, "text"), Outcome.WRONG),
        ("topk_11_int8_unsorted_1_distinct", lambda y, _: (np.full(y.shape, None),) * 2, Outcome.WRONG),
        ("max_13_float32_nan_first", lambda y: np.copysign(y, -1, where=np.isnan(y), out=y), Outcome.EXACT),
        ("max_13_float32_nan_first", np.zeros_like, Outcome.NAN),
        # A signalling NaN gives no warning.
        ("max_13_float32_nan_first", lambda y: np.full(5, 0x7FA00000, np.uint32).view(np.float32), Outcome.NAN),
        ("max_13_float32_nan_first", lambda y: np.full(5, 0x7FA00000, np.uint32).view(y.dtype)[:4], Outcome.NAN),
        ("hardmax_13_float32_ties_rows", lambda y: marks((0, 1, 1), (0, 2, 1), (1, 0, 1), (2, 0, 1)), Outcome.WRONG),
        ("hardmax_13_float32_ties_rows", lambda y: marks((0, 2, 1), (1, 3, 1), (2, 3, 1)), Outcome.TIE),
        ("hardmax_13_float32_ties_rows", lambda y: marks((0, 2, 2), (1, 3, 2), (2, 3, 2)), Outcome.WRONG),
    ],
)
def test_how_an_answer_differs(name, change, outcome):
    (case,) = cases(Selection(names=[name]))
    assert compare(case.question, case.expected(), results(change(*case.expected() or [None]))) is outcome


@pytest.mark.parametrize(
    ("runtime", "limit", "rows", "others"),
    [
        ("hostile:segfault", 30, (Outcome.CRASHED, "SIGSEGV"), (Outcome.EXACT, "")),
        ("hostile:hang", 1, (Outcome.TIMED_OUT, "no answer in 1 s"), (Outcome.EXACT, "")),
        ("hostile:refuse", 30, (Outcome.REFUSED, "RuntimeError: not"), (Outcome.REFUSED, "RuntimeError: not")),
        ("hostile:nothing", 30, (Outcome.WRONG, "0 outputs"), (Outcome.WRONG, "0 outputs")),
    ],
)
def test_a_crash_or_a_hang_costs_one_case_and_nothing_is_printed(hostile, capfd, runtime, limit, rows, others):
    answers = run(runtime, cases(TIES), limit=limit)
    outcomes = {result.case.question.title: (result.outcome, result.detail) for result in answers.results}
    assert outcomes.pop("rows") == rows
    assert set(outcomes.values()) == {others}
    assert answers.version == "1.0"
    assert all(result.conforms for result in answers.results) == (rows[0] is Outcome.REFUSED)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("runtime", "known"),
    [
        (
            "onnx.reference",
            {
                "hardmax_11_float32_coercion_rank_3_axis_1": Outcome.WRONG,
                "hardmax_1_float32_defaults_rank_3": Outcome.WRONG,
                "hardmax_13_float32_defaults_rank_3": Outcome.EXACT,
            },
        ),
        (
            "onnxruntime",
            {
                "argmax_13_float32_nan_middle_row": Outcome.NAN,
                "argmax_13_float32_nan_middle_rank_1": Outcome.EXACT if FINDS_NAN_ALONG_A_VECTOR else Outcome.NAN,
                "hardmax_13_float32_nan_all_row": Outcome.NAN,
                "argmax_13_uint16_plain_axis_0": Outcome.REFUSED,
                "max_1_float32_plain_two": Outcome.REFUSED,
            },
        ),
    ],
    ids=["onnx.reference", "onnxruntime"],
)
def test_known_differences_are_found(in_process, runtime, known):
    results = run(runtime, cases(Selection(names=known))).results
    assert {result.case.name: result.outcome for result in results} == known


def test_runtimes_by_name(hostile):
    assert runtimes.find("hostile:hang").version == "1.0"
    assert {"extremum", "onnxruntime", "onnx.reference", "hostile", "absent"} <= set(runtimes.known())
    names = [each.name for each in runtimes.installed()]
    assert "hostile:segfault" in names
    assert "absent" not in names
    for name, reason in {
        "nobody": "there is no runtime 'nobody'",
        "hostile:other": "there is no runtime 'hostile:other' here",
        "absent": "absent is not installed",
    }.items():
        assert refusal(ArgumentError, runtimes.find, name) == reason
    # The process that runs a runtime reports the same.
    assert refusal(ArgumentError, run, "hostile:other", cases(TIES)) == "there is no runtime 'hostile:other' here"


def test_a_run_as_json_and_back_and_as_a_card(in_process):
    zeros = Selection(operators=["Max"], versions=[13], elements=["float32"], topics=["zeros", "plain"])
    answers = run("onnxruntime", cases(zeros))
    report = json.loads(json.dumps(record([answers], seed=0)))
    (read,) = recorded(report)
    assert read.counts() == answers.counts() == {Outcome.EXACT: 3, Outcome.ZERO: 1}
    page = card.markdown(report)
    assert "| Max-13 | 4 | 3 |" in page
    assert re.findall(r"\]\((?!#)", page) == [], "the card is read where no other page is"
    assert "**sign of zero: zeros**, 1 case: Max-13 on float32; questions `" in page
    assert "\nno document says which of the two zeros is the larger one\n```" in page
    with pytest.raises(InputError, match="the file does not hold a recorded run of the suite"):
        recorded({"runtimes": [{}]})


def command(*words):
    return commands.run("conformance", *words)


def few(*topics):
    words = ["--operator", "Max", "--opset", "13", "--type", "float32"]
    return [*words, *(word for topic in topics for word in ("--topic", topic))]


def test_the_command_runs_and_says_what_differs(hostile):
    words = ["--operator", "ArgMax", "--opset", "13", "--type", "int8", "--topic", "ties"]
    status, out, _ = command("run", "extremum", "hostile:segfault", *words)
    assert status == 1, "a document contradicts an answer"
    first = f"extremum {runtimes.find('extremum').version}\n  exact        4\n"
    second = "hostile:segfault 1.0\n  exact        3\n  crashed      1\n  crashed: argmax_13_int8_ties_rows: SIGSEGV\n"
    assert out == first + second


def test_the_command_shows_progress_and_the_time_that_is_left(in_process, monkeypatch):
    terminal = type("Terminal", (io.StringIO,), {"isatty": lambda _: True})
    monkeypatch.setattr("commands.io", SimpleNamespace(StringIO=terminal))
    status, _, err = command("run", "extremum", *few("zeros"))
    assert status == 0
    assert re.search(r"extremum .*2/2.*\d:\d\d:\d\d", err)


def test_the_command_compares_two_runtimes(in_process):
    status, out, _ = command("run", "--compare", "onnxruntime", "extremum", *few("zeros", "plain"))
    assert status == 0
    name, first, second, last = out.splitlines()
    assert name.startswith("max_13_float32_zeros_")
    assert first.startswith("  onnxruntime: sign of zero: float32[3] [")
    assert (second, last) == ("  extremum: exact", "1 cases differ")


def test_the_command_exports(tmp_path):
    status, out, _ = command("export", str(tmp_path / "suite"), "--json", *few("zeros"))
    assert (status, json.loads(out)["results"]) == (0, 2)
    status, out, _ = command("export", str(tmp_path / "more"), *few("zeros", "refusals"))
    assert status == 0
    assert out.startswith("wrote 2 results and 3 refusals")


@pytest.mark.parametrize(
    "words",
    [["nobody"], ["extremum", "--topic", "speed"], ["extremum", *few("ties")]],
    ids=["a runtime", "a topic", "a case"],
)
def test_the_command_refuses_what_is_not_there(words):
    commands.refused("conformance", "run", *words)


def test_the_command_prints_the_card_of_a_recorded_run(in_process, tmp_path):
    status, out, _ = command("run", "onnxruntime", "--json", *few("zeros", "plain"))
    assert (status, json.loads(out)["runtimes"][0]["counts"]) == (0, {"exact": 3, "sign of zero": 1})
    assert command("run", "onnxruntime", "--markdown", *few("zeros", "plain"))[1] == card.markdown(json.loads(out))
    recording = tmp_path / "run.json"
    picture = tmp_path / "card.png"
    recording.write_text(out)
    status, page, _ = command("card", str(recording), "--picture", str(picture))
    assert (status, page) == (0, card.markdown(json.loads(out), picture.as_posix()))
    assert f"]({picture.as_posix()})" in page
    assert picture.read_bytes().startswith(b"\x89PNG")
    status, out, _ = command("card", str(recording), "--json")
    (runtime,) = json.loads(out)["runtimes"]
    assert (status, runtime["counts"]) == (0, {"exact": 3, "sign of zero": 1})
    assert runtime["cells"] == {"Max-13": {"float32": "3 exact, 1 sign of zero"}}
    assert "differences" not in runtime
    assert "already exists" in command("card", recording, "--picture", picture)[2]
