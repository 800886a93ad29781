"""What a runtime answers to the cases: it runs in a process of its own, so that a crash or a hang costs one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from extremum.conformance.case import Case
from extremum.conformance.model import model_of
from extremum.runtimes.comparison import Outcome, compare
from extremum.runtimes.process import NoAnswerError, Subprocess


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a runtime to one case.

    The outcome says how the answer compares; refusing a case that must be refused is also exact. The detail is the
    answer, or the message of the runtime without an answer; it is empty if the outcome is exact.
    """

    case: Case
    outcome: Outcome
    detail: str = ""

    @property
    def conforms(self) -> bool:
        """Whether no document contradicts the answer; a refusal is not a wrong answer."""
        if self.case.specified:
            return self.outcome in (Outcome.EXACT, Outcome.REFUSED)
        return self.outcome not in (Outcome.CRASHED, Outcome.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one runtime to the suite: a result for each case, in their order."""

    runtime: str
    version: str
    results: tuple[Result, ...]

    def counts(self) -> Counter[Outcome]:
        """Return how many cases have each outcome."""
        return Counter(result.outcome for result in self.results)


def run(
    runtime: str,
    cases: Iterable[Case],
    *,
    limit: float = 10.0,
    progress: Callable[[Case], None] = lambda case: None,
) -> Answers:
    """Run cases in a runtime, in a process of its own, and return its :class:`Answers`.

    Parameters
    ----------
    runtime : str
        The name of the runtime, as :func:`extremum.runtimes.find` takes it.
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
    answers = []
    with Subprocess(runtime, limit) as worker:
        for case in cases:
            answers.append(_ask(worker, case))
            progress(case)
        return Answers(runtime, worker.version, tuple(answers))


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
    outcome = compare(case.question, expected, answers)
    texts = (f"{x.dtype}{list(x.shape)} {' '.join(str(x.tolist()).split())[:120]}" for x in answers)
    return Result(case, outcome, "" if outcome is Outcome.EXACT else "; ".join(texts))
