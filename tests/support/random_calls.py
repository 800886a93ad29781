"""Random calls of every function, which AddressSanitizer and valgrind watch; `make test` runs a sample of them.

``python tests/support/random_calls.py --calls 500000`` prints what it did. A wrong answer ends it and names the call;
``--first NUMBER --calls 1`` repeats that call. :mod:`random_memory` places the bytes, :mod:`twins` gives the answers.
"""

import argparse
import importlib
import math
import random as randomness
import time
from collections import Counter

import numpy as np

import extremum
import random_directml
import random_memory as memory
import twins
from agreement import assert_extremes, same_bits
from extremum import _native
from extremum.errors import ExtremumError
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie, results
from strategies import ELEMENT_TYPES, index_types


class WrongError(Exception):
    """An answer that differs from the reference's."""


class Calls:
    """Numbered calls: each has its own random generator, so it can be repeated alone."""

    def __init__(self, seed, compared=1.0, session=None):
        self.seed = seed
        self.compared = compared
        self.count = Counter()
        kinds = {
            self.arg_reduce: 8,
            self.one_hot: 5,
            self.extremum: 6,
            self.values: 6,
            self.top_k: 4,
            self.directml: 2,
            self.refused: 1,
        }
        self.session = session
        if session is not None:
            kinds[self.in_session] = 3
        self.kinds = [kind for kind, weight in kinds.items() for _ in range(weight)]
        self.sets = _native.instruction_sets()

    def make(self, number):
        """Make one call, and compare its answer."""
        self.random = random = randomness.Random(self.seed * 1_000_003 + number)
        name = random.choice(self.sets)
        _native.set_instruction_set(name)
        _native.set_small_limit(random.choice((0, 32)))
        extremum.set_num_threads(random.randrange(1, 5))
        _native.set_bytes_per_thread(random.choice((64, 1024, *[1 << 30] * 8)))
        self.checks = random.random() < self.compared
        random.choice(self.kinds)()
        self.count[name] += 1

    def dtype(self):
        return self.random.choice(ELEMENT_TYPES)

    def array(self, shape=None, dtype=None):
        random = self.random
        dtype = self.dtype() if dtype is None else dtype
        shape = memory.shape(random, random.choice((8, 33, 300, 300, 3000, 20_000))) if shape is None else shape
        return memory.given(random, shape, dtype.newbyteorder("S") if random.random() < 0.1 else dtype)

    def axes(self, x):
        return tuple(self.random.sample(range(x.ndim), self.random.randrange(x.ndim + 1)))

    def spelt(self, x, axes):
        """The axes as a caller may write them."""
        random = self.random
        axes = tuple(axis - x.ndim if random.random() < 0.3 else axis for axis in axes)
        return axes[0] if len(axes) == 1 and random.random() < 0.7 else axes

    def out(self, shape, dtype, *inputs):
        """None, or an output: in its own memory, in the other byte order, or in the memory of an input."""
        random = self.random
        way = random.random()
        if way < 0.5:
            return None
        if way < 0.6 and inputs:
            base = random.choice(inputs)
            fits = base.nbytes and base.base is not None and base.base.size - int(np.prod(shape)) * dtype.itemsize
            if fits and fits > 0:
                return np.ndarray(shape, dtype, base.base, random.randrange(fits))
        return memory.output(random, shape, dtype.newbyteorder("S") if way > 0.93 else dtype)

    def compare(self, operation, inputs, answer, out, context):
        """Check that the answer is the reference's for the inputs as they were before, and is `out` if there is one."""
        answers = answer if isinstance(answer, list) else [answer]
        for one, expected in zip(answers, results(twins.run(operation, *inputs)), strict=True):
            actual = np.asarray(one)
            actual = actual.astype(actual.dtype.newbyteorder("="))
            if not same_bits(actual, expected) or (out is not None and answer is not out):
                text = f"inputs   {inputs!r}\nfound    {actual!r}\nexpected {expected!r}"
                raise WrongError(f"{operation} {context}\n{text}")
        self.count["compared"] += 1

    def arg_reduce(self):
        random = self.random
        x = self.array()
        axes = self.axes(x)
        order = random.choice(list(Order))
        tie = random.choice(list(Tie))
        keepdims = random.random() < 0.5
        index = random.choice(index_types(math.prod(x.shape[axis] for axis in axes)))
        kept = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
        kept = kept if keepdims else tuple(n for axis, n in enumerate(x.shape) if axis not in axes)
        out = self.out(kept, index, x)
        call = extremum.argmax if order is Order.MAX else extremum.argmin
        axis = None if len(axes) == x.ndim and random.random() < 0.5 else self.spelt(x, axes)
        before = x.copy()
        arguments = {"keepdims": keepdims, "select_last_index": tie is Tie.LAST, "dtype": index, "out": out}
        if any(x.shape[each] == 0 for each in axes):
            self.refuses(call, x, axis, **arguments)
            return
        answer = call(x, axis, **arguments)
        self.count[call.__name__] += 1
        if self.checks:
            operation = ArgReduce(order, axes, keepdims, tie, index)
            self.compare(operation, [before], answer, out, self.describe(out, x))

    def one_hot(self):
        x = self.array()
        axes = self.axes(x)
        out = x if self.random.random() < 0.05 else self.out(x.shape, x.dtype.newbyteorder("="), x)
        before = x.copy()
        if out is x and memory.shared(x):
            self.refuses(extremum.hardmax, x, axes, out=out)
            return
        answer = extremum.hardmax(x, self.spelt(x, axes), out=out)
        self.count["hardmax"] += 1
        if self.checks:
            self.compare(OneHot(axes), [before], answer, out, self.describe(out, x))

    def extremum(self):
        random = self.random
        first = self.array()
        shape = first.shape
        dtype = first.dtype.newbyteorder("=")
        inputs = [first]
        for _ in range(random.choice((0, 1, 1, 1, 2, 4))):
            lens = [1 if random.random() < 0.2 else n for n in shape]
            cut = random.randrange(len(lens) + 1) if random.random() < 0.2 else 0
            inputs.append(self.array(tuple(lens[cut:]), dtype))
        random.shuffle(inputs)
        out = self.out(shape, dtype, *inputs)
        if random.random() < 0.1 and first.dtype == dtype:
            out = memory.output(random, shape, dtype)
            inputs.insert(random.randrange(len(inputs)), out)
        order = random.choice(list(Order))
        call = extremum.maximum if order is Order.MAX else extremum.minimum
        before = [x.copy() for x in inputs]
        answer = call(*inputs, out=out)
        self.count[call.__name__] += 1
        if self.checks:
            self.compare(Extremum(order), before, answer, out, self.describe(out, *inputs))

    def values(self):
        """The extremum, its index, or a one in its place, with elements that a mask or the NaN policy leaves out."""
        random = self.random
        x = self.array()
        if random.random() < 0.3:
            # About as many rows as some kernels read at once, with every element or every second to fourth one.
            step = random.randrange(1, 5)
            rows = random.choice((15, 16, 17, 40))
            length = random.randrange(1, 80)
            x = memory.given(random, (rows, length * step), x.dtype)[:, ::step]
        axes = self.axes(x)
        where = self.array(x.shape, np.dtype(bool)) if random.random() < 0.5 else None
        policy = random.choice(("omit", "propagate"))
        self.count["values"] += 1
        if self.checks:
            assert_extremes(x, axes, where, policy, twins.find)
            self.count["compared"] += 1
            return
        spelt = self.spelt(x, axes)
        options = {"nan_policy": policy, "where": where}
        extremum.hardmax(x, spelt, **options)
        extremum.minmax(x, spelt, return_index=True, default=x.dtype.type(1), **options)
        getattr(extremum, random.choice(("argmax", "argmin")))(x, spelt, default=-1, **options)

    def top_k(self):
        """The k best along an axis, or of the whole array, which is read through any layout."""
        random = self.random
        x = self.array()
        axis = None if not x.ndim or random.random() < 0.2 else random.randrange(x.ndim)
        length = x.size if axis is None else x.shape[axis]
        k = min(length, random.choice((0, 1, 2, 5, 16, 17, 100, length)))
        order = random.choice(list(Order))
        policy = random.choice(("propagate", "omit"))
        mode = "largest" if order is Order.MAX else "smallest"
        before = x.copy()
        best = extremum.top_k(x, k, axis, mode=mode, nan_policy=policy)
        free = extremum.top_k(x, k, axis, mode=mode, nan_policy=policy, sorted=False)
        self.count["top_k"] += 1
        if not self.checks:
            return
        line, along = (before.reshape(-1), 0) if axis is None else (before, axis)
        values, indices = twins.top_k(line, order, along, k, nan_first=policy == "propagate")
        taken = np.take_along_axis(line, free.indices, along).astype(values.dtype)
        pairs = (
            (best.values, values),
            (best.indices, indices),
            (np.sort(free.indices, along), np.sort(indices, along)),
            (free.values, taken),
            (x, before),
        )
        for actual, expected in pairs:
            if not same_bits(actual, expected):
                text = f"found    {actual!r}\nexpected {expected!r}"
                raise WrongError(f"top_k {k} along {axis}, {mode}, {policy} {self.describe(None, x)}\n{text}")
        self.count["compared"] += 1

    def directml(self):
        """A dispatch on memory that is as long as its description says."""
        random = self.random
        rng = np.random.default_rng(random.randrange(1 << 32))
        most = random.choice((300, 300, 300, 20_000))
        described = list(random_directml.operators(rng, random.choice(random_directml.ELEMENTS), most))
        kind = random.choice(list(random_directml.KINDS.values()))
        random_directml.dispatch_and_compare(rng, *random.choice(described), kind, twins.run)
        self.count["dispatch"] += 1
        self.count["compared"] += 1

    def refused(self):
        """Calls that must fail, to check the memory that their error paths hold."""
        random = self.random
        x = self.array()
        out = memory.output(random, (*x.shape, 2), x.dtype.newbyteorder("="))
        read_only = np.zeros(x.shape, x.dtype.newbyteorder("="))
        read_only.flags.writeable = False
        random.choice(
            (
                lambda: self.refuses(extremum.argmax, x, x.ndim),
                lambda: self.refuses(extremum.argmin, x, (0, 0)),
                lambda: self.refuses(extremum.hardmax, x, (-x.ndim - 1,)),
                lambda: self.refuses(extremum.hardmax, x, (), out=out),
                lambda: self.refuses(extremum.maximum, x, out=out),
                lambda: self.refuses(extremum.maximum, x, x, out=read_only),
                lambda: self.refuses(extremum.argmax, x, (), dtype="float32"),
                lambda: self.refuses(extremum.argmax, np.array(["text", "more"]), 0),
                lambda: self.refuses(extremum.minimum, x, np.zeros((7, 5, 3, 2, 11), x.dtype), np.zeros(13)),
            )
        )()

    def refuses(self, call, *arguments, **named):
        try:
            call(*arguments, **named)
        except ExtremumError:
            self.count["refused"] += 1
            return
        raise WrongError(f"{call.__name__} took {arguments!r} {named!r}")

    def in_session(self):
        """One node inside ONNX Runtime, which passes its own memory."""
        operation, inputs, answer = self.session(self.random)
        self.count["session"] += 1
        if self.checks:
            self.compare(operation, inputs, answer, None, "in onnxruntime")

    def describe(self, out, *inputs):
        arrays = [*inputs, *([] if out is None else [out])]
        ways = (_native.get_instruction_set(), extremum.get_num_threads())
        return f"{ways} " + "; ".join(f"{x.dtype}{list(x.shape)} strides {x.strides}" for x in arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--compared", type=float, default=0.25, help="the share of answers that are compared")
    parser.add_argument("--sessions", action="store_true", help="the library for ONNX Runtime too")
    given = parser.parse_args()
    session = importlib.import_module("random_sessions").run if given.sessions else None
    np.set_printoptions(threshold=40, edgeitems=4)
    print(f"seed {given.seed}, {', '.join(_native.instruction_sets())}: {_native.__file__}", flush=True)
    calls = Calls(given.seed, given.compared, session)
    begun = time.monotonic()
    number = given.first
    try:
        for number in range(given.first, given.first + given.calls):
            calls.make(number)
    except BaseException:
        print(f"call {number} of seed {given.seed} failed", flush=True)
        raise
    taken = time.monotonic() - begun
    print(f"{given.calls} calls in {taken:.1f} s: {dict(sorted(calls.count.items()))}", flush=True)


if __name__ == "__main__":
    main()
