"""`top_k` against the reference: every type, layout, k, mode and policy; laws; other libraries; refusals."""

import itertools

import numpy as np
import pytest

import extremum as ex
from agreement import EVERY_SET, assert_identical, kernels
from extremum import reference
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError
from extremum.operations import Order
from layouts import LAYOUTS, REPEATING, contiguous
from refusal import error_of
from strategies import ELEMENT_TYPES, sample

TIMES = tuple(np.dtype(name) for name in ("datetime64[s]", "timedelta64[D]"))
SHAPES = ((7,), (33,), (5, 9), (3, 20, 4), (64, 6), (20, 40), (2, 3, 1, 5), (0, 4), (4, 0))
WAYS = (*EVERY_SET, {"threads": 2}, {"threads": 1})


def sample_of(rng, dtype, shape):
    if dtype.kind not in "mM":
        return sample(rng, dtype, shape)
    return np.asarray(np.where(rng.random(shape) < 0.3, "NaT", rng.integers(-4, 4, shape)), dtype)


def expected(x, k, axis, mode, policy):
    """The elements and indices that the reference gives, with NaT as NaN."""
    native = x.astype(x.dtype.newbyteorder("="))
    if axis is None:
        native = native.reshape(-1)
        axis = 0
    times = native.dtype.kind in "mM"
    numbers = np.where(np.isnat(native), np.nan, native.view(np.int64)) if times else native
    order = Order.MAX if mode == "largest" else Order.MIN
    _, indices = reference.top_k(numbers, order, axis, k, nan_first=policy == "propagate")
    return np.take_along_axis(native, indices, axis), indices


@pytest.mark.parametrize("dtype", [*ELEMENT_TYPES, *TIMES], ids=str)
def test_it_is_a_sort_of_each_line(dtype):
    rng = np.random.default_rng(sum(map(ord, str(dtype))))
    for number, shape in itertools.product(range(6), SHAPES):
        layout = LAYOUTS[rng.integers(len(LAYOUTS))]
        x = layout(sample_of(rng, dtype, shape), rng) if dtype.kind not in "mM" else sample_of(rng, dtype, shape)
        axis = None if rng.random() < 0.2 else int(rng.integers(x.ndim))
        most = x.size if axis is None else x.shape[axis]
        k = min(most, int(rng.choice([0, 1, 2, 5, 16, 17, most])))
        mode = rng.choice(["largest", "smallest"])
        policy = rng.choice(["propagate", "omit"])
        right = expected(x, k, axis, mode, policy)
        before = x.tobytes()
        with kernels(**WAYS[(number + len(shape)) % len(WAYS)]):
            best = ex.top_k(x, k, axis, mode=mode, nan_policy=policy)
            free = ex.top_k(x, k, axis, mode=mode, nan_policy=policy, sorted=False)
        context = (layout.__name__, x, k, axis, mode, policy)
        for each, answer in zip(best, right, strict=True):
            assert_identical(each, answer, *context)
        order = 0 if axis is None else axis
        assert_identical(np.sort(free.indices, order), np.sort(right[1], order), *context)
        values = x.reshape(-1) if axis is None else x
        taken = np.take_along_axis(values, free.indices, order).astype(free.values.dtype)
        assert_identical(free.values, taken, *context)
        assert x.tobytes() == before


LONG = {
    "random": lambda rng, n: rng.standard_normal(n),
    "ascending": lambda rng, n: np.arange(n),
    "descending": lambda rng, n: -np.arange(n),
    "few values": lambda rng, n: rng.integers(0, 3, n),
    "equal": lambda rng, n: np.zeros(n),
    "one apart": lambda rng, n: np.arange(n) == n // 2,
}


@pytest.mark.parametrize("texture", LONG)
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "uint8"])
def test_long_lines_in_rows_and_columns(texture, dtype):
    rng = np.random.default_rng(3)
    for shape, axis, k in (
        ((2, 9001), 1, 50),
        ((20011,), 0, 1999),
        ((5000, 40), 0, 5),
        ((300, 70), 1, 3),
        ((4100,), 0, 4000),
    ):
        x = LONG[texture](rng, shape[axis]).astype(dtype)
        x = np.ascontiguousarray(np.broadcast_to(x if axis == len(shape) - 1 else x[:, None], shape))
        order = np.argsort(-x.astype(float), axis, kind="stable")
        index = np.take(order, range(k), axis)
        for way in WAYS:
            with kernels(**way):
                best = ex.top_k(x, k, axis)
            assert_identical(best.indices, index, texture, dtype, shape, way)
            assert_identical(best.values, np.take_along_axis(x, index, axis))


@pytest.mark.parametrize("layout", [each for each in LAYOUTS if each not in (*REPEATING, contiguous)])
def test_neither_layout_nor_permuted_axes_change_a_result(layout):
    rng = np.random.default_rng(4)
    x = sample(rng, np.dtype("float32"), (6, 30, 50))
    for axis, k, axes in itertools.product(range(3), (1, 4, 6), ((0, 1, 2), (2, 0, 1), (1, 2, 0))):
        best = ex.top_k(layout(x.transpose(axes), rng), k, axes.index(axis))
        for each, right in zip(best, ex.top_k(x, k, axis), strict=True):
            assert_identical(each, right.transpose(axes))


@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_one_is_argmax_and_argmin(policy):
    x = np.array([[np.nan, 3, -0.0], [0.0, 3, 3]], np.float32)
    for axis, (mode, arg) in itertools.product((0, 1, None), (("largest", ex.argmax), ("smallest", ex.argmin))):
        index = ex.top_k(x, 1, axis, mode=mode, nan_policy=policy).indices
        assert_identical(index.reshape(-1), np.asarray(arg(x, axis, nan_policy=policy)).reshape(-1))


def test_nan_is_refused_on_request_and_named():
    x = np.array([[1.0, 2.0], [np.nan, 0.0]])
    with pytest.raises(ArgumentError, match=r"top_k: the slice at \(1,\) of the result holds NaN"):
        ex.top_k(x, 1, nan_policy="raise")
    with pytest.raises(ArgumentError, match="top_k: the array holds NaN"):
        ex.top_k(x, 0, None, mode="smallest", nan_policy="raise")
    assert "holds NaN" in str(error_of(ArgumentError, ex.top_k, np.array(["NaT", 1], "M8[s]"), 1, nan_policy="raise"))
    assert ex.top_k(x[:1], 2, nan_policy="raise").indices.tolist() == [[1, 0]]


def test_arrays_of_other_libraries_come_back_as_their_own():
    assert ex.top_k([3, 1, 2], 2).indices.tolist() == [0, 2]
    assert ex.top_k(np.ma.array([3, 1, 2]), 2).values.tolist() == [3, 2]
    assert ex.top_k(np.float32(2), 1, None).values.tolist() == [2]
    assert ex.top_k(np.ma.array([3, 9, 5], mask=[0, 1, 0]), 2).indices.tolist() == [2, 0]
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    best = ex.top_k(pandas.Series([3, 1, 2], index=list("abc"), name="n"), 2)
    assert isinstance(best.values, pandas.Series)
    assert best.values.tolist() == [3, 2]
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    assert all(isinstance(each, jax.Array) for each in ex.top_k(jax.numpy.ones(3), 2))


NAN = np.nan
X = np.array([[5.0, NAN, 7.0], [NAN, NAN, 1.0]])


@pytest.mark.parametrize(
    ("options", "values", "indices"),
    [
        # Without a default, NaN under omit fills what a slice lacks.
        ({"nan_policy": "omit"}, [[7, 5], [1, NAN]], [[2, 0], [2, 0]]),
        ({"nan_policy": "omit", "default": -1}, [[7, 5], [1, -1]], [[2, 0], [2, -1]]),
        ({"nan_policy": "omit", "default": NAN}, [[7, 5], [1, NAN]], [[2, 0], [2, -1]]),
        # Under propagate, NaN takes part.
        ({"default": -1}, [[NAN, 7], [NAN, NAN]], [[1, 2], [0, 1]]),
        ({"where": [True, False, True], "default": 0}, [[7, 5], [NAN, 1]], [[2, 0], [0, 2]]),
        ({"where": [[True], [False]], "default": 0}, [[NAN, 7], [0, 0]], [[1, 2], [-1, -1]]),
        ({"where": [True, False, True], "nan_policy": "omit", "default": 0}, [[7, 5], [1, 0]], [[2, 0], [2, -1]]),
        ({"where": [True, False, True], "nan_policy": "omit"}, [[7, 5], [1, NAN]], [[2, 0], [2, 0]]),
    ],
    ids=str,
)
def test_what_fills_a_slice_with_fewer_elements(options, values, indices):
    best = ex.top_k(X, 2, **options)
    np.testing.assert_array_equal(best.values, values)
    assert best.indices.tolist() == indices
    for narrow in ("int8", "int32"):
        assert_identical(ex.top_k(X, 2, index_dtype=narrow, **options).indices, np.array(indices, narrow))


def test_a_slice_with_too_few_elements_is_named():
    text = "top_k: the slice at (1,) of the result has fewer than 2 elements to choose from"
    assert error_of(ArgumentError, ex.top_k, X, 2, where=[[True], [False]]).reason == text
    assert "raise" in str(error_of(ArgumentError, ex.top_k, X, 1, nan_policy="raise", where=[True, False, True]))
    assert ex.top_k(X, 2, nan_policy="raise", where=[[True, False, True], [False] * 3], default=0).values.tolist() == [
        [7, 5],
        [0, 0],
    ]
    assert "the array has fewer than 3" in str(error_of(ArgumentError, ex.top_k, X, 3, None, where=X > 4))
    assert "-1, which does not fit uint32" in str(error_of(ArgumentError, ex.top_k, X, 1, default=0, index_dtype="u4"))
    assert "does not fit int8" in str(error_of(ArgumentError, ex.top_k, np.zeros(300), 1, index_dtype="i1"))
    assert "not an element of int16" in str(error_of(ElementTypeError, ex.top_k, np.zeros(3, "i2"), 1, default=0.5))
    assert ex.top_k(X, 1, (1,)).indices.tolist() == [[1], [0]]


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("mode", ["largest", "smallest"])
@pytest.mark.parametrize("dtype", ["int8", "float32", "uint16"])
def test_long_lines_of_which_few_elements_take_part(dtype, mode, in_order):
    rng = np.random.default_rng(6)
    x = rng.integers(0, 100, (3, 9000)).astype(dtype)
    # The worst elements of the type take part too.
    x[:, ::7] = -np.inf if dtype == "float32" else np.iinfo(dtype).min
    x[:, ::11] = np.inf if dtype == "float32" else np.iinfo(dtype).max
    where = rng.random(x.shape) < [[0.5], [0.03], [0.0]]
    best = ex.top_k(x, 400, mode=mode, sorted=in_order, where=where, default=1)
    for line, there, values, indices in zip(x, where, *best, strict=True):
        (places,) = np.nonzero(there)
        order = places[np.argsort(line[places].astype(float) * (-1 if mode == "largest" else 1), kind="stable")][:400]
        count = len(order)
        assert (np.sort(indices[:count]) == np.sort(order)).all()
        assert not in_order or (indices[:count] == order).all()
        assert (values[:count] == line[indices[:count]]).all()
        assert (indices[count:] == -1).all()
        assert (values[count:] == 1).all()


def test_missing_elements_are_skipped():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    best = ex.top_k(pandas.array([3, None, 2], dtype="Int64"), 2, nan_policy="omit")
    assert [list(each) for each in best] == [[3, 2], [0, 2]]
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    best = ex.top_k(polars.Series([3, None, 2]), 3, nan_policy="omit", default=0, mode="smallest")
    assert [each.to_list() for each in best] == [[2, 3, 0], [2, 0, -1]]


def test_k_and_axis_may_be_integers_of_any_kind():
    x = np.arange(6).reshape(2, 3)
    for k, axis in itertools.product((2, np.int8(2), np.array(2)), (-1, np.int64(1), 1)):
        assert ex.top_k(x, k, axis=axis).indices.tolist() == [[2, 1], [2, 1]]
    assert ex.top_k(x, k=2, axis=None, mode="smallest").indices.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((-1,), ArgumentError, "top_k: k is -1, and there are 3 elements along axis 1"),
        ((7, None), ArgumentError, "top_k: k is 7, and there are 6 elements\n"),
        ((True,), ArgumentTypeError, "top_k: k is True, not an integer"),
        ((2.0,), ArgumentTypeError, "top_k: k is 2.0, not an integer"),
        ((1, (0, 1)), ArgumentTypeError, "top_k: axis (0, 1) is not one axis"),
        ((1, 0.5), ArgumentTypeError, "top_k: axis 0.5 is not an integer"),
    ],
)
def test_arguments_that_cannot_be_meant(arguments, error, text):
    assert str(error_of(error, ex.top_k, np.zeros((2, 3)), *arguments)).startswith(text.rstrip("\n"))
