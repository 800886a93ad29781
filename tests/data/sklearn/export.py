"""Makes the models of this folder: four scikit-learn models, exported by skl2onnx in float and in double.

Beside each model lie the inputs it was tried on and the labels that scikit-learn gave. Run it where scikit-learn and
skl2onnx are installed; the tests need neither.
"""

from pathlib import Path

import numpy as np
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

FOLDER = Path(__file__).parent
TYPES = {"float32": FloatTensorType, "float64": DoubleTensorType}
MODELS = {
    "kmeans": lambda: KMeans(3, n_init=10, random_state=0),
    "naive_bayes": lambda: GaussianNB(),
    "neighbors": lambda: KNeighborsClassifier(5),
    "network": lambda: MLPClassifier((8,), max_iter=2000, random_state=0),
}


def main() -> None:
    """Train, export and try each model."""
    data, target = load_iris(return_X_y=True)
    train, held_out, labels, _ = train_test_split(data, target, test_size=50, random_state=0)
    for element, tensor in TYPES.items():
        for name, make in MODELS.items():
            model = make().fit(train.astype(element), labels)
            options = {} if name == "kmeans" else {"zipmap": False}
            exported = convert_sklearn(
                model, name, [("x", tensor([None, train.shape[1]]))], target_opset=15, options={id(model): options}
            )
            path = FOLDER / f"{name}_{element}.onnx"
            path.write_bytes(exported.SerializeToString())
            x = held_out.astype(element)
            np.savez_compressed(path.with_suffix(".npz"), x=x, labels=model.predict(x))


if __name__ == "__main__":
    main()
