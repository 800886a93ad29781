"""``extremum apply``: an operation, or a model, on files that are larger than memory."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import DownloadColumn, TransferSpeedColumn

from extremum.cli.new_files import new_files, require_free
from extremum.cli.options import (
    PATH,
    Command,
    complete,
    json_option,
    named_options,
    refuse_unused,
    repeatable,
)
from extremum.cli.terminal import progress, write
from extremum.errors import ArgumentError, InputError, MemoryLimitError
from extremum.functions import FUNCTIONS, Kind
from extremum.large import (
    LABELS,
    SUFFIXES,
    ParameterError,
    Source,
    open_source,
    planned,
    steps,
    steps_on,
    writing,
)
from extremum.printable import json_text, printable

# The options that an operation uses, without those for files and execution.
_OF_A_KIND: dict[Kind, tuple[str, ...]] = {
    Kind.INDEX: ("axes", "dims", "keepdims", "last", "nan_policy", "default", "dtype"),
    Kind.VALUE: ("axes", "dims", "keepdims", "last", "nan_policy", "default", "index"),
    Kind.ONE_HOT: ("axes", "dims", "nan_policy"),
    Kind.SELECTION: ("axes", "dims", "nan_policy", "k", "mode"),
    Kind.ELEMENTWISE: ("nan_policy",),
}
_OPTIONS: dict[str, tuple[str, ...]] = {
    **{name: _OF_A_KIND[row.kind] for name, row in FUNCTIONS.items()},
    **dict.fromkeys(LABELS, ("axes", "dims", "keepdims", "last", "nan_policy", "default")),
}
_OF_A_MODEL = ("axes", "dims", "output_name")
_OF_ALL = ("out", "variable", "memory", "scheduler", "as_json")
_INTEGERS = click.Choice([f"{sign}int{bits}" for sign in ("", "u") for bits in (64, 32, 16, 8)])


# What helps against an error that another value of a parameter mends.
_REMEDIES = {
    "variable": "name one with --variable: {choices}",
    "memory": "raise --memory, or write the file in smaller chunks",
    "k": "give one --k",
    "axis": "give one --axis or --dim",
    "nan_policy": "use --nan-policy omit, or write a .nc or .zarr file",
    "output_name": "name one with --output-name: {choices}",
}

# How many names of variables an error lists.
_MOST_CHOICES = 30

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(text: str) -> int:
    """Return the bytes that a text like ``512MB`` or ``2GiB`` means."""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)(I)?B?", text.strip().upper())
    if match is None:
        raise ArgumentError(f"{text!r} is not a memory size", remedy="write for example 512MB or 2GiB")
    base = 1024 if match[3] else 1000
    size = int(float(match[1]) * base ** _UNITS[match[2]])
    if size < 1_000_000:
        raise MemoryLimitError(f"{text} is too little memory", remedy="give 1MB or more")
    return size


@contextmanager
def _options_named() -> Iterator[None]:
    """Word the remedies of errors that an option of this command mends."""
    try:
        yield
    except ParameterError as error:
        choices = ", ".join(error.choices[:_MOST_CHOICES])
        more = len(error.choices) - _MOST_CHOICES
        if more > 0:
            choices += f" and {more} more"
        raise error.with_remedy(_REMEDIES[error.parameter].format(choices=choices)) from None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


@click.command(cls=Command)
@click.argument("operation", shell_complete=complete(_OPTIONS, files=True))
@click.argument("inputs", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o", "--output", "out", type=PATH, metavar="OUT", required=True, help="A .npy, .zarr or .nc file."
)
@repeatable("--axis", "axes", type=int, help="Axis to reduce; repeat for several [default: all].")
@repeatable("--dim", "dims", help="Name of a dimension to reduce; repeat for several.")
@click.option("--variable", help="Variable of NetCDF or HDF5, or array of Zarr or .npz; g/v is v in group g.")
@click.option("--keepdims", is_flag=True, help="Keep each reduced axis, with length 1.")
@click.option("--k", type=int, help="How many elements top_k selects.")
@click.option(
    "--mode",
    type=click.Choice(["largest", "smallest"]),
    default="largest",
    show_default=True,
    help="Of top_k.",
)
@click.option("--last", is_flag=True, help="Take the last of equal elements.")
@click.option(
    "--nan-policy", type=click.Choice(["propagate", "omit", "raise"]), default="propagate", show_default=True
)
@click.option("--index", is_flag=True, help="Write the index of each value too, of max, min and minmax.")
@click.option(
    "--default", type=_number, metavar="NUMBER", help="Answer for a slice in which no element takes part."
)
@click.option("--dtype", type=_INTEGERS, default="int64", show_default=True, help="Type of the indices.")
@click.option("--output-name", metavar="NAME", help="Output to write, if the model has several.")
@click.option("--memory", default="512MB", show_default=True, help="Memory for the pieces and their results.")
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Run on the Dask cluster of this scheduler.")
@json_option
def apply(
    operation: str,
    inputs: tuple[str, ...],
    out: Path,
    axes: tuple[int, ...],
    dims: tuple[str, ...],
    variable: str | None,
    memory: str,
    scheduler: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Apply a reduction, top_k, hardmax, maximum, minimum or a MODEL to files larger than memory.

    Reductions are argmax, argmin, idxmax, idxmin, max, min and minmax; idxmax and idxmin write labels along one --dim.
    Several results get a file each: with -o y.npy, minmax writes y.min.npy and y.max.npy, and --index adds
    y.argmin.npy and y.argmax.npy. top_k writes y.values.npy and y.indices.npy, of the --k best along one --axis or of
    all elements.

    Reads .npy, .npz, .zarr, .nc and .h5 files piece by piece. The output file appears when it is complete. Never
    overwrites a file.
    """
    what = operation if operation in _OPTIONS else "a model"
    settings = _OPTIONS.get(operation, _OF_A_MODEL)
    results = FUNCTIONS[operation].results if operation in FUNCTIONS else (operation,)
    if "index" in settings and options["index"]:
        # The indices are results too, and have a type.
        settings = (*settings, "dtype")
        results = (*results, *(f"arg{name}" for name in results))
    # Refuse what cannot work before anything is read.
    refuse_unused(what, (*settings, *_OF_ALL))
    if scheduler is not None and "memory" in named_options():
        raise ArgumentError("--memory and --scheduler are both given", remedy="drop one of them")
    limit = parse_size(memory) if scheduler is None else sys.maxsize
    if out.suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"'{out}' has no known format", remedy="use .npy, .zarr or .nc")
    if results[1:]:
        paths = [out.with_suffix(f".{name}{out.suffix}") for name in results]
    else:
        paths = [out]
    for path in paths:
        require_free(path)
    with _options_named():
        sources = [open_source(name, variable) for name in inputs]
    if variable is not None and all(each.variable is None for each in sources):
        raise ArgumentError(f"{sources[0].path!r} has no variables", remedy="drop --variable")
    axis = _axis(sources[0], axes, dims)
    with _options_named():
        job = planned(operation, sources, axis, limit, **options)
    # The results get their names when the last piece is written.
    total = sum(math.prod(each.shape) * each.dtype.itemsize for each in sources)
    work = steps(job) if scheduler is None else steps_on(scheduler, job)
    with _options_named(), ExitStack() as stack, progress(DownloadColumn(), TransferSpeedColumn()) as bar:
        temporaries = stack.enter_context(new_files(paths))
        task = bar.add_task(printable(operation), total=total)
        puts = [
            stack.enter_context(writing(path, job.shape, output, job.labels))
            for path, output in zip(temporaries, job.outputs, strict=True)
        ]
        for step in work:
            bar.advance(task, step.read)
            if step.place is not None:
                for put, block in zip(puts, step.blocks, strict=True):
                    put(step.place, block)
    records = [
        {"output": str(path), "type": dtype.name, "shape": list(job.shape), "read": total}
        for path, dtype in zip(paths, job.dtypes, strict=True)
    ]
    if as_json:
        write(json_text({"outputs": records} if records[1:] else records[0]))
        return
    shape = " x ".join(map(str, job.shape)) or "scalar"
    for each in records:
        write(f"wrote {printable(str(each['output']))}: {each['type']}, {shape}")


def _axis(source: Source, axes: tuple[int, ...], dims: tuple[str, ...]) -> Any:
    """Return the axis or axes by number, or None."""
    if dims and axes:
        raise ArgumentError("--axis and --dim are both given", remedy="name the axes by number or by name")
    labels = source.dims or ()
    for name in dims:
        if name not in labels:
            raise InputError(
                f"{source.path!r} has no dimension {name!r}",
                remedy=f"it has {', '.join(map(str, labels)) or 'none with a name'}",
            )
        if labels.count(name) > 1:
            raise InputError(
                f"{source.path!r} has dimension {name!r} twice", remedy="name the axes by number, with --axis"
            )
    numbers = axes or tuple(map(labels.index, dims))
    return numbers if numbers[1:] else next(iter(numbers), None)
