"""``extremum check``: findings about a model."""

from __future__ import annotations

from pathlib import Path

import click

from extremum.check import check as look
from extremum.check import layout
from extremum.directml.enumerations import FeatureLevel

__all__ = ["check"]

_LEVELS = {str(level): level for level in FeatureLevel}


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--feature-level",
    type=click.Choice(list(_LEVELS)),
    metavar="LEVEL",
    help="Ask what DirectML takes too, at a level such as 4_1.",
)
@click.option("--select", "selected", multiple=True, metavar="CODE", help="Only this rule; may be repeated.")
@click.option("--ignore", "ignored", multiple=True, metavar="CODE", help="Not this rule; may be repeated.")
@click.option("--strict", is_flag=True, help="Let findings of severity info count.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), help="What to print [default: text].")
def check(
    model: Path,
    feature_level: str | None,
    selected: tuple[str, ...],
    ignored: tuple[str, ...],
    strict: bool,
    form: str | None,
) -> int:
    """Look for broken promises and for targets that refuse a model or answer differently.

    Looks at ArgMax, ArgMin, Max, Min and Hardmax, wherever they stand. Exits with 1 if there are findings.
    """
    level = None if feature_level is None else _LEVELS[feature_level]
    report = look(model, feature_level=level, select=selected, ignore=ignored)
    if form == "json":
        click.echo(layout.json_text(str(model), report))
    elif form == "github":
        if annotations := layout.github(str(model), report, strict=strict):
            click.echo(annotations)
    else:
        click.echo(layout.text(report, strict=strict))
    return 1 if report.counted(strict=strict) else 0
