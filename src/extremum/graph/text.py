"""Text of a model that is no UTF-8: protobuf hands it over as bytes, which nobody behind here expects in a name."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from extremum.errors import ModelError

__all__ = ["require_text"]

# For people: it may be written as they like, and nothing is looked up by it.
_REMARKS = {"doc_string"}


def require_text(model: Message) -> None:
    """Refuse a model, or a part of one, of which a name is no UTF-8, wherever it stands."""
    stack: list[tuple[Message, _Place | None]] = [(model, None)]
    while stack:
        message, place = stack.pop()
        fields = _fields(message)
        for name in fields.text:
            if isinstance(text := getattr(message, name), bytes):
                raise _refusal(text, _Place(place, name))
        for name in fields.texts:
            for index, text in enumerate(getattr(message, name)):
                if isinstance(text, bytes):
                    raise _refusal(text, _Place(place, name, index))
        stack.extend((getattr(message, name), _Place(place, name)) for name in fields.held if message.HasField(name))
        for name in fields.several:
            stack.extend((each, _Place(place, name, index)) for index, each in enumerate(getattr(message, name)))


class _Place(NamedTuple):
    """A field of a message, and where the message is; written out only where it is wrong."""

    outer: _Place | None
    field: str
    number: int | None = None

    def __str__(self) -> str:
        own = self.field if self.number is None else f"{self.field}[{self.number}]"
        return own if self.outer is None else f"{self.outer}.{own}"


class _Fields(NamedTuple):
    """Names of the fields of a message, by what they hold: a text, texts, a message, messages."""

    text: tuple[str, ...]
    texts: tuple[str, ...]
    held: tuple[str, ...]
    several: tuple[str, ...]


_KNOWN: dict[str, _Fields] = {}


def _fields(message: Message) -> _Fields:
    kind = message.DESCRIPTOR.full_name
    if kind not in _KNOWN:
        _KNOWN[kind] = _listed(type(message)())
    return _KNOWN[kind]


def _listed(empty: Message) -> _Fields:
    names: tuple[list[str], ...] = ([], [], [], [])
    for field in empty.DESCRIPTOR.fields:
        repeated = isinstance(getattr(empty, field.name), MutableSequence)
        if field.type == FieldDescriptor.TYPE_STRING and field.name not in _REMARKS:
            names[repeated].append(field.name)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            names[2 + repeated].append(field.name)
    return _Fields(*map(tuple, names))


def _refusal(text: bytes, place: _Place) -> ModelError:
    return ModelError("a name of the model is no UTF-8", where=str(place), given=repr(text[:80]))
