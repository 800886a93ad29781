"""What the suite asks, and that extremum answers all of it."""

import pytest

from agreement import same_bits
from extremum import backend, reference, runtimes
from extremum.conformance import Selection, cases
from extremum.conformance.model import model_of
from extremum.conformance.topics import TOPICS
from extremum.errors import ArgumentError
from extremum.operations import results
from extremum.runtimes.comparison import Outcome, compare
from extremum.tensors import ELEMENT_TYPES
from onnx_cases import VERSIONS
from refusal import error_of
from sessions import loads_opset
from strategies import sometimes


@pytest.fixture(scope="module")
def suite():
    return list(cases())


def test_every_version_type_and_topic_has_cases_that_say_why(suite):
    assert 2000 < len(suite) < 14_000
    assert len({case.name for case in suite}) == len(suite)
    subjects = {(case.version, case.element) for case in suite}
    assert subjects == {(row, element.name) for row in VERSIONS for element in ELEMENT_TYPES}
    assert {case.topic for case in suite} == set(TOPICS)
    assert all(case.question.says or case.question.leaves_open for case in suite)
    assert not any(case.specified for case in suite if case.topic in ("nan", "zeros"))


def by_backend(case, model):
    return backend.run_model(model, case.question.inputs)


def by_session(case, model):
    # Its adapter feeds bfloat16, which onnxruntime does not take from Python.
    return runtimes.find("extremum:onnxruntime").load(model)(case.feeds)


@pytest.mark.parametrize("every", sometimes([False, True], [False]))
@pytest.mark.parametrize(("answer", "step"), [(by_backend, 16), (by_session, 64)])
def test_models_of_the_cases_are_answered(suite, answer, step, every):
    if answer is by_session:
        # Its adapter feeds bfloat16 through a Cast, which has that type from version 13 on.
        suite = [
            case
            for case in suite
            if loads_opset(case.version.since) and (case.version.since >= 13 or case.element != "bfloat16")
        ]
    for case in suite[:: 1 if every else step]:
        expected = case.expected()
        model = model_of(case, expected)
        if answer is by_session and case.name.endswith("refusals_element_type"):
            # A session takes types that the version forbids, because exporters write them and their meaning is clear.
            expected = results(reference.run(case.operation, *case.question.inputs))
            assert compare(case.question, expected, answer(case, model)) is Outcome.EXACT, case.name
        elif expected is None:
            with pytest.raises(Exception, match=r"."):
                answer(case, model)
        else:
            assert compare(case.question, expected, answer(case, model)) is Outcome.EXACT, case.name


def test_a_selection_leaves_its_cases_as_they_are(suite):
    few = list(cases(Selection(operators=["Max"], versions=[8], elements=["float32"])))
    whole = {case.name: case for case in suite}
    assert few
    for case in few:
        for x, y in zip(case.question.inputs, whole[case.name].question.inputs, strict=True):
            assert same_bits(x, y)
    specified = [case.name for case in cases(Selection(specified_only=True))]
    assert specified == [case.name for case in suite if not case.question.leaves_open]
    some = list(whole)[:: len(whole) // 50]
    assert [case.name for case in cases(Selection(names=some))] == some
    assert list(cases(Selection(names=some[:1], specified_only=True, operators=["Min"]))) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"operators": ["Sort"]}, "the suite has no operator 'Sort'; help: it has ", id="operator"),
        pytest.param({"versions": [7]}, "the suite has no version 7; help: it has ", id="version"),
        pytest.param(
            {"elements": ["float8"]}, "the suite has no element type 'float8'; help: it has ", id="element type"
        ),
        pytest.param({"topics": ["speed"]}, "the suite has no topic 'speed'; help: it has ", id="topic"),
        pytest.param(
            {"names": ["argmax_13_float32_nan_midle_row"]},
            "the suite has no case 'argmax_13_float32_nan_midle_row'; help: did you mean "
            "argmax_13_float32_nan_middle_row or ",
            id="misspelt case",
        ),
        pytest.param(
            {"names": ["test_topk_24_float32_nan"]},
            "the suite has no case 'topk_24_float32_nan'; help: 18 names begin so: topk_24_float32_nan_first_row, "
            "topk_24_float32_nan_first_column, topk_24_float32_nan_first_rank_1 and 15 more",
            id="start of many cases",
        ),
        pytest.param(
            {"names": ["topk_24_float32_nan_first"]},
            "the suite has no case 'topk_24_float32_nan_first'; help: did you mean topk_24_float32_nan_first_row or "
            "topk_24_float32_nan_first_column or topk_24_float32_nan_first_rank_1?",
            id="start of three cases",
        ),
        pytest.param(
            {"names": ["xyz"]},
            "the suite has no case 'xyz'; help: extremum conformance export lists them",
            id="no such case",
        ),
    ],
)
def test_a_selection_of_what_is_not_there(given, message):
    assert error_of(ArgumentError, Selection, **given).one_line().startswith(message)
