"""Models with faults that no exporter should make: every entry point takes each, or refuses it by an error of ours."""

import json

import pytest

from extremum import errors
from hostile_entries import COMMANDS, ENTRIES
from watched import run_watched

# The possible outcomes of a model: an answer, one of the errors, or the line of a command.
RIGHT = {"taken", "extremum", *errors.__all__} - {"ExtremumError"}
# The models that have to be refused, and the words of the refusal.
REFUSED = {
    "functions that double 30 times": "the functions of the model make more than 262144 nodes where they are called",
    "a chain of 500 functions": "graphs and functions of the model are nested more than 64 deep",
    "functions in a circle": "functions of the model call each other in a circle",
    "graphs 5000 deep": "graphs of the model are nested more than 28 deep",
    "a type 500 deep": "a type of the model is nested more than 8 deep",
    "a name that is no UTF-8 in place of value_": "a name of the model is not UTF-8",
}


# The other entry points go through one of these.
COMMANDS = [f"extremum {words}" for words in COMMANDS]
OWN = ("run_node", "convert", "fix and raise", "InferenceSession", *COMMANDS[:4])
REFUSING = ("prepare", "check", "convert", "lower", "fix", *COMMANDS)


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param(OWN, id="entry points with code of their own"),
        pytest.param(tuple(ENTRIES), id="every entry point", marks=pytest.mark.exhaustive),
    ],
)
def test_every_hostile_model(entries):
    for entry, answers in json.loads(run_watched("hostile_entries", *entries, seconds=900)[-1]).items():
        wrong = {name: answer for name, answer in answers.items() if answer.partition(":")[0] not in RIGHT}
        assert wrong == {}, entry
        if entry in REFUSING:
            # A command gets a file, and protobuf reads nothing this deep.
            unread = {"graphs 5000 deep", "a type 500 deep"} if entry in COMMANDS else ()
            expected = {**REFUSED, **dict.fromkeys(unread, "holds no ONNX model")}
            assert {name: words for name, words in expected.items() if words not in answers[name]} == {}, entry
