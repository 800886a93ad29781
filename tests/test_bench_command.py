"""``python -m benchmarks``: what it lists, measures, writes and refuses."""

import json

import pytest
from click.testing import CliRunner

from bench_cases import run_python
from benchmarks import record, report
from benchmarks.__main__ import bench


def test_the_command_lists_the_cases():
    result = CliRunner().invoke(bench, ["--list", "--quick", "--filter", "^hardmax/float32/.*opset=11"])
    assert result.exit_code == 0
    assert result.output == "hardmax/float32/(64,256,256)/axis=(1,2)/opset=11\n"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("nothing", "Error: no case matches --filter 'nothing'; see the names with --list\n"),
        ("(", "Error: --filter '(' is not a regular expression: missing ), unterminated subpattern at position 0\n"),
    ],
)
def test_the_command_refuses_a_filter_that_chooses_nothing(pattern, message):
    result = CliRunner().invoke(bench, ["--list", "--filter", pattern])
    assert result.exit_code == 2
    assert result.output.endswith(message)


def test_the_command_measures_and_writes_a_report(tmp_path):
    code = (
        "from benchmarks.__main__ import bench; "
        "bench(['--filter', 'argmax/(float32|int8)/.1024./axis=all/first', '--time-per-case', '0.001', '--json', "
        f"'-o', {str(tmp_path / 'out')!r}])"
    )
    found = json.loads(run_python(code))
    assert [case["name"] for case in found["cases"]] == [
        "argmax/float32/(1024)/axis=all/first",
        "argmax/int8/(1024)/axis=all/first",
    ]
    assert (tmp_path / "out" / "bench.md").exists()
    assert json.loads((tmp_path / "out" / "bench.json").read_text()) == found


def test_the_command_refuses_a_folder_with_a_report_before_measuring(tmp_path):
    report.write(record.Run("quick", 1, "", 1.0, {}, {}, []), tmp_path)
    result = CliRunner().invoke(bench, ["-o", str(tmp_path)])
    assert result.exit_code == 2
    assert "bench.json exists and is not overwritten; name another folder" in result.output
