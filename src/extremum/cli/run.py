"""``extremum run``: a model, its inputs from files or at random, its outputs on the screen and in files.

Arrays come from NumPy's .npy and .npz and ONNX's TensorProto; no memory is reserved for data that a file lacks. Random
floats are normally distributed. Random integers are 0 or 1, which are indices, labels or masks in most models. The
backend checks whether the arrays fit the model.
"""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, BinaryIO
from urllib.parse import quote

import click
import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from rich.table import Column, Table

from extremum import backend
from extremum.cli.new_files import require_absent, require_folder, write_new
from extremum.cli.options import FORMS, PATH, Command, json_option, named_options, parse_pairs, parse_sizes, repeatable
from extremum.cli.terminal import write, write_table
from extremum.errors import ArgumentError, ExtremumError, InputError, first_line
from extremum.files import open_file, require_no_folder
from extremum.graph.load import read_message
from extremum.graph.types import DeclaredInput, declared_inputs, require_array
from extremum.large import read_npy_header
from extremum.printable import json_text, printable
from extremum.tensors import require_memory

# Any entry of an archive may unpack to this many bytes, and a larger one to this many times its packed size.
_LARGEST_PACKED = 2**30
_LARGEST_RATIO = 100
# With the suffix, below the limit of most file systems, 255 bytes.
_LONGEST_FILE = 200
# Windows has devices of these names in every folder, whatever the suffix.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{device}{digit}" for device in ("com", "lpt") for digit in range(10))}


def gather(
    declared: Iterable[DeclaredInput],
    files: Mapping[str, str],
    sizes: Mapping[str, int],
    ranges: Mapping[str, str],
    seed: int | None,
) -> dict[str, NDArray[Any]]:
    """Read the inputs that come from files and, with a seed, draw the others; refuse a missing input."""
    inputs = {each.name: each for each in declared}
    _refuse_unknown("input", (*files, *ranges), inputs)
    dimensions = {size for each in inputs.values() for size in each.shape or () if isinstance(size, str)}
    _refuse_unknown("symbolic dimension", sizes, sorted(dimensions))
    if both := [name for name in ranges if name in files]:
        raise InputError(f"input {both[0]!r} is given a file and a range", given=files[both[0]])
    arrays = {name: read_array(files[name], each.dtype) for name, each in inputs.items() if name in files}
    symbols = {symbol: (size, "as set") for symbol, size in sizes.items()}
    for name, array in arrays.items():
        shape = inputs[name].shape or ()
        # The backend refuses an array of another rank, with a better message.
        for symbol, size in zip(shape, array.shape, strict=True) if len(shape) == array.ndim else ():
            here = size, f"in {files[name]}"
            if isinstance(symbol, str) and (first := symbols.setdefault(symbol, here))[0] != size:
                given = ", ".join(f"{size} {origin}" for size, origin in (first, here))
                raise InputError(f"dimension {symbol!r} has two sizes", given=given)
    set_sizes = {symbol: size for symbol, (size, _) in symbols.items()}
    for position, (name, each) in enumerate(inputs.items()):
        if name in arrays or (each.optional and name not in ranges):
            continue
        if seed is None:
            given, remedy = f"inputs {', '.join(arrays) or 'none'}", f"pass -i {printable(name)}=FILE, or add --random"
            raise InputError(f"input {name!r} is missing", given=given, remedy=remedy)
        # The array does not depend on which other inputs come from files.
        arrays[name] = draw(each, set_sizes, ranges.get(name), np.random.default_rng([seed, position]))
    return arrays


def _refuse_unknown(noun: str, names: Iterable[str], choices: Collection[str]) -> None:
    for name in names:
        if name not in choices:
            remedy = f"it has {', '.join(choices) or f'no {noun} at all'}"
            raise InputError(f"the model has no {noun} {name!r}", remedy=remedy)


def draw(
    declared: DeclaredInput, sizes: Mapping[str, int], span: str | None, random: np.random.Generator
) -> NDArray[Any]:
    """Return a random array for an input; a span of integers includes its ends, a span of floats is uniform."""
    name, dtype = declared.name, declared.dtype
    # Strings are an object dtype, and only numbers can be drawn.
    if dtype is None or declared.shape is None or dtype.kind == "O":
        why = "its rank is open" if dtype is not None and declared.shape is None else "it is no tensor of numbers"
        reason = f"input {name!r} cannot be drawn at random: {why}"
        raise InputError(reason, remedy=f"pass it with -i {name}=file")
    for size in declared.shape:
        if isinstance(size, str) and size not in sizes:
            raise InputError(f"dimension {size!r} of input {name!r} has no size", remedy=f"set it: --set {size}=8")
    shape = tuple(sizes[size] if isinstance(size, str) else size for size in declared.shape)
    require_array(shape, dtype, name)
    limits, numbers = (0, 1) if dtype.kind == "b" else None, None
    with suppress(ValueError):  # from a type of floats
        info: Any = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        limits = int(info.min), int(info.max)
    if span is None and limits is None:
        numbers = random.standard_normal(shape)
    else:
        low, high = _ends(name, span or "0:1", dtype, limits)
        if limits:
            numbers = random.integers(low, high, shape, dtype if dtype.kind in "iu" else np.int64, endpoint=True)
        else:
            parts = random.random(shape)
            # A sum of two products: the difference of the ends may be larger than any float.
            numbers = low * (1 - parts) + high * parts
    return np.asarray(numbers).astype(dtype, copy=False)


def _ends(name: str, span: str, dtype: np.dtype[Any], limits: tuple[int, int] | None) -> tuple[Any, Any]:
    """Return the ends of a span as numbers, if the type holds them."""
    number = int if limits else float
    try:
        low, high = map(number, span.split(":"))
    except ValueError:
        remedy = f"write for example {FORMS['name=low:high'][1]}"
        raise InputError(f"input {name!r} takes integers", given=f"the range {span}", remedy=remedy) from None
    if low > high:
        raise InputError(f"the range of input {name!r} is empty", given=span, remedy="write the lower end first")
    if limits:
        fits = limits[0] <= low and high <= limits[1]
    else:
        with np.errstate(over="ignore"):
            fits = np.isfinite(np.array((low, high)).astype(dtype).astype(complex)).all()
    if not fits:
        raise InputError(f"the range of input {name!r} does not fit its type", given=f"{span} for {dtype.name}")
    return low, high


def read_array(source: str, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Read one array from a file."""
    name, archive, entry = source.partition(".npz:")
    path = Path(name + ".npz" if archive else source)
    if path.suffix not in (".npy", ".npz", ".pb"):
        require_no_folder(path)
        raise InputError(f"{source!r} has no known format", remedy="use .npy, .npz:entry or .pb")
    try:
        if path.suffix == ".pb":
            array = _read_pb(path)
        else:
            with open_file(path) as file:
                is_packed, size = path.suffix == ".npz", os.fstat(file.fileno()).st_size
                array = _read_npz(file, path, entry) if is_packed else _read(file, size, path.name)
    except (ExtremumError, MemoryError):
        raise
    except Exception as error:
        # The libraries have no common error for damaged files; an OSError that one of them raises names no file.
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(f"{source!r} is not a valid {path.suffix} file", given=first_line(error)) from None
    raw = array.dtype.kind == "V" and array.dtype.names is None
    if raw and dtype is not None and dtype.isbuiltin == 2 and dtype.itemsize == array.dtype.itemsize:
        array = array.view(dtype)
    return array


def _read_npz(file: IO[bytes], path: Path, entry: str) -> NDArray[Any]:
    with zipfile.ZipFile(file) as archive:
        entries = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        if not entry and len(entries) == 1:
            (entry,) = entries
        if entry not in entries:
            reason = f"{str(path)!r} has no entry {entry!r}" if entry else f"{str(path)!r} has {len(entries)} entries"
            raise InputError(reason, remedy=f"name one of them: {path.name}:entry with {', '.join(entries)}")
        info = archive.getinfo(entry + ".npy")
        if info.file_size > max(_LARGEST_PACKED, _LARGEST_RATIO * info.compress_size):
            reason = f"entry {entry!r} of {str(path)!r} unpacks to too many bytes"
            given = f"{info.compress_size:,} bytes that unpack to {info.file_size:,}"
            raise InputError(reason, given=given, remedy="unpack the archive and pass the .npy file")
        with archive.open(info) as member:
            return _read(member, info.file_size, f"{path.name}:{entry}")


def _read(file: IO[bytes], size: int, what: str) -> NDArray[Any]:
    """Read an array of the format .npy from a file of `size` bytes, unless its header claims more."""
    shape, _, dtype = read_npy_header(file, size)
    require_memory(shape, dtype, repr(what))
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _read_pb(path: Path) -> NDArray[Any]:
    # Imported here, so that the backend reports a missing onnx.
    from onnx import TensorProto, external_data_helper, numpy_helper

    tensor = TensorProto.FromString(read_message(path))
    if not tensor.data_type:
        raise ValueError("it holds no tensor")
    if external_data_helper.uses_external_data(tensor):
        raise ValueError("its elements are in another file")
    return numpy_helper.to_array(tensor)


def output_paths(names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the file for each output of a model; none of them exists yet."""
    require_folder(folder, "not a folder")
    paths = {name: folder / file for name, file in file_names(names).items()}
    for path in paths.values():
        require_absent(path, "choose another folder, or move that file")
    return paths


def write_outputs(outputs: Mapping[str, object], folder: Path) -> dict[str, Path]:
    """Write every output of a model to a .npy file, or none."""
    arrays = {name: _storable(name, value) for name, value in outputs.items()}
    paths = output_paths(outputs, folder)
    write_new({paths[name]: partial(_save, array) for name, array in arrays.items()})
    return paths


def _storable(name: str, value: object) -> NDArray[np.generic]:
    """Return an output as an array that a file can hold; text gets a fixed width."""
    if not isinstance(value, np.ndarray | np.generic):
        reason = f"output {name!r} is not a tensor and cannot be saved as .npy"
        raise ArgumentError(reason, given=f"a {type(value).__name__}")
    array = np.asanyarray(value)
    if array.dtype.kind not in "OT":
        return array
    texts = array.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ArgumentError(f"output {name!r} holds neither numbers nor text and cannot be saved as .npy")
    width = np.dtype(f"U{max(map(len, texts), default=0)}")
    require_memory(array.shape, width, f"output {name!r} as text of fixed width")
    result = array.astype(width)
    # NumPy drops NULs at the end of a text.
    if result.ravel().tolist() != texts:
        raise ArgumentError(f"output {name!r} holds text that ends with NUL and cannot be saved as .npy")
    return result


def _save(array: NDArray[np.generic], file: BinaryIO) -> None:
    # NumPy bypasses a file's own write, and its message about a full disk names no file.
    np.lib.format.write_array(SimpleNamespace(write=file.write), np.asanyarray(array), allow_pickle=False)


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of a .npy file for each name of an output.

    No two names share a file, even where a file system ignores case or cuts long names.
    """
    stems = {}
    for name in names:
        # The encoding never gives a plus sign, so it marks an empty name.
        text = quote(name.encode("utf-8", "surrogatepass"), safe="") or "+"
        # A name with a dot in front is hidden, and may be the same as a hidden name of this package.
        if text.startswith(".") or text.partition(".")[0].lower() in _DEVICES:
            text = f"%{ord(text[0]):02X}{text[1:]}"
        stems[name] = text
    count = Counter(each.lower() for each in stems.values())
    return {
        # A plus sign in a name is encoded, so no other name has such an end.
        name: each + ".npy"
        if len(each) <= _LONGEST_FILE and count[each.lower()] == 1
        else f"{each[: _LONGEST_FILE - 33]}+{hashlib.sha256(each.encode()).hexdigest()[:32]}.npy"
        for name, each in stems.items()
    }


def describe(name: str, value: Any) -> dict[str, Any]:
    """Return the name, type, shape and first elements of a value as JSON can hold them."""
    if not isinstance(value, np.ndarray | np.generic):
        return {"name": name, "type": type(value).__name__, "shape": None, "preview": repr(value)[:60]}
    # A longer text or name hides the other columns.
    elements = [printable(str(element), 40) for element in value.flat[:6]] + ["..."] * (value.size > 6)
    return {"name": name, "type": value.dtype.name, "shape": list(value.shape), "preview": " ".join(elements)}


@click.command(cls=Command)
@click.argument("model", type=PATH)
@repeatable("-i", "--input", "files", metavar="NAME=FILE", help="Read an input from a .npy, .npz:ENTRY or .pb file.")
@click.option("--random", is_flag=True, help="Draw the other inputs at random.")
@repeatable(
    "--range",
    "ranges",
    metavar="NAME=LOW:HIGH",
    help="Range of a random input, both ends included [default: 0:1; floats: a normal distribution].",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random inputs.")
@repeatable("--set", "sizes", metavar="DIM=SIZE", help="Size of a symbolic dimension.")
@click.option(
    "-o", "--output", "folder", type=PATH, metavar="DIR", help="Write each output to a .npy file in this folder."
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
    paths, spans = parse_pairs(files, "name=file"), parse_pairs(ranges, "name=low:high")
    symbols = parse_sizes(sizes)
    if not random and (unused := [each for each in ("--range", "--seed") if each in named_options().values()]):
        raise ArgumentError(f"{unused[0]} has no effect without --random", remedy="add --random")
    rep = backend.prepare(model, engine=engine)
    names = [output.name for output in rep.loaded.proto.graph.output]
    if folder is not None:
        output_paths(names, folder)
    arrays = gather(declared_inputs(rep.loaded.proto), paths, symbols, spans, seed if random else None)
    start = time.perf_counter()
    results = dict(zip(names, rep.run(arrays), strict=True))
    seconds = time.perf_counter() - start
    targets = [] if folder is None else [str(path) for path in write_outputs(results, folder).values()]
    sections = {
        title: [describe(name, value) for name, value in values.items()]
        for title, values in (("inputs", arrays), ("outputs", results))
    }
    if as_json:
        write(json_text({"model": str(model), **sections, "seconds": seconds, "files": targets}))
        return
    for title, rows in sections.items():
        columns = (Column(heading, overflow="fold") for heading in ("name", "type", "shape", "first elements"))
        table = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row in rows:
            shape = "-" if row["shape"] is None else " x ".join(map(str, row["shape"])) or "scalar"
            table.add_row(printable(row["name"], 200), row["type"], shape, printable(row["preview"]))
        write_table(table)
    write("\n".join((f"{seconds * 1e3:.3g} ms", *(f"wrote {printable(path)}" for path in targets))))
