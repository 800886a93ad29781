"""Inputs of a model: arrays from files, random arrays, sizes of symbolic dimensions; one sentence for a mistake."""

import io
import os
import re
import tracemalloc
import zipfile
from functools import partial

import ml_dtypes
import numpy as np
import onnx
import pytest

from extremum.cli import array_files, inputs
from extremum.cli.array_files import read_array
from extremum.cli.inputs import gather
from extremum.cli.options import parse_pairs, parse_sizes
from extremum.errors import FileError, InputError, MemoryLimitError
from extremum.graph.types import DeclaredInput, declared_inputs
from refusal import error_of, refusal

SCORES = np.arange(12, dtype=np.float32).reshape(3, 4)
SUFFIXES = ["npy", "npz", "pb"]


def write(path, array):
    """Write an array in the format of a path's suffix."""
    if path.suffix == ".pb":
        path.write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
    else:
        (np.save if path.suffix == ".npy" else np.savez_compressed)(path, array)
    return str(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("shape", [(3, 4), ()])
def test_reads_every_format(tmp_path, suffix, dtype, shape):
    expected = np.resize(SCORES, shape).astype(dtype)
    array = read_array(write(tmp_path / f"x.{suffix}", expected), expected.dtype)
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_entries_of_an_archive(tmp_path):
    np.savez(tmp_path / "all.npz", first=SCORES, second=-SCORES)
    (tmp_path / "none.npz").write_bytes(packed(zipfile.ZIP_STORED, "notes.txt"))
    np.testing.assert_array_equal(read_array(f"{tmp_path}/all.npz:second"), -SCORES)
    for source, reason, remedy in (
        ("all.npz", "2 entries", "name one of them: all.npz:entry with first, second"),
        ("all.npz:third", "no entry 'third'", "name one of them: all.npz:entry with first, second"),
        ("none.npz", "0 entries", "name one of them: none.npz:entry with "),
    ):
        with pytest.raises(InputError, match=f"has {reason}") as caught:
            read_array(f"{tmp_path}/{source}")
        assert caught.value.remedy == remedy


def test_what_is_no_file_of_an_array(tmp_path):
    error = error_of(InputError, read_array, "scores.csv")
    assert error.one_line() == "'scores.csv' has no known format; help: use .npy, .npz:entry or .pb"
    assert "is a folder" in str(error_of(FileError, read_array, str(tmp_path)))
    error_of(FileNotFoundError, read_array, f"{tmp_path}/none.npy")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_regular_file(tmp_path, suffix):
    os.mkfifo(tmp_path / f"x.{suffix}")
    (tmp_path / f"y.{suffix}").symlink_to("/dev/zero")
    for name, kind in ((f"x.{suffix}", "a pipe"), (f"y.{suffix}", "a device")):
        assert refusal(FileError, read_array, f"{tmp_path}/{name}") == f"'{tmp_path}/{name}' is {kind}"


def header(shape, dtype="<f4"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def elsewhere():
    """A tensor whose elements are in another file."""
    tensor = onnx.numpy_helper.from_array(SCORES, "x")
    onnx.external_data_helper.set_external_data(tensor, "elsewhere")
    tensor.ClearField("raw_data")
    return tensor.SerializeToString()


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return file.getvalue()


# What the error says, and the content of the .npy or .pb file.
INVALID = {
    "float32[4], 16 bytes, but the file holds 8": header((4,)) + bytes(8),
    "float64[4294967296, 4294967296], 147,573,952,589,676,412,928 bytes, but the file holds 8": header(
        (2**32, 2**32), "<f8"
    )
    + bytes(8),
    "float32[-1], -4 bytes, but the file holds 8": header((-1,)) + bytes(8),
    "float32[-2, -1], 8 bytes, but the file holds 8": header((-2, -1)) + bytes(8),
    "int8[1099511627776], 1,099,511,627,776 bytes, but the file holds 8": header((2**40,), "|i1") + bytes(8),
    "it holds Python objects": pickled(),
    "its elements are in another file": elsewhere(),
    "it holds no tensor": b"",
}


@pytest.mark.parametrize("given", INVALID)
def test_what_an_invalid_file_promises(tmp_path, given):
    suffixes = ["pb"] if INVALID[given] in (b"", elsewhere()) else ["npy", "npz"]
    for suffix in suffixes:
        path = tmp_path / f"x.{suffix}"
        path.write_bytes(INVALID[given])
        if suffix == "npz":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("x.npy", INVALID[given])
        error = error_of(InputError, read_array, str(path))
        assert error.reason == f"{str(path)!r} is not a valid .{suffix} file"
        assert error.given.endswith(given)


def test_refuses_an_array_that_does_not_fit_into_memory(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(header((2**40,)))
    os.truncate(path, path.stat().st_size + 2**42)
    assert refusal(MemoryLimitError, read_array, str(path)) == "'x.npy' would not fit into memory"


def test_refuses_an_entry_that_is_packed_beyond_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(array_files, "_LARGEST_PACKED", 2**20)
    assert read_array(write(tmp_path / "small.npz", np.zeros(2**17 - 100))).size == 2**17 - 100
    error = error_of(InputError, read_array, write(tmp_path / "large.npz", np.zeros(2**17)))
    assert error.reason == f"entry 'arr_0' of '{tmp_path}/large.npz' unpacks to too many bytes"
    assert re.fullmatch(r"1,\d{3} bytes that unpack to 1,048,704", error.given)
    assert error.remedy == "unpack the archive and pass the .npy file"
    np.savez(tmp_path / "plain.npz", x=np.zeros(2**17))
    assert read_array(f"{tmp_path}/plain.npz:x").size == 2**17


def test_gigabytes_of_zeros_in_an_archive_take_no_memory(tmp_path):
    path = tmp_path / "x.npz"
    content = bytearray((write(path, np.zeros(2**17)), path.read_bytes())[1])
    entry = content.index(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = (2**32 - 2).to_bytes(4, "little")
    path.write_bytes(content)
    tracemalloc.start()
    assert "unpacks to too many bytes" in str(error_of(InputError, read_array, str(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def packed(method, name="x.npy"):
    file = io.BytesIO()
    array = io.BytesIO()
    np.save(array, np.arange(200).reshape(20, 10))
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(name, array.getvalue())
    return file.getvalue()


def flagged(offset, flag):
    """Return an archive with another value in its two headers: encrypted, or packed by an unknown method."""
    content = bytearray(packed(zipfile.ZIP_STORED))
    for signature, more in ((b"PK\3\4", 0), (b"PK\1\2", 2)):
        content[content.index(signature) + offset + more] |= flag
    return bytes(content)


@pytest.mark.parametrize("content", [flagged(6, 1), flagged(8, 99)], ids=["encrypted", "packed otherwise"])
def test_refuses_an_archive_that_cannot_be_unpacked(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    assert refusal(InputError, read_array, f"{tmp_path}/x.npz") == f"'{tmp_path}/x.npz' is not a valid .npz file"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unpacks_what_zip_packs(tmp_path, method):
    (tmp_path / "x.npz").write_bytes(packed(method))
    assert read_array(f"{tmp_path}/x.npz").sum() == 19900


USUAL = "'descr': '<f4', 'fortran_order': False, 'shape': "
HEADERS = {
    "an unclosed bracket": f"{{{USUAL}((((",
    "an unclosed text": f"{{{USUAL}'''",
    "a size of many digits": f"{{{USUAL}({'9' * 5000},)}}",
    "a size that overflows": f"{{{USUAL}({'9' * 30},)}}",
    "a nested shape": f"{{{USUAL}{'(' * 3000}{')' * 3000}}}",
    "a rank of 100": f"{{{USUAL}({'1,' * 100})}}",
    "a type that is none": f"{{{USUAL}(1,)}}".replace("<f4", "<q9"),
    "a type of many bytes": f"{{{USUAL}(1,)}}".replace("<f4", "|V" + "9" * 30),
    "words behind it": f"{{{USUAL}(1,)}}x",
    "a comment": f"# {{{USUAL}(1,)}}",
    "nothing": "",
    "a NUL": f"{{{USUAL}(1,)}}\0",
}


@pytest.mark.parametrize("case", HEADERS)
@pytest.mark.filterwarnings("ignore")
def test_refuses_a_header_that_is_none(tmp_path, case):
    text = HEADERS[case].encode() + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + bytes(4))
    assert "x.npy' is not a valid .npy file" in str(error_of(InputError, read_array, f"{tmp_path}/x.npy"))


# Texts of options.


FILES, RANGES = (partial(parse_pairs, form=form) for form in ("name=file", "name=low:high"))


def test_where_a_text_is_split():
    assert FILES(["x=a=b.npy", "layer/y:0=all.npz:c"]) == {"x": "a=b.npy", "layer/y:0": "all.npz:c"}
    assert parse_sizes(["batch=8", "n=m=0"]) == {"batch": 8, "n=m": 0}
    assert parse_sizes(["n=" + "0" * 5000 + "8", f"m={2**63 - 1}"]) == {"n": 8, "m": 2**63 - 1}
    assert RANGES(["x=0:1", "a=b:c=-1.5:+2e3"]) == {"x": "0:1", "a=b:c": "-1.5:+2e3"}


FORMS = {
    FILES: ("name=file; help: write for example -i input=scores.npy", ["x", "x=", "=x.npy", ""]),
    parse_sizes: (
        "dimension=size; help: write for example --set batch=8",
        ["batch", "batch=", "=8", "batch=-1", "batch=2.0", "batch=eight", "batch=²"],
    ),
    RANGES: (
        "name=low:high; help: write for example --range tokens=0:100",
        ["x", "x=", "=0:1", "x=0", "x=0:", "x=:1", "x=a:b", "x=0:1:2", "x=nan:1", "x=0:inf", "x=0:" + "9" * 5000],
    ),
}


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        pytest.param(parse, text, id=f"{words.partition(';')[0]} {text[:20]}")
        for parse, (words, texts) in FORMS.items()
        for text in texts
    ],
)
def test_refuses_a_malformed_text(parse, text):
    assert error_of(InputError, parse, [text]).one_line().endswith(f" is not of the form {FORMS[parse][0]}")


@pytest.mark.parametrize(
    ("parse", "texts", "reason"),
    [
        (FILES, ["x=a.npy", "x=b.npy"], "input 'x' is given twice"),
        (parse_sizes, ["batch=8", "batch=9"], "dimension 'batch' is given two sizes"),
        (RANGES, ["x=0:1", "x=0:2"], "input 'x' is given two ranges"),
        (parse_sizes, ["n=" + "9" * 5000], "the size of dimension 'n' is too large"),
        (parse_sizes, ["n=" + "0" * 5000 + "9" * 20], "the size of dimension 'n' is too large"),
        (parse_sizes, [f"n={2**63}"], "the size of dimension 'n' is too large"),
    ],
    ids=[
        "two files",
        "two sizes",
        "two ranges",
        "a size of 5,000 digits",
        "a size behind 5,000 zeros",
        "a size of 64 bits",
    ],
)
def test_refuses_two_values_and_one_that_no_tensor_has(parse, texts, reason):
    assert refusal(InputError, parse, texts) == reason


# The arrays that a model gets.

FLOAT = np.dtype("float32")
DECLARED = DeclaredInput("scores", FLOAT, ("batch", 10), optional=False)
BIAS = DeclaredInput("bias", FLOAT, ("batch",), optional=False)
OPTIONAL = DeclaredInput("x", FLOAT, (2,), optional=True)


def test_declares_names_types_and_sizes():
    text = """
    <ir_version: 8, opset_import: ["" : 13]>
    graph (float[batch, 3] x, bfloat16[?, 2] y, int64 z, float[] w) => (float[batch, 3] out)
    <float[3] bias = {1.0, 2.0, 3.0}> { out = Add(x, bias) }
    """
    model = onnx.parser.parse_model(text)
    model.graph.input.append(onnx.helper.make_tensor_value_info("bias", onnx.TensorProto.FLOAT, [3]))
    model.graph.input.append(onnx.helper.make_tensor_sequence_value_info("several", onnx.TensorProto.FLOAT, None))
    model.graph.input.append(onnx.helper.make_tensor_value_info("odd", 99, [2]))
    assert declared_inputs(model) == (
        DeclaredInput("x", FLOAT, ("batch", 3), optional=False),
        DeclaredInput("y", np.dtype(ml_dtypes.bfloat16), ("y.0", 2), optional=False),
        DeclaredInput("z", np.dtype("int64"), (), optional=False),
        DeclaredInput("w", FLOAT, None, optional=False),
        DeclaredInput("bias", FLOAT, (3,), optional=True),
        DeclaredInput("several", None, None, optional=False),
        DeclaredInput("odd", None, (2,), optional=False),
    )


@pytest.fixture
def scores(tmp_path):
    """The file of an input with seven rows."""
    return {"scores": write(tmp_path / "scores.npy", np.zeros((7, 10), np.float32))}


def test_files_and_random_arrays(scores):
    arrays = gather([DECLARED, BIAS], scores, {}, {}, 3)
    assert arrays["bias"].shape == (7,)
    # An array depends on the seed and on nothing else.
    both, other = (gather([DECLARED, BIAS], {}, {"batch": 7}, {}, seed) for seed in (3, 4))
    np.testing.assert_array_equal(both["bias"], arrays["bias"])
    assert not np.array_equal(both["bias"], other["bias"])
    assert gather([OPTIONAL], {}, {}, {}, None) == {}
    assert gather([OPTIONAL], {}, {}, {}, 0) == {}
    assert gather([OPTIONAL], {}, {}, {"x": "3:3"}, 0)["x"].tolist() == [3, 3]


RANGE = {"scores": "0:1"}
CONTRADICTIONS = {
    "the model has no input 'score'; help: it has scores, bias": ([DECLARED, BIAS], {"score": "x.npy"}, {}),
    "the model has no symbolic dimension 'bach'; help: it has batch": ([DECLARED], {}, {"bach": 8}),
    "the model has no symbolic dimension 'n'; help: it has no symbolic dimension at all": ([OPTIONAL], {}, {"n": 8}),
    "dimension 'batch' has two sizes; given: 8 as set, 7 in {scores}": ([DECLARED], None, {"batch": 8}),
    "dimension 'batch' has two sizes; given: 7 in {scores}, 6 in {bias}": ([DECLARED, BIAS], ..., {}),
    "dimension 'batch' of input 'scores' has no size; help: set it: --set batch=8": ([DECLARED], {}, {}),
    "input 'scores' is given a file and a range; given: {scores}": ([DECLARED], None, {}, RANGE),
    "the model has no input 'scores'; help: it has bias": ([BIAS], {}, {"batch": 2}, RANGE),
}


@pytest.mark.parametrize("line", CONTRADICTIONS)
def test_names_a_contradiction(line, scores, tmp_path):
    declared, files, sizes, *ranges = CONTRADICTIONS[line]
    both = {**scores, "bias": write(tmp_path / "bias.npy", np.zeros(6, np.float32))}
    given = files if isinstance(files, dict) else {None: scores, ...: both}[files]
    error = error_of(InputError, gather, declared, given, sizes, *(ranges or [{}]), 0)
    assert error.one_line() == line.format_map(both)


def test_refuses_to_draw_more_than_memory_holds():
    with pytest.raises(MemoryLimitError, match="input 'scores' would not fit into memory"):
        gather([DECLARED], {}, {"batch": 10**15}, {}, 0)


# Random arrays.

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SMALL = ["bool", *(getattr(ml_dtypes, name) for name in ("int4", "uint4", "int2", "uint2"))]
FLOATS = ["float16", "float32", "float64", "bfloat16"]


def draw(dtype, span=None, shape=(4, 100)):
    declared = DeclaredInput("x", None if dtype is None else np.dtype(dtype), shape, optional=False)
    array = inputs.draw(declared, {}, span, np.random.default_rng(0))
    assert array.dtype == dtype
    return array


@pytest.mark.parametrize("dtype", INTEGERS + SMALL)
def test_integers(dtype):
    assert sorted(set(draw(dtype).astype(int).ravel())) == [0, 1]
    if dtype in INTEGERS:
        assert sorted(set(draw(dtype, "5:7").ravel())) == [5, 6, 7]
        limits = np.iinfo(dtype)
        assert len(set(draw(dtype, f"{limits.min}:{limits.max}").ravel())) >= 100


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(dtype):
    array = draw(dtype)
    assert len(set(array.ravel().tolist())) >= 50
    assert abs(float(array.astype(float).mean())) < 0.2
    ends = (repr(float(end)) for end in (ml_dtypes.finfo(dtype).min, ml_dtypes.finfo(dtype).max))
    assert np.isfinite(draw(dtype, ":".join(ends)).astype(float)).all()
    array = draw(dtype, "-0.5:1e1").astype(float)
    assert array.min() >= -0.5
    assert array.max() <= 10
    assert 4 < array.mean() < 5.5


@pytest.mark.parametrize(
    ("dtype", "low", "high", "reason"),
    [
        ("int8", "0", "128", "the range of input 'x' does not fit its type"),
        ("uint64", "-1", "5", "the range of input 'x' does not fit its type"),
        (ml_dtypes.uint4, "0", "16", "the range of input 'x' does not fit its type"),
        ("float16", "0", "70000", "the range of input 'x' does not fit its type"),
        ("float64", "0", "1e400", "the range of input 'x' does not fit its type"),
        ("int8", "0.5", "1", "input 'x' takes integers"),
        ("int8", "2", "1", "the range of input 'x' is empty"),
        ("float32", "2", "1", "the range of input 'x' is empty"),
    ],
)
def test_refuses_a_range_that_the_type_does_not_hold(dtype, low, high, reason):
    assert refusal(InputError, draw, dtype, f"{low}:{high}") == reason


@pytest.mark.parametrize(
    ("dtype", "shape", "why"),
    [
        (FLOAT, None, ": its rank is open"),
        (None, None, ": it is not a tensor of numbers"),
        (np.dtype(object), (2,), ": it is not a tensor of numbers"),
        *((FLOAT, shape, "") for shape in ((2, -1), (1,) * 100, (0, 2**62, 2**62))),
    ],
    ids=["an open rank", "no tensor", "objects", "a negative length", "100 axes", "too many bytes"],
)
def test_refuses_to_draw_what_no_array_can_be(dtype, shape, why):
    with pytest.raises(InputError, match=f"input 'x' cannot be drawn at random{why}"):
        draw(dtype, shape=shape)
