"""The topics, one file each: what the suite asks of every operator, version and element type."""

from collections.abc import Mapping
from types import MappingProxyType

from extremum.conformance.question import Ask
from extremum.conformance.topics import (
    axes,
    broadcasting,
    coercion,
    defaults,
    denormals,
    empty,
    infinities,
    keepdims,
    last_index,
    lengths,
    limits,
    nan,
    negative_axis,
    operands,
    placement,
    plain,
    rank,
    refusals,
    ties,
    zeros,
)

__all__ = ["TOPICS"]

TOPICS: Mapping[str, Ask] = MappingProxyType(
    {
        module.__name__.rpartition(".")[2]: module.ask
        for module in (
            plain,
            defaults,
            lengths,
            rank,
            negative_axis,
            axes,
            keepdims,
            ties,
            last_index,
            coercion,
            broadcasting,
            operands,
            placement,
            infinities,
            limits,
            denormals,
            nan,
            zeros,
            empty,
            refusals,
        )
    }
)
"""What each topic asks, by the name of its file."""
