"""``extremum bench``: what it lists, measures, writes and refuses."""

import json

import pytest
from click.testing import CliRunner

from bench_cases import run_python
from extremum.bench import record, report
from extremum.cli.bench import bench
from extremum.errors import ArgumentError


def test_the_command_lists_the_cases():
    result = CliRunner().invoke(bench, ["--list", "--quick", "--filter", "^hardmax/float32/.*opset=11"])
    assert result.exit_code == 0
    assert result.output == "hardmax/float32/(64,256,256)/axis=(1,2)/opset=11\n"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("nothing", "no case matches --filter"), ("(", "--filter is not a regular expression: missing ), unterminated")],
)
def test_the_command_refuses_a_filter_that_chooses_nothing(pattern, message):
    result = CliRunner().invoke(bench, ["--list", "--filter", pattern])
    assert isinstance(result.exception, ArgumentError)
    assert result.exception.one_line().startswith(message)


def test_the_command_measures_and_writes_a_report(tmp_path):
    code = (
        "from extremum.cli.bench import bench; "
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


def test_the_command_says_what_charts_need():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from extremum.cli.bench import bench\n"
        "from extremum.errors import ArgumentError\n"
        "try:\n    bench(['-o', 'nowhere'])\nexcept ArgumentError as error:\n    print(error.one_line())"
    )
    assert run_python(code) == "--output needs matplotlib; help: pip install 'extremum[bench]'\n"


def test_the_command_refuses_a_folder_with_a_report_before_measuring(tmp_path):
    report.write(record.Run("quick", 1, "", 1.0, {}, {}, []), tmp_path)
    code = (
        "import sys\nfrom extremum.cli.bench import bench\nfrom extremum.errors import ArgumentError\n"
        "try:\n    bench(['-o', sys.argv[1]])\nexcept ArgumentError as error:\n    print(error.one_line())"
    )
    assert "bench.json exists and is not overwritten" in run_python(code, str(tmp_path))
