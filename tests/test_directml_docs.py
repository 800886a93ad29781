"""docs/directml.md: its table is fresh."""

from pathlib import Path

import directml_table

PAGE = (Path(__file__).parents[1] / "docs" / "directml.md").read_text(encoding="utf-8")


def test_the_table_is_what_the_rows_say():
    assert directml_table.support() in PAGE, "replace the table by what tests/directml_table.py returns"
