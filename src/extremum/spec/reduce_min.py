"""ONNX ReduceMin: versions 1, 11, 12, 13, 18 and 20, each the mirror of ReduceMax's."""

from dataclasses import replace

from extremum.spec import reduce_max
from extremum.spec.schema import Family

__all__ = ["VERSIONS"]

VERSIONS = tuple(replace(schema, name="ReduceMin", family=Family.SMALLEST) for schema in reduce_max.VERSIONS)
