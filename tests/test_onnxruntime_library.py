"""The library as hosts use it: loaded and released any number of times, by hosts that are too old or pass nothing.

The library comes in two files: the native module, which is registered in Python, and the standalone library, which
loads without Python, as native/onnxruntime/tests/host.rs shows; here ONNX Runtime itself runs it.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from extremum.onnxruntime import library_path

ROOT = Path(__file__).parents[1]


def standalone():
    """The library for hosts without Python: EXTREMUM_LIBRARY, else what cargo builds, or has built for `make test`."""
    if path := os.environ.get("EXTREMUM_LIBRARY"):
        return ROOT / path
    if shutil.which("cargo") is None:
        pytest.skip("the standalone library takes cargo to be built, or a path in EXTREMUM_LIBRARY")
    command = ["cargo", "build", "--release", "--locked", "--package", "extremum-onnxruntime", "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = [name for line in done.stdout.splitlines() for name in json.loads(line).get("filenames", ())]
    (path,) = (Path(name) for name in made if re.search(r"extremum_onnxruntime\.(so|dylib|dll)$", name))
    return path


# Compiling the kernels once more takes minutes.
@pytest.fixture(scope="module", params=["module", pytest.param("standalone", marks=pytest.mark.exhaustive)])
def file(request):
    return library_path() if request.param == "module" else standalone()


CYCLES = """
import sys
import onnxruntime
import psutil

def cycles(count):
    for _ in range(count):
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(sys.argv[1])
        if model is not None:
            onnxruntime.InferenceSession(model, options)

def growth(count):
    before = process.memory_info().rss
    cycles(count)
    return process.memory_info().rss - before

process = psutil.Process()
model = None
cycles(500)
# What allocators keep is not a leak: it does not come again.
print(min(growth(1000) for _ in range(3)))
model = bytes.fromhex(sys.argv[2])
cycles(300)
print(min(growth(300) for _ in range(3)))
"""


def in_a_process(code, *arguments):
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


def test_memory_stays_flat_over_cycles_of_options_and_sessions(file):
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 8, opset_import: ["ai.extremum" : 1]> g (float[3] x) => (float[3] y) {
        y = ai.extremum.OneHot <axis = 0> (x) }"""
    result = in_a_process(CYCLES, file, onnx.parser.parse_model(text).SerializeToString().hex())
    assert result.returncode == 0, result.stderr
    options, sessions = map(int, result.stdout.split())
    # Creating 39 operators anew would take 10 KB a cycle.
    assert options < 1000 * 1024, f"{options / 1000} bytes a cycle of options"
    assert sessions < 300 * 4096, f"{sessions / 300} bytes a cycle of a session"


MODEL = """<ir_version: 8, opset_import: ["ai.extremum" : 1]> g (float[3] x) => (int64[1] y) {
    y = ai.extremum.ArgReduce <axis = 0> (x) }"""

SESSION = """
import sys
import numpy as np
import onnxruntime

options = onnxruntime.SessionOptions()
for file in sys.argv[2:]:
    options.register_custom_ops_library(file)
session = onnxruntime.InferenceSession(bytes.fromhex(sys.argv[1]), options)
assert session.run(None, {"x": np.float32([1, 3, 2])})[0].tolist() == [1]
"""

IMPORTED_LATER = """
import extremum
assert extremum.argmax(np.float32([1, 3, 2])) == 1
assert session.run(None, {"x": np.float32([1, 2, 3])})[0].tolist() == [2]
"""

ONCE = """
import os
mapped = [line.split() for line in open("/proc/self/maps") if line.rstrip().endswith(os.path.basename(sys.argv[2]))]
assert len([each for each in mapped if "x" in each[1]]) == 1, mapped
"""


def model():
    onnx = pytest.importorskip("onnx")
    return onnx.parser.parse_model(MODEL).SerializeToString()


def test_a_session_of_onnxruntimes_own(file):
    result = in_a_process(SESSION, model().hex(), file)
    assert result.returncode == 0, result.stderr


@pytest.mark.exhaustive
def test_both_files_in_one_session_are_one_domain():
    result = in_a_process(SESSION, model().hex(), library_path(), standalone())
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("imports", ["", "import extremum\n"], ids=["onnxruntime first", "Python first"])
def test_whoever_loads_the_module_first_there_is_one(imports):
    once = ONCE if sys.platform == "linux" else ""
    result = in_a_process(imports + SESSION + IMPORTED_LATER + once, model().hex(), library_path())
    assert result.returncode == 0, result.stderr


class Base(ctypes.Structure):
    """OrtApiBase."""

    _fields_ = (
        ("get_api", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)),
        ("get_version", ctypes.CFUNCTYPE(ctypes.c_void_p)),
    )


STATUS = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)


class Host:
    """A host whose table holds only the first function, which creates a status."""

    def __init__(self, version, known):
        self.texts = []
        self.numbers = []
        self.create_status = STATUS(self.status)
        self.table = (ctypes.c_void_p * 400)()
        self.table[0] = ctypes.cast(self.create_status, ctypes.c_void_p)
        self.version = version
        self.known = known
        self.base = Base(Base._fields_[0][1](self.api), Base._fields_[1][1](self.version_address))

    def status(self, code, text):
        self.texts.append((code, text.decode()))
        return 1

    def api(self, number):
        self.numbers.append(number)
        return ctypes.addressof(self.table) if number <= self.known else None

    def version_address(self):
        return ctypes.cast(self.version, ctypes.c_void_p).value if self.version is not None else None


def register(file, options, base):
    function = ctypes.CDLL(str(file)).RegisterCustomOps
    function.restype = ctypes.c_void_p
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    return function(options, base)


TOO_OLD = "extremum needs ONNX Runtime 1.18 or later, this is {}; help: upgrade onnxruntime"


@pytest.mark.parametrize(
    ("version", "known", "numbers", "text"),
    [
        (b"1.17.3", 17, [1], TOO_OLD.format("1.17.3")),
        (b"0.9.0", 3, [1], TOO_OLD.format("0.9.0")),
        (b"1.18.0", 17, [18, 1], TOO_OLD.format("1.18.0")),
        (b"1.99.0", 1, [18, 1], TOO_OLD.format("1.99.0")),
        (b"nonsense", 1, [18, 1], TOO_OLD.format("nonsense")),
        (b"1.\xff", 1, [1], TOO_OLD.format("1.\ufffd")),
        (b"", 1, [18, 1], TOO_OLD.format("")),
        (None, 1, [18, 1], TOO_OLD.format("of no version")),
        (b"1.31.0", 31, [18], "there are no session options to register in; help: give some"),
    ],
)
def test_a_host_that_is_too_old_or_passes_no_options_is_told_so(file, version, known, numbers, text):
    host = Host(version, known)
    assert register(file, None, ctypes.addressof(host.base)) == 1
    assert (host.texts, host.numbers) == ([(2, text)], numbers)


def test_a_host_without_any_table_gets_no_status(file):
    assert register(file, None, ctypes.addressof(Host(b"1.18.0", 0).base)) is None
    assert register(file, None, None) is None
