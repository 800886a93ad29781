"""docs/directml.md: its example runs, its commands run, its table is fresh."""

import doctest
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import directml_table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "directml.md").read_text(encoding="utf-8")


def test_the_example_runs():
    session = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.S))
    test = doctest.DocTestParser().get_doctest(session, {}, "directml.md", "directml.md", 0)
    assert test.examples
    report: list[str] = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)


def test_the_commands_run():
    commands = re.findall(r"^\$ extremum ([^>\n]*)", PAGE, re.M)
    assert commands
    script = shutil.which("extremum", path=sysconfig.get_path("scripts"))
    for command in commands:
        subprocess.run([script, *command.split()], cwd=ROOT, capture_output=True, check=True)


def test_the_table_is_what_the_rows_say():
    assert directml_table.support() in PAGE, "replace the table by what tests/directml_table.py returns"
