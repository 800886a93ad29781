"""The tables say what the specification says."""

import re

from extremum import catalogue, spec


def test_there_is_a_record_for_every_version():
    rows = [row for versions in spec.OPERATORS.values() for row in versions]
    assert [(each["operator"], each["version"], tuple(each["types"])) for each in catalogue.records()] == [
        (row.name, row.version, row.types) for row in rows
    ]


def test_a_cell_is_the_first_version_that_takes_the_type():
    headings, *rows = catalogue.table()
    cells = {row[0]: dict(zip(headings, row, strict=True)) for row in rows}
    assert cells["ArgMax"]["bfloat16"] == "13"
    assert cells["Max"]["int64, uint64"] == "12"
    assert cells["Max"]["float64"] == "1"
    assert cells["Hardmax"]["int64, uint64"] == "-"
    assert cells["DML_ARGMAX"]["int64, uint64"] == "4_1"


def test_the_markdown_has_the_same_number_of_cells_in_every_row():
    lines = catalogue.markdown().splitlines()
    assert len({len(re.findall(r"\|", line)) for line in lines}) == 1
    assert len(lines) == 2 + len(spec.OPERATORS)
