"""Makes the models of this folder: modules of PyTorch, exported by ``torch.onnx.export`` with ``dynamo=True``.

They are the ends of real networks: classifiers, language models, segmentation, and the detection heads of Ultralytics
(end to end, and with non-maximum suppression), DETR and a region proposal network. Beside each model lie the inputs it
was tried on and the outputs that PyTorch gave. Run it where torch, torchvision and onnxscript are installed; the tests
need none of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torchvision
from torch import Tensor, nn

FOLDER = Path(__file__).parent
CLASSES = 80


class Classifier(nn.Module):
    """The class, and the five likeliest classes with their probabilities."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 12))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits = self.layers(x)
        probabilities, classes = torch.softmax(logits, -1).topk(5)
        return logits.argmax(-1), probabilities, classes


class Segmentation(nn.Module):
    """The class of each pixel, and how sure the network is."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 21, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scores = self.layers(x).softmax(1)
        best, labels = scores.max(dim=1)
        return best, labels.to(torch.uint8)


class Greedy(nn.Module):
    """The next token of a language model."""

    def forward(self, logits: Tensor) -> Tensor:
        return logits[:, -1].argmax(-1, keepdim=True)


class Beam(nn.Module):
    """A step of beam search: the best continuations of all beams together."""

    def forward(self, logits: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        total = torch.log_softmax(logits, -1) + scores[:, :, None]
        vocabulary = logits.shape[-1]
        best, places = total.flatten(1).topk(6)
        beams = places // vocabulary
        return best, beams, places - beams * vocabulary


class Sampling(nn.Module):
    """Top-k sampling: what is not among the k best is minus infinity."""

    def forward(self, logits: Tensor) -> Tensor:
        least = torch.topk(logits, 4).values[:, -1:]
        return logits.masked_fill(logits < least, -torch.inf)


class YoloEndToEnd(nn.Module):
    """Ultralytics' head without non-maximum suppression, as YOLOv10 and YOLO26 have it."""

    def forward(self, predictions: Tensor) -> Tensor:
        boxes, scores = predictions.permute(0, 2, 1).split([4, CLASSES], dim=-1)
        batch = boxes.shape[0]
        scores = scores.sigmoid()
        index = scores.amax(dim=-1).topk(8)[1].unsqueeze(-1)
        boxes = boxes.gather(dim=1, index=index.repeat(1, 1, 4))
        scores = scores.gather(dim=1, index=index.repeat(1, 1, CLASSES))
        scores, index = scores.flatten(1).topk(8)
        rows = torch.arange(batch)[..., None]
        return torch.cat([boxes[rows, index // CLASSES], scores[..., None], (index % CLASSES)[..., None].float()], -1)


class YoloSuppressed(nn.Module):
    """Ultralytics' head with non-maximum suppression in the graph, for one image."""

    def forward(self, predictions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        boxes, scores = predictions[0].T.split([4, CLASSES], dim=-1)
        # Centre and size, above zero, to corners.
        centre = boxes[:, :2]
        size = boxes[:, 2:].abs() + 0.1
        boxes = torch.cat([centre - size / 2, centre + size / 2], -1)
        best, classes = scores.max(dim=-1)
        # Boxes of different classes never overlap.
        kept = torchvision.ops.nms(boxes + classes[:, None] * 100.0, best, 0.5)[:6]
        return boxes[kept], best[kept], classes[kept]


class Detr(nn.Module):
    """DETR's end: the best class of each query but the last, which is `no object`, and the best queries."""

    def forward(self, logits: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores, labels = logits.softmax(-1)[..., :-1].max(-1)
        scores, queries = scores.topk(6, dim=1)
        labels = labels.gather(1, queries)
        return scores, labels, boxes.gather(1, queries[..., None].expand(-1, -1, 4))


class Proposals(nn.Module):
    """A region proposal network's end: the best anchors of a level, at most 1000 of them."""

    def forward(self, objectness: Tensor) -> tuple[Tensor, Tensor]:
        return objectness.topk(torch.sym_min(1000, objectness.shape[1]), dim=1)


class Extremes(nn.Module):
    """Values clipped to the extremes of other rows, elementwise and along axes."""

    def forward(self, x: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        clipped = torch.minimum(torch.maximum(x, low), high)
        return clipped, clipped.amax((0, 1)), clipped.amin(0, keepdim=True)


class LargestOfInt16(nn.Module):
    """The largest of rows of int16, which no version of ReduceMax takes."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x.amax(1), x.argmin(1)


class FirstOfBool(nn.Module):
    """The first of rows of bool that holds, and the largest two: no version of ArgMax or TopK takes bool."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x.argmax(1), x.topk(2).values


class BestOfBfloat16(nn.Module):
    """The best of rows of bfloat16, which TopK takes from version 24 on."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, indices = x.to(torch.bfloat16).topk(3)
        return values.float(), indices


class Model(NamedTuple):
    """A module with its inputs: for each the axes, as a length, or as a name and the length that is tried."""

    module: type[nn.Module]
    inputs: dict[str, tuple[int | tuple[str, int], ...]]
    dtype: torch.dtype = torch.float32
    # PyTorch exports more than it computes itself.
    computed_in: torch.dtype | None = None


MODELS = {
    "classifier": Model(Classifier, {"x": (("batch", 3), 8)}),
    "segmentation": Model(Segmentation, {"x": (("batch", 2), 3, ("height", 6), ("width", 7))}),
    "greedy": Model(Greedy, {"logits": (("batch", 2), ("length", 4), ("vocabulary", 11))}),
    "beam": Model(Beam, {"logits": (("batch", 2), 3, ("vocabulary", 11)), "scores": (("batch", 2), 3)}),
    "sampling": Model(Sampling, {"logits": (("batch", 2), ("vocabulary", 11))}),
    "yolo_end_to_end": Model(YoloEndToEnd, {"predictions": (("batch", 2), 4 + CLASSES, ("anchors", 12))}),
    "yolo_suppressed": Model(YoloSuppressed, {"predictions": (1, 4 + CLASSES, ("anchors", 12))}),
    "detr": Model(
        Detr,
        {
            "logits": (("batch", 2), ("queries", 10), CLASSES + 1),
            "boxes": (("batch", 2), ("queries", 10), 4),
        },
    ),
    "proposals": Model(Proposals, {"objectness": (("batch", 2), ("anchors", 30))}),
    "extremes": Model(
        Extremes, {"x": (("rows", 4), ("columns", 6)), "low": (("columns", 6),), "high": (("rows", 4), 1)}
    ),
    "largest_of_int16": Model(LargestOfInt16, {"x": (("rows", 3), 7)}, torch.int16),
    "first_of_bool": Model(FirstOfBool, {"x": (("rows", 3), 7)}, torch.bool, computed_in=torch.uint8),
    "best_of_bfloat16": Model(BestOfBfloat16, {"x": (("rows", 3), 9)}),
}


def main() -> None:
    """Export and try each model."""
    torch.manual_seed(0)
    for name, model in MODELS.items():
        _export(name, model)


def _export(name: str, model: Model) -> None:
    module = model.module().eval()
    shapes = {each: [_length(axis) for axis in axes] for each, axes in model.inputs.items()}
    inputs = {each: _draw(shape, model.dtype) for each, shape in shapes.items()}
    program = torch.onnx.export(
        module,
        tuple(inputs.values()),
        dynamo=True,
        input_names=list(inputs),
        dynamic_shapes={each: _names(axes) for each, axes in model.inputs.items()},
        verbose=False,
    )
    exported = program.model_proto
    _forget_the_machine(exported)
    path = FOLDER / f"{name}.onnx"
    path.write_bytes(exported.SerializeToString(deterministic=True))
    outputs = _outputs(module, model, list(inputs.values()))
    arrays = {each: x.numpy() for each, x in inputs.items()}
    arrays |= {f"output_{at}": x.numpy() for at, x in enumerate(outputs)}
    np.savez_compressed(path.with_suffix(".npz"), **arrays)


def _length(axis: int | tuple[str, int]) -> int:
    return axis if isinstance(axis, int) else axis[1]


def _names(axes: tuple[int | tuple[str, int], ...]) -> dict[int, str]:
    return {at: axis[0] for at, axis in enumerate(axes) if isinstance(axis, tuple)}


def _draw(shape: list[int], dtype: torch.dtype) -> Tensor:
    """Return elements in random order; numbers are all different, so that no order is a matter of luck."""
    count = int(np.prod(shape))
    numbers = torch.randperm(count).reshape(shape) - count // 2
    if dtype is torch.bool:
        return numbers % 3 == 0
    if dtype is not torch.float32:
        return numbers.to(dtype)
    # From -2 to 2, so that no two are equal after a sigmoid; a power of two, so that a few are exact in bfloat16.
    return numbers / 2 ** (count.bit_length() - 2)


def _outputs(module: nn.Module, model: Model, inputs: list[Tensor]) -> list[Tensor]:
    """Return what PyTorch answers."""
    computed = [x if model.computed_in is None else x.to(model.computed_in) for x in inputs]
    with torch.no_grad():
        answer = module(*computed)
    outputs = list(answer) if isinstance(answer, tuple) else [answer]
    return [x.to(model.dtype) if x.dtype is model.computed_in else x for x in outputs]


def _forget_the_machine(model: Any) -> None:
    """Remove what the exporter writes about the files it ran: paths of the machine, half of the bytes."""
    for node in (*model.graph.node, *(node for function in model.functions for node in function.node)):
        del node.metadata_props[:]
        node.doc_string = ""
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        del value.metadata_props[:]
    del model.graph.metadata_props[:]
    del model.metadata_props[:]


if __name__ == "__main__":
    main()
