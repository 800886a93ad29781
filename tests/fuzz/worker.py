"""The child: works on one case after the other, and says before each which it is."""

import contextlib
import json
import random
import time
import traceback
from pathlib import Path

import corpus
import targets

try:
    import resource
except ImportError:  # Windows has none
    resource = None

ADDRESSES = 12 << 30


def work(seed, first, count, until, names, status):
    """Make the cases; ``status`` is the file that says which one is at work. Findings go to stdout, a line each."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    corpus.models(), corpus.tensors(), corpus.arrays()
    folder = targets.Folder()
    with Path(status).open("w") as state:
        for number in range(first, first + count):
            if time.time() > until:
                break
            name = names[number % len(names)]
            folder.clear()
            _tell(state, number, name, folder)
            _attempt(seed, number, name, folder)
        _tell(state, -1, "", folder)
    folder.clear()
    folder.path.rmdir()


def _tell(state, number, name, folder):
    state.seek(0)
    state.write(json.dumps([number, name, str(folder.path)]).ljust(400))
    state.flush()


def _attempt(seed, number, name, folder):
    line = {"number": number, "target": name, "answered": False}
    try:
        line["answered"] = targets.attempt(name, random.Random(f"{seed}:{number}"), folder)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/extremum/" in frame.filename] or frames
        at = f"{Path(ours[-1].filename).name}:{ours[-1].name}"
        kept = {}
        with contextlib.suppress(OSError):
            kept = {path.name: path.read_bytes().hex() for path in folder.path.iterdir() if path.is_file()}
        text = "".join(traceback.format_exception(error))
        line |= {"finding": f"{name} {type(error).__name__} at {at}", "text": text[-4000:], "files": kept}
    print(json.dumps(line), flush=True)
