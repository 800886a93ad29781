"""Models for the backend's tests, written in ONNX's textual form."""

import onnx


def model(body, opset=13, functions=""):
    """A model with graph ``g`` from its inputs, outputs and nodes; ``functions`` are model-local ones in domain own."""
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}, "own" : 1]> g {body} {functions}')
