"""A job on a cluster of Dask's that is there already: its workers read the files, which they have to see.

Decides that only finished pieces of the result come here, in whatever sequence they are finished.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from extremum.errors import ExecutionError, ExtremumError, InputError, first_line
from extremum.large.jobs import Job, Step

__all__ = ["steps_on"]

_PATIENCE = "10s"


def steps_on(address: str, job: Job) -> Iterator[Step]:
    """Yield what is done by the workers of a scheduler."""
    from dask.array.core import slices_from_chunks
    from distributed import Client, as_completed
    from distributed.scheduler import KilledWorker

    try:
        # Asked first, because a client goes on trying where nobody listens.
        parts = urlsplit(address)
        if parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), timeout=10).close()
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = f"no scheduler answers at {address}"
        raise InputError(reason, given=first_line(error), remedy="start one with: dask scheduler") from None
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise InputError(f"the scheduler at {address} has no workers", remedy="start some: dask worker ADDRESS")
        lazy = job.lazy()
        blocks = lazy.to_delayed().ravel().tolist()
        futures = dict(zip(client.compute(blocks), slices_from_chunks(lazy.chunks), strict=True))
        total = sum(math.prod(each.shape) * each.dtype.itemsize for each in job.sources)
        done = 0
        try:
            for number, future in enumerate(as_completed(list(futures)), 1):
                block: Any = future.result()
                place = futures.pop(future)
                future.release()
                share = total * number // len(blocks) - done
                done += share
                yield Step(share, place, np.asarray(block))
        except KilledWorker as error:
            raise ExecutionError("workers die of the work they are given", given=first_line(error)) from None
        except ExtremumError:
            raise
        except OSError as error:
            raise ExecutionError("a worker could not read or send what it was asked for", given=str(error)) from None
