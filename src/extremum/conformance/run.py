"""The suite at work: run in a runtime, or written as files in the layout of ONNX's own backend tests.

The folder ``result/test_NAME`` holds a case that has an answer, ``refusal/test_NAME`` one that has none: a loader of
ONNX's layout needs to know ``result`` only. ``manifest.json`` says the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from extremum import __version__
from extremum.conformance.suite import Case, Selection, cases, model_of
from extremum.errors import ArgumentError
from extremum.runtimes.processes import NoAnswerError, Subprocess
from extremum.runtimes.runtime import Outcome, compare


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a runtime to one case.

    Attributes
    ----------
    case : Case
        The case.
    outcome : Outcome
        How the answer compares. A case that has to be refused and is refused counts as exact.
    detail : str
        The answer, or what the runtime said instead; empty where it is exact.
    """

    case: Case
    outcome: Outcome
    detail: str = ""

    @property
    def conforms(self) -> bool:
        """Whether no document contradicts the answer; to refuse is not to answer wrongly."""
        return self.outcome in (Outcome.EXACT, Outcome.REFUSED) or (
            not self.case.specified and self.outcome not in (Outcome.CRASHED, Outcome.TIMED_OUT)
        )


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one runtime to the suite.

    Attributes
    ----------
    runtime, version : str
        The runtime.
    results : tuple of Result
        One for each case, in their order.
    """

    runtime: str
    version: str
    results: tuple[Result, ...]

    def counts(self) -> Counter[Outcome]:
        """Return how many cases have each outcome."""
        return Counter(result.outcome for result in self.results)


def run(
    runtime: str, cases: Iterable[Case], *, limit: float = 10.0, progress: Callable[[Case], None] = lambda case: None
) -> Answers:
    """Run cases in a runtime, in a process of its own, and return its :class:`Answers`.

    Parameters
    ----------
    runtime : str
        Its name, as :func:`extremum.runtimes.find` takes it.
    cases : iterable of Case
        The cases.
    limit : float
        Seconds that a case may take.
    progress : callable, optional
        Called with each case after its answer.

    Raises
    ------
    ExecutionError
        If the runtime cannot be started.

    Examples
    --------
    >>> from extremum.conformance import Selection, cases, run
    >>> few = cases(Selection(operators=["ArgMax"], versions=[13], elements=["int8"], topics=["ties"]))
    >>> [result.outcome.value for result in run("extremum", few).results]
    ['exact', 'exact', 'exact', 'exact']
    """
    results = []
    with Subprocess(runtime, limit) as worker:
        for case in cases:
            results.append(_ask(worker, case))
            progress(case)
        return Answers(runtime, worker.version, tuple(results))


def _ask(worker: Subprocess, case: Case) -> Result:
    expected = case.expected()
    try:
        answers = worker.ask(model_of(case, expected), case.feeds)
    except NoAnswerError as error:
        if error.outcome is Outcome.REFUSED and expected is None:
            return Result(case, Outcome.EXACT)
        return Result(case, error.outcome, str(error))
    if len(answers) != len(case.version.outputs):
        return Result(case, Outcome.WRONG, f"{len(answers)} outputs")
    outcome = compare(case.asked, expected, answers)
    said = (f"{x.dtype}{list(x.shape)} {' '.join(str(x.tolist()).split())[:120]}" for x in answers)
    return Result(case, outcome, "" if outcome is Outcome.EXACT else "; ".join(said))


@dataclass(frozen=True, slots=True)
class Exported:
    """The extent of an export.

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
    """Write the suite into a new folder and return its extent, :class:`Exported`; the same seed gives the same bytes.

    Parameters
    ----------
    folder : str or path-like
        Must not exist, or be empty. It appears when everything has been written.
    selection : Selection, optional
        The cases; all by default.
    seed : int
        Seed of the ordinary elements.
    progress : callable, optional
        Called with each case before it is written.

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
        for kind in ("result", "refusal"):
            (draft / kind).mkdir(parents=True)
        for case in cases(selection, seed):
            progress(case)
            entries.append(_write(case, draft))
        if not entries:
            raise ArgumentError("no case matches", remedy="drop a filter")
        manifest = {"suite": "extremum", "version": __version__, "seed": seed, "cases": entries}
        (draft / "manifest.json").write_bytes(json.dumps(manifest, indent=1).encode() + b"\n")
        size = sum(path.stat().st_size for path in draft.rglob("*") if path.is_file())
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
        # To remove thousands of files takes seconds, and a user who presses Ctrl-C does not wait for that.
        remover = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
        command, null = [sys.executable, "-I", "-S", "-c", remover, scratch], subprocess.DEVNULL
        process = subprocess.Popen(command, start_new_session=True, stdin=null, stdout=null, stderr=null)
        # Nobody waits for it, and that is no reason to warn.
        process.returncode = 0
        raise
    except BaseException:
        shutil.rmtree(scratch)
        raise
    shutil.rmtree(scratch)


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
        content = onnx.numpy_helper.from_array(x, name).SerializeToString(deterministic=True)
        (data / f"{file}.pb").write_bytes(content)
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
