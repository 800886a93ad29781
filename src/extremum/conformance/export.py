"""Writing the suite as files, in the layout of ONNX's own backend tests.

``result/test_NAME`` holds a case that has an answer, ``refusal/test_NAME`` one that has none: a loader of ONNX's layout
that is pointed at ``result`` needs to know nothing else. ``manifest.json`` says the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from extremum import __version__
from extremum.conformance.suite import Case, Selection, cases, model_of
from extremum.conformance.topics import Array
from extremum.errors import ArgumentError

__all__ = ["Exported", "export"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes
    ----------
    folder : pathlib.Path
        The folder.
    results, refusals : int
        How many cases have an answer, and how many none.
    size : int
        Bytes of all files together.
    """

    folder: Path
    results: int
    refusals: int
    size: int


def export(
    folder: str | os.PathLike[str],
    selection: Selection | None = None,
    *,
    seed: int = 0,
    progress: Callable[[Case], None] = lambda case: None,
) -> Exported:
    """Write the suite into a new folder; the same seed gives the same bytes.

    Parameters
    ----------
    folder : str or path-like
        Must not exist, or be empty. It appears when everything has been written.
    selection : Selection, optional
        Which cases; all by default.
    seed : int
        Of the ordinary elements.
    progress : callable, optional
        Told of each case before it is written.

    Returns
    -------
    Exported
        How much was written.

    Raises
    ------
    ArgumentError
        If the folder has something in it, or no case matches.
    OSError
        If it cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from extremum.conformance import Selection, export
    >>> few = Selection(operators=["ArgMax"], versions=[13], elements=["int8"], topics=["ties"])
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     written = export(pathlib.Path(parent, "suite"), few)
    ...     sorted(each.name for each in (written.folder / "result").iterdir())[0], written.results
    ('test_argmax_13_int8_ties_columns', 4)
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ArgumentError(f"{str(target)!r} is not an empty folder", remedy="name a folder that does not exist yet")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that the finished folder only has to change its name.
    with _scratch(target) as scratch:
        draft = Path(scratch, "suite")
        entries = []
        size = 0
        for kind in ("result", "refusal"):
            (draft / kind).mkdir(parents=True)
        for case in cases(selection, seed):
            progress(case)
            entry, written = _write(case, draft)
            entries.append(entry)
            size += written
        if not entries:
            raise ArgumentError("no case matches", remedy="drop a filter")
        manifest = {"suite": "extremum", "version": __version__, "seed": seed, "cases": entries}
        size += _write_bytes(draft / "manifest.json", json.dumps(manifest, indent=1).encode() + b"\n")
        if target.exists():
            target.rmdir()
        draft.rename(target)
    refusals = sum(entry["expected"] == "refusal" for entry in entries)
    return Exported(target, len(entries) - refusals, refusals, size)


@contextlib.contextmanager
def _scratch(target: Path) -> Iterator[str]:
    """Give a folder beside the target, which is removed after the block."""
    scratch = tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent)
    try:
        yield scratch
    except KeyboardInterrupt:
        # Thousands of files take seconds to remove, and whoever presses Ctrl-C does not wait for that.
        remover = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
        command = [sys.executable, "-I", "-S", "-c", remover, scratch]
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, start_new_session=True, stdin=null, stdout=null, stderr=null)
        # Nobody waits for it, and that is no reason to warn.
        process.returncode = 0
        raise
    except BaseException:
        shutil.rmtree(scratch)
        raise
    shutil.rmtree(scratch)


def _write(case: Case, draft: Path) -> tuple[dict[str, Any], int]:
    expected = case.expected()
    kind = "refusal" if expected is None else "result"
    folder = draft / kind / f"test_{case.name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    model = model_of(case, expected)
    size = _write_bytes(folder / "model.onnx", model.SerializeToString(deterministic=True))
    for position, x in enumerate(case.question.inputs):
        size += _write_tensor(data / f"input_{position}.pb", x, f"x{position}")
    if expected is not None:
        size += _write_tensor(data / "output_0.pb", expected, "y")
    entry = {
        "name": case.name,
        "path": f"{kind}/test_{case.name}",
        "operator": case.version.name,
        "version": case.version.since,
        "element_type": case.element,
        "topic": case.topic,
        "specified": case.specified,
        "says": case.question.says,
        "leaves_open": case.question.leaves_open,
        "expected": kind,
    }
    return entry, size


def _write_tensor(path: Path, x: Array, name: str) -> int:
    return _write_bytes(path, onnx.numpy_helper.from_array(x, name).SerializeToString(deterministic=True))


def _write_bytes(path: Path, content: bytes) -> int:
    return path.write_bytes(content)
