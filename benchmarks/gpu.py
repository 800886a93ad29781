"""The suite of arrays on a GPU: every function checked against the CPU, then a table beside PyTorch, CuPy and JAX.

    python -m benchmarks gpu
    python benchmarks/gpu.py     the same, with this file, click and the package alone

A graph replay shows the time of the kernels; a whole call has the time of Python and of the launch too. Every answer is
compared with that of the CPU before it is timed. Without a GPU, and under ``TRITON_INTERPRET=1``, ``--small`` runs the
same code on small arrays on the CPU; its times mean nothing.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import click
import numpy as np
import torch

import extremum as ex
import extremum.gpu as ours

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
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
# Calls of one reading, and readings.
_CALLS = 20
_READINGS = 7


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


class Timed(NamedTuple):
    """Microseconds of one library for a case; None where there is no graph to replay."""

    replay: float | None
    call: float


def _drawn(shape: tuple[int, ...], dtype: str, device: str, seed: int = 0) -> torch.Tensor:
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
    bits = _BITS[expected.element_size()]
    return bool(torch.equal(actual.view(bits), expected.view(bits)))


def _calls(x: torch.Tensor, y: torch.Tensor) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
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


def check(device: str, shape: tuple[int, ...]) -> int:
    """Compare all functions and element types with the CPU, and return the number of calls; stop at a wrong answer."""
    count = 0
    for dtype in _TYPES:
        # Two operands that are NaN have one NaN here, so every bit is promised.
        for seed in (0, 1):
            x, y = _drawn(shape, dtype, device, seed), _drawn(shape, dtype, device, seed + 2)
            for function, given, options in _calls(x, y):
                on_cpu = [each.cpu() if isinstance(each, torch.Tensor) else each for each in given]
                masks = {"where": options["where"].cpu()} if "where" in options else {}
                expected = getattr(ex, function)(*on_cpu, **{**options, **masks})
                if not _same(getattr(ours, function)(*given, **options), expected):
                    raise click.ClickException(f"wrong: {function} of {dtype}{list(shape)}, {given[1:]}, {options}")
                count += 1
    return count


def _contenders(case: Case, x: torch.Tensor) -> dict[str, tuple[Call, bool]]:
    """Return the call of each library, and whether a graph of CUDA can hold it; ours first."""
    number = case.number
    functions: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "argmax": (ours.argmax, torch.argmax),
        "top_k": (ours.top_k, torch.topk),
    }
    own, theirs = functions[case.function]
    calls: dict[str, tuple[Call, bool]] = {
        "extremum": (lambda: own(x, number), True),
        "torch": (lambda: theirs(x, number), True),
    }
    if x.device.type == "cuda":
        compiled = torch.compile(theirs)
        calls["torch.compile"] = (lambda: compiled(x, number), True)
    # CuPy has no bfloat16, and no top-k in order.
    if case.function == "argmax" and case.dtype != "bfloat16" and importlib.util.find_spec("cupy"):
        import cupy  # type: ignore[import-not-found]

        array = cupy.from_dlpack(x)
        calls["CuPy"] = (lambda: cupy.argmax(array, number), False)
    if importlib.util.find_spec("jax"):
        import jax

        of_jax = jax.dlpack.from_dlpack(x)
        plain = jax.numpy.argmax if case.function == "argmax" else jax.lax.top_k
        traced = jax.jit(plain, static_argnums=1)
        calls["JAX"] = (lambda: jax.block_until_ready(traced(of_jax, number)), False)
    return calls


def _clock(call: Call, device: str) -> float:
    """Return the median microseconds of a call, from many in a row."""
    call()
    readings = []
    for _ in range(_READINGS):
        _wait(device)
        start = perf_counter()
        for _ in range(_CALLS):
            call()
        _wait(device)
        readings.append((perf_counter() - start) / _CALLS * 1e6)
    return statistics.median(readings)


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
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(_CALLS):
            call()
    return _clock(graph.replay, device) / _CALLS


def measure(case: Case, device: str) -> dict[str, Timed]:
    """Return the times of all libraries that are installed, ours compared with the CPU first."""
    x = _drawn(case.shape, case.dtype, device)
    calls = _contenders(case, x)
    if not _same(calls["extremum"][0](), getattr(ex, case.function)(x.cpu(), case.number)):
        raise click.ClickException(f"wrong: {case.function} of {case.name}")
    return {
        name: Timed(_replay(call, device) if in_graph else None, _clock(call, device))
        for name, (call, in_graph) in calls.items()
    }


def _read_speed(device: str, size: int) -> float:
    """Return the bytes per second at which the card reads, by a sum of float32."""
    x = torch.ones(size, device=device)
    return 4 * size / (_replay(x.sum, device) * 1e-6)


def _table(cases: list[Case], device: str, speed: float) -> None:
    """Print a line for each case, and the geometric mean of the ratios."""
    ratios = []
    for at, case in enumerate(cases):
        times = measure(case, device)
        if not at:
            names = " | ".join(times)
            click.echo(f"| {case.function}, us in a graph (whole call) | {names} | other / ours | of the read speed |")
            click.echo("| --- |" + " --- |" * (len(times) + 2))
        cells = [
            f"({each.call:.1f})" if each.replay is None else f"{each.replay:.1f} ({each.call:.1f})"
            for each in times.values()
        ]
        # CuPy and JAX have no graph here: their whole call counts.
        _, *others = (each.call if each.replay is None else each.replay for each in times.values())
        own = times["extremum"].replay or times["extremum"].call
        ratios.append(min(others) / own)
        size = np.prod(case.shape) * torch.empty(0, dtype=getattr(torch, case.dtype)).element_size()
        share = size / (own * 1e-6) / speed
        click.echo(f"| {case.name} | {' | '.join(cells)} | {ratios[-1]:.2f} | {share:.2f} |")
    click.echo(f"\nGeometric mean {statistics.geometric_mean(ratios):.2f}, smallest {min(ratios):.2f}.\n")


def _shrunk(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(min(size, 40) for size in shape)


@click.command
@click.option("--small", is_flag=True, help="Small arrays, also on the CPU under TRITON_INTERPRET=1.")
@click.option("--check-only", is_flag=True, help="Compare with the CPU and time nothing.")
def gpu(small: bool, check_only: bool) -> None:
    """Check every function against the CPU, then time arrays on a GPU beside PyTorch, CuPy and JAX."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not small:
        raise click.ClickException("there is no GPU; --small runs on the CPU, under TRITON_INTERPRET=1")
    card = torch.cuda.get_device_name() if device == "cuda" else "no card: the times mean nothing"
    click.echo(f"extremum {ex.__version__}, PyTorch {torch.__version__}, {card}\n")
    shapes = ((5, 3, 7),) if small else ((5, 300, 70), (6, 5, 20000), (2000, 5, 40))
    counts = [check(device, shape) for shape in shapes]
    click.echo(f"{sum(counts):,} calls have the bits of the CPU.\n")
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
