"""Inside onnxruntime: every operator, version and element type, bit by bit, and onnx's own node tests."""

import unittest

import numpy as np
import pytest
from onnx import helper
from onnx.backend.base import Backend, BackendRep

from agreement import assert_same_bits
from extremum import backend
from onnx_cases import ACCEPTED, answer, question
from sessions import run_model, run_node
from test_conformance import label
from test_official import official

CASES_PER_ROW = 6


@pytest.mark.parametrize(("row", "element"), ACCEPTED, ids=label)
def test_every_row_equals_the_backend(row, element):
    rng = np.random.default_rng([7, row.since, *row.name.encode(), *element.name.encode()])
    for _ in range(CASES_PER_ROW):
        given, inputs = question(row, rng, element.dtype)
        inputs = [np.ascontiguousarray(x).reshape(x.shape) for x in inputs]
        names = [f"x{position}" for position in range(len(inputs))]
        node = helper.make_node(row.name, names, ["y"], **given)
        (ours,) = backend.run_node(node, inputs, opset_version=row.since)
        actual = run_node(row, given, inputs, answer(row, given, inputs))
        assert_same_bits(actual, ours, f"{row} {given} of {inputs!r}")


class InSession(Backend):
    """onnx's backend interface over a session."""

    runs = 0

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        return InSessionRep(model)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


class InSessionRep(BackendRep):
    def __init__(self, model):
        self.model = model

    def run(self, inputs, **options):
        outputs = run_model(self.model, inputs)
        InSession.runs += 1
        return outputs


# In a tuple, because pytest would collect a class.
OFFICIAL = official(InSession)


@pytest.mark.parametrize("name", OFFICIAL[1])
def test_official(name):
    before = InSession.runs
    result = unittest.TestResult()
    OFFICIAL[0](name).run(result)
    assert result.errors == result.failures == result.skipped == []
    assert (result.testsRun, InSession.runs) == (1, before + 1)
