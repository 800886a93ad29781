"""Python code runs below native code in one way only, which knows what becomes of a thread that Python ends there."""

import re
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).parents[1] / "native/python/src").glob("*.rs"))
# Whatever pyo3, numpy and Python's own interface have that may run Python code.
OTHER_WAYS = (
    r"\.call[01]\(",
    r"\.call_method",
    r"\.[gs]etattr\(",
    r"\.import\(",
    r"\.(repr|str)\(\)",
    r"\.is_truthy\(",
    r"\.try_iter\(",
    r"\.(eq|lt|gt|compare)\(&",
    r"PyErr::warn",
    r"ToString::to_string",
    r"\bPy(Object|Number|Sequence|Mapping|Import|Iter|Err|Eval)_\w+",
    r"\bPyArray_(DescrConverter|CopyInto|FromAny|CheckFromAny|AssignArray)",
)


@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
def test_one_way_into_python(source):
    found = [way for way in OTHER_WAYS if re.search(way, source.read_text(encoding="utf-8"))]
    assert bool(found) == (source.name == "interpreter.rs"), found
