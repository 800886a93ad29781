"""onnx's reference evaluator with this package's operators.

The evaluator takes attribute defaults from the newest version of an operator, and passes new operators to subgraphs but
not to functions; this file and ``operators.py`` correct both.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from extremum import errors
from extremum.backend.operators import FamilyOperator, reference_ops
from extremum.errors import ExecutionError, ExtremumError, ModelError, first_line
from extremum.graph.attributes import attribute_value
from extremum.graph.calls import callees_first, canonical, opsets_of
from extremum.graph.walk import all_nodes, node_path, subgraphs_of, with_name


class Executor(ReferenceEvaluator):
    """The reference evaluator with this package's operators in its graph, subgraphs and functions."""

    def __init__(self, proto: onnx.GraphProto | onnx.FunctionProto, **options: Any) -> None:
        super().__init__(proto, **{**options, "new_ops": reference_ops()})
        # The evaluator would require all attributes in a call; an omitted attribute has a default or stays absent.
        self.attributes_ = []
        of_function = proto.attribute_proto if isinstance(proto, onnx.FunctionProto) else ()
        self._defaults = {each.name: attribute_value(each) for each in of_function}

    def _load_impl(self, node: onnx.NodeProto, input_types: Any = None) -> Any:
        if node.domain != canonical(node.domain):
            node = deepcopy(node)
            node.domain = canonical(node.domain)
        return super()._load_impl(node, input_types)

    def locate(self, prefix: str) -> None:
        """Tell every node its place, so that its errors can name the place."""
        for index, each in enumerate(self.rt_nodes_):
            place = with_name(node_path(prefix, index), each.onnx_node)
            if isinstance(each, FamilyOperator):
                each.place = place
            else:
                each.run = partial(_run_located, each, each.run, place)
            for name, _ in subgraphs_of(each.onnx_node):
                getattr(each, name).locate(node_path(prefix, index, name))

    def run(
        self, output_names: Any, feed_inputs: Any, attributes: Any = None, *options: Any, **extra: Any
    ) -> Any:
        """Run, with a function's defaults for the attributes that the call omits."""
        return super().run(
            output_names, feed_inputs, {**self._defaults, **(attributes or {})}, *options, **extra
        )


def _run_located(
    operator: OpRun, run: Callable[..., Any], place: str, /, *inputs: Any, **context: Any
) -> Any:
    """Run a node of another operator, and add the place of the node to an error."""
    try:
        return run(*inputs, **context)
    except Exception as error:
        # The evaluator wraps exceptions of a computation or a subgraph.
        cause: BaseException = error
        while cause.__cause__ is not None and not isinstance(cause, ExtremumError):
            cause = cause.__cause__
        if isinstance(cause, ExtremumError):
            raise cause from None
        message = f"{type(cause).__name__}: {first_line(cause)}"
        if isinstance(cause, MemoryError):
            raise errors.MemoryLimitError(
                f"{operator.op_type} ran out of memory", where=place, given=message
            ) from None
        raise ExecutionError(f"{operator.op_type} failed", where=place, given=message) from error


def open_executor(model: onnx.ModelProto) -> Executor:
    """Return an executor for a model without sparse initializers."""
    for _, place, node in all_nodes(model):
        count = max((each.i for each in node.attribute if each.name == "num_scan_inputs"), default=0)
        if node.op_type == "Scan" and count > len(node.input):
            # The evaluator makes lists of that length before it checks the inputs.
            raise ModelError(
                f"num_scan_inputs of Scan is {count}, and the node has {len(node.input)} inputs",
                where=with_name(place, node),
                remedy="correct the attribute",
            )
    functions = callees_first(model.functions)
    try:
        executor = Executor(model.graph, opsets=opsets_of(model.opset_import), functions=functions)
    except Exception as error:
        raise ModelError("the model cannot be loaded", given=first_line(error)) from error
    executor.locate("graph")
    for index, function in enumerate(model.functions):
        inner = executor.functions_[function.domain, function.name]
        assert isinstance(inner, Executor)
        inner.locate(f"functions[{index}]")
    return executor
