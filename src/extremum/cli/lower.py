"""``extremum lower``: a model in DirectML's operators."""

from __future__ import annotations

from pathlib import Path

import click

from extremum import directml
from extremum.cli import feeds
from extremum.cli.new_files import require_free, settle, write_new
from extremum.cli.parsing import Command
from extremum.cli.streams import write
from extremum.directml.formats import FORMATS
from extremum.printable import printable

__all__ = ["lower"]

_LEVELS = {str(level): level for level in directml.FeatureLevel}


@click.command(cls=Command)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--feature-level",
    type=click.Choice(list(_LEVELS)),
    default=list(_LEVELS)[-1],
    show_default=True,
    metavar="LEVEL",
    help="What the operators have to get by with, such as 4_1.",
)
@click.option("--set", "sizes", multiple=True, metavar="DIM=SIZE", help="Size of a symbolic dimension.")
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), metavar="OUT", help="Write to this file.")
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="For reading, for programs, to paste into C++, or for DxDispatch to run [default: text].",
)
def lower(model: Path, feature_level: str, sizes: tuple[str, ...], out: Path | None, form: str | None) -> int:
    """Write a model in DirectML's operators: as text, JSON, C++ or for DxDispatch.

    Only nodes that pick the largest or smallest are looked at. One that cannot go is named on stderr, with the feature
    level or type that would do; the exit status is 1 then. No file is overwritten.
    """
    if out is not None:
        settle(out.absolute().parent)
        require_free(out)
    lowered = directml.lower(model, _LEVELS[feature_level], sizes=feeds.parse_sizes(sizes))
    pieces = FORMATS[form or "text"](lowered)
    if out is not None:
        write_new(out.parent, {out.name: lambda file: file.writelines(piece.encode() for piece in pieces)})
        write(f"wrote {printable(str(out))}")
    for piece in pieces if out is None else ():
        write(piece, end="")
    for refusal in lowered.refusals:
        write(refusal.one_line(), err=True)
    return 1 if lowered.refusals else 0
