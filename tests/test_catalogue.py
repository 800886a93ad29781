"""The tables say what the specification says."""

import re

from extremum import catalogue, spec


def test_there_is_a_record_for_every_version():
    rows = [row for versions in spec.OPERATORS.values() for row in versions]
    assert [(each["operator"], each["version"], tuple(each["types"])) for each in catalogue.records()] == [
        (row.name, row.version, row.types) for row in rows
    ]


def test_a_cell_is_the_first_version_that_takes_the_type():
    cells = {row[0]: dict(zip(headings, row, strict=True)) for headings, *rows in catalogue.tables() for row in rows}
    assert cells["ArgMax"]["bfloat16"] == "13"
    assert cells["Max"]["int8, uint8"] == cells["Max"]["int16, uint16"] == "12"
    assert cells["ReduceMax"]["int8, uint8"] == "12"
    assert cells["ReduceMax"]["int16, uint16"] == "-"
    assert cells["ReduceMin"]["bool"] == "20"
    assert cells["Max"]["float16, float32, float64"] == "1"
    assert cells["Hardmax"]["int32, int64, uint32, uint64"] == "-"
    assert cells["DML_ARGMAX"]["int64, uint64"] == "4_1"
    assert cells["DML_REDUCE(MAX)"]["int32, uint32"] == "2_1"


def test_the_markdown_has_the_same_number_of_cells_in_every_row_of_a_table():
    tables = [table.splitlines() for table in catalogue.markdown().split("\n\n")]
    assert [len({len(re.findall(r"\|", line)) for line in table}) for table in tables] == [1, 1]
    assert sum(len(table) - 2 for table in tables) == len(spec.OPERATORS)
