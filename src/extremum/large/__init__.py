"""Operations on files that are larger than memory, a piece at a time, in this process or on a Dask cluster.

A source is a file that holds an array: ``formats`` reads and writes it. A job (``jobs``, ``models``) knows the shape
and type of its results before it reads anything, and computes pieces of them from pieces of sources, within a memory
limit: half of it is for the pieces and their results, the other half for libraries and the interpreter. ``plans`` makes
the job for an operation, and ``engines`` does its work. The caller writes the pieces.
"""

from extremum.large.engines import steps, steps_on
from extremum.large.formats import SUFFIXES, Source, open_source, read_npy_header, writing
from extremum.large.jobs import Job, Piece, Progress
from extremum.large.parameters import ParameterError
from extremum.large.plans import LABELS, planned

__all__ = [
    "LABELS",
    "SUFFIXES",
    "Job",
    "ParameterError",
    "Piece",
    "Progress",
    "Source",
    "open_source",
    "planned",
    "read_npy_header",
    "steps",
    "steps_on",
    "writing",
]
