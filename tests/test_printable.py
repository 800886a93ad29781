"""Texts for a reader, one by one; tests/test_hostile_names.py has them in every command."""

import json

import pytest

from extremum.printable import counted, json_text, markdown_table, printable


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        pytest.param("0123456789", 10, "0123456789", id="a text that just fits stays"),
        pytest.param("0123456789a", 10, "0123...89a", id="a longer text keeps its beginning and its end"),
        pytest.param("0123456789ab", 9, "012...9ab", id="an even rest is cut in halves"),
        pytest.param("a\nb", 1000, "a\\nb", id="a line break is escaped"),
        pytest.param("a\nb", 3, "...", id="what is longer once it is escaped is cut again"),
        pytest.param("\u202ea", 1000, "\\u202ea", id="the direction of writing stays"),
        pytest.param("größer", 1000, "größer", id="letters of all languages stay"),
        pytest.param("##[error]", 1000, "#\\x23[error]", id="a command of Azure"),
        pytest.param(" ::error::a::b", 1000, " :\\x3aerror::a::b", id="a command of GitHub"),
        pytest.param("a::b", 1000, "a::b", id="colons inside a line stay"),
    ],
)
def test_a_line(text, longest, expected):
    assert printable(text, longest) == expected


@pytest.mark.parametrize(("number", "expected"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes")])
def test_a_number_of_things(number, expected):
    assert counted(number, "node") == expected


def test_a_value_as_json():
    text = json_text({"name": "a##b\x7f"})
    assert text == '{\n  "name": "a#\\u0023b\\u007f"\n}'
    assert json.loads(text) == {"name": "a##b\x7f"}


@pytest.mark.parametrize(("figures", "rule"), [({}, "---"), ({"figures": True}, "---:")])
def test_a_table(figures, rule):
    table = markdown_table(["a", "b", "c"], [["1", "2", "3"], ["4", "5", "6"]], **figures)
    assert table == f"| a | b | c |\n| --- | {rule} | {rule} |\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n"
