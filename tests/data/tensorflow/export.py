"""Makes the models of this folder: functions of TensorFlow, exported by tf2onnx.

Beside each model lie the inputs it was tried on and the outputs that TensorFlow gave. Run it where tensorflow and
tf2onnx are installed; the tests need neither.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tf2onnx

FOLDER = Path(__file__).parent
OPSET = 18


def classes(x: Any) -> Any:
    """Return the classes as int32, as mobile runtimes want them, and their one-hot vectors."""
    labels = tf.argmax(x, axis=-1, output_type=tf.int32)
    return labels, tf.one_hot(labels, 6)


def best_three(x: Any) -> Any:
    """Return the three best classes and their probabilities."""
    probabilities, labels = tf.math.top_k(tf.nn.softmax(x), k=3)
    return probabilities, labels


def segmentation(x: Any) -> Any:
    """Return the class of each pixel; channels are last."""
    scores = tf.nn.softmax(x)
    return tf.argmax(scores, axis=-1, output_type=tf.int32), tf.reduce_max(scores, axis=-1)


def relative(x: Any, y: Any) -> Any:
    """Return elementwise and reduced extremes of two tensors."""
    return tf.maximum(tf.minimum(x, y), 0.0), tf.reduce_min(x, axis=[0, 1]), tf.argmin(y, axis=0)


def integers(x: Any) -> Any:
    """Return extremes of int32 with a clip, as quantised models have them."""
    return tf.clip_by_value(x, -5, 5), tf.reduce_max(x, axis=1), tf.argmax(x, axis=1)


def at_most_five(x: Any) -> Any:
    """Return the five best, or all where there are fewer: k is computed in the graph."""
    return tuple(tf.math.top_k(x, k=tf.minimum(5, tf.shape(x)[1])))


def labels_of_int16(x: Any) -> Any:
    """Return the classes of fixed-point scores, and the least of each column."""
    return tf.argmax(x, axis=1), tf.reduce_min(x, axis=0)


FLOAT = tf.float32
# The inputs: element type, the shape that is declared, and the shape that is tried.
MODELS: dict[Any, dict[str, tuple[Any, tuple[int | None, ...], tuple[int, ...]]]] = {
    classes: {"x": (FLOAT, (None, 6), (4, 6))},
    best_three: {"x": (FLOAT, (None, 9), (4, 9))},
    segmentation: {"x": (FLOAT, (None, None, None, 4), (2, 3, 5, 4))},
    relative: {"x": (FLOAT, (None, 7), (4, 7)), "y": (FLOAT, (None, 7), (4, 7))},
    integers: {"x": (tf.int32, (None, 8), (4, 8))},
    at_most_five: {"x": (FLOAT, (None, None), (3, 4))},
    labels_of_int16: {"x": (tf.int16, (None, 8), (4, 8))},
}


def main() -> None:
    """Export and try each function."""
    random = np.random.default_rng(0)
    for function, inputs in MODELS.items():
        signature = [tf.TensorSpec(declared, element, name) for name, (element, declared, _) in inputs.items()]
        traced = tf.function(function, input_signature=signature)
        model, _ = tf2onnx.convert.from_function(traced, signature, opset=OPSET)
        path = FOLDER / f"{function.__name__}.onnx"
        path.write_bytes(model.SerializeToString(deterministic=True))
        feeds = {name: _draw(random, element, shape) for name, (element, _, shape) in inputs.items()}
        answer = traced(*map(tf.constant, feeds.values()))
        outputs = answer if isinstance(answer, tuple) else (answer,)
        arrays = feeds | {f"output_{at}": x.numpy() for at, x in enumerate(outputs)}
        np.savez_compressed(path.with_suffix(".npz"), **arrays)


def _draw(random: np.random.Generator, element: Any, shape: tuple[int, ...]) -> Any:
    """Return elements in random order, all different."""
    count = int(np.prod(shape))
    numbers = random.permutation(count).reshape(shape) - count // 2
    return (numbers / 8 if element is FLOAT else numbers).astype(element.as_numpy_dtype)


if __name__ == "__main__":
    main()
