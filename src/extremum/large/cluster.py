"""A job on a cluster of Dask's that is there already: its workers read the files, which they have to see.

Decides that only finished pieces of the result come here, in whatever sequence they are finished.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.errors import ExecutionError, ExtremumError, InputError, first_line
from extremum.large.jobs import Job, Step

__all__ = ["steps_on"]

_PATIENCE = 3
"""Seconds in which a scheduler has to be connected; one more is for its answer."""

_ADDRESS = re.compile(r"((tcp|tls)://)?(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")


def steps_on(address: str, job: Job) -> Iterator[Step]:
    """Return what is done by the workers of a scheduler; one that does not answer, or has none, is refused at once."""
    if _ADDRESS.fullmatch(address) is None:
        raise InputError(f"{address!r} is no address of a scheduler", remedy="write tcp://HOST:PORT")
    if not asyncio.run(_identity(address))["workers"]:
        raise InputError(f"the scheduler at {address} has no workers", remedy="start some: dask worker ADDRESS")
    return _steps(address, job)


async def _identity(address: str) -> dict[str, Any]:
    """Ask a scheduler what it is: a client would go on trying where nobody listens, or where no scheduler does."""
    from distributed.core import rpc
    from distributed.security import Security

    try:
        options = Security().get_connection_args("client")
        async with rpc(address, timeout=_PATIENCE, connection_args=options) as scheduler:
            found: dict[str, Any] = await asyncio.wait_for(scheduler.identity(), _PATIENCE + 1)
        if found["type"] != "Scheduler":
            raise ValueError(f"a {found['type']} does")
        return found
    except Exception as error:
        # What is no scheduler may answer anything, and be read as anything.
        given = first_line(error) or f"no answer within {_PATIENCE + 1} seconds"
        reason = f"no scheduler answers at {address}"
        raise InputError(reason, given=given, remedy="start one with: dask scheduler") from None


def _steps(address: str, job: Job) -> Iterator[Step]:
    from dask.array.core import slices_from_chunks
    from distributed import Client, as_completed
    from distributed.scheduler import KilledWorker

    with Client(address, set_as_default=False) as client:
        results = job.lazy()
        blocks = [block for lazy in results for block in lazy.to_delayed().ravel().tolist()]
        places = [(at, place) for at, lazy in enumerate(results) for place in slices_from_chunks(lazy.chunks)]
        futures, count = dict(zip(client.compute(blocks), places, strict=True)), len(blocks)
        total = sum(math.prod(each.shape) * each.dtype.itemsize for each in job.sources)
        done = 0
        try:
            for number, future in enumerate(as_completed(list(futures)), 1):
                block: Any = future.result()
                at, place = futures.pop(future)
                future.release()
                share = total * number // count - done
                done += share
                yield Step(share, place, (*(None,) * at, np.asarray(block), *(None,) * (len(results) - at - 1)))
        except KilledWorker as error:
            raise ExecutionError("workers die of the work they are given", given=first_line(error)) from None
        except ExtremumError:
            raise
        except OSError as error:
            raise ExecutionError("a worker could not read or send what it was asked for", given=str(error)) from None
