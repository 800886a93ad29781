"""ONNX ArgMin: versions 1, 11, 12 and 13, each the mirror of ArgMax's."""

from dataclasses import replace

from extremum.spec import argmax
from extremum.spec.schema import Family

__all__ = ["VERSIONS"]

VERSIONS = tuple(replace(schema, name="ArgMin", family=Family.ARGMIN) for schema in argmax.VERSIONS)
