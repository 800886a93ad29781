"""Makes the models of this folder: scikit-learn models, exported by skl2onnx.

Four in float and in double, and those whose operators onnx's shape inference does not survive, in float. Beside each
model lie the inputs it was tried on and the labels that scikit-learn gave. Run it where scikit-learn and skl2onnx are
installed; the tests need neither.
"""

from pathlib import Path
from typing import Any

import numpy as np
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

FOLDER = Path(__file__).parent
TYPES = {"float32": FloatTensorType, "float64": DoubleTensorType}
MODELS = {
    "kmeans": lambda: KMeans(3, n_init=10, random_state=0),
    "naive_bayes": lambda: GaussianNB(),
    "neighbors": lambda: KNeighborsClassifier(5),
    "network": lambda: MLPClassifier((8,), max_iter=2000, random_state=0),
}
CLUSTERS = ("kmeans", "ordinal")
PATHS = {"decision_path": True}
IN_FLOAT = {
    "ordinal": lambda: make_pipeline(SimpleImputer(), OrdinalEncoder(), KMeans(3, n_init=10, random_state=0)),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": lambda: RandomForestClassifier(3, max_depth=3, random_state=0),
}


def main() -> None:
    """Train, export and try each model."""
    data, target = load_iris(return_X_y=True)
    for element in TYPES:
        for name, make in MODELS.items():
            _export(name, make(), data, target, element)
    for name, make in IN_FLOAT.items():
        # Whole centimetres, so that an encoder meets no value that it has not learnt.
        _export(name, make(), data.round() if name == "ordinal" else data, target, "float32")


def _export(name: str, model: Any, data: Any, target: Any, element: str) -> None:
    train, held_out, labels, _ = train_test_split(data.astype(element), target, test_size=50, random_state=0)
    model.fit(train, labels)
    options = {} if name in CLUSTERS else {"zipmap": False}
    if name in ("tree", "forest"):
        options |= PATHS
    exported = convert_sklearn(
        model,
        name,
        [("x", TYPES[element]([None, train.shape[1]]))],
        target_opset={"": 15, "ai.onnx.ml": 3},
        options={id(model): options},
    )
    path = FOLDER / f"{name}_{element}.onnx"
    path.write_bytes(exported.SerializeToString())
    np.savez_compressed(path.with_suffix(".npz"), x=held_out, labels=model.predict(held_out))


if __name__ == "__main__":
    main()
