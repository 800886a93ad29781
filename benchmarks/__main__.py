"""``python -m benchmarks SUITE``: one command for each suite, all on one machine and one instruction set."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks import matrix as cases_of
from benchmarks import peers, report, run

__all__ = ["bench"]

# Seconds for a case that keep the two matrices within 2 and 40 minutes on two cores.
_QUICK_TIME, _FULL_TIME = 0.4, 0.7
_SUITES = {
    **dict.fromkeys(("memory", "answers", "scaling"), "arrays"),
    **dict.fromkeys(("sessions", "preparing"), "models"),
    "large": "large",
}
_HELP = {"help_option_names": ["-h", "--help"]}


class Suites(click.Group):
    """The commands; a suite's libraries are imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the suites."""
        return [*super().list_commands(ctx), *_SUITES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a suite."""
        if cmd_name not in _SUITES:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(f"benchmarks.{_SUITES[cmd_name]}"), cmd_name)
        return command


@click.group(cls=Suites, context_settings=_HELP)
@click.option(
    "--instruction-set",
    "held",
    type=click.Choice(list(run.SETS)),
    help="Hold this package, NumPy and JAX to it [default: what the processor has].",
)
def bench(held: str | None) -> None:
    """Time this package: answers are compared first, and calls take turns."""
    if held is not None:
        run.hold_set(held)


@bench.command(context_settings=_HELP)
@click.option("--quick", is_flag=True, help="222 cases in the second-level cache, in two minutes.")
@click.option("--filter", "pattern", metavar="REGEX", help="Only the cases whose name matches.")
@click.option("--list", "only_list", is_flag=True, help="Print the names of the cases and stop.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Of every contender.")
@click.option(
    "--time-per-case",
    "budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help=f"Shared by all contenders of a case [default: {_FULL_TIME}, {_QUICK_TIME} with --quick].",
)
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write JSON and tables.")
@click.option("--publish", "published", is_flag=True, help="With --quick: put a row into docs/performance.md.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def matrix(
    quick: bool,
    pattern: str | None,
    only_list: bool,
    threads: int,
    budget: float | None,
    folder: Path | None,
    published: bool,
    as_json: bool,
) -> None:
    """Time this package beside every installed peer.

    The full matrix takes about 40 minutes. A filter and --quick leave out cost over size and peak memory. Nothing is
    overwritten.
    """
    try:
        everything = cases_of.quick() if quick else cases_of.full()
        cases = [case for case in everything if re.search(pattern or "", case.name)]
    except re.error as error:
        raise click.UsageError(f"--filter {pattern!r} is not a regular expression: {error}") from None
    if not cases:
        raise click.UsageError(f"no case matches --filter {pattern!r}; see the names with --list")
    if only_list:
        click.echo("\n".join(case.name for case in cases))
        return
    if folder is not None and any((folder / name).exists() for name in report.FILES):
        raise click.UsageError(f"{folder} holds a report, which is not overwritten; name another folder")
    # Before a peer is imported that sizes its pool by the processors it sees.
    run.hold(threads)
    contenders = peers.installed(threads)
    name = f"filter {pattern}" if pattern else "quick" if quick else "full"
    whole = name == "full"
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("preparing", total=run.steps(cases, whole))
        result = run.measure(
            name,
            cases,
            contenders,
            threads,
            budget or (_QUICK_TIME if quick else _FULL_TIME),
            whole,
            lambda done: progress.update(task, advance=1, description=done),
        )
    if as_json:
        click.echo(result.dumps(), nl=False)
    else:
        for section in ("conditions", "promised figures", "speed over the fastest peer"):
            Console().print(Markdown(report.SECTIONS[section]([result])))
        if pattern:
            # As text: a terminal's table would cut the names.
            click.echo(report.SECTIONS["every case"]([result]))
    if published and name == "quick":
        head = ("processor", "cases", "mean", "worst", f"below {report.NOISE}")
        report.publish_rows("instruction sets", head, [[run.processor(), *report.speed(result.cases)]])
    if folder is not None:
        for path in report.write(result, folder):
            click.echo(f"wrote {path}", err=as_json)


@bench.command(context_settings=_HELP)
@click.argument("records", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def publish(records: tuple[Path, ...]) -> None:
    """Put runs of the full matrix into docs/performance.md, from the bench.json of their reports.

    The runs are of one machine and differ in their number of threads; the tables show the one with the fewest.
    """
    for path in report.publish(records):
        click.echo(f"wrote {path}")


if __name__ == "__main__":
    bench(prog_name="python -m benchmarks")
