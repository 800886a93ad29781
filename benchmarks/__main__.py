"""``python -m benchmarks``: this package beside every installed peer on this machine."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks import (
    footprint,
    instruction_sets,
    machine,
    markdown,
    matrix,
    peers,
    publish,
    record,
    report,
    run,
    sizes,
    summary,
)

__all__ = ["bench"]

# Seconds per case that keep the two matrices within 2 and 40 minutes on two cores, and bytes of the largest size.
_QUICK_TIME, _FULL_TIME = 0.4, 0.7
_LARGEST = 1 << 30
_HEAD = ("processor", "cases", "mean", "worst", f"below {summary.NOISE}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="222 cases in the second-level cache, in two minutes.")
@click.option("--filter", "pattern", metavar="REGEX", help="Only the cases whose name matches.")
@click.option("--list", "only_list", is_flag=True, help="Print the names of the cases and stop.")
@click.option(
    "--instruction-set",
    "held",
    type=click.Choice(list(instruction_sets.SETS)),
    help="Hold this package, NumPy and JAX to it [default: what the processor has].",
)
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Of every contender.")
@click.option(
    "--time-per-case",
    "budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help=f"Shared by all contenders of a case [default: {_FULL_TIME}, {_QUICK_TIME} with --quick].",
)
@click.option(
    "-o", "--output", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write JSON, Markdown and charts."
)
@click.option("--publish", "published", is_flag=True, help="With --quick: put a row into docs/performance.md.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def bench(
    quick: bool,
    pattern: str | None,
    only_list: bool,
    held: str | None,
    threads: int,
    budget: float | None,
    folder: Path | None,
    published: bool,
    as_json: bool,
) -> None:
    """Time this package beside every installed peer, in turns, each answer checked first.

    The full matrix takes about 40 minutes. A filter and --quick leave out cost over size and peak memory. Nothing is
    overwritten.
    """
    cases = _chosen(matrix.quick() if quick else matrix.full(), pattern)
    if only_list:
        click.echo("\n".join(case.name for case in cases))
        return
    if held is not None and (code := instruction_sets.run(held, ["benchmarks", *sys.argv[1:]])) is not None:
        sys.exit(code)
    if folder is not None:
        try:
            report.require_free(folder)
        except FileExistsError as error:
            raise click.UsageError(str(error)) from None
    # Before a peer is imported that sizes its pool by the processors it sees.
    machine.hold(threads)
    contenders = (*peers.installed(threads, ["extremum"]), *peers.installed(threads))
    name = f"filter {pattern}" if pattern else "quick" if quick else "full"
    largest = 0 if pattern or quick else _LARGEST
    steps = len(cases)
    if largest:
        steps += len(sizes.LINES) * (largest.bit_length() - 20) + len(footprint.WORK)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("preparing", total=steps)
        result = run.measure(
            name,
            cases,
            contenders,
            threads,
            budget or (_QUICK_TIME if quick else _FULL_TIME),
            largest,
            lambda done: progress.update(task, advance=1, description=done),
        )
    if as_json:
        click.echo(record.dumps(result), nl=False)
    else:
        console = Console()
        for section in ("conditions", "promised figures", "speed over the fastest peer"):
            console.print(Markdown(markdown.SECTIONS[section]([result])))
        if pattern:
            # As text: a terminal's table would cut the names.
            click.echo(markdown.SECTIONS["every case"]([result]))
    if published and quick and not pattern:
        whole = summary.speed(result.cases)
        figures = [str(whole.judged), f"{whole.mean:.1f}", f"{whole.worst:.2f}", str(whole.lost)]
        publish.publish_rows("instruction sets", _HEAD, [[machine.processor(), *figures]])
    if folder is not None:
        for path in report.write(result, folder):
            click.echo(f"wrote {path}", err=as_json)


def _chosen(cases: tuple[matrix.Case, ...], pattern: str | None) -> tuple[matrix.Case, ...]:
    if pattern is None:
        return cases
    try:
        chosen = tuple(case for case in cases if re.search(pattern, case.name))
    except re.error as error:
        raise click.UsageError(f"--filter {pattern!r} is not a regular expression: {error}") from None
    if not chosen:
        raise click.UsageError(f"no case matches --filter {pattern!r}; see the names with --list")
    return chosen


if __name__ == "__main__":
    bench(prog_name="python -m benchmarks")
