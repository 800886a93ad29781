"""The suite as files, in the layout of ONNX's own backend tests, with a manifest.

Each case has a folder ``KIND/test_NAME``. A loader of that layout, which compares every bit, needs only ``result``. In
``any_order`` are the cases whose outputs may have another order, in ``refusal`` those without an answer.
``manifest.json`` has the rest.
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
from extremum.runtimes.runtime import Array

KINDS = ("result", "any_order", "refusal")
"""The folders of an export."""


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
        raise ArgumentError(
            f"{str(target)!r} is not an empty folder", remedy="name a folder that does not exist yet"
        )
    if next(cases(selection, seed), None) is None:
        raise ArgumentError("no case matches", remedy="drop a filter")
    # Next to the target, so that the finished folder only needs a new name.
    draft = target.parent / f".{target.name}-{secrets.token_hex(4)}"
    for kind in KINDS:
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
        _remove(draft)
        raise
    refusals = sum(entry["expected"] == "refusal" for entry in entries)
    return Exported(target, len(entries) - refusals, refusals, size)


def _remove(draft: Path) -> None:
    """Remove thousands of files, which takes seconds, in a process that outlives this one."""
    remover = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", remover, str(draft)],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # That process may end later than this one; a set return code prevents the warning about it.
    process.returncode = 0


def _write(case: Case, draft: Path) -> dict[str, Any]:
    """Write the files of a case and return its entry in the manifest."""
    expected = case.expected()
    path = f"{_kind_of(case)}/test_{case.name}"
    data = draft / path / "test_data_set_0"
    data.mkdir(parents=True)
    (draft / path / "model.onnx").write_bytes(model_of(case, expected).SerializeToString(deterministic=True))
    for position, (name, x) in enumerate(case.feeds.items()):
        (data / f"input_{position}.pb").write_bytes(_tensor(name, x))
    for position, x in enumerate(expected or ()):
        (data / f"output_{position}.pb").write_bytes(_tensor(case.output_names[position], x))
    return {
        "name": case.name,
        "path": path,
        "operator": case.version.name,
        "version": case.version.since,
        "element_type": case.element,
        "topic": case.topic,
        "inputs": list(case.feeds),
        "outputs": case.output_names,
        "any_order_along": case.any_order_along,
        "specified": case.specified,
        "says": case.question.says,
        "leaves_open": case.question.leaves_open,
        "expected": "refusal" if expected is None else "result",
    }


def _kind_of(case: Case) -> str:
    """Return the folder of a case."""
    if case.question.refused:
        return "refusal"
    return "result" if case.any_order_along is None else "any_order"


def _tensor(name: str, x: Array) -> bytes:
    return onnx.numpy_helper.from_array(x, name).SerializeToString(deterministic=True)
