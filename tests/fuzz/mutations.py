"""Mutations: of messages by their fields, of text and bytes by what stands in them."""

from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import DecodeError

INTEGERS = (0, 1, 2, 3, 7, 8, 13, 16, 17, 99, 127, 255, 2**15, 2**31 - 1, 2**31, 2**63 - 1, -1, -128, -(2**31))
_NAMES = """x y Max ArgMax Hardmax If Loop Constant Identity axis axes keepdims value select_last_index ai.onnx
ai.onnx.ml ai.extremum own com.microsoft Top ArgReduce OneHot TopK ../../../etc/passwd /dev/zero"""
_ODD = ("", "a\0b", "line\nbreak", "\x1b[31mred", "::error::", "\u202e", "\U0001f600", "%s{0}", "n" * 300)
TEXTS = (*_NAMES.split(), *_ODD)
FLOATS = (0.0, -0.0, 1.0, 1e38, 1e-45, float("nan"), float("inf"), float("-inf"))
LONGEST_SPLICE = 2000


def mutated_message(random, message, donors):
    """Change one to five things in a message: a field, or a whole part that another message gives."""
    parts = list(_parts(message))
    gifts = [part for donor in donors for part in _parts(donor)]
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        part = random.choice(parts)
        if random.random() < 0.25:
            gift = random.choice([each for each in gifts if each.DESCRIPTOR is part.DESCRIPTOR] or [part])
            if gift.ByteSize() < LONGEST_SPLICE:
                part.CopyFrom(gift)
        else:
            _change(random, part, parts)
        parts = list(_parts(message))
    return message


def _parts(message):
    yield message
    for field, value in message.ListFields():
        if field.message_type:
            parts = value if _repeated(field) else [value]
            for part in parts:
                yield from _parts(part)


def _repeated(field):
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == Field.LABEL_REPEATED


def _change(random, part, parts):
    present = [field for field, _ in part.ListFields()]
    field = random.choice(present if present and random.random() < 0.75 else list(part.DESCRIPTOR.fields))
    if random.random() < 0.12:
        part.ClearField(field.name)
    elif not _repeated(field):
        if field.message_type:
            _change(random, getattr(part, field.name), parts)
            getattr(part, field.name).SetInParent()
        else:
            setattr(part, field.name, _value(random, field, getattr(part, field.name), parts))
    else:
        _change_list(random, field, getattr(part, field.name), parts)


def _change_list(random, field, values, parts):
    at = random.randrange(max(len(values), 1))
    match random.randrange(5):
        case 0 if len(values):
            del values[at]
        case 1 if len(values):
            values.extend([values[at]])
        case 2 if len(values):
            copies = [each.__deepcopy__() if field.message_type else each for each in values]
            random.shuffle(copies)
            del values[:]
            values.extend(copies)
        case 3 if len(values) and field.message_type:
            _change(random, values[at], parts)
        case 3 if len(values):
            values[at] = _value(random, field, values[at], parts)
        case _ if field.message_type:
            values.add()
        case _:
            values.append(_value(random, field, None, parts))


def _value(random, field, value, parts):
    if field.enum_type:
        return random.choice(field.enum_type.values).number
    match field.cpp_type:
        case Field.CPPTYPE_STRING if field.type == Field.TYPE_BYTES:
            return mutated_bytes(random, value or b"")
        case Field.CPPTYPE_STRING:
            names = [text for part in parts for name, text in part.ListFields() if isinstance(text, str)]
            return random.choice([*TEXTS, *names, *names])
        case Field.CPPTYPE_FLOAT | Field.CPPTYPE_DOUBLE:
            return random.choice(FLOATS)
        case Field.CPPTYPE_INT32:
            return _clipped(random, value, -(2**31), 2**31 - 1)
        case Field.CPPTYPE_UINT64:
            return _clipped(random, value, 0, 2**64 - 1)
        case _:
            return _clipped(random, value, -(2**63), 2**63 - 1)


def _clipped(random, value, low, high):
    near = (value or 0) + random.choice((-1, 1))
    return min(high, max(low, random.choice((*INTEGERS, -(2**63), near))))


def mutated_bytes(random, data):
    """Change one to four things in bytes: flipped, overwritten, cut, inserted, doubled."""
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((1, 1, 2, 4, 8, 64)))
        match random.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case 1 if at < len(data):
                data[at:end] = random.choice((b"\xff", b"\0", b"\x80", b"\x7f")) * (end - at)
            case 2:
                del data[at:]
            case 3:
                del data[at:end]
            case 4:
                data[at:at] = random.randbytes(random.choice((1, 2, 8)))
            case _:
                data[at:at] = data[at:end]
    return bytes(data)


_HEADERS = """-1;0;1;2;3;99999999999999999999;(2, 3);(2,);();(-1, 3);(2**9,);None;True;False;'descr';'shape';\
'fortran_order';'<f4';'|O';'|V1000000000';'<f4,<i4';[('a', '<f4')];'<U99999999';'float99';'M8[as]';'';{};\\x00;\xe9"""
_WORDS = (*_HEADERS.split(";"), "__import__('os')", "1" * 5000, "(" * 300, "[" * 300 + "]" * 300)


def mutated_npy(random, data):
    """Change the header of a .npy file and state its length, at times wrongly; or change any bytes of the file."""
    if random.random() < 0.4 or not data.startswith(b"\x93NUMPY"):
        return mutated_bytes(random, data)
    length = int.from_bytes(data[8:10], "little")
    header = data[10 : 10 + length].decode("latin1")
    rest = data[10 + length :]
    words = [
        word for word in ("'<f4'", "(2, 3)", "False", "True", "'descr'", "'shape'", "'fortran_order'") if word in header
    ]
    if words and random.random() < 0.8:
        header = header.replace(random.choice(words), random.choice(_WORDS))
    else:
        header = mutated_bytes(random, header.encode("latin1")).decode("latin1")
    encoded = header.encode("latin1", "replace")
    version = random.choice((b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\0\0", b"\xff\1"))
    number = len(encoded) if random.random() < 0.8 else random.choice((0, 1, 2**16 - 1, 2**31))
    size = number.to_bytes(4, "little") if version[0] in (2, 3) else min(number, 2**16 - 1).to_bytes(2, "little")
    return b"\x93NUMPY" + version + size + encoded + rest


def parsed(kind, data):
    """A message, or None where the bytes are not a message."""
    try:
        return kind.FromString(data)
    except DecodeError:
        return None
