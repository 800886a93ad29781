"""``extremum fix``: a model that its target refuses, rewritten."""

from __future__ import annotations

from pathlib import Path

import click

from extremum.cli.new_files import require_free, settle, write_new
from extremum.cli.parsing import Command
from extremum.cli.streams import write
from extremum.errors import ArgumentError
from extremum.fix import Fixed, has_external_data
from extremum.fix import fix as rewrite
from extremum.graph.load import read_message
from extremum.printable import json_text, printable

__all__ = ["fix"]


@click.command(cls=Command)
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), metavar="OUT", help="Where to write the model.")
@click.option(
    "--for",
    "target",
    default="onnxruntime",
    show_default=True,
    metavar="TARGET",
    help="A runtime, directml-4_1 and so on.",
)
@click.option(
    "--raise-opset", type=click.IntRange(min=1), metavar="OPSET", help="Allow a later opset, if one is needed."
)
@click.option("--node-by-node", is_flag=True, help="Do not run the whole model, which may take long.")
@click.option("--diff", is_flag=True, help="Show each node and what takes its place.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def fix(
    model: Path,
    out: Path | None,
    target: str,
    raise_opset: int | None,
    node_by_node: bool,
    diff: bool,
    as_json: bool,
) -> int:
    """Rewrite the nodes that a target refuses or answers otherwise into standard ONNX that it runs, exactly.

    Before the model is written, both forms run on samples and are compared bit by bit. Where there is nothing to
    rewrite, OUT is a copy. No file is overwritten. Exits with 1 if a node cannot be rewritten. If the target refuses
    that node, nothing is written; if it answers the node otherwise, the node stays and the rest is written.
    """
    if out is not None:
        settle(out.absolute().parent)
        require_free(out)
    fixed = rewrite(model, target, raise_opset=raise_opset, whole=not node_by_node)
    written = None if fixed.refusals else out
    if written is not None:
        _write(fixed, model, written)
    if as_json:
        write(json_text(_record(model, fixed, written)))
    else:
        write("\n".join(_lines(fixed, written, diff=diff)))
    return 1 if fixed.refusals or fixed.differences else 0


def _write(fixed: Fixed, source: Path, out: Path) -> None:
    if has_external_data(fixed.model) and out.absolute().parent.resolve() != source.absolute().parent.resolve():
        raise ArgumentError(
            f"the weights of '{source}' are in other files of its folder", remedy="write the fixed model there too"
        )
    # Where nothing changed, the file as it is, and not as protobuf would write it now.
    content = fixed.model.SerializeToString() if fixed.changes else read_message(source)
    write_new(out.parent, {out.name: lambda file: file.write(content)})


def _lines(fixed: Fixed, written: Path | None, *, diff: bool) -> list[str]:
    lines = [str(error) for error in (*fixed.refusals, *fixed.differences)]
    if diff or written is None:
        lines += [change.diff() if diff else str(change) for change in fixed.changes]
    lines += [f"note: {printable(note)}" for note in fixed.notes]
    lines.append(fixed.summary())
    if written is not None:
        lines.append(f"wrote {printable(str(written))}")
    elif fixed.changes:
        lines.append(f"nothing is written: add -o OUT{'' if diff else ', or --diff to see the changes'}")
    return lines


def _record(model: Path, fixed: Fixed, written: Path | None) -> dict[str, object]:
    return {
        "model": str(model),
        "target": fixed.target,
        "changes": [change.record() for change in fixed.changes],
        "refusals": [refusal.record() for refusal in fixed.refusals],
        "differences": [difference.record() for difference in fixed.differences],
        "notes": list(fixed.notes),
        "written": None if written is None else str(written),
    }
