"""The suite of `top_k`: the shapes that users have, in every sequence of elements, over the fastest peer."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from math import prod
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import extremum as ex
from benchmarks import peers, report, run

Array = NDArray[Any]
Call = Callable[[], Any]

# Shape, axis and k: sampling of a language model, neighbours, routing to experts, detection, columns.
_CASES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    *(((50257,), 0, 50), ((32, 50257), 1, 1), ((32, 50257), 1, 50), ((10_000, 64), 1, 8), ((4096, 256), 1, 2)),
    *(((1000, 1000), 0, 5), ((21, 256, 256), 0, 3), ((1_000_000,), 0, 1000), ((1_000_000,), 0, 100_000)),
    *(((100, 1000), 1, 5), ((64,), 0, 5), ((8400, 80), 1, 1), ((1, 100_000), 1, 300)),
)


def _drawn(texture: str, shape: tuple[int, ...], axis: int) -> Array:
    generator = np.random.default_rng(39)
    if texture in ("ascending", "descending"):
        line = np.arange(shape[axis], dtype=np.float32) * (1 if texture == "ascending" else -1)
        return np.ascontiguousarray(
            np.moveaxis(np.broadcast_to(line, (*shape[:axis], *shape[axis + 1 :], line.size)), -1, axis)
        )
    if texture == "few values":
        return generator.integers(0, 4, shape).astype(np.float32)
    if texture == "int64":
        return generator.integers(-(2**40), 2**40, shape)
    return generator.standard_normal(shape, np.float32)


_TEXTURES = ("random", "ascending", "descending", "few values", "int64")


def _numpy(x: Array, axis: int, k: int) -> Call:
    def call() -> Any:
        part = np.take(np.argpartition(x, -k, axis), range(x.shape[axis] - k, x.shape[axis]), axis)
        values = np.take_along_axis(x, part, axis)
        order = np.flip(np.argsort(values, axis), axis)
        return np.take_along_axis(values, order, axis), np.take_along_axis(part, order, axis)

    return call


def _onnxruntime(x: Array, axis: int, k: int) -> Call:
    module: Any = import_module("onnxruntime")
    options = module.SessionOptions()
    options.intra_op_num_threads = 1
    element = {"float32": "float", "int64": "int64"}[x.dtype.name]
    shape, result = list(x.shape), [*x.shape[:axis], k, *x.shape[axis + 1 :]]
    graph = f"({element}{shape} x) => ({element}{result} v, int64{result} i) {{ "
    graph += f"k = Constant<value_ints=[{k}]>() v, i = TopK<axis={axis}>(x, k) }}"
    session = module.InferenceSession(peers.parsed(graph, 11), options, providers=["CPUExecutionProvider"])
    return partial(session.run, None, {"x": x})


def _jax(x: Array, axis: int, k: int) -> Call:
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ |= {"NPROC": "1", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {one}"}
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def find(x: Any) -> Any:
        found = jax.lax.top_k(jax.numpy.moveaxis(x, axis, -1), k)
        return [jax.numpy.moveaxis(each, -1, axis) for each in found]

    operand = jax.device_put(x)
    compiled = jax.jit(find).lower(operand).compile()
    return lambda: jax.block_until_ready(compiled(operand))


def _torch(x: Array, axis: int, k: int) -> Call:
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    return partial(torch.topk, torch.from_numpy(x), k, axis)


_PEERS = {"numpy": _numpy, "onnxruntime": _onnxruntime, "jax": _jax, "torch": _torch}


@click.command
@run.FILTER
@click.option("--seconds", "budget", type=float, default=0.4, show_default=True, help="For each case.")
@click.option("--publish", "published", is_flag=True, help="Put the rows into docs/performance.md.")
def top_k(pattern: str, budget: float, published: bool) -> None:
    """Time `top_k` on one thread: over the fastest peer, in brackets microseconds; the worst order."""
    run.hold(1)
    rows, ratios = [], []
    for shape, axis, k in _CASES:
        name = f"{'x'.join(map(str, shape))}, axis {axis}, k {k}"
        if not re.search(pattern, name):
            continue
        ours, row = [], [run.processor(), name]
        for texture in _TEXTURES:
            x = _drawn(texture, shape, axis)
            calls: dict[str, Call] = {"ours": partial(ex.top_k, x, k, axis)}
            right = calls["ours"]()
            # The first of equals, which peers do not promise.
            order = np.argsort(-x, axis, kind="stable")
            np.testing.assert_array_equal(right.indices, np.take(order, range(k), axis), name)
            for peer, prepare in _PEERS.items():
                with suppress(ImportError):
                    call = prepare(x, axis, k)
                    np.testing.assert_array_equal(np.asarray(call()[0]), right.values, f"{peer}, {name}")
                    calls[peer] = call
            best = run.interleave(calls, budget, keep=("ours",))
            peer = min((each for each in best if each != "ours"), key=best.__getitem__)
            ours.append(best["ours"])
            ratios.append(best[peer] / best["ours"])
            row.append(f"{ratios[-1]:.2f} ({best['ours'] * 1e6:.1f})")
        rows.append([*row, f"{max(ours[:4]) / ours[0]:.2f}"])
    head = ("processor", "case", *_TEXTURES, "worst / random")
    click.echo(report.table(head, rows))
    click.echo(f"mean {prod(ratios) ** (1 / len(ratios)):.2f}, worst {min(ratios):.2f}")
    if published:
        report.publish_rows("top k", head, rows)
