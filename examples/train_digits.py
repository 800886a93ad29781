"""Train the two demo models on scikit-learn's digits and write them to examples/digits.

The files are committed, so the demo needs neither scikit-learn nor this script. To make them again:

    pip install '.[onnx]' --group examples
    python examples/train_digits.py

It decides what the models are and which images are held out; ``digits.py`` runs them.
"""

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

FOLDER = Path(__file__).parent / "digits"
HELD_OUT = 500
HIDDEN_UNITS = 48
CLUSTERS = 40

# Both graphs end in the operator that they demonstrate.
CLASSIFIER = """
<ir_version: 8, opset_import: ["" : 13], doc_string: "8x8 digits: a perceptron with one hidden layer">
classifier (float[batch, 8, 8] images) => (int64[batch] labels) {
    pixels = Flatten(images)
    weighted = Gemm(pixels, hidden_weights, hidden_bias)
    activity = Relu(weighted)
    scores = Gemm(activity, score_weights, score_bias)
    labels = ArgMax<axis = 1, keepdims = 0>(scores)
}
"""
KMEANS = """
<ir_version: 8, opset_import: ["" : 13], doc_string: "8x8 digits: the nearest of the k-means centres">
kmeans (float[batch, 8, 8] images) => (int64[batch] clusters) {
    pixels = Flatten(images)
    rows = Unsqueeze(pixels, one)
    difference = Sub(rows, centres)
    square = Mul(difference, difference)
    distance = ReduceSum<keepdims = 0>(square, two)
    clusters = ArgMin<axis = 1, keepdims = 0>(distance)
}
"""


def model(text: str, weights: dict[str, NDArray[np.generic]]) -> onnx.ModelProto:
    """Parse a graph and give it its weights; floats become float32, the element type of the images."""
    result = onnx.parser.parse_model(text)
    for name, array in weights.items():
        stored = array.astype(np.float32) if array.dtype.kind == "f" else array
        result.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(stored), name))
    onnx.checker.check_model(result, full_check=True)
    return result


def main() -> None:
    """Train on the training part, and write both models and their expected answers on the held-out part."""
    images, digits = load_digits(return_X_y=True)
    seen, held_out, seen_digits, held_out_digits = train_test_split(
        images.astype(np.float32), digits, test_size=HELD_OUT, stratify=digits, random_state=0
    )
    perceptron = MLPClassifier((HIDDEN_UNITS,), alpha=0.1, max_iter=1000, random_state=0).fit(seen, seen_digits)
    centres = KMeans(CLUSTERS, n_init=10, random_state=0).fit(seen)
    # A cluster stands for the digit that most of its training images show.
    digit_of_cluster = np.array(
        [np.bincount(seen_digits[centres.labels_ == cluster], minlength=10).argmax() for cluster in range(CLUSTERS)]
    )

    FOLDER.mkdir(exist_ok=True)
    hidden, scores = perceptron.coefs_
    hidden_bias, score_bias = perceptron.intercepts_
    classifier = model(
        CLASSIFIER,
        {
            "hidden_weights": hidden,
            "hidden_bias": hidden_bias,
            "score_weights": scores,
            "score_bias": score_bias,
        },
    )
    kmeans = model(
        KMEANS,
        {"centres": centres.cluster_centers_, "one": np.array([1], np.int64), "two": np.array([2], np.int64)},
    )
    onnx.save(classifier, FOLDER / "classifier.onnx")
    onnx.save(kmeans, FOLDER / "kmeans.onnx")
    np.savez_compressed(
        FOLDER / "held_out.npz",
        images=held_out.reshape(-1, 8, 8),
        digits=held_out_digits,
        sklearn_labels=perceptron.predict(held_out),
        sklearn_clusters=centres.predict(held_out).astype(np.int64),
        digit_of_cluster=digit_of_cluster,
    )


if __name__ == "__main__":
    main()
