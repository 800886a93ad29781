"""``extremum lower``: a model in DirectML's operators."""

from __future__ import annotations

from pathlib import Path

import click

from extremum import directml
from extremum.cli.inputs import parse_sizes
from extremum.cli.new_files import require_free, write_new
from extremum.cli.options import PATH, Command
from extremum.cli.terminal import write
from extremum.directml.formats import FORMATS
from extremum.printable import printable

__all__ = ["lower"]

_LEVELS = {str(level): level for level in directml.FeatureLevel}


@click.command(cls=Command)
@click.argument("model", type=PATH)
@click.option(
    "--feature-level",
    type=click.Choice(list(_LEVELS)),
    default=list(_LEVELS)[-1],
    show_default=True,
    metavar="LEVEL",
    help="Highest feature level to use, such as 4_1.",
)
@click.option("--set", "sizes", multiple=True, metavar="DIM=SIZE", help="Size of a symbolic dimension.")
@click.option("-o", "--output", "out", type=PATH, metavar="OUT", help="Write to this file, not to stdout.")
@click.option("--json", "form", flag_value="json", help="Same as --format json.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="text to read, json for programs, cpp to paste into C++, dxdispatch to run [default: text].",
)
def lower(model: Path, feature_level: str, sizes: tuple[str, ...], out: Path | None, form: str | None) -> int:
    """Translate a model into DirectML operators: as text, JSON, C++ or for DxDispatch.

    Translates the nodes that pick the largest or smallest elements, and no others. A node that DirectML cannot run is
    named on stderr with the feature level or type that it needs, and the exit status is 1. Never overwrites a file.
    """
    if out is not None:
        require_free(out)
    lowered = directml.lower(model, _LEVELS[feature_level], sizes=parse_sizes(sizes))
    pieces = FORMATS[form or "text"](lowered)
    if out is None:
        for piece in pieces:
            write(piece, end="")
    else:
        write_new({out: lambda file: file.writelines(piece.encode() for piece in pieces)})
        write(f"wrote {printable(str(out))}")
    for refusal in lowered.refusals:
        write(refusal.one_line(), err=True)
    return 1 if lowered.refusals else 0
