"""Asking runtimes: what an answer is worth, and what a crash or a hang costs."""

import io
import json
import re
from collections import Counter

import numpy as np
import pytest
from rich.console import Console

from extremum import runtimes
from extremum.cli import main
from extremum.conformance import Outcome, Selection, card, cases, run
from extremum.conformance.card import record, recorded, worst
from extremum.errors import ArgumentError, InputError
from extremum.runtimes.runtime import compare
from hostile_runtimes import make_known
from stock import FINDS_NAN_ALONG_A_VECTOR

TIES = Selection(operators=["ArgMax"], versions=[13], elements=["int8"], topics=["ties"])


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)


def case_of(name, **selection):
    return next(case for case in cases(Selection(**selection)) if case.name == name)


def arg_case(title="rows", operator="ArgMax", topic="ties", element="float32"):
    name = f"{operator.lower()}_13_{element}_{topic}_{title}"
    return case_of(name, operators=[operator], versions=[13], elements=[element], topics=[topic])


def test_an_exact_answer():
    case = arg_case()
    assert compare(case.asked, case.expected(), case.expected()) is Outcome.EXACT


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (lambda y: y.astype(np.int32), Outcome.TYPE),
        (lambda y: y[:, 0], Outcome.SHAPE),
        (lambda y: y + np.array([[1], [3], [1]]), Outcome.TIE),
        (lambda y: y * 0, Outcome.WRONG),
        (lambda y: y - 9, Outcome.WRONG),
        (lambda y: y[:2], Outcome.WRONG),
        (lambda y: (y + 1).astype(np.int32), Outcome.WRONG),
    ],
)
def test_how_an_index_differs(change, outcome):
    case = arg_case()
    assert compare(case.asked, case.expected(), change(case.expected())) is outcome


def test_another_zero_is_no_tie():
    case = arg_case("minus_plus", topic="zeros")
    assert compare(case.asked, case.expected(), case.expected() + 1) is Outcome.ZERO


def test_nan_is_a_class_of_its_own():
    case = arg_case("middle_row", topic="nan")
    assert compare(case.asked, case.expected(), case.expected() - 1) is Outcome.NAN


def test_how_an_element_differs():
    case = arg_case("minus_plus", "Max", "zeros")
    assert compare(case.asked, case.expected(), -case.expected()) is Outcome.ZERO
    assert compare(case.asked, case.expected(), case.expected() + 1) is Outcome.WRONG
    case = arg_case("first", "Max", "nan")
    other_payload = (-case.expected()).astype(np.float32)
    other_payload[1:] = case.expected()[1:]
    assert compare(case.asked, case.expected(), other_payload) is Outcome.EXACT
    assert compare(case.asked, case.expected(), np.zeros_like(case.expected())) is Outcome.NAN


def test_how_a_one_differs():
    case = arg_case(operator="Hardmax")
    expected = case.expected()
    assert compare(case.asked, expected, np.roll(expected, -1, 1)) is Outcome.WRONG
    assert compare(case.asked, expected, (case.question.inputs[0] == 7).astype(np.float32)) is Outcome.WRONG
    last = np.zeros_like(expected)
    last[[0, 1, 2], [2, 3, 3]] = 1
    assert compare(case.asked, expected, last) is Outcome.TIE
    assert compare(case.asked, expected, last * 2) is Outcome.WRONG


def test_an_answer_where_a_refusal_is_right():
    case = arg_case("axis_2", topic="refusals")
    assert case.expected() is None
    assert compare(case.asked, None, np.zeros(1)) is Outcome.ACCEPTED


@pytest.mark.parametrize(
    ("runtime", "limit", "rows", "detail"),
    [
        ("hostile:segfault", 30, Outcome.CRASHED, "SIGSEGV"),
        ("hostile:hang", 1, Outcome.TIMED_OUT, "no answer in 1 s"),
    ],
)
def test_a_crash_or_a_hang_costs_one_case(hostile, runtime, limit, rows, detail):
    answers = run(runtime, cases(TIES), limit=limit)
    outcomes = {result.case.question.title: (result.outcome, result.detail) for result in answers.results}
    assert outcomes.pop("rows") == (rows, detail)
    assert set(outcomes.values()) == {(Outcome.EXACT, "")}
    assert answers.version == "1.0"
    assert not all(result.conforms for result in answers.results)


def test_a_refusal_is_said_in_one_line_and_nothing_is_printed(hostile, capfd):
    answers = run("hostile:refuse", cases(TIES))
    assert {(result.outcome, result.detail) for result in answers.results} == {(Outcome.REFUSED, "RuntimeError: not")}
    assert all(result.conforms for result in answers.results)
    assert capfd.readouterr() == ("", "")


def test_a_runtime_that_gives_no_output(hostile):
    results = run("hostile:nothing", cases(TIES)).results
    assert {(result.outcome, result.detail) for result in results} == {(Outcome.WRONG, "0 outputs")}


def test_known_differences_of_the_reference_evaluator_are_found():
    coerced = cases(Selection(operators=["Hardmax"], elements=["float32"], topics=["coercion", "defaults"]))
    outcomes = {result.case.name: result.outcome for result in run("onnx.reference", coerced).results}
    assert outcomes["hardmax_11_float32_coercion_rank_3_axis_1"] is Outcome.WRONG
    assert outcomes["hardmax_1_float32_defaults_rank_3"] is Outcome.WRONG
    assert outcomes["hardmax_13_float32_defaults_rank_3"] is Outcome.EXACT


def test_known_differences_of_onnxruntime_are_found():
    asked = cases(Selection(versions=[1, 13], elements=["float32", "uint16"], topics=["nan", "plain"]))
    outcomes = {result.case.name: result.outcome for result in run("onnxruntime", asked).results}
    assert outcomes["argmax_13_float32_nan_middle_row"] is Outcome.NAN
    along_a_vector = Outcome.EXACT if FINDS_NAN_ALONG_A_VECTOR else Outcome.NAN
    assert outcomes["argmax_13_float32_nan_middle_rank_1"] is along_a_vector
    assert outcomes["hardmax_13_float32_nan_all_row"] is Outcome.NAN
    assert outcomes["argmax_13_uint16_plain_axis_0"] is Outcome.REFUSED
    assert outcomes["max_1_float32_plain_two"] is Outcome.REFUSED


def test_runtimes_by_name(hostile):
    assert runtimes.find("hostile:hang").version == "1.0"
    assert {"extremum", "onnxruntime", "onnx.reference", "hostile", "absent"} <= set(runtimes.known())
    names = [each.name for each in runtimes.installed()]
    assert "hostile:segfault" in names
    assert "absent" not in names


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nobody", "there is no runtime 'nobody'"),
        ("hostile:other", "there is no runtime 'hostile:other' here"),
        ("absent", "absent is not installed"),
    ],
)
def test_a_runtime_that_is_not_there(hostile, name, reason):
    with pytest.raises(ArgumentError) as caught:
        runtimes.find(name)
    assert caught.value.reason == reason


def test_a_runtime_that_does_not_start(hostile):
    with pytest.raises(ArgumentError, match="absent is not installed"):
        run("absent", cases(TIES))


def test_a_run_as_json_and_back_and_as_a_card():
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


def test_no_recorded_run():
    with pytest.raises(InputError, match="the file does not hold a recorded run of the suite"):
        recorded({"runtimes": [{}]})


def command(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(["conformance", *words])
    return ended.value.code, capsys.readouterr().out


def few(*topics):
    words = ["--operator", "Max", "--opset", "13", "--type", "float32"]
    return [*words, *(word for topic in topics for word in ("--topic", topic))]


def test_the_command_runs_and_says_what_differs(capsys):
    status, out = command(capsys, "run", "onnxruntime", "extremum", *few("zeros"))
    assert status == 0
    versions = {name: runtimes.find(name).version for name in ("onnxruntime", "extremum")}
    first = ["onnxruntime", versions["onnxruntime"], "exact", "1", "sign", "of", "zero", "1"]
    assert out.split() == [*first, "extremum", versions["extremum"], "exact", "2"]


def test_the_command_exits_with_1_where_a_document_speaks_against_an_answer(capsys, hostile):
    words = ["--operator", "ArgMax", "--opset", "13", "--type", "int8", "--topic", "ties"]
    status, out = command(capsys, "run", "hostile:segfault", *words)
    assert status == 1
    assert "crashed: argmax_13_int8_ties_rows: SIGSEGV" in out


def test_the_command_shows_how_far_it_is_and_the_time_that_is_left(capsys, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr("extremum.cli.conformance.Console", lambda **_: Console(file=shown, force_terminal=True))
    status, _ = command(capsys, "run", "extremum", *few("zeros"))
    assert status == 0
    assert re.search(r"extremum .*2/2.*\d:\d\d:\d\d", shown.getvalue())


def test_the_command_compares_two_runtimes(capsys):
    status, out = command(capsys, "run", "--compare", "onnxruntime", "extremum", *few("zeros", "plain"))
    assert status == 0
    assert out.splitlines()[-1] == "1 cases differ"
    assert out.splitlines()[0].startswith("max_13_float32_zeros_")


def test_the_command_prints_json_and_a_card(capsys):
    status, out = command(capsys, "run", "extremum", "--json", *few("zeros"))
    assert status == 0
    assert json.loads(out)["runtimes"][0]["counts"] == {"exact": 2}
    status, out = command(capsys, "run", "extremum", "--markdown", *few("zeros"))
    assert status == 0
    assert "| Max-13 | 2 | 2 |" in out


def test_the_command_exports(capsys, tmp_path):
    status, out = command(capsys, "export", str(tmp_path / "suite"), "--json", *few("zeros"))
    assert status == 0
    assert json.loads(out)["results"] == 2
    status, out = command(capsys, "export", str(tmp_path / "more"), *few("zeros", "refusals"))
    assert status == 0
    assert out.startswith("wrote 2 results and 3 refusals")


def test_the_command_refuses_what_is_not_there(capsys):
    for words in (["run", "nobody"], ["run", "extremum", "--topic", "speed"], ["run", "extremum", *few("ties")]):
        with pytest.raises(SystemExit) as ended:
            main(["conformance", *words])
        assert ended.value.code == 2
        assert capsys.readouterr().err.startswith("extremum: ")


def test_the_command_prints_the_card_of_a_recorded_run(capsys, tmp_path):
    _, out = command(capsys, "run", "onnxruntime", "--json", *few("zeros", "plain"))
    recording, picture = tmp_path / "run.json", tmp_path / "card.png"
    recording.write_text(out)
    status, page = command(capsys, "card", str(recording), "--picture", str(picture))
    assert status == 0
    assert page == card.markdown(json.loads(out), picture.as_posix())
    assert f"]({picture.as_posix()})" in page
    assert picture.read_bytes().startswith(b"\x89PNG")
    status, out = command(capsys, "card", str(recording), "--json")
    (runtime,) = json.loads(out)["runtimes"]
    assert (status, runtime["counts"]) == (0, {"exact": 3, "sign of zero": 1})
    assert runtime["cells"] == {"Max-13": {"float32": "3 exact, 1 sign of zero"}}
    assert "differences" not in runtime
    with pytest.raises(SystemExit) as ended:
        main(["conformance", "card", str(recording), "--picture", str(picture)])
    assert ended.value.code == 2
    assert "already exists" in capsys.readouterr().err


def test_a_square_has_the_colour_of_the_worst_answer():
    assert worst(Counter({Outcome.EXACT: 9, Outcome.NAN: 1, Outcome.ZERO: 1})) is Outcome.NAN
    assert worst(Counter({Outcome.EXACT: 1, Outcome.REFUSED: 9})) is Outcome.REFUSED
    assert worst(Counter({Outcome.EXACT: 1})) is Outcome.EXACT
