"""What a model is fixed for: a runtime, or a feature level of DirectML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend, runtimes, validate
from extremum.check.question import AskedRuntime
from extremum.check.rule import Targets
from extremum.check.rules import find
from extremum.directml import FeatureLevel, create_operator
from extremum.directml.lowering import steps
from extremum.errors import ArgumentError, ExtremumError
from extremum.graph.attributes import attributes_of
from extremum.graph.calls import opsets_of, schema_of
from extremum.graph.operands import operand_names, operand_types
from extremum.graph.sites import Site
from extremum.runtimes import Feeds, Run, shown
from extremum.runtimes.process import Subprocess
from extremum.runtimes.runtime import Load
from extremum.spec import Family
from extremum.tensors import TensorType


@dataclass(frozen=True)
class Target:
    """A runtime without any operator of this package, or DirectML at a feature level."""

    name: str
    # The rule for nodes that it refuses, and the rule for nodes that it answers differently, if there is one.
    refuses: str
    differs: str | None
    # The targets that these rules ask.
    targets: Targets
    load: Load
    # Whether it runs whole models; DirectML has only the operators of this package.
    whole: bool = True
    # The rules of severity info whose findings are mended too.
    also: tuple[str, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The rules about answers, in the order in which a node is rewritten because of them."""
        return tuple(filter(None, (self.refuses, self.differs, *self.also, "EX104")))

    def look(self, code: str, site: Site) -> Iterable[ExtremumError]:
        """Return what a rule finds at a node."""
        return find(code).look(site, site.version, self.targets)


def _directml(level: FeatureLevel, model: onnx.ModelProto) -> Run:
    """Return what runs a model with DirectML's operators; the backend runs nodes that DirectML lacks."""

    def run(inputs: Feeds) -> list[NDArray[Any]]:
        values = dict(inputs)
        opsets = opsets_of(model.opset_import)
        for node in model.graph.node:
            schema = schema_of(node, opsets)
            operands = {name: values[name] for name in operand_names(node, schema)}
            answers = backend.run_node(node, operands, opset_version=opsets[""])
            values.update(zip(node.output, answers, strict=True))
            # No rewrite needs a TopK that DirectML takes.
            if schema is None or schema.family is Family.TOP:
                continue
            name = node.output[0]
            result = np.empty_like(answers[0], order="C")
            types = operand_types(schema, list(operands.values()))
            attributes = validate.attributes(schema, attributes_of(node, {}), types)
            tensors = {each: np.ravel(x) for each, x in {**operands, name: result}.items()}
            pairs = list(zip(operands, types, strict=True))[: schema.input.maximum]
            for step in steps(schema, attributes, pairs, [(name, TensorType.of(result))], level):
                operator = create_operator(step.desc, feature_level=level)
                sources = [tensors[each] for each in step.inputs]
                operator.dispatch(inputs=sources, outputs=[tensors[step.output]])
            values[name] = result
        return [values[each.name] for each in model.graph.output]

    return run


@contextmanager
def opened(text: str | None, *, strict: bool = False) -> Iterator[Target]:
    """Give a target until the block ends: a runtime, ``directml-4_1``, or by default the installed onnxruntime."""
    levels = {f"directml-{level}": level for level in FeatureLevel}
    if text is None:
        runtime = runtimes.find("onnxruntime")
        yield Target(shown(runtime), "EX101", "EX108", Targets(runtime=runtime), runtime.load)
    elif (level := levels.get(text)) is not None:
        targets = Targets(feature_level=level)
        yield Target(f"DirectML {level}", "EX102", None, targets, partial(_directml, level), whole=False)
    elif text.partition(":")[0] in runtimes.known():
        with Subprocess(text) as process:
            targets = Targets(asked=AskedRuntime(process))
            also = ("EX110",) if strict else ()
            yield Target(shown(process), "EX106", "EX107", targets, process.load, also=also)
    else:
        names = ", ".join((*runtimes.known(), *levels))
        raise ArgumentError(f"there is no target {text!r}", remedy=f"the targets are {names}")
