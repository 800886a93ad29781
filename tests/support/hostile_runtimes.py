"""Runtimes that die, hang, lie or are missing, registered the way any other package registers its own."""

import os
import signal
import time
from copy import deepcopy
from types import SimpleNamespace

import numpy as np

from extremum import backend


class Runtime:
    version = "1.0"

    def __init__(self, name, answer):
        self.name = name
        self.answer = answer

    def load(self, model):
        def run(feeds):
            answer = self.answer(deepcopy(model), *feeds.values())
            return answer if isinstance(answer, list) else [answer]

        return run


def is_rows(model):
    return model.graph.name.endswith("ties_rows") or model.graph.name == "question"


def argmax(model, x):
    return np.argmax(x, int(model.graph.node[0].attribute[0].i), keepdims=True)


def segfault(model, x):
    if is_rows(model):
        os.kill(os.getpid(), signal.SIGSEGV)
    return argmax(model, x)


def hang(model, x):
    if is_rows(model):
        time.sleep(60)
    return argmax(model, x)


def narrow(model, *inputs):
    if inputs[0].dtype == np.int16 and model.graph.node[0].op_type != "Cast":
        raise TypeError("int16")
    return list(backend.run_model(model, inputs))


def last(model, *inputs):
    """Run a model in which every ArgMax takes the last of equal elements."""
    for node in model.graph.node:
        if node.op_type == "ArgMax":
            node.attribute.add(name="select_last_index", type=2, i=1)
    return list(backend.run_model(model, inputs))


def print_and_refuse(model, x):
    os.write(1, b"noise on the terminal")
    raise RuntimeError("not\nimplemented")


def runtimes():
    return [
        Runtime("hostile:segfault", segfault),
        Runtime("hostile:hang", hang),
        Runtime("hostile:refuse", print_and_refuse),
        Runtime("hostile:nothing", lambda model, x: []),
        Runtime("hostile:narrow", narrow),
        Runtime("hostile:last", last),
    ]


def absent():
    raise ImportError("nothing of that name is installed")


def fails():
    return {}["runtimes"]


def forgetful():
    """A runtime whose load forgets to return what runs the model."""
    return [SimpleNamespace(name="forgetful", version="1.0", load=lambda model: None)]


def make_known(folder, monkeypatch, **more):
    """Register these runtimes, and others by their functions, for this process and those that it starts."""
    info = folder / "hostile-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n")
    functions = {"hostile": "hostile_runtimes:runtimes", "absent": "hostile_runtimes:absent", **more}
    lines = [f"{name} = {function}\n" for name, function in functions.items()]
    (info / "entry_points.txt").write_text("".join(["[extremum.runtimes]\n", *lines]))
    monkeypatch.syspath_prepend(folder)
