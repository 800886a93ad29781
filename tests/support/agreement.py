"""What it means that two implementations of the core operations agree."""

import itertools
from contextlib import contextmanager

import numpy as np

import extremum
import twins
from extremum import _native, reference
from extremum.operations import ArgReduce, Order, Tie
from strategies import FLOATS, bits_type, is_nan

# The number of results that this process has compared with the expected ones; a test run ends by printing the sum.
compared = 0


@contextmanager
def kernels(instruction_set=None, small_limit=None, threads=None):
    """Set how the native module computes in a ``with`` block; `threads` also gives a thread to every 64 bytes."""
    before = _native.get_instruction_set(), extremum.get_num_threads()
    _native.set_instruction_set(instruction_set or before[0])
    limit = _native.set_small_limit(0)
    _native.set_small_limit(limit if small_limit is None else small_limit)
    extremum.set_num_threads(threads or before[1])
    share = _native.set_bytes_per_thread(64)
    _native.set_bytes_per_thread(64 if threads else share)
    try:
        yield
    finally:
        _native.set_instruction_set(before[0])
        extremum.set_num_threads(before[1])
        _native.set_small_limit(limit)
        _native.set_bytes_per_thread(share)


EVERY_SET = tuple({"instruction_set": name, "small_limit": 0} for name in _native.instruction_sets())
"""Every instruction set of this processor, for arrays of any size; small arrays have a way of their own."""


def native(operation, *inputs, ways=EVERY_SET):
    """Apply one core operation as the native module chooses and in other ways of :func:`kernels`: all must agree."""
    chosen = operation(*inputs)
    for way in ways:
        with kernels(**way):
            assert_identical(operation(*inputs), chosen, operation, "with", way, "and as it is")
    return chosen


def same_bits(actual, expected):
    """Whether type, shape and every bit are equal; any NaN equals any other."""
    global compared
    compared += 1
    actual = np.asarray(actual)
    expected = np.asarray(expected)
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return False
    if actual.tobytes() == expected.tobytes():
        return True
    x, y = (np.ascontiguousarray(a).reshape(a.shape) for a in (actual, expected))
    return bool(np.all((x.view(bits_type(x.dtype)) == y.view(bits_type(y.dtype))) | (is_nan(x) & is_nan(y))))


def assert_identical(actual, expected, *context):
    """Fail unless type, shape and every bit are equal, those of NaN too."""
    global compared
    compared += 1
    actual = np.asarray(actual)
    expected = np.asarray(expected)
    same = (actual.dtype, actual.shape, actual.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
    assert same, _text(context, actual, expected)


def assert_same_bits(actual, expected, *context):
    assert same_bits(actual, expected), _text(context, actual, expected)


def _text(context, actual, expected):
    """The text of a failure; to make that of an array takes longer than most comparisons."""
    words = " ".join(each if isinstance(each, str) else repr(each) for each in context)
    return f"{words}\nactual   {actual!r}\nexpected {expected!r}"


def assert_agreement(cases, run, oracle):
    """Fail at the first case where `run` gives another answer than the oracle, or changes an input."""
    for operation, inputs in cases:
        before = [x.tobytes() for x in inputs]
        assert_same_bits(run(operation, *inputs), oracle(operation, *inputs), operation, "of", inputs)
        assert before == [x.tobytes() for x in inputs], f"{operation} changed an input"


def find(x, order, axes, tie, *, omit=False, where=None):
    """The reference's values and row-major indices over the elements that take part; -1 for slices without any."""
    missing = np.isnat(x) if x.dtype.kind in "mM" else is_nan(x)
    there = np.broadcast_to(True if where is None else where, x.shape) & ~(omit & missing)
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    values = np.zeros(kept, x.dtype)
    indices = np.full(kept, -1, np.int64)
    for place in np.ndindex(*kept):
        block = tuple(slice(None) if axis in axes else slice(at, at + 1) for axis, at in enumerate(place))
        elements = x[block].ravel()
        own = np.flatnonzero(there[block])
        if own.size:
            indices[place] = own[reference.run(ArgReduce(order, (0,), False, tie, np.dtype(np.int64)), elements[own])]
            values[place] = elements[indices[place]]
    return values, indices


def assert_extremes(x, axes, where=None, policy="propagate", find=find, ways=({},)):
    """Compare reductions, with and without an index, to what `find` finds, in each of these ways of :func:`kernels`."""
    native = x.dtype.newbyteorder("=")
    times = x.dtype.kind in "mM"
    one = np.array(1).astype(native)[()]
    plain = x.astype(native)
    for order, tie in itertools.product(Order, Tie):
        omit = policy == "omit" and (times or native in FLOATS)
        values, places = find(plain, order, axes, tie, omit=omit, where=where)
        values = np.where(places == -1, one, values).astype(native)
        marked = twins.ones_at(places, axes, x.shape).astype(np.int64 if times else native)
        options = {"axis": axes, "where": where, "nan_policy": policy, "keepdims": True}
        options["select_last_index"] = tie is Tie.LAST
        lacking = (places == -1).any() or not x.size
        default, number, index_default = {}, {}, {}
        if lacking:
            default = {"default": one}
            # The native module writes a number of Python by itself.
            number = {"default": 1.0 if native in FLOATS else one}
            index_default = {"default": -1}
        for way in ways:
            with kernels(**way):
                best = getattr(extremum, order.value)(x, **default, return_index=True, **options)
                alone = getattr(extremum, order.value)(x, **number, **options)
                both = extremum.minmax(x, **number, return_index=True, **options)
                both_alone = extremum.minmax(x, **default, **options)
                index = getattr(extremum, f"arg{order.value}")(x, **index_default, **options)
                if (order, tie) == (Order.MAX, Tie.FIRST):
                    ones = extremum.hardmax(x, axes, where=where, nan_policy=policy)
                    assert_identical(ones, marked, way, "of", x, "strides", x.strides, options)
            pairs = [best.values, alone, getattr(both, order.value), getattr(both_alone, order.value)]
            pairs = [*((each, values) for each in pairs)]
            pairs += ((each, places) for each in (best.indices, getattr(both, f"arg{order.value}"), index))
            for each, expected in pairs:
                assert_same_bits(each, expected, order, way, "of", x, "strides", x.strides, options)
