"""A path from a user is opened if it is a regular file, and read if it can be a message that is not too deep."""

import os
import socket
from pathlib import Path

import pytest

from extremum.errors import FileError, ModelError
from extremum.files import open_file
from extremum.graph.load import (
    DEEPEST,
    DEEPEST_GRAPH,
    LARGEST_MESSAGE,
    MOST_NODES,
    load,
    read_message,
    require_readable,
)
from extremum.onnxruntime import InferenceSession
from hostile_models import chain_of_functions, deep_type, doubling, long_chain, nested
from refusal import error_of, refusal

KINDS = ["a folder", "a pipe", "a socket", "a device"] if hasattr(os, "mkfifo") else ["a folder"]


@pytest.fixture
def path(tmp_path, kind):
    """A path that is not a regular file."""
    path = tmp_path / "it"
    if kind == "a socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind != "a device":
        path.mkdir() if kind == "a folder" else os.mkfifo(path)
    return Path("/dev/zero") if kind == "a device" else path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("read", [open_file, read_message, load, InferenceSession])
def test_what_is_no_regular_file_is_refused(path, kind, read):
    error = error_of(FileError, read, path)
    remedy = "name a file in it" if kind == "a folder" else "give a regular file; write what a pipe gives to one"
    assert (error.reason, error.remedy) == (f"{str(path)!r} is {kind}", remedy)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_that_takes_the_name_of_a_file_in_between_is_not_waited_for(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"x")
    monkeypatch.setattr(Path, "stat", lambda path: os.lstat(tmp_path / "file"))
    assert refusal(FileError, open_file, tmp_path / "pipe") == f"{str(tmp_path / 'pipe')!r} is a pipe"


def test_links_are_followed_and_a_missing_file_is_left_to_the_operating_system(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert read_message(tmp_path / "link") == b"content"
    error_of(FileNotFoundError, read_message, tmp_path / "none")


@pytest.mark.parametrize("read", [read_message, load])
def test_a_file_larger_than_a_message_is_refused_unread(tmp_path, read):
    path = tmp_path / "large.onnx"
    with path.open("wb") as file:
        file.truncate(LARGEST_MESSAGE + 1)
    error = error_of(FileError, read, path)
    assert error.reason == f"{str(path)!r} is larger than a protobuf message can be"
    assert error.given == "2,147,483,648 bytes of at most 2,147,483,647"


# How large and how deep a model may be once its functions are inlined.


TOO_DEEP = f"graphs of the model are nested more than {DEEPEST_GRAPH} deep"


@pytest.mark.parametrize(
    "proto", [doubling(10), chain_of_functions(DEEPEST - 3), nested(DEEPEST_GRAPH - 1), long_chain(10), deep_type(8)]
)
def test_what_stays_within_the_limits_can_be_serialised_and_read(proto):
    assert load(load(proto).SerializeToString()) == proto


@pytest.mark.parametrize(
    ("proto", "reason", "remedy"),
    [
        *(
            (
                doubling(count),
                f"the functions of the model make more than {MOST_NODES} nodes where they are called",
                "inline them, so that the model shows its size",
            )
            for count in (18, 62)
        ),
        (
            chain_of_functions(DEEPEST),
            f"graphs and functions of the model are nested more than {DEEPEST} deep",
            "inline some of the functions",
        ),
        *((nested(depth), TOO_DEEP, None) for depth in (DEEPEST_GRAPH, 64)),
        (deep_type(9), "a type of the model is nested more than 8 deep", None),
    ],
)
def test_what_is_too_large_or_too_deep_is_refused(proto, reason, remedy):
    error = error_of(ModelError, load, proto)
    assert (error.reason, error.remedy) == (reason, remedy)


def test_the_nodes_of_a_deep_graph_are_refused_on_their_own():
    assert refusal(ModelError, require_readable, nested(DEEPEST_GRAPH).graph.node[0]) == TOO_DEEP
