"""Names of a model that are no UTF-8: protobuf gives bytes for them."""

import onnx
import pytest

from extremum import backend
from extremum.errors import ModelError
from extremum.graph.load import require_text
from hostile_models import NAMES, not_utf_8


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_every_place(name):
    model = onnx.ModelProto.FromString(not_utf_8(name))
    with pytest.raises(ModelError, match=r"^a name of the model is no UTF-8\n") as caught:
        require_text(model)
    assert caught.value.given == repr(b"\xff" * len(name))
    place = eval(f"model.{caught.value.where}", {"model": model})
    assert place == b"\xff" * len(name)


def test_a_remark_may_be_written_as_one_likes():
    model = onnx.ModelProto.FromString(
        onnx.ModelProto(doc_string="remark").SerializeToString().replace(b"rem", b"\xff" * 3)
    )
    assert isinstance(model.doc_string, bytes)
    require_text(model)


def test_a_node_alone():
    content = onnx.helper.make_node("ArgMax", ["data"], ["y"]).SerializeToString().replace(b"data", b"\xff" * 4)
    with pytest.raises(ModelError) as caught:
        backend.run_node(onnx.NodeProto.FromString(content), [[1.0]])
    assert caught.value.where == "input[0]"
