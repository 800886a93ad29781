"""The suite of arrays on a GPU: functions checked against the CPU, then a table beside the libraries that are there.

    python -m benchmarks gpu
    python benchmarks/gpu.py     the same, with this file, click and the package alone

A graph replay shows the time of the kernels; a whole call has the time of Python and of the launch too. Every answer is
compared with that of the CPU before it is timed. The share of the read speed counts the bytes of the array and of the
results. The check stops when its time is up, because each function, element type and option has a kernel to be compiled
at its first call; its calls are in a random order, each function and type first. Without a GPU, and under
``TRITON_INTERPRET=1``, ``--small`` runs the same code on small arrays on the CPU; its times mean nothing.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import random
import statistics
import subprocess
from collections.abc import Callable, Iterator
from importlib import import_module
from time import perf_counter
from typing import Any, NamedTuple

import click

import extremum as ex

# It is imported with `extremum.gpu`, when the suite runs.
from extremum.interop import torch

Call = Callable[[], Any]

_ARGMAX = (
    ((1, 128256), 1, "float32"),
    ((32, 128256), 1, "float32"),
    ((32, 128256), 1, "bfloat16"),
    ((256, 5, 128256), 2, "bfloat16"),
    ((4096, 4096), 1, "float32"),
    ((1048576, 64), 1, "float32"),
    ((1048576, 10), 1, "float32"),
    ((268435456,), 0, "float32"),
    ((268435456,), 0, "uint8"),
    ((134217728,), 0, "int64"),
    ((8, 21, 512, 512), 1, "float32"),
    ((8, 21, 512, 512), 1, "float16"),
    ((8192, 8192), 0, "float32"),
    ((64, 80, 8400), 1, "float32"),
    ((64, 8400, 80), 2, "float16"),
    ((32, 2160, 3840), 0, "uint8"),
    ((64,), 0, "float32"),
)
_TOP_K = (
    ((4096, 1000), 5, "float32"),
    ((100000, 64), 8, "float32"),
    ((32, 128256), 50, "float32"),
    ((32, 128256), 50, "bfloat16"),
    ((1, 128256), 50, "float32"),
    ((256, 128256), 50, "bfloat16"),
    ((1, 16777216), 1000, "float32"),
    ((1, 16777216), 1, "float32"),
)
_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)
# Calls of one graph or reading at most, readings, and seconds of a reading if there is more than one call.
_CALLS = 20
_READINGS = 7
_LONGEST = 0.05


class Case(NamedTuple):
    """One line of a table: an array, and the axis of argmax or the k of top_k."""

    function: str
    shape: tuple[int, ...]
    number: int
    dtype: str

    @property
    def name(self) -> str:
        """The words for it."""
        what = "axis" if self.function == "argmax" else "k"
        return f"{self.shape} {what} {self.number} {self.dtype}"


class Check(NamedTuple):
    """A call to compare with the CPU."""

    dtype: str
    function: str
    given: tuple[Any, ...]
    options: dict[str, Any]


class Timed(NamedTuple):
    """Microseconds of one library for a case; None where there is no graph to replay."""

    replay: float | None
    call: float

    @property
    def best(self) -> float:
        """The time that counts: without a graph, the whole call."""
        return self.call if self.replay is None else self.replay

    @property
    def cell(self) -> str:
        """The words of a table."""
        return f"({self.call:.1f})" if self.replay is None else f"{self.replay:.1f} ({self.call:.1f})"


def _ours() -> Any:
    """Return the functions of this package; their import needs PyTorch, and `--help` does not."""
    return import_module("extremum.gpu")


def _drawn(shape: tuple[int, ...], dtype: str, device: str, seed: int = 0) -> Any:
    """Return elements of every kind: equal ones, both zeros and, in some arrays, NaN."""
    generator = torch.Generator(device).manual_seed(seed)
    numbers = torch.randint(-60, 60, shape, generator=generator, device=device)
    own = getattr(torch, dtype)
    if dtype == "bool":
        return numbers > 0
    if own.is_floating_point:
        x = numbers.to(own) / 4
        if seed % 2:
            x[numbers == 7] = float("nan")
        return torch.where(numbers == 3, -0.0, x)
    return (numbers if own.is_signed else numbers.abs()).to(own)


def _same(actual: Any, expected: Any) -> bool:
    """Whether two results of one function have the same types, shapes and bits, wherever they are."""
    if isinstance(expected, tuple):
        return all(_same(*pair) for pair in zip(actual, expected, strict=True))
    actual = actual.cpu()
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return False
    bits = getattr(torch, f"int{8 * expected.element_size()}")
    return bool(torch.equal(actual.view(bits), expected.view(bits)))


def _calls(x: Any, y: Any) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Yield the calls that a check makes of two arrays."""
    mask = x != x[:1, :1]
    for axis in (0, 1, None, (0, 2), -1):
        for last in (False, True):
            options = {"select_last_index": last, "return_index": True}
            yield "argmax", (x, axis), {"select_last_index": last}
            yield "minmax", (x, axis), options
            yield "max", (x, axis), {**options, "where": mask, "default": x.cpu().flatten()[0].item()}
            yield "min", (x, axis), {**options, "nan_policy": "omit", "default": x.cpu().flatten()[0].item()}
        yield "hardmax", (x, axis), {}
    for k in (1, 5):
        for mode in ("largest", "smallest"):
            yield "top_k", (x, k, 2), {"mode": mode}
            yield "top_k", (x, k, 0), {"mode": mode, "nan_policy": "omit"}
    yield "maximum", (x, y), {}
    yield "minimum", (x, y[:1]), {}


def _checks(device: str, shapes: tuple[tuple[int, ...], ...]) -> list[Check]:
    """Return all calls of the check: one of each function and element type first, then the others in a random order."""
    calls = []
    for shape in shapes:
        for dtype in _TYPES:
            # Two operands that are NaN have one NaN here, so every bit is promised.
            for seed in (0, 1):
                x, y = _drawn(shape, dtype, device, seed), _drawn(shape, dtype, device, seed + 2)
                calls += [Check(dtype, *each) for each in _calls(x, y)]
    random.Random(0).shuffle(calls)
    first = {(each.function, each.dtype): each for each in reversed(calls)}
    return [*first.values(), *(each for each in calls if first[each.function, each.dtype] is not each)]


def check(device: str, shapes: tuple[tuple[int, ...], ...], seconds: float) -> str:
    """Compare calls with the CPU until the time is up, and return how many were compared; stop at a wrong answer."""
    calls = _checks(device, shapes)
    end = perf_counter() + seconds
    for count, each in enumerate(calls):
        if perf_counter() > end:
            return f"{count:,} of {len(calls):,} calls"
        on_cpu = [value.cpu() if isinstance(value, torch.Tensor) else value for value in each.given]
        masks = {"where": each.options["where"].cpu()} if "where" in each.options else {}
        expected = getattr(ex, each.function)(*on_cpu, **{**each.options, **masks})
        if not _same(getattr(_ours(), each.function)(*each.given, **each.options), expected):
            raise click.ClickException(
                f"wrong: {each.function} of {each.dtype}{list(on_cpu[0].shape)}, {each.given[1:]}, {each.options}"
            )
    return f"{len(calls):,} calls"


def _contenders(case: Case, x: Any) -> dict[str, tuple[Call, bool]]:
    """Return the call of each library, and whether a graph of CUDA can hold it; ours first."""
    number = case.number
    functions: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "argmax": (_ours().argmax, torch.argmax),
        "top_k": (_ours().top_k, torch.topk),
    }
    own, theirs = functions[case.function]
    calls: dict[str, tuple[Call, bool]] = {
        "extremum": (lambda: own(x, number), True),
        "torch": (lambda: theirs(x, number), True),
    }
    if x.device.type == "cuda":
        # Otherwise PyTorch stops to compile after some shapes.
        torch.compiler.reset()
        compiled = torch.compile(theirs)
        calls["torch.compile"] = (lambda: compiled(x, number), True)
    # CuPy has no bfloat16, and no top-k in order.
    if case.function == "argmax" and case.dtype != "bfloat16" and importlib.util.find_spec("cupy"):
        import cupy  # type: ignore[import-not-found]

        array = cupy.from_dlpack(x)
        calls["CuPy"] = (lambda: cupy.argmax(array, number), False)
    # FlashInfer selects from rows of floats.
    if case.function == "top_k" and x.device.type == "cuda" and importlib.util.find_spec("flashinfer"):
        import flashinfer  # type: ignore[import-not-found]

        calls["FlashInfer"] = (lambda: flashinfer.top_k(x, number, sorted=True), True)
    if importlib.util.find_spec("jax"):
        import jax

        of_jax = jax.dlpack.from_dlpack(x)
        plain = jax.numpy.argmax if case.function == "argmax" else jax.lax.top_k
        traced = jax.jit(plain, static_argnums=1)
        # As it comes, JAX makes 32 bits of 64.
        if of_jax.dtype.name == case.dtype:
            calls["JAX"] = (lambda: jax.block_until_ready(traced(of_jax, number)), False)
    return calls


def _clock(call: Call, device: str) -> float:
    """Return the median microseconds of a call, from many in a row."""
    call()
    count = _count(call, device)
    readings = []
    for _ in range(_READINGS):
        start = perf_counter()
        for _ in range(count):
            call()
        _wait(device)
        readings.append((perf_counter() - start) / count * 1e6)
    return statistics.median(readings)


def _count(call: Call, device: str) -> int:
    """Return how many calls one reading has: long calls are made less often."""
    _wait(device)
    start = perf_counter()
    call()
    _wait(device)
    return max(1, min(_CALLS, int(_LONGEST / (perf_counter() - start))))


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _replay(call: Call, device: str) -> float:
    """Return the median microseconds of the kernels of a call, without Python and the launch."""
    if device != "cuda":
        return _clock(call, device)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
        count = _count(call, device)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    return _clock(graph.replay, device) / count


class Measured(NamedTuple):
    """What is known of a case: the times of the libraries, and the bytes that have to be read and written."""

    times: dict[str, Timed]
    moved: int


def measure(case: Case, device: str) -> Measured:
    """Return the times of all libraries that are installed, ours compared with the CPU first."""
    x = _drawn(case.shape, case.dtype, device)
    calls = _contenders(case, x)
    results = calls["extremum"][0]()
    if not _same(results, getattr(ex, case.function)(x.cpu(), case.number)):
        raise click.ClickException(f"wrong: {case.function} of {case.name}")
    times = {name: _timed(name, case, device, *each) for name, each in calls.items()}
    arrays = [x, *results] if isinstance(results, tuple) else [x, results]
    return Measured(
        {name: each for name, each in times.items() if each is not None}, sum(each.nbytes for each in arrays)
    )


def _timed(name: str, case: Case, device: str, call: Call, in_graph: bool) -> Timed | None:
    """Return the times of a library; None if it does not take the case."""
    try:
        return Timed(_replay(call, device) if in_graph else None, _clock(call, device))
    except Exception as error:
        if name == "extremum":
            raise
        click.echo(f"{name} does not take {case.name}: {error}", err=True)
        return None


def _read_speed(device: str, size: int) -> float:
    """Return the bytes per second at which the card reads, by a sum of float32."""
    x = torch.ones(size, device=device)
    return 4 * size / (_replay(x.sum, device) * 1e-6)


def _table(cases: list[Case], device: str, speed: float) -> None:
    """Print a line for each case, and the geometric mean of the ratios."""
    ratios, notes = [], []
    names: list[str] = []
    for case in cases:
        times, moved = measure(case, device)
        if not names:
            # The first case is of a type that all libraries have.
            names = list(times)
            heads = " | ".join(names)
            click.echo(f"| {case.function}, us in a graph (whole call) | {heads} | other / ours | of the read speed |")
            click.echo("| --- |" + " --- |" * (len(names) + 2))
        own = times["extremum"].best
        ratios.append(min(each.best for name, each in times.items() if name != "extremum") / own)
        share = moved / (own * 1e-6) / speed
        cells = " | ".join(times[name].cell if name in times else "" for name in names)
        click.echo(f"| {case.name} | {cells} | {ratios[-1]:.2f} | {share:.2f} |")
        if math.prod(case.shape) <= 64:
            whole = times["extremum"].call / times["torch"].call
            notes.append(f"A whole call of {case.name} takes {whole:.1f} times that of torch.")
    click.echo("\n" + "\n".join(notes))
    click.echo(f"Geometric mean {statistics.geometric_mean(ratios):.2f}, smallest {min(ratios):.2f}.\n")


def _shrunk(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(min(size, 40) for size in shape)


def _versions(device: str) -> str:
    """Return the card, its driver, and the versions of the libraries that are compared."""
    names = ("torch", "triton", "numpy", "cupy-cuda12x", "cupy-cuda13x", "jax", "flashinfer-python")
    there = {each.name.lower() for each in importlib.metadata.distributions() if each.name}
    words = [f"extremum {ex.__version__}"]
    words += [f"{name} {importlib.metadata.version(name)}" for name in names if name in there]
    if device == "cpu":
        return ", ".join([*words, "no card: the times mean nothing"])
    card = torch.cuda.get_device_properties(0)
    memory = f"{card.total_memory / 1e9:.0f} GB, {card.multi_processor_count} processors"
    return ", ".join([*words, f"{card.name} ({memory}), driver {_driver()}"])


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return f"unknown (runtime {torch.version.cuda or torch.version.hip})"
    return answer.stdout.split()[0]


@click.command
@click.option("--small", is_flag=True, help="Small arrays, also on the CPU under TRITON_INTERPRET=1.")
@click.option("--check-only", is_flag=True, help="Compare with the CPU and time nothing.")
@click.option("--seconds", default=45.0, show_default=True, help="How long to compare with the CPU.")
def gpu(small: bool, check_only: bool, seconds: float) -> None:
    """Check functions against the CPU, then time arrays on a GPU beside PyTorch, CuPy, JAX and FlashInfer."""
    _ours()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not small:
        raise click.ClickException("there is no GPU; --small runs on the CPU, under TRITON_INTERPRET=1")
    click.echo(f"{_versions(device)}\n")
    shapes: tuple[tuple[int, ...], ...] = ((5, 3, 7),)
    if not small:
        shapes = ((5, 300, 70), (6, 5, 20000), (2000, 5, 40))
    click.echo(f"{check(device, shapes, seconds)} have the bits of the CPU.\n")
    if check_only:
        return
    speed = _read_speed(device, 1000 if small else 1 << 28)
    click.echo(f"A sum reads {speed / 1e9:,.0f} GB/s.\n")
    for function, several in (("argmax", _ARGMAX), ("top_k", _TOP_K)):
        cases = [Case(function, *each) for each in several]
        if small:
            cases = [each._replace(shape=_shrunk(each.shape)) for each in cases[:: len(cases) - 1]]
            cases = [each._replace(number=min(each.number, 3)) for each in cases]
        _table(cases, device, speed)


if __name__ == "__main__":
    gpu()
