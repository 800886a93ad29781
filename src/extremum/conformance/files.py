"""The suite as files, in the layout of ONNX's own backend tests, with a manifest.

The folder ``result/test_NAME`` holds a case with an answer, ``refusal/test_NAME`` a case without; a loader of that
layout needs only ``result``. ``manifest.json`` has the rest.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from extremum import __version__
from extremum.conformance.case import Case
from extremum.conformance.model import model_of
from extremum.conformance.selection import Selection, cases
from extremum.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Exported:
    """The extent of an export: the numbers of cases with and without an answer, and the bytes of all files."""

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
    """Write the suite into a new folder and return its extent, :class:`Exported`; the same seed gives the same bytes.

    Parameters
    ----------
    folder : str or path-like
        It must not exist, or must be empty. It appears when everything has been written.
    selection : Selection, optional
        The cases; all by default.
    seed : int
        Seed of the ordinary elements.
    progress : callable, optional
        Called with each case before it is written.

    Raises
    ------
    ArgumentError
        If the folder is not empty, or no case matches.
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
    if next(cases(selection, seed), None) is None:
        raise ArgumentError("no case matches", remedy="drop a filter")
    # Next to the target, so that the finished folder only needs a new name.
    draft = target.parent / f".{target.name}-{secrets.token_hex(4)}"
    for kind in ("result", "refusal"):
        (draft / kind).mkdir(parents=True)
    try:
        entries = []
        for case in cases(selection, seed):
            progress(case)
            entries.append(_write(case, draft))
        manifest = {"suite": "extremum", "version": __version__, "seed": seed, "cases": entries}
        (draft / "manifest.json").write_bytes(json.dumps(manifest, indent=1).encode() + b"\n")
        size = sum(path.stat().st_size for path in draft.rglob("*") if path.is_file())
        if target.exists():
            target.rmdir()
        draft.rename(target)
    except BaseException:
        # Removing thousands of files takes seconds: a process that outlives this one does it.
        remover = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
        command, null = [sys.executable, "-I", "-S", "-c", remover, str(draft)], subprocess.DEVNULL
        # Nobody waits for that process; a set return code prevents the warning about it.
        subprocess.Popen(command, start_new_session=True, stdin=null, stdout=null, stderr=null).returncode = 0
        raise
    refusals = sum(entry["expected"] == "refusal" for entry in entries)
    return Exported(target, len(entries) - refusals, refusals, size)


def _write(case: Case, draft: Path) -> dict[str, Any]:
    """Write the files of a case and return its entry in the manifest."""
    expected = case.expected()
    kind = "refusal" if expected is None else "result"
    folder = draft / kind / f"test_{case.name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model_of(case, expected).SerializeToString(deterministic=True))
    tensors = [(f"input_{at}", name, x) for at, (name, x) in enumerate(case.feeds.items())]
    tensors += [(f"output_{at}", f"y{at or ''}", x) for at, x in enumerate(expected or ())]
    for file, name, x in tensors:
        (data / f"{file}.pb").write_bytes(onnx.numpy_helper.from_array(x, name).SerializeToString(deterministic=True))
    return {
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
