"""Tables of several types: over axis 0 each column keeps its type, otherwise no column loses anything."""

from datetime import date, timedelta

import numpy as np
import pytest

import extremum as ex
from agreement import assert_identical
from extremum import backend
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError
from refusal import error_of, refusal


def _pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def _nullable(columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({name: pandas.array(values) for name, values in columns.items()})


def _arrow_backed(columns):
    pytest.importorskip("pyarrow")
    return _pandas(columns).convert_dtypes(dtype_backend="pyarrow")


def _polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def _arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def _batch(columns):
    return pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)


MAKERS = [_pandas, _nullable, _arrow_backed, _polars, _arrow, _batch]
PLACES = {"a": [2**53, 2**53 + 1], "b": [0.5, 0.1]}
BIG = 2**53 + 1


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__.strip("_"))
def make(request):
    return request.param


def cells(table):
    """Return the columns of a table, or of a row of pandas, as lists of Python's values by name."""
    if type(table).__name__ == "Series":
        return {name: [value] for name, value in table.items()}
    if hasattr(table, "to_pydict"):
        return table.to_pydict()
    return {name: table[name].to_list() for name in table.columns}


def column(table, name):
    """Return the elements of a column as an array of NumPy's."""
    each = table.column(name) if hasattr(table, "column_names") else table[name]
    return np.asarray(each.to_numpy() if hasattr(each, "to_numpy") else each)


def test_each_column_is_reduced_in_its_own_type(make):
    x = make(PLACES)
    largest = {"a": [BIG], "b": [0.5]}
    smallest = {"a": [2**53], "b": [0.1]}
    last = {"a": [1], "b": [0]}
    first = {"a": [0], "b": [1]}
    for axis in (0, -2, (0,), np.int64(0)):
        alone = [function(x, axis=axis) for function in (ex.max, ex.min, ex.argmax, ex.argmin)]
        assert list(map(cells, alone)) == [largest, smallest, last, first]
        assert [type(values[0]).__name__[:3] for values in cells(alone[0]).values()] == ["int", "flo"]
    assert list(map(cells, ex.minmax(x, axis=0, return_index=True))) == [smallest, largest, first, last]
    assert list(map(cells, ex.max(x, axis=0, return_index=True))) == [largest, last]
    kept = ex.max(x, axis=0, keepdims=True)
    ones = ex.hardmax(x, axis=0)
    assert kept.shape == (1, 2)
    for table, a, b in ((kept, [BIG], [0.5]), (ones, [0, 1], [1.0, 0.0])):
        assert_identical(column(table, "a"), np.array(a))
        assert_identical(column(table, "b"), np.array(b))


@pytest.mark.parametrize("function", [ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax])
def test_columns_that_lose_in_the_common_type_are_refused(make, function):
    text = f"column 'a' holds {BIG}, and float64, the common type of the columns, does not"
    for axis in (1, None, (0, 1)):
        assert refusal(ElementTypeError, function, make(PLACES), axis=axis) == text


def test_what_the_common_type_holds_is_compared(make):
    x = make({"a": [1, 9, 2**53], "b": [0.5, 10.0, 1.0], "c": [True, False, True]})
    assert np.asarray(ex.argmax(x, axis=1)).tolist() == [0, 1, 0]
    assert np.asarray(ex.max(x, axis=1)).tolist() == [1.0, 10.0, 2.0**53]
    assert ex.argmax(x) == 6
    assert ex.max(x) == 2**53


OTHERS = {
    "uint64 beside int64": (
        {"a": np.array([2**63 + 1], "u8"), "b": np.array([-1])},
        "column 'a' holds 9223372036854775809",
    ),
    "the largest int64": ({"a": np.array([2**63 - 1]), "b": np.array([0.5])}, "column 'a' holds 9223372036854775807"),
    "the largest uint64": (
        {"a": np.array([2**64 - 1], "u8"), "b": np.array([0.5])},
        "column 'a' holds 1844674407370955161",
    ),
    "stamps beside floats": (
        {"t": np.array(["2020-01-01"], "M8[ns]"), "b": np.array([0.5])},
        "columns 't' and 'b' do not compare: datetime64[ns] and float64",
    ),
    "durations beside integers": (
        {"t": np.array([5], "m8[ms]"), "n": np.array([5])},
        "columns 't' and 'n' do not compare: timedelta64[ms] and int64",
    ),
    "stamps beside durations": (
        {"t": np.array(["2020-01-01"], "M8[ms]"), "d": np.array([5], "m8[ms]")},
        "columns 't' and 'd' do not compare: datetime64[ms] and timedelta64[ms]",
    ),
    "units that overflow": (
        {"s": np.array(["2500-01-01"], "M8[ms]"), "n": np.array(["2000-01-01"], "M8[ns]")},
        "column 's' holds 2500-01-01T00:00:00.000, and datetime64[ns], the common type of the columns, does not",
    ),
    "durations that overflow": (
        {"s": np.array([10**15], "m8[ms]"), "n": np.array([1], "m8[ns]")},
        "column 's' holds 1000000000000000 milliseconds, and timedelta64[ns], the common type of the columns, does not",
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("maker", [_pandas, _polars, _arrow])
def test_columns_that_do_not_compare_are_named(kind, maker):
    columns, text = OTHERS[kind]
    x = maker(columns)
    for axis in (1, None):
        assert refusal(ElementTypeError, ex.argmax, x, axis=axis).startswith(text)
    assert {name: values[0] for name, values in cells(ex.argmax(x, axis=0)).items()} == dict.fromkeys(columns, 0)
    kept = ex.max(x, axis=0, keepdims=True)
    for name, values in columns.items():
        assert column(kept, name)[0] == values[0]


@pytest.mark.parametrize("maker", [_polars, _arrow])
def test_dates_come_back_as_dates(maker):
    x = maker({"d": [date(2020, 1, 1), date(2021, 1, 1)], "n": [7, 1], "t": [timedelta(1), timedelta(2)]})
    row = cells(ex.max(x, axis=0))
    assert row == {"d": [date(2021, 1, 1)], "n": [7], "t": [timedelta(2)]}
    assert "columns 'd' and 'n' do not compare" in refusal(ElementTypeError, ex.max, x, axis=1)


def test_a_row_of_pandas_has_the_labels_of_the_columns():
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame([[1, 0.5], [3, 0.1]], columns=["same", "same"], index=["r", "r"]).astype({"same": "float64"})
    x.isetitem(0, np.array([1, 3]))
    row = ex.max(x, axis=0)
    assert row.index.tolist() == ["same", "same"]
    assert row.tolist() == [3, 0.5]
    assert ex.hardmax(x, 0).index.tolist() == ["r", "r"]
    stamps = pandas.DataFrame({"t": pandas.to_datetime(["2020", "2021"]), "n": [1, 2]})
    assert ex.max(stamps, axis=0).tolist() == [pandas.Timestamp("2021"), 2]


def test_masks_and_defaults_are_for_each_column(make):
    x = make(PLACES)
    mask = np.array([[True, False], [False, False]])
    assert cells(ex.argmax(x, axis=0, where=mask, default=-1)) == {"a": [0], "b": [-1]}
    assert cells(ex.max(x, axis=0, where=mask, default=7)) == {"a": [2**53], "b": [7.0]}
    assert cells(ex.argmax(x, axis=0, where=np.array([[True], [False]]))) == {"a": [0], "b": [0]}
    # A mask may be a table too.
    assert cells(ex.argmax(x, axis=0, where=make({"a": [True, False], "b": [False, True]}))) == {"a": [0], "b": [1]}
    with pytest.raises(ArgumentError, match="has no element to choose from: all are masked") as caught:
        ex.argmax(x, axis=0, where=mask)
    assert caught.value.where == "column 'b'"


def test_out_has_one_type(make):
    x = make(PLACES)
    out = np.zeros(2, np.int64)
    assert ex.argmax(x, axis=0, out=out) is out
    assert out.tolist() == [1, 0]
    assert ex.argmax(x, axis=0, out=np.zeros((1, 2), np.int64), keepdims=True).tolist() == [[1, 0]]
    text = "max: the results have the types of the columns, and out has one"
    assert refusal(ElementTypeError, ex.max, x, axis=0, out=np.zeros(2)) == text


@pytest.mark.parametrize("maker", [_nullable, _arrow_backed, _polars, _arrow, _batch])
def test_missing_elements_of_a_table_follow_the_policy(maker):
    x = maker({"a": [1, None, 3], "b": [2.5, 0.5, None]})
    assert cells(ex.argmax(x, axis=0, nan_policy="omit")) == {"a": [2], "b": [0]}
    assert cells(ex.max(x, axis=0, nan_policy="omit")) == {"a": [3], "b": [2.5]}
    assert np.asarray(ex.argmax(x, axis=1, nan_policy="omit")).tolist() == [1, 1, 0]
    assert ex.max(x, nan_policy="omit") == 3
    assert ex.argmin(x, nan_policy="omit") == 3
    for policy in ("propagate", "raise"):
        for axis in (0, 1, None):
            assert "no value to compare" in str(error_of(ArgumentError, ex.argmax, x, axis=axis, nan_policy=policy))
    with pytest.raises(ArgumentError, match="element has no value to compare") as caught:
        ex.maximum(x, 2)
    assert caught.value.where == "maximum, column 'a'"


@pytest.mark.parametrize("maker", [_arrow_backed, _polars, _arrow])
def test_columns_without_any_element_keep_their_type(maker):
    x = maker({"a": [1, 2, None, None], "b": [0, 0, 1, 2]})[2:]
    assert cells(ex.max(x, axis=0, nan_policy="omit", default=-7)) == {"a": [-7], "b": [2]}
    assert ex.max(x, nan_policy="omit").dtype == np.int64


def test_elementwise_functions_take_each_column_by_itself(make):
    x = make(PLACES)
    for result in (ex.maximum(x, 1), ex.maximum(x, x, 1), ex.minimum(x, 2**60)):
        assert_identical(column(result, "a"), np.array(PLACES["a"]))
    assert_identical(column(ex.maximum(x, 0.25), "b"), np.array([0.5, 0.25]))
    assert_identical(column(ex.maximum(x, np.array([[2**53, 0], [0, 1]], "i8")), "a"), np.array(PLACES["a"]))
    assert_identical(column(ex.maximum(np.array([2**54, 1]), x), "a"), np.array([2**54, 2**54]))


def test_a_mask_is_for_each_column_of_operands(make):
    x = make(PLACES)
    where = [[True, False], [False, True]]
    assert column(ex.minimum(x, 0, where=where), "b").tolist() == [0.5, 0]
    assert_identical(column(ex.maximum(x, 2**54, where=where), "a"), np.array([2**54, 2**53 + 1]))
    mask = make({"a": [True, False], "b": [False, True]})
    assert column(ex.maximum(x, 2**54, where=mask), "a").tolist() == [2**54, 2**53 + 1]
    assert refusal(ElementTypeError, ex.maximum, x, 1, where=[1, 0]).endswith("not bool")


@pytest.mark.parametrize(
    ("error", "call", "text"),
    [
        (ArgumentError, lambda x: ex.maximum(x, np.zeros((3, 3))), "broadcast together"),
        (ArgumentError, lambda x: ex.maximum(x, np.zeros((3, 2, 2))), "whose columns have types of their own"),
        (ArgumentError, lambda x: ex.maximum(x, 1, out=np.zeros((2, 2))), "out has one"),
        (ElementTypeError, lambda x: ex.maximum(x, np.array(["2020"], "M8[D]")), "times compare with times of their"),
        (AxisError, lambda x: ex.argmax(x, axis=2), "axis 2 is out of range"),
        (ArgumentTypeError, lambda x: ex.max(x, axis=True), "is not an integer"),
        (ArgumentTypeError, lambda x: ex.top_k(x, 1), "top_k: a table has rows, and the best elements of its columns"),
    ],
)
def test_what_does_not_fit_a_table_is_refused(make, error, call, text):
    assert text in refusal(error, call, make(PLACES))


def test_the_error_about_the_k_best_of_a_table_names_a_call_that_works(make):
    x = make(PLACES)
    error = error_of(ArgumentTypeError, ex.top_k, x, 2)
    call = error.remedy.partition(": ")[2].partition(", or pass")[0].replace("column", "a")
    rows = eval(call, {"x": x, "extremum": ex, "k": 2})
    values = ex.top_k(x["a"], 2).values
    assert list(map(str, rows["a"])) == list(map(str, values))


def test_other_labels_are_refused(make):
    text = "the operands differ in their labels, and elements are compared by place"
    assert refusal(ArgumentError, ex.maximum, make(PLACES), make({"a": PLACES["a"], "z": PLACES["b"]})) == text


OTHER_MASK = "where and the array differ in their labels, and elements are masked by place"


@pytest.mark.parametrize("b", [[0.5, 0.1], [3, 4]], ids=["mixed", "alike"])
def test_a_mask_with_the_columns_in_another_order_is_refused(make, b):
    x = make({"a": [1, 2], "b": b})
    swapped = make({"b": [True, True], "a": [False, True]})
    for function in (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax):
        for axis in (0, 1, (0, 1)):
            assert refusal(ArgumentError, function, x, axis, where=swapped) == f"{function.__name__}: {OTHER_MASK}"
    for function in (ex.maximum, ex.minimum):
        assert refusal(ArgumentError, function, x, 0, where=swapped) == f"{function.__name__}: {OTHER_MASK}"
    aligned = swapped.select(["a", "b"]) if hasattr(swapped, "select") else swapped[["a", "b"]]
    assert cells(ex.argmin(x, 0, where=aligned)) == {"a": [1], "b": [int(b[1] < b[0])]}


def test_rows_of_pandas_have_labels_too():
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame({"a": [1.0, 5.0], "b": [3.0, 4.0]}, index=["r", "s"])
    mask = x > 2
    assert ex.max(x, 1, where=mask).tolist() == [3, 5]
    for where in (mask[::-1], mask.reset_index(drop=True), mask["a"], mask["a"].rename({"r": "a", "s": "z"})):
        assert refusal(ArgumentError, ex.max, x, 1, where=where) == f"max: {OTHER_MASK}"
    # A row of one mask for each column has the labels of the columns.
    row = pandas.Series([True, False], index=["a", "b"])
    assert ex.max(x, 1, where=row).tolist() == [1, 5]
    assert ex.maximum(x, row * 4.0).columns.tolist() == ["a", "b"]
    assert ex.maximum(row * 4.0, x)["a"].tolist() == [4, 5]


def test_columns_without_an_order_are_named(make):
    x = make({"n": [1, 2], "s": ["x", "y"]})
    assert error_of(ElementTypeError, ex.max, x, axis=0).where == "max, column 's'"
    assert ex.max(make({"n": [1, 2]}), axis=0) is not None


def test_columns_of_arrays_are_refused():
    polars = pytest.importorskip("polars")
    x = polars.DataFrame({"n": [1, 2], "pairs": np.ones((2, 2))})
    for function in (ex.argmax, ex.max, ex.minmax, ex.hardmax):
        for axis in (0, 1):
            assert "column 'pairs' holds an array in each place" in refusal(ElementTypeError, function, x, axis=axis)
    assert "column 'pairs' holds an array in each place" in refusal(ElementTypeError, ex.maximum, x, 1)
    assert "column 'pairs' holds an array in each place" in refusal(ElementTypeError, ex.max, x.select("pairs"))


def test_tables_without_columns_or_rows(make):
    empty = make({"a": [1], "b": [0.5]})[:0]
    text = "max: the reduced axes (0,) of shape (0,) hold no element"
    assert refusal(ArgumentError, ex.max, empty, axis=0) == text
    assert cells(ex.max(empty, axis=0, default=3)) == {"a": [3], "b": [3.0]}
    for maker in (_pandas, _polars, _arrow):
        assert "hold no element" in refusal(ArgumentError, ex.max, maker({}), axis=0)


ZONE = "Europe/Berlin"


@pytest.mark.parametrize("maker", [_pandas, _polars, _arrow])
def test_zones_stay_in_tables(maker):
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    stamps = pandas.Series(pandas.date_range("2020-01-01", periods=2, tz=ZONE))
    x = maker({"t": arrow.array(stamps) if maker is _arrow else stamps, "n": [1, 2]})
    kept = ex.max(x, axis=0, keepdims=True)["t"]
    only = x.select(["t"]) if hasattr(x, "select") else x[["t"]]
    across = ex.max(only, axis=1)
    best = ex.max(only)
    assert ZONE in str(best.type if maker is _arrow else best.tzinfo)
    for each in (kept, across):
        assert ZONE in str(each.type if maker is _arrow else each.dtype)
    assert "do not compare" in refusal(ElementTypeError, ex.max, x, axis=1)


CLASSES = '<ir_version: 8, opset_import: ["" : 13]> g (double[n, 2] x) => (int64[n, 1] y) { y = ArgMax<axis=1>(x) }'


def test_models_take_tables_that_lose_nothing(make):
    onnx = pytest.importorskip("onnx")
    prepared = backend.prepare(onnx.parser.parse_model(CLASSES))
    assert prepared.run([make({"a": [1, 2], "b": [0.5, 7.0]})]).y.tolist() == [[0], [1]]
    for call in (lambda x: prepared.run([x]), lambda x: prepared.run({"x": x})):
        with pytest.raises(ElementTypeError, match="and float64, the common type of the columns, does not"):
            call(make(PLACES))
        with pytest.raises(ElementTypeError, match="do not compare"):
            call(make({"n": np.array([1.5]), "t": np.array([1], "m8[ms]")}))
