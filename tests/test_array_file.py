"""Arrays come out of files as they went in, and a bad file is named in one sentence."""

import io
import os
import re
import tracemalloc
import zipfile

import ml_dtypes
import numpy as np
import onnx
import pytest

from extremum.cli import inputs
from extremum.cli.inputs import read_array
from extremum.errors import FileError, InputError, MemoryLimitError

SCORES = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
def test_reads_npy(tmp_path, dtype):
    expected = SCORES.astype(dtype)
    np.save(tmp_path / "x.npy", expected)
    array = read_array(str(tmp_path / "x.npy"))
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_reads_bfloat16_from_the_raw_bytes_that_numpy_stores(tmp_path):
    expected = SCORES.astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", expected)
    assert np.load(tmp_path / "x.npy").dtype == np.dtype("V2")
    array = read_array(str(tmp_path / "x.npy"), np.dtype(ml_dtypes.bfloat16))
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_leaves_raw_bytes_alone_where_numpy_has_the_expected_type(tmp_path):
    np.save(tmp_path / "x.npy", SCORES.astype(ml_dtypes.bfloat16))
    assert read_array(str(tmp_path / "x.npy"), np.dtype(np.float16)).dtype == np.dtype("V2")


def test_reads_an_entry_of_npz(tmp_path):
    np.savez(tmp_path / "all.npz", first=SCORES, second=-SCORES)
    np.testing.assert_array_equal(read_array(f"{tmp_path}/all.npz:second"), -SCORES)


def test_reads_the_sole_entry_of_npz_without_its_name(tmp_path):
    np.savez_compressed(tmp_path / "one.npz", scores=SCORES)
    np.testing.assert_array_equal(read_array(f"{tmp_path}/one.npz"), SCORES)


@pytest.mark.parametrize("dtype", ["int64", "float32", ml_dtypes.bfloat16])
def test_reads_a_tensor_proto(tmp_path, dtype):
    expected = SCORES.astype(dtype)
    (tmp_path / "x.pb").write_bytes(onnx.numpy_helper.from_array(expected).SerializeToString())
    array = read_array(str(tmp_path / "x.pb"))
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_refuses_an_npz_without_saying_which_entry(tmp_path):
    np.savez(tmp_path / "all.npz", first=SCORES, second=SCORES)
    with pytest.raises(InputError) as caught:
        read_array(f"{tmp_path}/all.npz")
    assert caught.value.reason.endswith("all.npz' has 2 entries")
    assert caught.value.remedy == "name one of them: all.npz:entry with first, second"


def test_refuses_an_entry_that_is_not_there(tmp_path):
    np.savez(tmp_path / "all.npz", first=SCORES)
    with pytest.raises(InputError, match=r"all\.npz' has no entry 'third'"):
        read_array(f"{tmp_path}/all.npz:third")


@pytest.mark.parametrize("suffix", ["npy", "npz", "pb"])
@pytest.mark.parametrize("content", [b"", b"\xff not an array"])
def test_refuses_a_file_of_another_kind(tmp_path, suffix, content):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{str(path)!r} is not a valid .{suffix} file")):
        read_array(str(path))


def test_refuses_a_truncated_npy(tmp_path):
    np.save(tmp_path / "x.npy", SCORES)
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(whole[:-5])
    with pytest.raises(InputError, match=r"is not a valid \.npy file"):
        read_array(str(tmp_path / "x.npy"))


def test_refuses_a_damaged_npz(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", scores=np.random.default_rng(0).standard_normal(1000))
    content = bytearray((tmp_path / "x.npz").read_bytes())
    content[1000:1100] = bytes(100)
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"is not a valid \.npz file"):
        read_array(f"{tmp_path}/x.npz:scores")


def test_never_unpickles(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"is not a valid \.npy file"):
        read_array(str(tmp_path / "x.npy"))


def test_overlooks_what_is_no_array_in_an_npz(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    with pytest.raises(InputError, match="has 0 entries"):
        read_array(f"{tmp_path}/x.npz")


def test_refuses_an_unknown_suffix():
    with pytest.raises(InputError) as caught:
        read_array("scores.csv")
    assert caught.value.one_line() == "'scores.csv' has no known format; help: use .npy, .npz:entry or .pb"


def test_says_that_a_folder_is_one(tmp_path):
    with pytest.raises(FileError, match="is a folder"):
        read_array(str(tmp_path))


def test_leaves_a_missing_file_to_the_operating_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_array(f"{tmp_path}/none.npy")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
@pytest.mark.parametrize("suffix", ["npy", "npz", "pb"])
def test_refuses_what_is_no_regular_file(tmp_path, suffix):
    os.mkfifo(tmp_path / f"x.{suffix}")
    (tmp_path / f"y.{suffix}").symlink_to("/dev/zero")
    for name, kind in ((f"x.{suffix}", "a pipe"), (f"y.{suffix}", "a device")):
        with pytest.raises(FileError) as caught:
            read_array(str(tmp_path / name))
        assert caught.value.reason == f"{str(tmp_path / name)!r} is {kind}"


def header(shape, dtype="<f4"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


PROMISES = {
    "float32[4], 16 bytes, but the file holds 8": ((4,), "<f4"),
    "float64[4294967296, 4294967296], 147,573,952,589,676,412,928 bytes, but the file holds 8": ((2**32, 2**32), "<f8"),
    "float32[-1], -4 bytes, but the file holds 8": ((-1,), "<f4"),
    "float32[-2, -1], 8 bytes, but the file holds 8": ((-2, -1), "<f4"),
    "int8[1099511627776], 1,099,511,627,776 bytes, but the file holds 8": ((2**40,), "|i1"),
}


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_refuses_a_header_that_promises_more_than_follows(tmp_path, promise, suffix):
    content = header(*PROMISES[promise]) + bytes(8)
    path = tmp_path / f"x.{suffix}"
    if suffix == "npy":
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", content)
    with pytest.raises(InputError) as caught:
        read_array(str(path))
    assert caught.value.reason == f"{str(path)!r} is not a valid .{suffix} file"
    assert caught.value.given == f"its header declares {promise}"


def test_refuses_an_array_that_does_not_fit_into_memory(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(header((2**40,)))
    os.truncate(path, path.stat().st_size + 2**42)
    with pytest.raises(MemoryLimitError) as caught:
        read_array(str(path))
    assert caught.value.reason == "'x.npy' would not fit into memory"


def test_refuses_an_entry_that_is_packed_beyond_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_LARGEST_PACKED", 2**20)
    np.savez_compressed(tmp_path / "small.npz", x=np.zeros(2**17 - 100))
    assert read_array(f"{tmp_path}/small.npz:x").size == 2**17 - 100
    np.savez_compressed(tmp_path / "large.npz", x=np.zeros(2**17))
    with pytest.raises(InputError) as caught:
        read_array(f"{tmp_path}/large.npz:x")
    assert caught.value.reason == f"entry 'x' of {str(tmp_path / 'large.npz')!r} unpacks to too many bytes"
    assert re.fullmatch(r"1,\d{3} bytes that unpack to 1,048,704", caught.value.given)
    assert caught.value.remedy == "unpack the archive and pass the .npy file"
    np.savez(tmp_path / "plain.npz", x=np.zeros(2**17))
    assert read_array(f"{tmp_path}/plain.npz:x").size == 2**17


def test_gigabytes_of_zeros_in_an_archive_take_no_memory(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(2**17))
    content = bytearray((tmp_path / "x.npz").read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = (2**32 - 2).to_bytes(4, "little")
    (tmp_path / "x.npz").write_bytes(content)
    tracemalloc.start()
    with pytest.raises(InputError, match="unpacks to too many bytes"):
        read_array(f"{tmp_path}/x.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def test_refuses_a_tensor_whose_elements_lie_elsewhere(tmp_path):
    tensor = onnx.numpy_helper.from_array(SCORES, "x")
    onnx.external_data_helper.set_external_data(tensor, "elsewhere")
    tensor.ClearField("raw_data")
    (tmp_path / "x.pb").write_bytes(tensor.SerializeToString())
    (tmp_path / "elsewhere").write_bytes(SCORES.tobytes())
    with pytest.raises(InputError) as caught:
        read_array(f"{tmp_path}/x.pb")
    assert caught.value.given == "its elements are in another file"


def damaged(content, count):
    """Copies of a file with a few bytes changed, cut off or put in, the same every time."""
    random = np.random.default_rng(0)
    for _ in range(count):
        data = bytearray(content)
        for _ in range(random.integers(1, 4)):
            at = int(random.integers(len(data)))
            match random.integers(4):
                case 0:
                    data[at] = random.integers(256)
                case 1:
                    del data[at + 1 : at + int(random.integers(2, 20))]
                case 2:
                    data[at:at] = random.bytes(int(random.integers(1, 5)))
                case _:
                    del data[at + 1 :]
        yield bytes(data)


def packed(method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("x.npy", saved(np.arange(200).reshape(20, 10)))
    return file.getvalue()


def encrypted():
    """An archive whose entry says that it needs a password."""
    content = bytearray(packed(zipfile.ZIP_STORED))
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(signature) + offset] |= 1
    return bytes(content)


def strange():
    """An archive packed in a way that nobody knows."""
    content = bytearray(packed(zipfile.ZIP_STORED))
    for signature, offset in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        content[content.index(signature) + offset] = 99
    return bytes(content)


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
DAMAGED = {
    "npy": list(damaged(saved(SCORES), 300)),
    "npz": [encrypted(), strange(), *(each for method in METHODS for each in damaged(packed(method), 150))],
    "pb": list(damaged(onnx.numpy_helper.from_array(SCORES, "x").SerializeToString(), 300)),
}


@pytest.mark.parametrize("suffix", DAMAGED)
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_of_every_kind(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    refused = 0
    for content in DAMAGED[suffix]:
        path.write_bytes(content)
        try:
            assert isinstance(read_array(str(path)), np.ndarray)
        except (InputError, MemoryLimitError):
            refused += 1
    assert refused > len(DAMAGED[suffix]) // 3


HEADERS = {
    "an unclosed bracket": "{'descr': '<f4', 'fortran_order': False, 'shape': ((((",
    "an unclosed text": "{'descr': '<f4', 'fortran_order': False, 'shape': '''",
    "a size of many digits": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",)}",
    "a size that overflows": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 30 + ",)}",
    "a negative size": "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
    "a nested shape": "{'descr': '<f4', 'fortran_order': False, 'shape': " + "(" * 3000 + ")" * 3000 + "}",
    "a rank of 100": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 100 + ")}",
    "a type that is none": "{'descr': '<q9', 'fortran_order': False, 'shape': (1,)}",
    "a type of many bytes": "{'descr': '|V" + "9" * 30 + "', 'fortran_order': False, 'shape': (1,)}",
    "words behind it": "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}x",
    "a comment": "# {'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
    "nothing": "",
    "a NUL": "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\0",
}


@pytest.mark.parametrize("case", HEADERS)
@pytest.mark.filterwarnings("ignore")
def test_refuses_a_header_that_is_none(tmp_path, case):
    header = HEADERS[case].encode() + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(4))
    with pytest.raises(InputError, match=r"x\.npy' is not a valid \.npy file"):
        read_array(str(tmp_path / "x.npy"))
