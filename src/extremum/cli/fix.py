"""``extremum fix``: a model that its target refuses, rewritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from extremum import runtimes
from extremum.cli import options
from extremum.cli.new_files import require_absent, require_folder, require_free, write_new
from extremum.cli.terminal import document, show_error, write
from extremum.directml import FeatureLevel
from extremum.errors import ArgumentError
from extremum.fix import Fixed, has_external_data
from extremum.fix import fix as rewrite
from extremum.graph.load import read_message
from extremum.printable import json_text, printable

_LEVELS = [f"directml-{level}" for level in FeatureLevel]


@click.command(cls=options.Command)
@options.models_argument
@click.option(
    "-o",
    "--output",
    "out",
    type=options.PATH,
    metavar="OUT",
    help="File for the model, or folder for several models.",
)
@click.option(
    "--for",
    "target",
    metavar="TARGET",
    shell_complete=options.complete(lambda: (*runtimes.known(), *_LEVELS)),
    help="A runtime, or a feature level such as directml-4_1 [default: the installed onnxruntime].",
)
@options.adapter_option
@click.option(
    "--raise-opset",
    type=click.IntRange(min=1),
    metavar="OPSET",
    help="Allow a later opset if a rewrite needs it.",
)
@click.option(
    "--strict/--no-strict",
    help="Rewrite too what only differs where no specification decides: NaN, zeros, order of unsorted results.",
)
@click.option("--limit-k", is_flag=True, help="Let TopK take all elements where its axis has fewer than k.")
@click.option("--node-by-node", is_flag=True, help="Compare node by node; do not run the whole model.")
@click.option("--diff", is_flag=True, help="Show each node and its replacement.")
@options.json_option
def fix(
    paths: tuple[Path, ...],
    out: Path | None,
    target: str | None,
    adapters: list[str],
    raise_opset: int | None,
    strict: bool,
    limit_k: bool,
    node_by_node: bool,
    diff: bool,
    as_json: bool,
) -> int:
    """Rewrite nodes that a target refuses or answers differently, into standard ONNX with exact answers.

    Runs both forms on samples and compares every bit before it writes the model. If there is nothing to rewrite, OUT
    is a copy. Never overwrites a file. Exits with 1 if extremum check still has an error or a warning: if the target
    refuses a node, nothing is written; any other node stays, and the rest is written.

    A FOLDER means every .onnx file below it. For several models, OUT is a folder. Exits with 2 if a model cannot be
    fixed; the other models are still fixed.
    """
    name = options.sole_runtime(target, adapters)
    models, several = options.models_of(paths)
    places = _places(models, out, several=several)
    status = 0
    records = list[dict[str, Any]]()
    for model in models:
        try:
            result = rewrite(
                model, name, raise_opset=raise_opset, whole=not node_by_node, strict=strict, limit_k=limit_k
            )
            path = None if result.refusals else places.get(model)
            if path is not None:
                _write(result, model, path)
        except Exception as error:
            if not several:
                raise
            # The next model may still be readable.
            status = 2
            records.append({"model": str(model), "error": show_error(error, about=str(model)).record()})
            continue
        status = max(status, 1 if result.refusals or result.differences or result.kept else 0)
        if as_json:
            kinds = ("changes", "refusals", "differences", "kept")
            lists = {kind: [each.record() for each in getattr(result, kind)] for kind in kinds}
            rest = {"notes": list(result.notes), "written": None if path is None else str(path)}
            records.append({"model": str(model), "target": result.target, **lists, **rest})
        else:
            write(f"{printable(str(model))}:\n" * several + "\n".join(_lines(result, path, diff=diff)))
    if as_json:
        write(json_text(document(records) if several else records[0]))
    return status


def _places(models: dict[Path, Path], out: Path | None, *, several: bool) -> dict[Path, Path]:
    """Return where each model is written; all places are free and different."""
    if out is None:
        return {}
    if not several and not out.is_dir():
        require_free(out)
        return dict.fromkeys(models, out)
    require_folder(out, "but several models need a folder", "name a folder with -o")
    owners: dict[Path, Path] = {}
    for model, below in models.items():
        if (other := owners.setdefault(out / below, model)) is not model:
            raise ArgumentError(
                f"'{other}' and '{model}' both go to '{out / below}'", remedy="fix one at a time"
            )
        require_absent(out / below, "choose another folder, or move that file")
    return {model: place for place, model in owners.items()}


def _write(result: Fixed, source: Path, out: Path) -> None:
    if (
        has_external_data(result.model)
        and out.absolute().parent.resolve() != source.absolute().parent.resolve()
    ):
        raise ArgumentError(
            f"the weights of '{source}' are in other files of its folder",
            remedy="write the fixed model to that folder",
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    # An unchanged model is copied byte by byte: protobuf may write the same model with other bytes.
    content = result.model.SerializeToString() if result.changes else read_message(source)
    write_new({out: lambda file: file.write(content)})


def _lines(result: Fixed, path: Path | None, *, diff: bool) -> list[str]:
    lines = [str(error) for error in (*result.refusals, *result.differences, *result.kept)]
    if diff or path is None:
        lines += [change.diff() if diff else str(change) for change in result.changes]
    lines += [f"note: {printable(note)}" for note in result.notes]
    lines.append(result.summary())
    if path is not None:
        lines.append(f"wrote {printable(str(path))}")
    elif result.changes:
        lines.append(f"nothing is written: add -o OUT{'' if diff else ', or --diff to see the changes'}")
    return lines
