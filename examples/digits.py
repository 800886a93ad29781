"""Run the two demo models on handwritten digits they have not seen: a classifier and a k-means model.

The classifier ends in ArgMax (the most likely digit), the k-means model in ArgMin (the nearest centre).
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from extremum import backend

FOLDER = Path(__file__).parent / "digits"
SHADES = " .:-=+*#@"
SHOWN = 8


def answer(model: str, images: NDArray[np.float32]) -> NDArray[np.int64]:
    """Run one model and return its only output."""
    (result,) = backend.prepare(FOLDER / model).run([images])
    return result


def picture(images: NDArray[np.float32]) -> str:
    """Draw images of 8 x 8 pixels, each 0 to 16, side by side."""
    shades = (images / 16 * (len(SHADES) - 1)).round().astype(int)
    lines = shades.transpose(1, 0, 2)
    return "\n".join("   ".join("".join(SHADES[shade] for shade in row) for row in line) for line in lines)


def main() -> None:
    """Print some images, the digits that the models see in them, and how often the models are right."""
    held_out = np.load(FOLDER / "held_out.npz")
    images, digits = held_out["images"], held_out["digits"]
    answers = {
        "classifier, ArgMax": answer("classifier.onnx", images),
        # A cluster stands for the digit that most of its training images show.
        "k-means, ArgMin": held_out["digit_of_cluster"][answer("kmeans.onnx", images)],
    }

    print(picture(images[:SHOWN]))
    print(f"{'true digits':20}", *digits[:SHOWN])
    for name, predicted in answers.items():
        print(f"{name:20}", *predicted[:SHOWN])
    for name, predicted in answers.items():
        right = np.count_nonzero(predicted == digits)
        print(f"{name}: {right} of {len(digits)} held-out digits right ({right / len(digits):.1%})")


if __name__ == "__main__":
    main()
