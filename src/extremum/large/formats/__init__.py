"""The formats of files: arrays in files as sources, and new files that take a result piece by piece."""

from extremum.large.formats.labels import Labels
from extremum.large.formats.npy import read_npy_header
from extremum.large.formats.output import Output
from extremum.large.formats.source import Put, Source
from extremum.large.formats.suffixes import SUFFIXES, open_source, writing

__all__ = ["SUFFIXES", "Labels", "Output", "Put", "Source", "open_source", "read_npy_header", "writing"]
