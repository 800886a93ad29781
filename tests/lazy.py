"""Dask arrays for tests: of an array in memory, and of chunks that cannot be had."""

import dask
import dask.array as da
import numpy as np

__all__ = ["boom", "chunked", "computed", "unreadable"]


def computed(x, **options):
    return dask.compute(x, **{"scheduler": "synchronous", **options})[0]


def chunked(x, chunks):
    return da.from_array(x, chunks=chunks)


def boom(block):
    raise AssertionError("a chunk was computed")


def unreadable(shape, chunks, dtype=np.float32):
    """An array whose chunks cannot be had."""
    return da.zeros(shape, chunks=chunks, dtype=dtype).map_blocks(boom, dtype=dtype, meta=np.empty((0, 0), dtype))
