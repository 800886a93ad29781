"""Makes the models of this folder: those of ``../torch``, as onnxruntime's optimiser writes them.

The inputs and outputs lie beside those. Run it where onnxruntime is installed.
"""

from __future__ import annotations

from pathlib import Path

import onnxruntime

FOLDER = Path(__file__).parent
LEVELS = {
    "classifier": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "segmentation": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "yolo_end_to_end": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
}


def main() -> None:
    """Optimise each model."""
    for name, level in LEVELS.items():
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.optimized_model_filepath = str(FOLDER / f"{name}.onnx")
        options.log_severity_level = 3
        source = FOLDER.parent / "torch" / f"{name}.onnx"
        onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    main()
