"""The array functions on Dask arrays: the bits of the reference, whatever the chunks and scheduler; lazy; refusals."""

from collections import Counter

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import extremum as ex
import extremum.dask as ed
from agreement import assert_identical, assert_same_bits
from chunked_calls import assert_every_function_agrees
from extremum import partials, reference
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError
from extremum.operations import Order, Tie
from extremum.partials import Pieces
from law_cases import arrays, arrays_and_axes, grids, search
from refusal import error_of, refusal
from strategies import BFLOAT16, FLOATS, INTEGERS, sample

ENDS = {Order.MAX: ("max", "argmax"), Order.MIN: ("min", "argmin")}
X = np.array([[1.0, np.nan, 5.0], [7.0, 0.0, 7.0]])


def computed(x, **options):
    return dask.compute(x, **{"scheduler": "synchronous", **options})[0]


def chunked(x, chunks):
    return da.from_array(x, chunks=chunks)


def boom(block):
    raise AssertionError("a chunk was computed")


def unreadable(shape, chunks, dtype=np.float32):
    """An array whose chunks cannot be computed."""
    return da.zeros(shape, chunks=chunks, dtype=dtype).map_blocks(boom, dtype=dtype, meta=np.empty((0, 0), dtype))


def assert_lazy_equal(lazy, expected, *context):
    """Check that the declared and the computed array are as expected, bit for bit."""
    assert_all_lazy_equal([(lazy, expected)], *context)


def assert_all_lazy_equal(pairs, *context):
    for lazy, expected in pairs:
        declared = (lazy.dtype, lazy.shape, lazy._meta.dtype)
        assert declared == (expected.dtype, expected.shape, expected.dtype), context
    for actual, (_, expected) in zip(computed([lazy for lazy, _ in pairs]), pairs, strict=True):
        assert_identical(actual, expected, *context)


@st.composite
def calls(draw):
    """An array, its chunks, axes, a mask in chunks of its own, and options."""
    x, axes = draw(arrays_and_axes())
    where = draw(st.sampled_from([None, 0.2, 0.9]))
    if where is not None:
        where = np.random.default_rng(x.size).random([n if draw(st.booleans()) else 1 for n in x.shape]) < where
    options = {
        "keepdims": draw(st.booleans()),
        "select_last_index": draw(st.booleans()),
        "nan_policy": draw(st.sampled_from(["propagate", "omit"])),
    }
    return chunked(x, draw(grids(x.shape))), x, axes, where, options


@pytest.fixture(params=[64, 1 << 20])
def together(request, monkeypatch):
    """How many bytes of parts are merged at a time."""
    monkeypatch.setattr(partials, "_MERGE_BYTES", request.param)


def test_parts_that_interleave_are_told_by_their_indices():
    assert ed.argmax(da.from_array(np.array([[0, 1], [1, 0]]), chunks=(2, 1))).compute() == 1
    assert ed.top_k(da.zeros((2, 2), chunks=(2, 1)), 3, None).indices.compute().tolist() == [0, 1, 2]


@pytest.mark.usefixtures("together")
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(st.data(), calls(), st.sampled_from(Order), st.integers(2, 9))
def test_values_and_indices_are_the_references(data, case, order, width):
    d, x, axes, where, options = case
    native = x.dtype.newbyteorder("=")
    omit = options["nan_policy"] == "omit" and native in FLOATS
    tie = Tie.LAST if options["select_last_index"] else Tie.FIRST
    values, indices = search(x.astype(native), order, axes, tie, omit=omit, where=where)
    default = native.type(1)
    values = np.where(indices == -1, default, values).astype(native)
    if not options["keepdims"]:
        values = values.squeeze(axes)
        indices = indices.squeeze(axes)
    if where is not None and data.draw(st.booleans()):
        where = chunked(where, data.draw(grids(where.shape)))
    common = {"axis": axes, "where": where, "split_every": width, **options}
    value, index = (getattr(ed, name) for name in ENDS[order])
    both = value(d, **common, default=default, return_index=True)
    pair = ed.minmax(d, **common, default=default, return_index=True)
    at = 1 if order is Order.MAX else 0
    alone = index(d, **common, default=-1)
    lazy = [both.values, pair[at], value(d, **common, default=default), ed.minmax(d, **common, default=default)[at]]
    lazy += [both.indices, pair[2 + at], alone]
    assert_all_lazy_equal(list(zip(lazy, [values] * 4 + [indices] * 3, strict=True)), x, d.chunks, common)


@settings(max_examples=30)
@given(st.data(), calls())
def test_hardmax_is_that_of_the_whole_array(data, case):
    d, x, axes, where, options = case
    policy = options["nan_policy"]
    result = ed.hardmax(d, axes, where=where, nan_policy=policy)
    assert result.chunks == d.chunks
    assert_lazy_equal(result, ex.hardmax(x, axes, where=where, nan_policy=policy), x, d.chunks, axes, where)


def test_a_slice_with_fewer_than_k_elements_is_named_or_filled():
    x = da.from_array(np.arange(12.0).reshape(6, 2), chunks=(2, 1))
    where = x < 9
    assert error_of(ArgumentError, ed.top_k(x, 2, where=where).indices.compute).reason == (
        "top_k: the slice at (4,) of the result has fewer than 2 elements to choose from"
    )
    best = ed.top_k(x, 2, where=where, default=-1, index_dtype="int16")
    assert_identical(best.indices.compute(), np.array([[1, 0]] * 4 + [[0, -1], [-1, -1]], np.int16))
    assert best.indices.dtype == np.int16
    some = x[x[:, 0] > 3]
    assert ed.top_k(some, 2, where=[True, False], default=0).indices.compute().tolist() == [[0, -1]] * 4
    # One chunk alone has rows: which of several fails first is up to the scheduler.
    last = x[x[:, 0] > 7]
    error = error_of(ArgumentError, ed.top_k(last, 2, where=[True, False]).indices.compute)
    assert error.where == "chunk (2, 0) of the result, from whose start the slice is counted"
    assert "does not broadcast" in refusal(ArgumentError, ed.top_k, x, 1, where=np.ones((3, 2), bool))
    assert "-1, which does not fit uint8" in refusal(ArgumentError, ed.top_k, x, 1, default=0, index_dtype="uint8")


@pytest.mark.parametrize("chunks", [(-1, -1), (-1, 1), (3000, 2), (8193, 1)], ids=str)
def test_hardmax_of_more_slices_than_numpy_reads_at_a_time(chunks):
    expected = np.tile(np.eye(2, dtype=np.float32), (4100, 1))
    ones = ed.hardmax(da.from_array(expected, chunks), nan_policy="omit")
    assert_identical(ones.compute(scheduler="synchronous"), expected)


@settings(max_examples=60)
@given(
    st.data(), arrays(), st.booleans(), st.sampled_from(["largest", "smallest"]), st.sampled_from(["propagate", "omit"])
)
def test_the_k_best_are_those_of_the_whole_array(data, x, flat, mode, policy):
    axis = None if flat or not x.ndim else data.draw(st.integers(-x.ndim, x.ndim - 1))
    most = x.size if axis is None else x.shape[axis]
    k = data.draw(st.sampled_from(sorted({min(most, each) for each in (0, 1, 3, 20, most)})))
    d = chunked(x, data.draw(grids(x.shape)))
    options = {"mode": mode, "nan_policy": policy}
    best = ex.top_k(d, k, axis, **options) if k % 2 else ed.top_k(d, k, axis, sorted=False, split_every=2, **options)
    expected = ex.top_k(x, k, axis, **options)
    chunks = [(k,) if at == (axis or 0) % max(x.ndim, 1) else sizes for at, sizes in enumerate(d.chunks)]
    assert best.values.chunks == best.indices.chunks == (((k,),) if axis is None else tuple(chunks))
    assert_all_lazy_equal(list(zip(best, expected, strict=True)), x, d.chunks, k, axis, options)


@settings(max_examples=30)
@given(st.data(), arrays(), st.sampled_from(Order))
def test_elementwise_extrema_of_any_chunks(data, x, order):
    name = "maximum" if order is Order.MAX else "minimum"
    other = np.roll(x, 1, 0) if x.ndim else x
    row = x[:1] if x.ndim else x
    operands = [chunked(each, data.draw(grids(each.shape, most=4))) for each in (x, other, row)]
    native = x.dtype.newbyteorder("=")
    expected = reference.extremum(order, *(each.astype(native) for each in (x, other, row)))
    result = getattr(ed, name)(*operands)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    assert_same_bits(computed(result), expected)
    assert_same_bits(computed(getattr(ed, name)(operands[0], other, row)), expected)


def test_lists_beside_chunks_lose_no_integer():
    top = 2**63
    big = 2**53 + 1
    wide = np.array([1, top + 1], np.uint64)
    d = chunked(wide, (1,))
    for operands in ((d, [7, 1]), ([7, 1], d), (d, [[7, 1]], 3)):
        eager = [wide if x is d else x for x in operands]
        result = ed.maximum(*operands)
        assert_lazy_equal(result, ex.maximum(*eager))
        assert result.dtype == np.uint64
    assert_lazy_equal(ed.maximum(d, [1, top + 2]), np.array([1, top + 2], np.uint64))
    for operands in ((chunked(np.zeros(2), (1,)), [1, big]), ([0.5, big], d)):
        assert "float64, the common type of" in refusal(ElementTypeError, ed.maximum, *operands)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_every_function_on_schedulers(scheduler):
    assert_every_function_agrees(lambda lazy: computed(lazy, scheduler=scheduler, num_workers=2))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_indices_of_every_type(dtype):
    x = sample(np.random.default_rng(9), np.dtype("float32"), (12, 7))
    d = chunked(x, (5, 3))
    for axis in (0, (1, 0)):
        assert_lazy_equal(ed.argmin(d, axis, dtype=dtype), np.asarray(ex.argmin(x, axis, dtype=dtype)))
        options = {"return_index": True, "index_dtype": dtype}
        expected = map(np.asarray, ex.minmax(x, axis, **options))
        assert_all_lazy_equal(list(zip(ed.minmax(d, axis, **options), expected, strict=True)))


def test_an_index_beyond_32_bits_counts_all_chunks_before_it():
    # Each chunk is a single element that Dask broadcasts.
    d = da.full((3, 1 << 31), 7, dtype=np.int8, chunks=(1, 1 << 30))
    assert computed(ed.argmax(d, select_last_index=True)) == 3 * (1 << 31) - 1


def test_dates_big_endian_bfloat16_and_masks_of_numpy():
    days = np.array(["2020-05-01", "NaT", "2019-01-01", "2021-01-01"], "datetime64[D]")
    d = chunked(days, 2)
    assert_lazy_equal(ex.max(d), ex.max(days))
    for chunks in (1, 2):
        assert_lazy_equal(ex.max(chunked(days, chunks), nan_policy="omit"), ex.max(days, nan_policy="omit"))
    assert_lazy_equal(ex.hardmax(d, nan_policy="omit"), ex.hardmax(days, nan_policy="omit"))
    for dtype in (np.dtype(">f4"), BFLOAT16, np.dtype(">i2")):
        x = np.arange(12).reshape(3, 4).astype(dtype)
        assert_lazy_equal(ex.max(chunked(x, 2), axis=0), ex.max(x, axis=0))
    masked = np.ma.array([3, 9, 5, 9], mask=[False, True, False, False])
    assert_lazy_equal(ex.argmax(chunked(masked, 3)), ex.argmax(masked))


@pytest.mark.parametrize("function", [ex.max, ex.min, lambda x, **options: ex.minmax(x, **options).min])
def test_values_alone_of_a_slice_without_an_element(function):
    x = np.array([[np.nan, 1, np.nan, 3], [np.nan, np.nan, -0.0, 5]], np.float32)
    for where in (None, x != 3, np.zeros(4, bool)):
        options = {"axis": 0, "nan_policy": "omit", "where": where, "default": 7}
        for rows in (1, 2):
            assert_lazy_equal(function(chunked(x, (rows, 3)), **options), function(x, **options))


@pytest.mark.parametrize("dtype", ["float32", "int8", "datetime64[s]"])
def test_chunks_of_unknown_size_beside_the_reduced_axis(dtype):
    rng = np.random.default_rng(4)
    x = rng.integers(0, 5, (9, 4, 3)).astype(dtype)
    taken = rng.random(9) < 0.6
    d = chunked(x, (4, 2, 3))[chunked(taken, 4)]
    y = x[taken]
    mask = chunked(x, (4, 4, 3))[chunked(taken, 4)] == x[0, 0]
    own = y == x[0, 0]
    for axes in (1, (1, 2), ()):
        for options in ({}, {"keepdims": True}):
            for function in (ex.argmax, ex.min):
                assert_identical(computed(function(d, axes, **options)), np.asarray(function(y, axes, **options)))
        for where, whole in ((None, None), (mask, own), (mask[..., :1], own[..., :1]), (x[0] == x[0, 0],) * 2):
            options = {"nan_policy": "omit", "default": -1}
            result = ex.argmax(d, axes, where=where, **options)
            assert_identical(computed(result), ex.argmax(y, axes, where=whole, **options))
            assert_identical(computed(ex.hardmax(d, axes, where=where)), ex.hardmax(y, axes, where=whole))
    for result, expected in zip(ex.top_k(d, 2, 1), ex.top_k(y, 2, 1), strict=True):
        assert_identical(computed(result), expected)
    # Values alone need no index, and so no sizes.
    assert_identical(computed(ex.max(d, axis=0)), ex.max(y, axis=0))
    assert_identical(computed(ex.minmax(d.rechunk({1: -1}))[0]), np.asarray(ex.min(y)))
    assert_identical(computed(ex.maximum(d, d[:, :1], x[0])), ex.maximum(y, y[:, :1], x[0]))


def test_nothing_is_computed_until_it_is_asked_for():
    d = unreadable((60, 40), (7, 9))
    results = [
        ex.argmax(d, axis=0, dtype=np.uint32),
        ex.argmin(d),
        *ex.max(d, axis=1, keepdims=True, return_index=True, index_dtype=np.int32),
        *ex.minmax(d),
        ex.maximum(d, 3, d.T[:1, :40]),
        ex.hardmax(d, (0, 1), where=d > 0),
        *ex.top_k(d, 9, None),
        ex.top_k(d, 50, 0).values,
    ]
    assert [(x.dtype.name, x.shape) for x in results] == [
        ("uint32", (40,)),
        ("int64", ()),
        ("float32", (60, 1)),
        ("int32", (60, 1)),
        ("float32", ()),
        ("float32", ()),
        ("float32", (60, 40)),
        ("float32", (60, 40)),
        ("float32", (9,)),
        ("int64", (9,)),
        ("float32", (50, 40)),
    ]
    assert "a chunk was computed" in str(error_of(AssertionError, computed, results[0]))


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize(
    "function",
    [
        ed.argmax,
        ed.hardmax,
        lambda d, axis: ed.minmax(d, axis, return_index=True),
        lambda d, axis: ed.top_k(d, 2, None if isinstance(axis, tuple) else axis),
    ],
)
def test_each_chunk_is_read_once(axis, function):
    counts = Counter()

    def read(block, block_id):
        counts[block_id] += 1
        return block

    x = np.ones((20, 30), np.float32)
    computed(function(chunked(x, (6, 7)).map_blocks(read, dtype=x.dtype, meta=np.empty((0, 0), x.dtype)), axis))
    assert counts == {(row, column): 1 for row in range(4) for column in range(5)}


def test_inside_a_scheduler_a_kernel_uses_one_processor(set_threads, monkeypatch):
    set_threads(5)
    seen = []
    part = Pieces.part
    monkeypatch.setattr(Pieces, "part", lambda *given: seen.append(ex.get_num_threads()) or part(*given))
    d = chunked(np.zeros(40), 5)
    computed(ed.argmax(d), scheduler="threads", num_workers=3)
    assert (set(seen), ex.get_num_threads()) == ({1}, 5)
    computed(ed.argmin(d))
    assert set(seen[8:]) == {5}


@pytest.mark.parametrize("policy", ["propagate", "omit", "raise"])
def test_a_mask_beside_operands(policy):
    rng = np.random.default_rng(12)
    x = rng.standard_normal((9, 8))
    y = rng.standard_normal(8)
    where = rng.random((9, 8)) < 0.5
    for chunks in ((2, 3), (9, 8), (4, 1)):
        for mask in (da.from_array(where, chunks=(3, 5)), where, da.from_array(where[0], chunks=3), True):
            own = mask.compute() if isinstance(mask, da.Array) else mask
            expected = ex.maximum(x, y, where=own, nan_policy=policy)
            d = chunked(x, chunks)
            assert_identical(computed(ed.maximum(d, y, where=mask, nan_policy=policy)), expected)
            assert_identical(computed(ex.maximum(d, chunked(y, (3,)), where=mask, nan_policy=policy)), expected)
    for mask in (np.ones(8), da.ones(8)):
        text = refusal(ElementTypeError, ed.minimum, chunked(x, (2, 3)), y, where=mask)
        assert text == "minimum: where has element type float64, not bool"
    assert refusal(ArgumentError, ed.minimum, chunked(x, (2, 3)), y, where=da.ones(7, dtype=bool)).endswith("(7,)")


@pytest.mark.parametrize("chunks", [(1, 9), (9, 1), (60, 60), (2, 2)])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_there_are_no_more_tasks_than_dask_has(chunks, axis):
    d = da.zeros((60, 60), chunks=chunks)
    for ours, theirs in ((ed.argmax, da.argmax), (ed.argmin, da.argmin), (ed.max, da.max)):
        lengths = [len(dask.optimize(each(d, axis))[0].__dask_graph__()) for each in (ours, theirs)]
        assert lengths[0] <= lengths[1]


def test_equal_calls_have_equal_names_and_others_have_not():
    d = da.zeros((6, 6), chunks=3)
    calls = [
        {},
        {"axis": 0},
        {"axis": 0, "keepdims": True},
        {"select_last_index": True},
        {"nan_policy": "omit"},
        {"default": 1.0},
        {"default": 1.0 + 2**-40},
        {"where": d > 0},
        {"return_index": True},
    ]
    names = [getattr(result := ed.max(d, **call), "name", None) or result.values.name for call in calls]
    assert len(set(names)) == len(calls)
    tops = [ed.top_k(d, *given).values.name for given in ((1,), (2,), (2, 0), (2, None), (2, 1))]
    assert (len(set(tops)), tops[1]) == (4, tops[-1])
    again = [getattr(result := ed.max(d, **call), "name", None) or result.values.name for call in calls]
    assert names == again


def unknown(chunks=5):
    x = da.from_array(np.arange(10.0), chunks=chunks)
    return x[x > 3]


def others():
    return unknown(chunks=2)


@pytest.mark.parametrize(
    "function",
    [
        ex.argmax,
        lambda x: ex.min(x, return_index=True),
        lambda x: ex.minmax(da.stack([x, x], 1), (0, 1), where=da.ones((1, 2), dtype=bool, chunks=1)),
        ex.hardmax,
        lambda x: ex.top_k(x, 9, None),
        lambda x: ex.top_k(da.stack([x, x], 1), 1, 0),
        lambda x: ed.argmax(da.ones(6), where=x > 0),
        lambda x: ed.argmax(da.stack([x, x], 1), 1, where=np.ones((6, 1), bool)),
        lambda x: ed.argmax(da.stack([x, x], 1), 1, where=others()[:, None] > 0),
        lambda x: ed.maximum(x, np.ones(6)),
        lambda x: ed.maximum(x, others()),
    ],
)
def test_chunks_of_unknown_size_are_refused(function):
    error = error_of(ArgumentError, function, unknown())
    reason, *rest = str(error).splitlines()
    assert reason.endswith("the sizes of the chunks along axis 0 are not known")
    assert rest[-1] == "  help  call x.compute_chunk_sizes() first"


def test_chunks_of_unknown_size_that_differ_are_refused_when_they_meet():
    one = da.from_array(np.array([1.0, 0, 0, 1]), chunks=2)
    two = da.from_array(np.array([1.0, 1, 1, 1]), chunks=2)
    one = one[one > 0]
    two = two[two > 0]
    reason = "maximum: chunks of unknown size that meet along axis 0 have 1 and 2 elements"
    assert refusal(ArgumentError, computed, ex.maximum(one, two)) == reason
    masked = ex.argmax(two[:, None], axis=1, where=(one > 0)[:, None])
    assert refusal(ArgumentError, computed, masked) == (
        "argmax: chunks of unknown size that meet along axis 0 have 2 and 1 elements"
    )


def test_a_slice_among_chunks_of_unknown_size_is_named_by_its_chunk():
    x = da.from_array(np.array([[1.0], [2], [0], [np.nan]]), chunks=2)
    x = x[~(x[:, 0] == 0)]
    error = error_of(ArgumentError, computed, ex.argmax(x, axis=1, nan_policy="raise"))
    assert error.reason == "argmax: the slice at (0,) of the result holds NaN"
    assert error.where == "chunk (1,) of the result, from whose start the slice is counted"
    assert error_of(AxisError, ex.argmax, x, axis=3).given == "float64[?, 1]"


D = unreadable((4, 6), (2, 3))
REFUSED = [
    (AxisError, ex.argmax, (D, 2), {}, "argmax: axis 2 is out of range for an array with 2 dimensions"),
    (ArgumentError, ex.max, (D,), {"nan_policy": "skip"}, "max: there is no NaN policy 'skip'"),
    (ElementTypeError, ex.argmax, (D,), {"dtype": np.float16}, "argmax: index type float16 is not an integer"),
    (
        ArgumentError,
        ex.argmax,
        (D,),
        {"out": np.zeros((), int)},
        "argmax: out cannot receive a result that is computed later",
    ),
    (ElementTypeError, ex.argmax, (D,), {"where": da.zeros((4, 6))}, "argmax: where has element type float64"),
    (ArgumentError, ex.argmax, (D,), {"where": np.ones((5, 6), bool)}, "argmax: where has shape (5, 6), which"),
    (ArgumentError, ed.max, (D,), {"split_every": 1}, "max: split_every is 1, not an integer of at least 2"),
    (ArgumentTypeError, ed.max, (D,), {"return_index": "no"}, "max: return_index is 'no', not a bool"),
    (ElementTypeError, ex.argmax, (D.astype(complex),), {}, "argmax: cannot take elements of type"),
    (ArgumentError, ex.top_k, (D, 7), {}, "top_k: k is 7, and there are 6 elements along axis 1"),
    (AxisError, ex.top_k, (D, 1, 2), {}, "top_k: axis 2 is out of range for an array with 2 dimensions"),
    (ElementTypeError, ex.top_k, (D.astype(complex), 1), {}, "top_k: cannot take elements of type complex128"),
    (ArgumentError, ed.top_k, (D, 1), {"mode": "most"}, "top_k: there is no mode 'most'"),
    (ArgumentTypeError, ed.top_k, (D, 1), {"dim": 1}, "top_k() got an unexpected keyword argument 'dim'"),
    (ArgumentTypeError, ed.argmax, (np.zeros(3),), {}, "argmax: numpy.ndarray is not a Dask array"),
    (ArgumentTypeError, ed.maximum, (1, 2), {}, "maximum: no operand is a Dask array"),
    (ArgumentError, ex.maximum, (D, np.zeros(5)), {}, "maximum: operands could not be broadcast together with shapes"),
    (ArgumentError, ex.maximum, (D, np.ma.array([1.0], mask=[True])), {}, "1 masked element has no value to compare"),
]


@pytest.mark.parametrize(("error", "function", "given", "options", "text"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_refused_at_once(error, function, given, options, text):
    assert refusal(error, function, *given, **options).startswith(text)


def test_what_elements_decide_is_refused_when_they_are_computed():
    d = chunked(X, (1, 2))
    lazy = ex.max(d, axis=0, nan_policy="raise")
    assert refusal(ArgumentError, computed, lazy) == "max: the slice at (1,) of the result holds NaN"
    lazy = ex.argmax(chunked(X.T, (2, 1)), axis=1, nan_policy="raise")
    assert refusal(ArgumentError, computed, lazy) == "argmax: the slice at (1,) of the result holds NaN"
    lazy = ex.top_k(chunked(X.T, (2, 1)), 1, nan_policy="raise").indices
    assert refusal(ArgumentError, computed, lazy) == "top_k: the slice at (1,) of the result holds NaN"
    lazy = ex.top_k(d, 0, None, nan_policy="raise").values
    assert refusal(ArgumentError, computed, lazy) == "top_k: the array holds NaN"
    lazy = ex.argmax(d, axis=1, where=[[True], [False]])
    assert refusal(ArgumentError, computed, lazy) == (
        "argmax: the slice at (1,) of the result has no element to choose from: all are masked"
    )
    assert refusal(ArgumentError, computed, ex.maximum(d, d, nan_policy="raise")).endswith("of the result")
    lazy = ex.hardmax(chunked(np.stack([X[1], X[0]]), (1, 3)), nan_policy="raise")
    assert refusal(ArgumentError, computed, lazy) == "hardmax: the slice at (1, 0) of the result holds NaN"
