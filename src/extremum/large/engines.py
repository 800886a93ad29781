"""Do the work of a job: in this process, or on the workers of a Dask cluster."""

from __future__ import annotations

import itertools
import math
import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from extremum.errors import ExecutionError, ExtremumError, InputError, MemoryLimitError, first_line
from extremum.large.jobs import Job, Progress

_PATIENCE = 3
"""Seconds to connect to a scheduler; its answer may take one more."""

_MOST_TASKS = 1_000_000
"""How many tasks a scheduler gets."""

_ADDRESS = re.compile(r"((tcp|tls)://)?(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")


def steps(job: Job) -> Iterator[Progress]:
    """Do the work in this process, in the order of the pieces; while one is computed, the next is read."""
    reads = ((piece, number, read) for piece in job.pieces for number, read in enumerate(piece.reads))
    part: Any = None
    with ThreadPoolExecutor(1) as reader:
        tasks = ((piece, number, reader.submit(job.blocks, read), read) for piece, number, read in reads)
        following = next(tasks, None)
        while following is not None:
            piece, number, task, read = following
            blocks = task.result()
            following = next(tasks, None)
            next_part = job.part(read, blocks)
            part = next_part if number == 0 else job.merge([part, next_part])
            yield Progress(sum(each.nbytes for each in blocks))
            if number == len(piece.reads) - 1:
                yield from (Progress(0, *each) for each in job.results(piece, part))


async def _identity(address: str) -> dict[str, Any]:
    """Ask a scheduler for its identity; a client would retry if there were no scheduler."""
    import asyncio

    from distributed.core import rpc
    from distributed.security import Security

    try:
        options = Security().get_connection_args("client")
        async with rpc(address, timeout=_PATIENCE, connection_args=options) as scheduler:
            identity: dict[str, Any] = await asyncio.wait_for(scheduler.identity(), _PATIENCE + 1)
        if identity["type"] != "Scheduler":
            raise ValueError(f"a {identity['type']} does")
        return identity
    except Exception as error:
        # A server of another kind may answer anything.
        raise InputError(
            f"no scheduler answers at {address}",
            given=first_line(error) or f"no answer within {_PATIENCE + 1} seconds",
            remedy="start one with: dask scheduler",
        ) from None


def steps_on(address: str, job: Job) -> Iterator[Progress]:
    """Have the workers of a scheduler do the work; refuse one that does not answer or has no workers.

    The workers read the files. Finished pieces of the results arrive here in any order.
    """
    import asyncio

    from distributed import Client, as_completed
    from distributed.scheduler import KilledWorker

    if _ADDRESS.fullmatch(address) is None:
        raise InputError(f"{address!r} is not the address of a scheduler", remedy="write tcp://HOST:PORT")
    if not asyncio.run(_identity(address))["workers"]:
        raise InputError(
            f"the scheduler at {address} has no workers", remedy="start some: dask worker ADDRESS"
        )
    with Client(address, set_as_default=False) as client:
        send = partial(client.submit, pure=False)
        # Send the job as a task, which Dask can repeat: each worker opens the files and prepares the model once.
        here = send(pickle.loads, pickle.dumps(job))
        futures = {}
        count = sum(len(piece.reads) for piece in itertools.islice(job.pieces, _MOST_TASKS))
        if count > _MOST_TASKS or len(job.pieces) > _MOST_TASKS:
            raise MemoryLimitError(
                f"the work has more than {_MOST_TASKS:,} pieces, too many for a scheduler",
                remedy="write the files in larger chunks",
            )
        for piece in job.pieces:
            parts = [send(_do, here, "read", read) for read in piece.reads]
            futures[send(_do, here, "merge", parts) if parts[1:] else parts[0]] = piece
        try:
            for future in as_completed(list(futures)):
                piece = futures.pop(future)
                part = future.result()
                future.release()
                reads = [pair for read in piece.reads for pair in zip(job.sources, read, strict=True)]
                yield Progress(
                    sum(
                        math.prod(each.stop - each.start for each in at) * x.dtype.itemsize for x, at in reads
                    )
                )
                yield from (Progress(0, *each) for each in job.results(piece, part))
        except KilledWorker as error:
            raise ExecutionError("workers were killed while they computed", given=first_line(error)) from None
        except ExtremumError:
            raise
        except OSError as error:
            raise ExecutionError("a worker could not read or send a piece", given=str(error)) from None


def _do(job: Job, step: str, *arguments: Any) -> Any:
    """Do a step of a job with a task's share of the processors."""
    from extremum.dask.processors import share

    with share():
        return getattr(job, step)(*arguments)
