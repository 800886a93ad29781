"""What would end the process in onnxruntime is refused before a session sees it."""

import pytest

from extremum import backend
from extremum.errors import SpecError
from extremum.onnxruntime import InferenceSession, convert
from models import model
from refusal import error_of

SPLIT = "a, b, c = Split<num_outputs = 1, axis = 1>(x) z = Max(a)"
MESSAGE = "Split has num_outputs=1, but 3 outputs; at: {}, opset 18; help: use num_outputs=3"
MODELS = {
    "graph.node[0]": model(f"(float[4, 2] x) => (z) {{ {SPLIT} }}", 18),
    "graph.node[0].then_branch.node[0]": model(
        f"(bool c, float[4, 2] x) => (y) {{ y = If (c) <then_branch = t () => (z) {{ {SPLIT} }}, "
        "else_branch = e () => (z) { z = Identity(x) }> }",
        18,
    ),
    "a function": model(
        "(float[4, 2] x) => (z) { z = own.Part(x) }",
        18,
        functions=f'<domain: "own", opset_import: ["" : 18]> Part (x) => (z) {{ {SPLIT} }}',
    ),
}
ENTRIES = {
    "prepare": lambda proto: backend.prepare(proto, engine="onnxruntime"),
    "InferenceSession": lambda proto: InferenceSession(proto.SerializeToString()),
    "convert": convert,
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("place", MODELS)
def test_a_split_that_says_another_number_of_outputs(entry, place):
    error = error_of(SpecError, ENTRIES[entry], MODELS[place])
    if place != "a function":
        assert error.one_line() == MESSAGE.format(place)
    assert "Split has num_outputs=1, but 3 outputs" in str(error)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("text", ["a, b = Split<num_outputs = 2, axis = 0>(x)", "a, b = Split<axis = 0>(x, s)"])
def test_a_split_that_says_what_it_does(entry, text):
    body = f"(float[4, 2] x) => (z) <int64[2] s = {{2, 2}}> {{ {text} z = Max(a) }}"
    assert ENTRIES[entry](model(body, 18))
