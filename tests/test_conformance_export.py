"""The suite as files."""

import hashlib
import json
import time
import unittest

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from onnx.reference import ReferenceEvaluator

from agreement import same_bits
from extremum.backend import Backend
from extremum.conformance import Outcome, Selection, cases, export
from extremum.conformance.files import KINDS
from extremum.errors import ArgumentError
from extremum.runtimes.comparison import compare
from official import family_alone

FEW = Selection(
    versions=[11, 13],
    elements=["float32", "bfloat16", "int64"],
    topics=["nan", "ties", "refusals", "empty", "unsorted"],
)


def digest(folder):
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return export(tmp_path_factory.mktemp("export") / "suite", FEW)


def test_the_seed_decides_the_bytes(exported, tmp_path):
    assert digest(export(tmp_path / "suite", FEW).folder) == digest(exported.folder)
    plain = Selection(operators=["Max"], versions=[13], elements=["float32"], topics=["plain"])
    assert digest(export(tmp_path / "a", plain, seed=1).folder) != digest(export(tmp_path / "b", plain, seed=2).folder)


@pytest.mark.exhaustive
def test_the_whole_suite_is_small_and_onnx_loads_all_of_it(tmp_path):
    written = export(tmp_path / "suite")
    assert written.results + written.refusals == sum(1 for _ in cases())
    assert written.size == sum(path.stat().st_size for path in written.folder.rglob("*") if path.is_file())
    assert written.size < 20e6
    numbers = {kind: len(load_model_tests(str(written.folder), kind)) for kind in KINDS}
    assert numbers["any_order"] == 184
    assert (numbers["result"] + numbers["any_order"], numbers["refusal"]) == (written.results, written.refusals)
    for entry in json.loads((written.folder / "manifest.json").read_text())["cases"]:
        graph = onnx.load(written.folder / entry["path"] / "model.onnx").graph
        assert [each.name for each in graph.input] == entry["inputs"]
        assert [each.name for each in graph.output] == entry["outputs"]


def test_inputs_and_outputs_are_types_sizes_and_raw_elements(exported):
    """What docs/runtimes.md promises to readers who have no library for the files."""
    files = list(exported.folder.rglob("*.pb"))
    assert files
    for path in files:
        fields = {field.name for field, _ in onnx.load_tensor(path).ListFields()}
        assert {"data_type", "name", "raw_data"} <= fields <= {"data_type", "name", "raw_data", "dims"}


def test_the_files_are_the_cases(exported):
    manifest = {entry["name"]: entry for entry in json.loads((exported.folder / "manifest.json").read_text())["cases"]}
    suite = list(cases(FEW))
    assert list(manifest) == [case.name for case in suite]
    for case in suite:
        entry = manifest[case.name]
        expected = case.expected()
        folder = exported.folder / entry["path"]
        onnx.load(folder / "model.onnx")
        data = folder / "test_data_set_0"
        arrays = {f"input_{at}": x for at, x in enumerate(case.question.inputs)}
        arrays.update({f"output_{at}": x for at, x in enumerate(expected or ())})
        assert {path.stem for path in data.iterdir()} == set(arrays)
        for name, x in arrays.items():
            assert same_bits(onnx.numpy_helper.to_array(onnx.load_tensor(data / f"{name}.pb")), x)
        assert entry["expected"] == ("refusal" if expected is None else "result")
        assert entry["specified"] is case.specified
        assert entry["any_order_along"] == case.any_order_along
        folders = {"result", "any_order"} if expected else {"refusal"}
        assert entry["path"].partition("/")[0] in folders


def accepts(entry, folder, answers):
    """Whether a runner that follows docs/runtimes.md accepts the outputs of a case."""
    data = folder / entry["path"] / "test_data_set_0"
    files = [data / f"output_{position}.pb" for position, _ in enumerate(entry["outputs"])]
    expected = [onnx.numpy_helper.to_array(onnx.load_tensor(file)) for file in files]
    axis = entry["any_order_along"]
    if axis is not None:
        expected, answers = (
            [np.take_along_axis(x, np.argsort(outputs[-1], axis), axis) for x in outputs]
            for outputs in (expected, answers)
        )
    return all(same_bits(answer, right) for answer, right in zip(answers, expected, strict=True))


def test_the_manifest_says_which_outputs_may_have_any_order(exported):
    entries = json.loads((exported.folder / "manifest.json").read_text())["cases"]
    topk = {case.name: case for case in cases(FEW) if case.version.name == "TopK"}
    unsorted = [entry for entry in entries if entry["any_order_along"] is not None]
    assert [entry["name"] for entry in unsorted] == [name for name in topk if "_unsorted_" in name]
    for entry in unsorted:
        assert entry["path"] == f"any_order/test_{entry['name']}"
        assert entry["outputs"] == ["y", "y1"]
        values, indices = topk[entry["name"]].expected()
        axis = entry["any_order_along"]
        assert accepts(entry, exported.folder, [values, indices])
        assert accepts(entry, exported.folder, [np.flip(values, axis), np.flip(indices, axis)])
        assert not accepts(entry, exported.folder, [values, np.flip(indices, axis)]) or same_bits(
            values, np.flip(values, axis)
        )
        assert not accepts(entry, exported.folder, [values, indices + 1])


def test_a_runner_that_follows_the_page_judges_as_the_command_does(exported):
    """onnx.reference's answers, where it has one, of TopK in every order and of the others."""
    entries = {each["name"]: each for each in json.loads((exported.folder / "manifest.json").read_text())["cases"]}
    answered = 0
    for case in cases(FEW):
        expected = case.expected()
        if expected is None or case.topic == "empty":
            continue
        model = onnx.load(exported.folder / entries[case.name]["path"] / "model.onnx")
        with np.errstate(all="ignore"):
            answers = ReferenceEvaluator(model).run(None, case.feeds)
        is_exact = compare(case.question, expected, answers) is Outcome.EXACT
        assert accepts(entries[case.name], exported.folder, answers) == is_exact
        answered += 1
    assert answered > 150


def test_onnx_loads_and_runs_the_cases(exported):
    """Through onnx's own loader and runner, as every backend's tests do."""
    loaded = load_model_tests(str(exported.folder), "result")
    in_any_order = load_model_tests(str(exported.folder), "any_order")
    assert len(loaded) + len(in_any_order) == exported.results

    with family_alone():
        runner = Runner(Backend, __name__)
    # onnx's runner compares every bit where it is, which the others need not pass.
    for test in loaded:
        runner._add_model_test(test, "Result")
    result = unittest.TestResult()
    names = {f"{test.name}_cpu" for test in loaded}
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        # onnx's runner compares outputs in a way that fails for bfloat16 with NumPy 1.
        names = {name for name in names if "bfloat16" not in name}
    case = runner.test_cases["OnnxBackendResultModelTest"]
    unittest.TestSuite(map(case, names)).run(result)
    assert result.testsRun == len(names) > 300
    assert not result.skipped
    assert result.wasSuccessful(), (result.failures + result.errors)[0][1]


def test_nothing_is_left_of_an_export_that_fails(tmp_path):
    def fail(case):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(tmp_path / "suite", FEW, progress=fail)
    # Another process removes the folder, and the export does not wait for that process.
    deadline = time.monotonic() + 30
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_and_nothing_empty_is_written(tmp_path):
    with pytest.raises(ArgumentError, match="no case matches"):
        export(tmp_path / "suite", Selection(operators=["ArgMax"], topics=["broadcasting"]))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(ArgumentError, match="is not an empty folder"):
        export(tmp_path, FEW)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
