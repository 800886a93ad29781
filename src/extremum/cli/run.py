"""``extremum run``: a model, its inputs, its outputs."""

from __future__ import annotations

import time
from pathlib import Path

import click

from extremum import backend
from extremum.cli.inputs import Drawing, gather, parse_assignments, parse_ranges, parse_sizes
from extremum.cli.new_files import output_paths, write_outputs
from extremum.cli.options import PATH, Command, json_option, named_options
from extremum.cli.terminal import describe, print_values, write
from extremum.errors import ArgumentError
from extremum.graph.types import declared_inputs
from extremum.printable import json_text, printable


@click.command(cls=Command)
@click.argument("model", type=PATH)
@click.option(
    "-i",
    "--input",
    "files",
    multiple=True,
    metavar="NAME=FILE",
    help="Read an input from a .npy, .npz:ENTRY or .pb file.",
)
@click.option("--random", "draw", is_flag=True, help="Draw the other inputs at random.")
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="NAME=LOW:HIGH",
    help="Range of a random input, both ends included [default: 0:1; floats: a normal distribution].",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random inputs.")
@click.option("--set", "sizes", multiple=True, metavar="DIM=SIZE", help="Size of a symbolic dimension.")
@click.option(
    "-o", "--output", "folder", type=PATH, metavar="DIR", help="Write each output to a .npy file in this folder."
)
@click.option(
    "--engine",
    type=click.Choice(backend.ENGINES),
    help="Engine for other operators [default: onnxruntime if installed, else reference].",
)
@json_option
@click.pass_context
def run(
    context: click.Context,
    /,
    model: Path,
    files: tuple[str, ...],
    draw: bool,
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
    paths, symbols = parse_assignments(files), parse_sizes(sizes)
    if not draw and (unused := [each for each in ("--range", "--seed") if each in named_options(context).values()]):
        raise ArgumentError(f"{unused[0]} has no effect without --random", remedy="add --random")
    drawing = Drawing(seed, parse_ranges(ranges)) if draw else None
    prepared = backend.prepare(model, engine=engine)
    names = [output.name for output in prepared.loaded.proto.graph.output]
    if folder is not None:
        output_paths(names, folder)
    arrays = gather(declared_inputs(prepared.loaded.proto), paths, symbols, drawing)
    start = time.perf_counter()
    results = dict(zip(names, prepared.run(arrays), strict=True))
    seconds = time.perf_counter() - start
    written_files = [] if folder is None else [str(path) for path in write_outputs(results, folder).values()]
    if as_json:
        report = {
            "model": str(model),
            "inputs": [describe(name, array) for name, array in arrays.items()],
            "outputs": [describe(name, value) for name, value in results.items()],
            "seconds": seconds,
            "files": written_files,
        }
        write(json_text(report))
        return
    print_values("inputs", arrays)
    print_values("outputs", results)
    write("\n".join((f"{seconds * 1e3:.3g} ms", *(f"wrote {printable(path)}" for path in written_files))))
