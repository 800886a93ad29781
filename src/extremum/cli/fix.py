"""``extremum fix``: a model that its target refuses, rewritten."""

from __future__ import annotations

from pathlib import Path

import click

from extremum.errors import ArgumentError
from extremum.fix import fix as rewrite
from extremum.fix.file import require_free, write

__all__ = ["fix"]


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), metavar="OUT", help="Where to write the model.")
@click.option(
    "--for", "target", default="onnxruntime", show_default=True, metavar="TARGET", help="Or directml-4_1 and so on."
)
@click.option(
    "--raise-opset", type=click.IntRange(min=1), metavar="OPSET", help="Allow a later opset, if one is needed."
)
@click.option("--node-by-node", is_flag=True, help="Do not run the whole model, which may take long.")
@click.option("--diff", is_flag=True, help="Show each node and what takes its place.")
def fix(model: Path, out: Path | None, target: str, raise_opset: int | None, node_by_node: bool, diff: bool) -> int:
    """Rewrite the nodes that a target refuses into standard ONNX that it runs, with the same answers.

    Before the model is written, both forms run on samples and are compared bit by bit. No file is overwritten. Exits
    with 1 if a node cannot be rewritten; nothing is written then.
    """
    if out is None and not diff:
        raise ArgumentError("there is nothing to do", remedy="name a file with -o, or look at the changes with --diff")
    if out is not None:
        require_free(out)
    fixed = rewrite(model, target, raise_opset=raise_opset, whole=not node_by_node)
    written = out is not None and bool(fixed.changes)
    if out is not None and written:
        write(fixed.model, model, out)
    for refusal in fixed.refusals:
        click.echo(str(refusal))
    if diff:
        for change in fixed.changes:
            click.echo(change.diff())
    for note in fixed.notes:
        click.echo(f"note: {note}")
    click.echo(fixed.summary())
    if written:
        click.echo(f"wrote {out}")
    return 1 if fixed.refusals else 0
