"""Arrays of other libraries: in without a copy, out as arrays of the same library, and nothing else is imported."""

import warnings
from datetime import date, datetime, time, timedelta, timezone
from functools import partial
from itertools import product
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import extremum as ex
from agreement import assert_identical
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError
from extremum.interop import as_operand
from refusal import error_of, refusal

X = np.array([[3.0, 9.0, 9.0], [7.0, 2.0, 7.0]], np.float32)


# How a test makes arrays of a library, and reads them back.
LIBRARIES = {
    "torch": (lambda torch, x: torch.from_numpy(x), lambda x: x.numpy()),
    "jax": (lambda jax, x: jax.numpy.asarray(x), np.asarray),
    "array_api_strict": (lambda strict, x: strict.asarray(x), np.from_dlpack),
}


LARGE = "PyTorch is large: .ci/leg torch installs it"


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason=LARGE)


@pytest.fixture(params=LIBRARIES)
def library(request):
    module = pytest.importorskip(request.param, reason=LARGE)
    make, read = LIBRARIES[request.param]
    kind = module.Array if request.param == "jax" else type(make(module, X.copy()))
    return SimpleNamespace(name=request.param, make=partial(make, module), read=read, kind=kind)


def test_results_come_back_as_the_callers(library):
    x = library.make(X.copy())
    out = np.zeros(2, np.int64)
    both, four = (function(x, 1, return_index=True) for function in (ex.max, ex.minmax))
    pairs = [
        *((f(x, axis), f(X, axis)) for f in (ex.argmax, ex.argmin, ex.max, ex.min) for axis in (None, 0, (0, 1))),
        *zip((*both, *four), (*ex.max(X, 1, return_index=True), *ex.minmax(X, 1, return_index=True)), strict=True),
        (ex.maximum(x, 5), np.maximum(X, 5)),
        (ex.minimum(X, x), X),
        (ex.maximum(x, x, nan_policy="omit"), X),
        (ex.hardmax(x), ex.hardmax(X)),
        # A mask may be an array of the library too.
        (ex.argmax(x, 1, where=library.make(X > 8), default=-1), np.array([1, -1])),
    ]
    for actual, expected in pairs:
        assert isinstance(actual, library.kind)
        assert library.read(actual).shape == np.shape(expected)
        np.testing.assert_array_equal(library.read(actual), expected)
    assert ex.argmax(x, 1, out=out) is out
    assert out.tolist() == [1, 0]


def test_the_memory_is_the_callers(library):
    x = library.make(X.copy())
    again = as_operand(x).array
    assert np.shares_memory(again, as_operand(x).array)
    if library.name != "jax":  # which shows its memory only in this very way
        assert np.shares_memory(again, library.read(x))


def test_arrays_of_two_libraries_are_refused(library):
    polars = pytest.importorskip("polars")
    text = refusal(ArgumentTypeError, ex.maximum, library.make(X[0].copy()), polars.Series([1.0, 2.0, 3.0]))
    assert text == f"arrays of {' and of '.join(sorted(['polars', library.name]))} in one call"


@pytest.mark.parametrize("name", ["bfloat16", "uint16", "uint32", "uint64", "float16", "int8", "bool"])
def test_torchs_element_types(name, torch):
    x = torch.tensor([1, 0, 1], dtype=getattr(torch, name))
    operand = as_operand(x).array
    assert operand.ctypes.data == x.data_ptr()
    assert operand.dtype.name == name
    assert ex.max(x).dtype is x.dtype
    assert ex.argmax(x).item() == 0
    assert ex.maximum(x, x).dtype is x.dtype


def test_torchs_views_and_gradients(torch):
    negative = torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, -5.0]])).conj().imag
    assert ex.argmax(negative).item() == 1
    assert ex.max(negative).item() == 5
    wants = torch.ones(3, requires_grad=True)
    assert "requires its gradient" in refusal(ArgumentError, ex.argmax, wants)
    assert ex.argmax(wants.detach()).item() == 0
    with torch.no_grad():
        # Nothing is recorded, whatever the element type.
        assert ex.argmax(wants).item() == ex.argmax(torch.nn.Parameter(wants.bfloat16())).item() == 0
    assert "cannot take elements of type complex64" in refusal(
        ElementTypeError, ex.argmax, torch.ones(2, dtype=torch.complex64)
    )
    assert "laid out as" in refusal(ElementTypeError, ex.argmax, torch.ones(2, 2).to_sparse())
    assert "on the device meta" in refusal(ElementTypeError, ex.argmax, torch.ones(2, device="meta"))


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_torchs_nested_tensors_are_refused(layout, torch):
    with warnings.catch_warnings():
        # PyTorch warns that nested tensors are a prototype.
        warnings.simplefilter("ignore")
        rows = [torch.ones(2), torch.ones(3)]
        x = torch.nested.nested_tensor(rows, layout=getattr(torch, layout))
        for function in (ex.argmax, ex.max, ex.minmax, ex.hardmax, ex.maximum):
            assert "a nested tensor has rows of different lengths" in refusal(ElementTypeError, function, x)


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_torchs_vmap_is_refused(name, torch):
    x = torch.ones(2, 3, dtype=getattr(torch, name))
    for function in (ex.argmax, ex.max, ex.minmax, ex.hardmax, ex.maximum):
        text = refusal(ArgumentTypeError, torch.vmap(function), x)
        assert text.startswith(NO_ELEMENTS)


OF_ONE = {
    **{each.__name__: each for each in (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax, ex.maximum)},
    "top_k": partial(ex.top_k, k=1),
    "a mask": lambda x: ex.max(np.zeros(3), where=x),
}
NO_ELEMENTS = "a tensor without elements of its own, as within torch.vmap and torch.export"


def _within_a_mode(torch, call):
    with torch._subclasses.fake_tensor.FakeTensorMode():
        return call(torch.ones(3))


def _after_a_mode(torch, call):
    with torch._subclasses.fake_tensor.FakeTensorMode():
        x = torch.ones(3)
    return call(x)


def _exported(torch, call):
    class Module(torch.nn.Module):
        def forward(self, x):
            return call(x)

    return torch.export.export(Module(), (torch.ones(3),), strict=False)


def _symbolically(torch, call):
    return torch.fx.experimental.proxy_tensor.make_fx(call, tracing_mode="symbolic")(torch.ones(3))


def _proxy(torch):
    tracer = torch.fx.Tracer()
    tracer.graph = torch.fx.Graph()
    return torch.fx.Proxy(tracer.graph.placeholder("x"), tracer)


TRACERS = {
    "fake": _within_a_mode,
    "fake, beyond its mode": _after_a_mode,
    "torch.export": _exported,
    "make_fx": _symbolically,
    "torch.fx": lambda torch, call: call(_proxy(torch)),
    "torch.func.functionalize": lambda torch, call: torch.func.functionalize(call)(torch.ones(3)),
    "torch.func.jvp": lambda torch, call: torch.func.jvp(call, (torch.ones(3),), (torch.ones(3),)),
}


@pytest.mark.parametrize("name", TRACERS)
@pytest.mark.parametrize("function", OF_ONE)
def test_torchs_tracers_are_refused(name, function, torch):
    pytest.importorskip("torch.fx.experimental.proxy_tensor")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = refusal(ArgumentTypeError, TRACERS[name], torch, OF_ONE[function])
    assert text.startswith(NO_ELEMENTS)


def test_subclasses_of_torchs_tensor_come_back_as_tensors(torch):
    class Image(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), keywords=None):
            raise AssertionError("only the memory of the tensor is read")

    for dtype in ("float32", "bfloat16", "int64"):
        plain = torch.tensor([[3, 9, 9], [7, 2, 7]], dtype=getattr(torch, dtype))
        x = torch.Tensor.as_subclass(plain, Image)
        assert as_operand(x).array.ctypes.data == plain.data_ptr()
        results = [ex.argmax(x, 1), *ex.max(x, 1, return_index=True), ex.hardmax(x), ex.maximum(x, 5), ex.max(x)]
        expected = [
            *(ex.argmax(plain, 1), *ex.max(plain, 1, return_index=True)),
            *(ex.hardmax(plain), ex.maximum(plain, 5), ex.max(plain)),
        ]
        for actual, tensor in zip((*results, *ex.top_k(x, 2)), (*expected, *ex.top_k(plain, 2)), strict=True):
            assert type(actual) is torch.Tensor
            assert torch.equal(actual, tensor)
    wants = torch.Tensor.as_subclass(torch.ones(3, requires_grad=True), Image)
    assert "requires its gradient" in refusal(ArgumentError, ex.argmax, wants)
    assert type(ex.argmax(torch.nn.Parameter(torch.ones(3), requires_grad=False))) is torch.Tensor


def test_a_list_of_what_has_no_elements_is_refused(torch):
    texts = {
        "requires grad": torch.ones(2, requires_grad=True),
        "meta": torch.ones(2, device="meta"),
        "not supported for tensor subclasses": _after_a_mode(torch, lambda x: x),
    }
    for text, x in texts.items():
        reason = refusal(ElementTypeError, ex.argmax, [x, x])
        assert reason.startswith("the elements cannot be read: ")
        assert text in reason


def test_jaxs_arrays_without_elements():
    jax = pytest.importorskip("jax")
    gone = jax.numpy.ones(3)
    gone.delete()
    for function in (ex.argmax, ex.max, ex.hardmax, ex.maximum):
        for x in (gone, [gone, gone], jax.random.key(0)):
            assert refusal(ElementTypeError, function, x).startswith("the elements cannot be read: ")
        traced = jax.jit(lambda x, function=function: function([x[0], x[1]]))
        assert "called on traced array" in refusal(ElementTypeError, traced, X[0])


def test_jaxs_traces_and_narrow_integers():
    jax = pytest.importorskip("jax")
    assert "a traced array has no elements yet" in str(error_of(ArgumentTypeError, jax.jit(ex.argmax), X))
    assert ex.argmax(jax.numpy.asarray(X)).dtype == np.int32
    assert ex.max(jax.numpy.ones(3, jax.numpy.bfloat16)).dtype == ml_dtypes.bfloat16


def test_pandas_keeps_its_labels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=["a", "b"], columns=["x", "y", "z"])
    rows = ex.argmax(frame, axis=1)
    assert rows.index.tolist() == ["a", "b"]
    assert rows.tolist() == [1, 0]
    assert ex.max(frame, axis=0).index.tolist() == ["x", "y", "z"]
    assert ex.hardmax(frame).equals(pandas.DataFrame(ex.hardmax(X), index=frame.index, columns=frame.columns))
    assert ex.maximum(frame, 5).columns.tolist() == ["x", "y", "z"]
    assert ex.argmax(frame) == 1
    assert ex.argmax(frame["x"]) == 1
    assert ex.max(pandas.Index([3, 5])) == 5
    text = refusal(ArgumentError, ex.maximum, frame["x"], frame["x"].rename({"a": "c"}))
    assert text == "the operands differ in their labels, and elements are compared by place"


def test_a_mask_with_other_labels_is_refused():
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    x = pandas.Series([1.0, 5.0, 9.0], index=list("abc"))
    mask = pandas.Series([True, True, False], index=list("cba"))
    masks = [mask, mask.to_xarray(), mask.to_frame(), mask.reset_index(drop=True), xarray.DataArray(mask)]
    functions = (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax)
    for where in masks:
        calls = [*(partial(each, x) for each in functions), partial(ex.maximum, x, 2), partial(ex.minimum, 2, x)]
        for call in calls:
            assert "where and the array differ in their labels" in refusal(ArgumentError, call, where=where)
    assert "differ in their labels" in refusal(ArgumentError, ex.max, x.astype("Float64"), where=mask)
    for where in (mask.reindex_like(x), mask.reindex_like(x).to_xarray(), [False, True, True]):
        assert ex.max(x, where=where) == 9
        assert ex.maximum(x, 7, where=where).tolist() == [1, 7, 9]
    # Elements without labels meet by place.
    for where in (mask.to_numpy(), pandas.Index(mask), xarray.DataArray(mask.to_numpy())):
        assert ex.max(x, where=where) == 5
    assert ex.max(x.to_numpy(), where=mask) == 5


def _in_xarray(array):
    return pytest.importorskip("xarray").DataArray(array, dims="x", coords={"x": [1, 2, 3]})


def imported(names):
    """The last of some libraries; the test is skipped unless all of them are installed."""
    return [pytest.importorskip(name) for name in names.split("+")][-1]


NULLABLE = [
    ("pandas", lambda p: p.array([1, None, 3], dtype="Int64")),
    ("pandas", lambda p: p.array([1.0, None, 3.0], dtype="Float64")),
    ("pyarrow+pandas", lambda p: p.array([1, None, 3], dtype="int64[pyarrow]")),
    ("pandas", lambda p: p.arrays.SparseArray([1.0, np.nan, 3.0])),
    ("pandas", lambda p: p.Series(p.arrays.SparseArray([1.0, np.nan, 3.0]))),
    ("pandas", lambda p: p.Index([1, None, 3], dtype="Int64")),
    ("pandas", lambda p: p.DataFrame({"a": p.Series([1, None, 3], dtype="Int64")})),
    ("pandas", lambda p: _in_xarray(p.array([1, None, 3], dtype="Int64"))),
    ("pyarrow+pandas", lambda p: _in_xarray(p.array([1, None, 3], dtype="int64[pyarrow]"))),
    ("pandas", lambda p: _in_xarray(p.arrays.SparseArray([1.0, np.nan, 3.0]))),
    ("polars", lambda p: p.Series([1, None, 3])),
    ("polars", lambda p: p.DataFrame({"a": [1, None, 3]})),
    ("pyarrow", lambda p: p.array([1, None, 3])),
    ("pyarrow", lambda p: p.chunked_array([[1, None], [3]])),
    ("pyarrow", lambda p: p.array([9, 1, None, 3])[1:]),
    ("pyarrow", lambda p: p.array([1, None, 3]).dictionary_encode()),
    ("pyarrow", lambda p: p.table({"a": [1, None, 3]})),
    ("pyarrow", lambda p: p.RecordBatch.from_pydict({"a": [1, None, 3]})),
]


@pytest.mark.parametrize(("module", "make"), NULLABLE)
def test_missing_elements_follow_the_policy(module, make):
    x = make(imported(module))
    for policy in ("propagate", "raise"):
        error = error_of(ArgumentError, ex.argmin, x, nan_policy=policy)
        assert error.reason.endswith("element has no value to compare")
        assert error.where.startswith("argmin")
    assert ex.argmax(x, nan_policy="omit") == 2
    assert ex.min(x, nan_policy="omit") == 1
    assert "element has no value to compare" in str(error_of(ArgumentError, ex.maximum, x, 2))


SPANS = ("2020-01-01", "2020-07-01")
BERLIN = "Europe/Berlin"


def _zoned_polars(polars, unit="us"):
    naive = polars.Series("t", np.array(SPANS, f"M8[{unit}]"))
    return naive.dt.replace_time_zone("UTC").dt.convert_time_zone(BERLIN)


ZONED = {
    "Series": ("pandas", lambda p: p.Series(p.to_datetime(SPANS).tz_localize("UTC").tz_convert(BERLIN))),
    "Index": ("pandas", lambda p: p.to_datetime(SPANS).tz_localize("UTC").tz_convert(BERLIN)),
    "array": ("pandas", lambda p: p.to_datetime(SPANS).tz_localize("UTC").tz_convert(BERLIN).array),
    "Arrow in pandas": (
        "pyarrow+pandas",
        lambda p: p.Series(p.to_datetime(SPANS, utc=True)).astype(f"timestamp[us, {BERLIN}][pyarrow]"),
    ),
    "Polars": ("polars", _zoned_polars),
    "Arrow": ("pyarrow", lambda p: p.array(np.array(SPANS, "M8[us]"), p.timestamp("us", BERLIN))),
    "Arrow in chunks": (
        "pyarrow",
        lambda p: p.chunked_array([p.array(np.array(SPANS, "M8[us]"), p.timestamp("us", BERLIN))]),
    ),
}


def _zone_of(x):
    """Return what an array or an instant says about its time zone."""
    for name in ("tzinfo", "dtype", "type"):
        if (zone := getattr(x, name, None)) is not None:
            return str(zone)
    return ""


@pytest.fixture(params=ZONED)
def instants(request):
    module, make = ZONED[request.param]
    return make(imported(module))


def test_instants_stay_in_their_zone(instants):
    x = instants
    assert ex.argmax(x) == 1
    assert ex.argmin(x) == 0
    low, high = ex.minmax(x)
    # PyArrow's instants are not datetimes, and Python cannot compare them.
    instants = [each.as_py() if hasattr(each, "as_py") else each for each in (low, high)]
    assert instants[0] < instants[1]
    results = [ex.max(x), low, high, ex.max(x, keepdims=True), ex.maximum(x, x), ex.maximum(x)]
    for each in results:
        assert BERLIN in _zone_of(each), each
    assert len(results[-1]) == 2
    assert str(list(results[-1])[1]) == str(list(x)[1])


def test_instants_beside_times_without_a_zone_are_refused(instants):
    x = instants
    text = f"times in the zone {BERLIN} and times without a zone"
    for function in (ex.maximum, ex.minimum):
        assert refusal(ArgumentError, function, x, np.array(SPANS, "M8[us]")) == text
    for call in (ex.max, ex.maximum):
        out = np.zeros((2,) if call is ex.maximum else (), "M8[us]")
        assert "out is NumPy's and has no time zone" in refusal(ArgumentError, call, x, out=out)
    naive = np.datetime64("2020-01-01", "us")
    assert "without a time zone" in refusal(ArgumentError, ex.max, x, where=np.array([False]), default=naive)
    zoned = ex.max(x, where=np.array([False]), default=datetime(2021, 1, 1, tzinfo=timezone.utc))
    assert BERLIN in _zone_of(zoned)
    assert str(zoned.as_py() if hasattr(zoned, "as_py") else zoned).startswith("2021-01-01 01:00:00+01:00")


def test_nanoseconds_of_an_instant_are_not_lost():
    polars = pytest.importorskip("polars")
    x = polars.Series(np.array([5], "M8[ns]")).dt.replace_time_zone("UTC")
    assert "has nanoseconds, and Python's datetime has none" in refusal(ArgumentError, ex.max, x)
    assert ex.max(x, keepdims=True).to_physical().to_list() == [5]


def test_instants_of_two_zones_are_refused():
    polars = pytest.importorskip("polars")
    x = _zoned_polars(polars)
    text = f"times in the zone {BERLIN} and in the zone UTC"
    assert refusal(ArgumentError, ex.maximum, x, x.dt.convert_time_zone("UTC")) == text


def test_a_default_may_be_a_time_of_python_or_pandas():
    pandas = pytest.importorskip("pandas")
    nothing = pandas.Series(np.array(["NaT"], "M8[ns]"))
    for default in (datetime(2021, 1, 1), pandas.Timestamp("2021-01-01"), np.datetime64("2021-01-01")):
        assert ex.max(nothing, nan_policy="omit", default=default) == np.datetime64("2021-01-01", "ns")
    assert ex.max(np.array(["NaT"], "m8[ns]"), nan_policy="omit", default=timedelta(1)) == np.timedelta64(1, "D")
    with pytest.raises(ElementTypeError, match="which is not an element of"):
        ex.max(nothing, nan_policy="omit", default=datetime(2021, 1, 1, tzinfo=timezone.utc))


NO_TYPE = "NumPy has no type for elements of type "
BARE = {
    "LazyFrame": ("polars", lambda p: p.LazyFrame({"a": [1]}), "a LazyFrame of Polars has no elements yet"),
    "expression": ("polars", lambda p: p.col("a"), "an expression of Polars has no elements yet"),
    "Int128": ("polars", lambda p: p.Series([1], dtype=p.Int128), "elements of type Int128 have no order here"),
    "Int128 within": (
        "polars",
        lambda p: p.Series([[1]], dtype=p.Array(p.Int128, 1)),
        "elements of type Array(Int128, shape=(1,)) have no order here",
    ),
    "time of day": ("polars", lambda p: p.Series([time(1)]), "elements of type Time have no order here"),
    "decimals": ("polars", lambda p: p.Series([1]).cast(p.Decimal(9, 2)), "elements of type Decimal"),
    "structs": ("polars", lambda p: p.Series([{"a": 1}, None]), "elements of type Struct"),
    "lists": ("polars", lambda p: p.Series([[1, 2], [3]]), "elements of type List"),
    "text in Polars": ("polars", lambda p: p.Series(["a", None]), "elements of type String"),
    "objects in Polars": ("polars", lambda p: p.Series([object(), None], dtype=p.Object), "elements of type Object"),
    "scalar of Arrow": ("pyarrow", lambda p: p.scalar(1), "a PyArrow scalar is not an array"),
    "decimals of Arrow": ("pyarrow", lambda p: p.array([1], p.decimal128(9, 2)), "elements of type decimal128(9, 2)"),
    "lists of Arrow": ("pyarrow", lambda p: p.array([[1, 2]]), "elements of type list<"),
    "datetimes": ("datetime", lambda _: [datetime(2020, 1, 1)], "elements of type object, here datetime.datetime,"),
    "dates": ("datetime", lambda _: [date(2020, 1, 1)], "elements of type object, here datetime.date, have"),
    "durations": ("datetime", lambda _: [timedelta(1)], "elements of type object, here datetime.timedelta, have"),
    "long integers": ("datetime", lambda _: [2**70], "elements of type object, here int, have no order here"),
    "None": ("datetime", lambda _: [1, None], "elements of type object, here NoneType, have no order here"),
    "categories": ("pandas", lambda p: p.Series(["a", "b"], dtype="category"), f"{NO_TYPE}category"),
    "text": ("pandas", lambda p: p.Series(["a", None], dtype="string"), f"{NO_TYPE}string"),
    "periods": ("pandas", lambda p: p.Series(p.period_range("2020", periods=2)), f"{NO_TYPE}period["),
    "array of categories": ("pandas", lambda p: p.Categorical([2, 1], categories=[2, 1], ordered=True), NO_TYPE),
    "array of periods": ("pandas", lambda p: p.period_range("2020", periods=2).array, f"{NO_TYPE}period["),
    "intervals": ("pandas", lambda p: p.interval_range(0, 2).array, f"{NO_TYPE}interval["),
    "times of day": ("pyarrow+pandas", lambda p: p.Series([None], dtype="time64[us][pyarrow]"), f"{NO_TYPE}time64"),
    "table": ("pandas", lambda p: p.DataFrame({"a": [1, 2], "b": p.Categorical(["a", "b"])}), f"{NO_TYPE}category"),
}


def test_decimals_are_cast_in_two_ways():
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    for x in (polars.Series([1]).cast(polars.Decimal(9, 2)), arrow.array([1], arrow.decimal256(9, 2))):
        for policy in ("propagate", "omit"):
            error = error_of(ElementTypeError, ex.max, x, nan_policy=policy)
            assert "float64, which may round them, or to integers of the smallest unit" in error.remedy


@pytest.mark.parametrize("name", BARE)
def test_what_has_no_order_is_said_in_our_own_words(name):
    module, make, text = BARE[name]
    error = ArgumentTypeError if text.endswith("no elements yet") else ElementTypeError
    for function, policy in product((ex.argmax, ex.max, ex.minmax, ex.hardmax, ex.maximum), ("propagate", "omit")):
        caught = error_of(error, function, make(imported(module)), nan_policy=policy)
        assert caught.reason.startswith(text)
        assert caught.remedy
        assert "rows of equal length" not in caught.remedy


@pytest.mark.parametrize("x", [np.ma.masked, np.ma.array(5.0, mask=True)], ids=["masked", "rank 0"])
def test_a_mask_hides_all_of_an_array_without_dimensions(x):
    for function in (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax):
        text = f"{function.__name__}: the array has no element to choose from: all are masked"
        assert refusal(ArgumentError, function, x) == text
    assert ex.argmax(x, default=-1) == -1
    assert ex.max(x, default=7) == 7
    assert ex.hardmax(x, axis=()) == 0
    assert ex.argmax(np.ma.array(5.0)) == 0


MASKS = {
    "numpy": lambda _: np.ma.array([True, True, False], mask=[False, True, False]),
    "pandas": lambda p: p.Series([True, None, False], dtype="boolean"),
    "polars": lambda p: p.Series([True, None, False]),
    "pyarrow": lambda p: p.array([True, None, False]),
}


@pytest.mark.parametrize("module", MASKS)
def test_a_mask_with_missing_elements_is_refused(module):
    where = MASKS[module](pytest.importorskip(module))
    for function in (ex.argmax, ex.max, ex.minmax, ex.hardmax):
        text = refusal(ArgumentError, function, [1.0, 5.0, 3.0], where=where)
        assert text == f"{function.__name__}: where has 1 missing element, neither True nor False"


def test_elements_of_polars_that_hold_others():
    polars = pytest.importorskip("polars")
    pairs = polars.Series([[1, 2], [3, 4]], dtype=polars.Array(polars.Int64, 2))
    assert ex.argmax(pairs, axis=1).to_list() == [1, 1]
    for rows in ([[1, None], [3, 4]], [[1, 2], None]):
        holes = polars.Series(rows, dtype=polars.Array(polars.Int64, 2))
        assert "element has no value to compare" in str(error_of(ArgumentError, ex.max, holes, nan_policy="omit"))


FAR = np.iinfo(np.int64).max


@pytest.mark.parametrize("module", ["polars", "pyarrow", "pandas"])
@pytest.mark.parametrize("unit", ["M8[ns]", "m8[us]", "M8[ms]"])
@pytest.mark.parametrize("counts", [[FAR, FAR - 1, None], [None, -FAR, 5]], ids=str)
def test_nulls_beside_times_change_no_time(module, unit, counts):
    library = pytest.importorskip(module)
    x = np.array(["NaT" if count is None else count for count in counts], unit)
    if module == "pandas":
        pytest.importorskip("pyarrow")
        name = f"{'timestamp' if unit[0] == 'M' else 'duration'}[{np.datetime_data(unit)[0]}][pyarrow]"
        made = library.Series(library.array(x).astype(name))
    else:
        made = library.Series(x) if module == "polars" else library.array(x)
    there = [count for count in counts if count is not None]
    for best, function, place in ((max(there), ex.max, ex.argmax), (min(there), ex.min, ex.argmin)):
        assert_identical(np.asarray(function(made, nan_policy="omit")), np.array(best).view(unit))
        assert place(made, nan_policy="omit") == counts.index(best)


def test_an_index_of_pandas_that_holds_float16():
    pandas = imported("pyarrow+pandas")
    x = pandas.Index(np.array([1, 3], np.float16), dtype="halffloat[pyarrow]")
    for result in (ex.max(x, keepdims=True), ex.maximum(x, x), ex.hardmax(x)):
        assert result.dtype == x.dtype
    assert ex.maximum(x, x).tolist() == [1, 3]
    assert ex.argmax(x, keepdims=True).tolist() == [1]


@pytest.mark.parametrize("module", ["polars", "pyarrow"])
def test_nothing_but_missing_elements(module):
    library = pytest.importorskip(module)
    make = library.Series if module == "polars" else library.array
    for x in (make([None, None]), make([None, None]).cast(library.Int32 if module == "polars" else library.int32())):
        assert ex.argmax(x, nan_policy="omit", default=-1) == -1


@pytest.mark.parametrize("module", ["polars", "pyarrow"])
def test_columns_come_back_as_columns(module):
    library = pytest.importorskip(module)
    x = library.Series("a", [1, 5]) if module == "polars" else library.array([1, 5])
    assert ex.maximum(x, 3).to_pylist() == [3, 5] if module == "pyarrow" else ex.maximum(x, 3).to_list() == [3, 5]
    assert ex.max(x) == 5
    wide = ex.maximum(x, np.array([[4, 1], [7, 9]]))
    columns = wide.to_pydict() if module == "pyarrow" else wide.to_dict(as_series=False)
    assert columns == {"column_0": [4, 7], "column_1": [5, 9]}
    empty = (library.DataFrame if module == "polars" else library.table)({})
    assert ex.maximum(empty, 1).shape == (0, 0)
    if module == "pyarrow":
        assert as_operand(x).array.ctypes.data == x.buffers()[1].address


def test_numpys_masks_hide_elements():
    x = np.ma.array([[1.0, 9.0, 3.0], [4.0, 5.0, 6.0]], mask=[[False, True, False], [True, True, True]])
    assert ex.argmax(x[0]) == 2
    assert ex.argmax(x, 1, default=-1).tolist() == [2, -1]
    assert ex.argmax(x[0], where=[True, True, False]) == 0
    assert ex.hardmax(x).tolist() == [[0, 0, 1], [0, 0, 0]]
    assert "no element to choose from" in refusal(ArgumentError, ex.max, x, axis=1)
    assert refusal(ArgumentError, ex.maximum, x, 1) == "4 masked elements have no value to compare"


class OnDevice:
    """An array whose elements are in the memory of a GPU."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **options):
        raise AssertionError("asked for memory that cannot be read")


def test_arrays_on_a_device_are_refused():
    for cls in (OnDevice, type("Namespaced", (OnDevice,), {"__array_namespace__": lambda _: np})):
        assert "are on the device CUDA:0" in refusal(ElementTypeError, ex.argmax, cls())
