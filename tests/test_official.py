"""onnx's own backend node tests of the seven operators: by the backend and in sessions, none excluded or swallowed."""

import re
import unittest

import pytest
from onnx.backend.base import BackendRep
from onnx.backend.test import BackendTest
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from extremum.backend import Backend
from official import OPERATORS, family_alone
from sessions import run_model

PATTERN = re.compile(rf"^test_({'|'.join(OPERATORS)})_(?!pool|unpool).*_cpu$")


class Witness(BackendRep):
    """What runs a model, counted."""

    def __init__(self, run, counter):
        self.run_model, self.counter = run, counter

    def run(self, inputs, **options):
        outputs = self.run_model(inputs, **options)
        self.counter.runs += 1
        return outputs


class ByBackend(Backend):
    """The backend, with the one exception turned into a failure that onnx's runner counts as a pass."""

    runs = 0

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        try:
            return Witness(super().prepare(model, device, **options).run, cls)
        except BackendIsNotSupposedToImplementIt as error:
            raise AssertionError("swallowed by onnx's runner") from error


class BySession(ByBackend):
    """A session of onnxruntime with this package's operators."""

    runs = 0

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        return Witness(lambda inputs, **_: run_model(model, inputs), cls)


def official(backend):
    """The unittest class of onnx's node tests, and the names of those that concern us."""
    with family_alone():
        cases = BackendTest(backend, __name__).test_cases["OnnxBackendNodeModelTest"]
    return cases, sorted(name for name in dir(cases) if PATTERN.match(name))


# In a dict of tuples, because pytest would collect a class.
OFFICIAL = {backend: official(backend) for backend in (ByBackend, BySession)}
NAMES = OFFICIAL[ByBackend][1]


def test_all_are_here():
    operators = [PATTERN.match(name).group(1) for name in NAMES]
    count = {operator: operators.count(operator) for operator in operators}
    # onnx 1.19, the lowest that is taken, has one less.
    assert count.pop("reduce_max") in (10, 11)
    assert count == {"argmax": 16, "argmin": 16, "hardmax": 7, "max": 14, "min": 14, "reduce_min": 10}


@pytest.mark.parametrize("backend", OFFICIAL, ids=lambda each: each.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_official(name, backend):
    before = backend.runs
    result = unittest.TestResult()
    OFFICIAL[backend][0](name).run(result)
    assert result.errors == result.failures == result.skipped == []
    assert (result.testsRun, backend.runs) == (1, before + 1)
