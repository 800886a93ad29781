"""What `dir` and `repr` show: only the public names, and what a model, an operator and a session take and give."""

import importlib

import onnx
import pytest

import extremum
from extremum import backend, directml
from extremum.errors import DependencyError

NAMES = "backend check conformance cubed dask directml errors fix gpu onnxruntime operations runtimes xarray"
PACKAGES = [f"extremum.{name}" for name in NAMES.split()]
MODEL = '<ir_version: 8, opset_import: ["" : 13]> g (float[2, n] x) => (int64[1, n] y) { y = ArgMax(x) }'


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_shows_its_public_names_alone(name):
    try:
        module = importlib.import_module(name)
    except DependencyError as error:
        pytest.skip(str(error))
    assert dir(module) == sorted(module.__all__)


def test_extremum_shows_its_public_names_and_packages_alone():
    packages = {name.partition(".")[2] for name in PACKAGES} - {"errors"}
    assert set(extremum.__all__) <= set(dir(extremum)) <= set(extremum.__all__) | packages
    assert "backend" in dir(extremum)
    functions = {name for name, value in vars(extremum).items() if callable(value) and name[0] != "_"}
    assert functions | {"__version__", "errors"} == set(extremum.__all__)


@pytest.mark.parametrize("engine", backend.ENGINES)
def test_a_prepared_model_says_what_it_takes_and_gives(engine):
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    two = MODEL.replace("y = ArgMax(x)", "z = Abs(x) y = ArgMax(z)")
    prepared = backend.prepare(onnx.parser.parse_model(two), engine=engine)
    assert repr(prepared) == f"<PreparedModel x: float32[2, n] -> y: int64[1, n], engine={engine!r}>"


def test_a_session_says_what_it_takes_and_what_was_rewritten():
    pytest.importorskip("onnxruntime")
    from extremum.onnxruntime import InferenceSession

    session = InferenceSession(onnx.parser.parse_model(MODEL).SerializeToString())
    text = "<InferenceSession x: tensor(float) [2, 'n'] -> y: tensor(int64) [1, 'n'], 1 node of extremum>"
    assert repr(session) == text


def test_an_operator_says_what_it_is_of():
    x = directml.TensorDesc(directml.TensorDataType.FLOAT32, (3, 3))
    desc = directml.ElementWiseMaxOperatorDesc(x, x, x)
    operator = directml.create_operator(desc, feature_level=directml.FeatureLevel.FL_4_1)
    text = "<Operator DML_ELEMENT_WISE_MAX: FLOAT32[3, 3], FLOAT32[3, 3] -> FLOAT32[3, 3], feature level 4_1>"
    assert repr(operator) == text
