"""The library as hosts use it: loaded and left any number of times, by hosts that are too old or pass nothing."""

import ctypes
import subprocess
import sys

import pytest

from extremum.onnxruntime import library_path

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
    words = [sys.executable, "-c", code, str(library_path()), *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


def test_memory_stays_flat_over_cycles_of_options_and_sessions():
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 8, opset_import: ["ai.extremum" : 1]> g (float[3] x) => (float[3] y) {
        y = ai.extremum.OneHot <axis = 0> (x) }"""
    result = in_a_process(CYCLES, onnx.parser.parse_model(text).SerializeToString().hex())
    assert result.returncode == 0, result.stderr
    options, sessions = map(int, result.stdout.split())
    # 39 operators made anew would be 10 KB a cycle.
    assert options < 1000 * 1024, f"{options / 1000} bytes a cycle of options"
    assert sessions < 300 * 4096, f"{sessions / 300} bytes a cycle of a session"


class Base(ctypes.Structure):
    """OrtApiBase."""

    _fields_ = (
        ("get_api", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)),
        ("get_version", ctypes.CFUNCTYPE(ctypes.c_void_p)),
    )


STATUS = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)


class Host:
    """A host whose table of functions has one, the first: the making of a status."""

    def __init__(self, version, known):
        self.texts, self.asked = [], []
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
        self.asked.append(number)
        return ctypes.addressof(self.table) if number <= self.known else None

    def version_address(self):
        return ctypes.cast(self.version, ctypes.c_void_p).value if self.version is not None else None


def register(options, base):
    function = ctypes.CDLL(str(library_path())).RegisterCustomOps
    function.restype = ctypes.c_void_p
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    return function(options, base)


@pytest.mark.parametrize(
    ("version", "known", "asked"),
    [
        (b"1.17.3", 17, [1]),
        (b"0.9.0", 3, [1]),
        (b"1.18.0", 17, [18, 1]),
        (b"1.99.0", 1, [18, 1]),
        (b"nonsense", 1, [18, 1]),
        (b"1.\xff", 1, [1]),
        (b"", 1, [18, 1]),
    ],
)
def test_a_host_that_is_too_old_is_told_so(version, known, asked):
    host = Host(version, known)
    assert register(None, ctypes.addressof(host.base)) == 1
    shown = version.decode(errors="replace")
    assert host.texts == [(2, f"extremum needs ONNX Runtime 1.18 or later, this is {shown}; help: upgrade onnxruntime")]
    assert host.asked == asked


def test_a_host_of_no_version_is_told_so():
    host = Host(None, 1)
    assert register(None, ctypes.addressof(host.base)) == 1
    assert host.texts[0][1].startswith("extremum needs ONNX Runtime 1.18 or later, this is of no version")


def test_a_host_without_any_table_gets_no_status():
    assert register(None, ctypes.addressof(Host(b"1.18.0", 0).base)) is None
    assert register(None, None) is None


def test_a_host_that_passes_no_options_is_told_so():
    host = Host(b"1.31.0", 31)
    assert register(None, ctypes.addressof(host.base)) == 1
    assert host.texts == [(2, "there are no session options to register in; help: give some")]
