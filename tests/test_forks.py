"""A child that is forked while another thread loads a module can compute, and loads the module itself."""

import os
import subprocess
import sys

import pytest

# A thread makes a call and is stopped where it looks for the module; the child makes the same call.
PROGRAM = """
import faulthandler, importlib.abc, os, sys, threading
import numpy as np, extremum as ex
{prepare}

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r} and threading.current_thread() is thread:
            looking.set()
            forking.wait()
            # Long enough for a fork, did it not wait for this thread.
            threading.Event().wait(0.3)

def call():
    {call}

looking, forking = threading.Event(), threading.Event()
thread = threading.Thread(target=call)
sys.meta_path.insert(0, Slow())
thread.start()
assert looking.wait(30), "nothing is loaded"
forking.set()
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(20, exit=True)
    call()
    os._exit(0)
status = os.waitpid(child, 0)[1]
thread.join()
print(status, {module!r} in sys.modules)
"""

LOADED = {
    "extremum.elementwise": "ex.maximum([1.0, 2.0], 0.5)",
    "extremum.reductions": "ex.argmax([1, 2])",
    "extremum.tables": "ex.argmax(pd.DataFrame({1: [2]}))",
    "extremum.xarray": "ex.argmax(xr.DataArray([1, 2]))",
    "ml_dtypes": "from extremum.tensors import element_of; element_of('bfloat16').dtype",
}
PREPARED = {
    "extremum.tables": "import pandas as pd",
    "extremum.xarray": "import xarray as xr",
    "ml_dtypes": "import extremum.tensors",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("module", LOADED)
def test_a_fork_waits_for_a_module_that_is_being_loaded(module):
    program = PROGRAM.format(module=module, call=LOADED[module], prepare=PREPARED.get(module, ""))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "0 True\n", done.stderr


def test_whatever_a_call_loads_is_loaded_so_that_a_fork_waits():
    program = """
import importlib.abc, sys
import numpy as np, extremum as ex
from extremum import loading

class Watching(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        print(name if loading.LOCK._is_owned() else f"not waited for: {name}")

sys.meta_path.insert(0, Watching())
x = np.ones((2, 3 << 19), np.float32)
for of in (x, x.astype(np.float16)[:, :9], [1, 2], [[1.0, 2.0]], (3, 4), 5, np.float16(1), memoryview(b"ab")):
    for function in (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax, lambda y: ex.maximum(y, y),
                     lambda y: ex.minimum(y, 1), lambda y: ex.max(y, return_index=True, axis=0),
                     lambda y: ex.argmax(y, nan_policy="omit"), lambda y: ex.max(y, axis=7),
                     lambda y: ex.argmax(y, out=y)):
        try:
            function(of)
        except ex.errors.ExtremumError:
            pass
ex.unravel(3, (2, 2))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split("\n")
    assert {"extremum.elementwise", "extremum.reductions"} <= set(loaded)
    assert [name for name in loaded if name.startswith("not")] == []
