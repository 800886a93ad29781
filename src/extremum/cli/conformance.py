"""``extremum conformance``: the suite as files, and the answers of runtimes."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import click
from rich.progress import MofNCompleteColumn

from extremum import runtimes, spec
from extremum.cli.new_files import require_free
from extremum.cli.options import PATH, Group, adapter_option, complete, json_option
from extremum.cli.terminal import progress, write, write_error
from extremum.conformance import Answers, Case, Outcome, Selection, card, cases, export, run
from extremum.conformance.card import draw, record, recorded, summarised
from extremum.conformance.topics import TOPICS
from extremum.errors import ArgumentError, InputError
from extremum.printable import json_text, printable
from extremum.tensors import ELEMENT_TYPES

_TYPES = [each.name for each in ELEMENT_TYPES]
_OPERATORS = sorted({name for domain, name in spec.OPERATORS if domain == spec.ONNX})

_FILTERS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("--operator", "operators", "this operator", {"shell_complete": complete(_OPERATORS)}),
    ("--opset", "versions", "the operator version of this opset", {"type": int}),
    ("--type", "elements", "this element type", {"metavar": "TYPE", "shell_complete": complete(_TYPES)}),
    ("--topic", "topics", "this topic", {"shell_complete": complete(TOPICS)}),
    ("--case", "names", "the case of this name", {"metavar": "NAME"}),
)
# Completes the name of a runtime.
_COMPLETED: dict[str, Any] = {"shell_complete": complete(runtimes.known)}


def _case_options(command: Any) -> Any:
    for name, parameter, what, more in _FILTERS:
        words = f": {', '.join(TOPICS)}" if parameter == "topics" else ""
        help_ = f"Only {what}; may be repeated{words}."
        command = click.option(name, parameter, multiple=True, help=help_, **more)(command)
    specified_only = click.option(
        "--specified-only", is_flag=True, help="Only cases that a specification decides."
    )
    seed = click.option(
        "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random elements."
    )
    return seed(specified_only(command))


@click.group(cls=Group)
def conformance() -> None:
    """Test runtimes with the conformance suite, or write its cases as files.

    The cases test this package's ONNX operators in every version and on every element type.
    """


@conformance.command("export")
@click.argument("folder", type=PATH)
@_case_options
@json_option
def export_command(folder: Path, seed: int, as_json: bool, **filters: Any) -> None:
    """Write the cases in the layout of ONNX's own backend tests, with a manifest.

    FOLDER must be empty or not exist. FOLDER/result holds the cases with an expected output, FOLDER/refusal the cases
    that a runtime must refuse.
    """
    selection = Selection(**filters)
    with progress(MofNCompleteColumn()) as bar:
        task = bar.add_task("export", total=sum(1 for _ in cases(selection, seed)))
        tally = export(folder, selection, seed=seed, progress=lambda _: bar.advance(task))
    if as_json:
        counts = {"results": tally.results, "refusals": tally.refusals, "bytes": tally.size}
        write(json_text({"folder": str(folder), **counts}))
    else:
        write(f"wrote {tally.results} results and {tally.refusals} refusals, {tally.size / 1e6:.1f} MB")


@conformance.command("run")
@click.argument("targets", metavar="[RUNTIME]...", nargs=-1, **_COMPLETED)
@adapter_option
@_case_options
@click.option(
    "--limit",
    type=click.FloatRange(0.1),
    default=10.0,
    show_default=True,
    help="Time limit for a case, in seconds.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=2, show_default=True, help="Number of runtimes tested at once."
)
@click.option(
    "--compare", nargs=2, metavar="A B", help="Print the cases where two runtimes differ.", **_COMPLETED
)
@click.option(
    "--json", "form", flag_value="json", help="Print one JSON object, which conformance card reads."
)
@click.option("--markdown", "form", flag_value="markdown", help="Print the report card.")
def run_command(
    targets: tuple[str, ...],
    adapters: list[str],
    seed: int,
    limit: float,
    jobs: int,
    compare: tuple[str, str] | None,
    form: str | None,
    **filters: Any,
) -> int:
    """Run every case in each RUNTIME, in a process of its own; by default in all that are installed.

    Exits with 1 if a runtime contradicts a specification, crashes or times out.
    """
    if compare and form:
        raise ArgumentError(f"--compare and --{form} are both given", remedy="drop one of them")
    selection = Selection(**filters)
    names = list(dict.fromkeys((*targets, *(compare or ()), *adapters))) or _installed()
    for name in names:
        runtimes.find(name)
    suite = list(cases(selection, seed))
    if not suite:
        raise ArgumentError("no case matches", remedy="drop a filter")
    answers = _run_all(names, suite, limit, jobs)
    for each in answers:
        results = [result for result in each.results if not result.case.question.refused]
        if results and all(result.outcome is Outcome.REFUSED for result in results):
            why = printable(results[0].detail)
            write_error(
                f"extremum: {each.runtime} refuses every case; is its adapter right? first reason: {why}"
            )
    if form == "json":
        write(json_text(record(answers, seed)))
    elif form == "markdown":
        write(card.markdown(record(answers, seed)).rstrip())
    elif compare:
        _print_comparison(*(each for name in compare for each in answers if each.runtime == name))
    else:
        _print_summary(answers, each=bool(selection.names))
    if all(result.conforms for each in answers for result in each.results):
        return 0
    return 1


@conformance.command("card")
@click.argument("run", type=PATH)
@click.option("--picture", type=PATH, metavar="FILE", help="Draw the results to this .png or .svg file too.")
@click.option(
    "--tables", "form", flag_value="tables", help="Print the tables, without the differences of each runtime."
)
@click.option(
    "--json", "form", flag_value="json", help="Print the run as one JSON object, without its cases."
)
def card_command(run: Path, picture: Path | None, form: str | None) -> None:
    """Print the report card of RUN, a file that extremum conformance run --json printed."""
    if picture is not None:
        require_free(picture, "name a file that does not exist yet")
    try:
        report = json.loads(run.read_bytes())
    except ValueError as error:
        raise InputError(f"{str(run)!r} is not valid JSON", given=str(error)) from None
    if form == "json":
        recorded(report)
        write(json_text(summarised(report)))
    else:
        link = None if picture is None else picture.as_posix()
        write(card.markdown(report, link, differences=form != "tables").rstrip())
    if picture is not None:
        draw(recorded(report), picture, card.caption(report))


def _installed() -> list[str]:
    """Return the names of all installed runtimes, with a line on stderr for an adapter that fails."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        names = [each.name for each in runtimes.installed()]
    for each in records:
        if isinstance(each.message, RuntimeWarning):
            write_error(f"extremum: {each.message}")
    return names


def _run_all(names: list[str], suite: list[Case], limit: float, jobs: int) -> list[Answers]:
    stop = Event()

    def advance(name: str, _: Case) -> None:
        if stop.is_set():
            raise CancelledError
        bar.advance(tasks[name])

    with progress(MofNCompleteColumn()) as bar, ThreadPoolExecutor(jobs) as pool:
        tasks = {name: bar.add_task(name, total=len(suite)) for name in names}
        # Threads only wait here; each runtime works in a process.
        futures = [
            pool.submit(run, name, suite, limit=limit, progress=partial(advance, name)) for name in names
        ]
        try:
            return [future.result() for future in futures]
        except BaseException:
            # Stop the other runtimes, which may still have thousands of cases.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _print_comparison(first: Answers, second: Answers) -> None:
    pairs = list(zip(first.results, second.results, strict=True))
    differing = [pair for pair in pairs if len({(each.outcome, each.detail) for each in pair}) > 1]
    for pair in differing:
        write(pair[0].case.name)
        for answers, each in zip((first, second), pair, strict=True):
            write(f"  {answers.runtime}: {': '.join(filter(None, (each.outcome.value, each.detail)))}")
    write(f"{len(differing)} cases differ")


def _print_summary(answers: list[Answers], *, each: bool) -> None:
    """Print the counts, and each case or the first of each kind that is refused or contradicts a specification."""
    width = max(len(result.outcome.value) for one in answers for result in one.results)
    for one in answers:
        write(f"{one.runtime} {one.version}")
        counts = one.counts()
        for outcome in (outcome for outcome in Outcome if counts[outcome]):
            write(f"  {outcome.value:<{width}}  {counts[outcome]:>5}")
        history: set[tuple[Outcome, str]] = set()
        for result in one.results:
            # A runtime often refuses all operators for one reason.
            kinds = {(result.outcome, result.case.version.name), (result.outcome, result.detail)}
            matters = result.outcome is Outcome.REFUSED or not result.conforms
            if each or (matters and not kinds & history):
                history |= kinds
                write(f"  {': '.join(filter(None, (result.outcome.value, result.case.name, result.detail)))}")
