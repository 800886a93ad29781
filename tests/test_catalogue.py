"""The tables say what the specification says."""

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
