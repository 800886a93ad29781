"""What the texts of the rules say about runtimes: they name versions, and tests ask the installed versions."""

import platform
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from packaging.version import Version

from extremum import runtimes
from extremum.check import RULES, find
from models import model
from stock import FINDS_NAN_ALONG_A_VECTOR

STOCK = "onnxruntime"
REFERENCE = "onnx.reference"
NAN = np.nan
REFUSED = "refused"
BROADCASTING = "(float[1, 2] x) => (y) { z = Constant <value = float[1] {3.0}> () y = Max (x, z) }"
UNNAMED = '(float[2] x) => (y) { k = Constant <value_ints = [1]> () "", y = TopK (x, k) }'
# In float16 2049 is rounded to 2048.
FLOAT16 = """(float[2] x) => (y) {{
    a = Cast <to=10> (x) b = Constant <value = float[1] {{2048.0}}> () c = Cast <to=10> (b) s = Add (a, c) z = {} (s)
    y = Cast <to=1> (z)
}}"""
# On other processors onnxruntime compares the whole number.
BY_LOWER_HALVES = Version(onnxruntime.__version__) < Version("1.32") and platform.machine() in ("x86_64", "AMD64")

# The rule, the runtime, the opset and the nodes that it runs, the input, and the answer that the text states.
CLAIMS = [
    ("EX002", STOCK, 13, "(float[1, 2] x) => (y) { y = ArgMax <axis=1, keepdims=2> (x) }", [[1, 2]], [1]),
    ("EX002", REFERENCE, 13, "(float[1, 2] x) => (y) { y = ArgMax <axis=1, keepdims=2> (x) }", [[1, 2]], [[1]]),
    ("EX007", STOCK, 10, "(float[1, 2] x) => (y) { y = ArgMax <axis=-1> (x) }", [[1, 2]], [[1]]),
    ("EX008", STOCK, 6, BROADCASTING, [[1, 2]], REFUSED),
    ("EX008", REFERENCE, 6, BROADCASTING, [[1, 2]], [[3, 3]]),
    ("EX010", STOCK, 13, "(float x) => (y) { y = ArgMax (x) }", 1, REFUSED),
    ("EX010", STOCK, 13, "(float x) => (y) { y = ArgMin (x) }", 1, REFUSED),
    ("EX010", STOCK, 13, "(float x) => (y) { y = Hardmax (x) }", 1, REFUSED),
    ("EX010", REFERENCE, 13, "(float x) => (y) { y = ArgMax (x) }", 1, 0),
    ("EX010", REFERENCE, 13, "(float x) => (y) { y = ArgMin (x) }", 1, 0),
    ("EX011", STOCK, 11, "(float[2] x) => (y) { y = Hardmax (x) }", [1, 2], REFUSED),
    ("EX011", REFERENCE, 11, "(float[2] x) => (y) { y = Hardmax (x) }", [1, 2], [0, 1]),
    ("EX103", STOCK, 13, "(float[3] x) => (y) { y = ArgMax (x) }", [1, NAN, 2], [1 if FINDS_NAN_ALONG_A_VECTOR else 2]),
    ("EX103", STOCK, 13, "(float[3] x) => (y) { y = ArgMin (x) }", [1, NAN, 2], [1 if FINDS_NAN_ALONG_A_VECTOR else 0]),
    ("EX103", STOCK, 13, "(float[1, 3] x) => (y) { y = ArgMax <axis=1> (x) }", [[1, NAN, 2]], [[2]]),
    ("EX103", STOCK, 13, "(float[1, 3] x) => (y) { y = ArgMax <axis=1> (x) }", [[NAN, 1, 2]], [[0]]),
    ("EX103", STOCK, 13, "(float[3] x) => (y) { y = ReduceMax (x) }", [1, NAN, 2], [2]),
    ("EX103", STOCK, 13, "(float[3] x) => (y) { y = ReduceMin (x) }", [1, NAN, 2], [1]),
    ("EX103", STOCK, 13, "(float[1, 3] x) => (y) { y = Hardmax (x) }", [[NAN, 1, 2]], [[0, 0, 0]]),
    ("EX016", STOCK, 13, UNNAMED, [1, 2], REFUSED),
    ("EX109", STOCK, 13, FLOAT16.format("ArgMax"), [0, 1], [1]),
    ("EX109", STOCK, 13, FLOAT16.format("Hardmax"), [0, 1], [0, 1]),
    ("EX109", REFERENCE, 13, FLOAT16.format("ArgMax"), [0, 1], [0]),
    ("EX109", REFERENCE, 13, FLOAT16.format("Hardmax"), [0, 1], [1, 0]),
    ("EX104", REFERENCE, 11, "(float[1, 1, 2] x) => (y) { y = Hardmax <axis=1> (x) }", [[[1, 2]]], [[[1, 1]]]),
]


def answer(who, proto, x):
    try:
        (output,) = runtimes.find(who).load(proto)({"x": x})
    except Exception:
        return REFUSED
    return np.asarray(output).tolist()


def described(code, who, opset, body, x, expected):
    operator = re.findall(r"(\w+) (?:<[^>]*> )?\(", body)[-1]
    return f"{code}: {operator} at opset {opset} of {x} in {who}"


@pytest.mark.parametrize(
    ("code", "who", "opset", "body", "x", "expected"), CLAIMS, ids=[described(*claim) for claim in CLAIMS]
)
def test_the_installed_runtime_does_what_a_text_says(code, who, opset, body, x, expected):
    assert answer(who, model(body, opset), np.array(x, np.float32)) == expected


def test_int64_by_their_lower_halves():
    x = np.array([0] * 4 + [2**31] * 4)
    assert answer(STOCK, model("(int64[8] x) => (y) { y = ReduceMax (x) }"), x) == [0 if BY_LOWER_HALVES else 2**31]


# Texts about whichever runtime is asked, and one about a GPU.
OF_THE_ONE_ASKED = {"EX101", "EX105", "EX106", "EX107", "EX110"}


@pytest.mark.parametrize("code", [rule.code for rule in RULES if rule.code not in OF_THE_ONE_ASKED])
def test_a_text_about_a_runtime_names_versions(code):
    text = f"{find(code).what} {find(code).why}"
    for runtime, package in (("onnxruntime", onnxruntime), ("reference evaluator", onnx)):
        if runtime in text.replace("installed onnxruntime", ""):
            assert re.search(rf"{runtime} \(\d\.\d+ to \d\.\d+\)", text), package.__version__
            assert (code, STOCK if package is onnxruntime else REFERENCE) in {claim[:2] for claim in CLAIMS}
