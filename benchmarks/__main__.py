"""``python -m benchmarks SUITE``: one command for each suite, all on one machine and one instruction set."""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import TextIO

import click

from benchmarks import matrix as cases_of
from benchmarks import peers, report, run

_SUITES = {
    **dict.fromkeys(("memory", "answers", "scaling", "top_k"), "arrays"),
    **dict.fromkeys(("sessions", "preparing"), "models"),
    "gallery": "gallery",
    "gpu": "gpu",
    "large": "large",
}


class _Suites(click.Group):
    """The commands; a suite's libraries are imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_SUITES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _SUITES:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(f"benchmarks.{_SUITES[cmd_name]}"), cmd_name)
        return command


@click.group(cls=_Suites)
@click.option("--instruction-set", "held", type=click.Choice(list(run.SETS)), help="Of this package, NumPy and JAX.")
def bench(held: str | None) -> None:
    """Time this package: answers are compared first, and calls take turns."""
    if held is not None:
        run.hold_set(held)


@bench.command
@click.option("--quick", is_flag=True, help="222 cases in the second-level cache, in two minutes.")
@run.FILTER
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Of every contender.")
@click.option("--time-per-case", "budget", type=float, default=0.5, show_default=True, help="Seconds, all together.")
@click.option("-o", "--output", type=click.File("x"), help="Write the record as JSON; a file is never replaced.")
@click.option("--publish", "published", is_flag=True, help="With --quick: put a row into docs/performance.md.")
def matrix(quick: bool, pattern: str, threads: int, budget: float, output: TextIO | None, published: bool) -> None:
    """Time this package and every installed peer; the full matrix takes half an hour, and measures peak memory too."""
    cases = [case for case in (cases_of.quick() if quick else cases_of.full()) if re.search(pattern, case.name)]
    if not cases:
        raise click.UsageError(f"no case matches --filter {pattern!r}")
    # Before the import of peers that size their pool by the processors they see.
    run.hold(threads)
    name = "quick" if quick else "full"
    if pattern:
        name = f"filter {pattern}"
    result = run.measure(
        name, cases, peers.installed(threads, run.HELD if run.VARIABLE in os.environ else ()), threads, budget
    )
    for section, table in report.SECTIONS.items():
        click.echo(f"## {section.capitalize()}\n\n{table([result])}\n")
    if published and name == "quick":
        head = ("processor", "cases", "mean", "worst", f"below {report.NOISE}")
        report.publish_rows("instruction sets", head, [[run.processor(), *report.speed(result["cases"])]])
    if output is not None:
        json.dump(result, output, indent=1)


@bench.command
@click.argument("records", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def publish(records: tuple[Path, ...]) -> None:
    """Put runs of the full matrix into docs/performance.md: of one machine, with different numbers of threads."""
    for path in report.publish(records):
        click.echo(f"wrote {path}")


if __name__ == "__main__":
    bench(prog_name="python -m benchmarks")
