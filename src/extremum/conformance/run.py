"""Asking a runtime all cases, and what it answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from extremum.conformance.suite import Case, model_of
from extremum.runtimes.outcome import Outcome, compare
from extremum.runtimes.processes import NoAnswerError, Subprocess

__all__ = ["Answers", "Result", "run"]

_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Result:
    """What a runtime made of one case.

    Attributes
    ----------
    case : Case
        The case.
    outcome : Outcome
        The class of the answer. A case that has to be refused and is refused counts as exact.
    detail : str
        What the runtime answered or said instead; empty where it is exact.
    """

    case: Case
    outcome: Outcome
    detail: str = ""

    @property
    def conforms(self) -> bool:
        """Whether no document speaks against what the runtime did; to refuse is not to answer wrongly."""
        return self.outcome in (Outcome.EXACT, Outcome.REFUSED) or (
            not self.case.specified and self.outcome not in (Outcome.CRASHED, Outcome.TIMED_OUT)
        )


@dataclass(frozen=True, slots=True)
class Answers:
    """What one runtime made of the suite.

    Attributes
    ----------
    runtime, version : str
        Which runtime.
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
    """Ask a runtime, in a process of its own.

    Parameters
    ----------
    runtime : str
        Its name, as :func:`extremum.runtimes.find` takes it.
    cases : iterable of Case
        What it is asked.
    limit : float
        Seconds that a case may take.
    progress : callable, optional
        Told of each case after it was answered.

    Returns
    -------
    Answers
        The outcome of every case.

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
    feeds = {f"x{at}": x for at, x in enumerate(case.question.inputs)}
    try:
        answers = worker.ask(model_of(case, expected), feeds)
    except NoAnswerError as error:
        if error.outcome is Outcome.REFUSED and expected is None:
            return Result(case, Outcome.EXACT)
        return Result(case, error.outcome, str(error))
    if len(answers) != 1:
        return Result(case, Outcome.WRONG, f"{len(answers)} outputs")
    (answer,) = answers
    outcome = compare(case.asked, expected, answer)
    if outcome is Outcome.EXACT:
        return Result(case, outcome)
    shown = " ".join(str(answer.tolist()).split())[:_SHOWN]
    return Result(case, outcome, f"{answer.dtype}{list(answer.shape)} {shown}")
