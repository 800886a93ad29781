"""``extremum run``: a model, its inputs from files or at random, its outputs on the screen and in files."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.table import Column, Table

from extremum import backend
from extremum.cli.array_files import output_paths, write_outputs
from extremum.cli.inputs import gather
from extremum.cli.options import (
    PATH,
    Command,
    json_option,
    named_options,
    parse_pairs,
    parse_sizes,
    repeatable,
)
from extremum.cli.terminal import write, write_table
from extremum.errors import ArgumentError
from extremum.graph.types import declared_inputs
from extremum.printable import json_text, printable


def describe(name: str, value: Any) -> dict[str, Any]:
    """Return the name, type, shape and first elements of a value as JSON can hold them."""
    if not isinstance(value, np.ndarray | np.generic):
        return {"name": name, "type": type(value).__name__, "shape": None, "preview": repr(value)[:60]}
    # A longer text or name hides the other columns.
    elements = [printable(str(element), 40) for element in value.flat[:6]] + ["..."] * (value.size > 6)
    return {"name": name, "type": value.dtype.name, "shape": list(value.shape), "preview": " ".join(elements)}


@click.command(cls=Command)
@click.argument("model", type=PATH)
@repeatable(
    "-i", "--input", "files", metavar="NAME=FILE", help="Read an input from a .npy, .npz:ENTRY or .pb file."
)
@click.option("--random", is_flag=True, help="Draw the other inputs at random.")
@repeatable(
    "--range",
    "ranges",
    metavar="NAME=LOW:HIGH",
    help="Range of a random input, both ends included [default: 0:1; floats: a normal distribution].",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random inputs."
)
@repeatable("--set", "sizes", metavar="DIM=SIZE", help="Size of a symbolic dimension.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=PATH,
    metavar="DIR",
    help="Write each output to a .npy file in this folder.",
)
@click.option(
    "--engine",
    type=click.Choice(backend.ENGINES),
    help="Engine for other operators [default: onnxruntime if installed, else reference].",
)
@json_option
def run(
    model: Path,
    files: tuple[str, ...],
    random: bool,
    ranges: tuple[str, ...],
    seed: int,
    sizes: tuple[str, ...],
    folder: Path | None,
    engine: str | None,
    as_json: bool,
) -> None:
    """Run a model on arrays from files, or on random arrays.

    Prints the type, the shape and the first elements of each input and output. Never overwrites a file.
    """
    paths = parse_pairs(files, "name=file")
    spans = parse_pairs(ranges, "name=low:high")
    symbols = parse_sizes(sizes)
    for option in ("--range", "--seed"):
        if not random and option in named_options().values():
            raise ArgumentError(f"{option} has no effect without --random", remedy="add --random")
    rep = backend.prepare(model, engine=engine)
    names = [output.name for output in rep.loaded.proto.graph.output]
    if folder is not None:
        output_paths(names, folder)
    arrays = gather(declared_inputs(rep.loaded.proto), paths, symbols, spans, seed if random else None)
    start = time.perf_counter()
    results = dict(zip(names, rep.run(arrays), strict=True))
    seconds = time.perf_counter() - start
    if folder is None:
        targets = []
    else:
        targets = [str(path) for path in write_outputs(results, folder).values()]
    sections = {
        title: [describe(name, value) for name, value in values.items()]
        for title, values in (("inputs", arrays), ("outputs", results))
    }
    if as_json:
        write(json_text({"model": str(model), **sections, "seconds": seconds, "files": targets}))
        return
    for title, rows in sections.items():
        write_table(_table(title, rows))
    write("\n".join((f"{seconds * 1e3:.3g} ms", *(f"wrote {printable(path)}" for path in targets))))


def _table(title: str, rows: Iterable[dict[str, Any]]) -> Table:
    """Return the values of a section as a table."""
    columns = (Column(heading, overflow="fold") for heading in ("name", "type", "shape", "first elements"))
    table = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        # Only a tensor has a shape.
        shape = "-"
        if row["shape"] is not None:
            shape = " x ".join(map(str, row["shape"])) or "scalar"
        table.add_row(printable(row["name"], 200), row["type"], shape, printable(row["preview"]))
    return table
