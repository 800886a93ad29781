"""Files that make a library crash, hang or grow: the caller's process goes on and says what is wrong."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from netCDF4 import Dataset

import hostile_files
from commands import refused
from extremum.errors import InputError
from extremum.large import open_source, planned, steps
from extremum.large.formats.child import ChildFile
from hostile_files import FILES, GOOD
from large_files import apply
from refusal import error_of, explained

pytestmark = pytest.mark.usefixtures("in_a_folder")


@pytest.mark.parametrize("name", FILES)
def test_a_strange_neighbour_spoils_nothing(name):
    hostile_files.write("x.h5", name)
    source = open_source("x.h5", "good")
    assert source.read((slice(0, 3),)).tolist() == GOOD.tolist()
    expected = FILES[name][1]
    if isinstance(expected, str):
        assert refused("apply", "max", "x.h5", "--variable", "bad", "-o", "y.npy").startswith(expected)
    else:
        apply("max", "x.h5", "--variable", "bad", "-o", "y.npy")
        assert np.load("y.npy") == expected


KILLERS = ["float16", "long double", "group that holds the root", "DIMENSION_LIST as text", "DIMENSION_LIST as numbers"]


@pytest.mark.parametrize("name", KILLERS)
def test_what_makes_the_netcdf_library_crash_is_read_as_hdf5(name):
    hostile_files.write("x.nc", name)
    assert open_source("x.nc", "good").read((slice(0, 3),)).tolist() == GOOD.tolist()


def test_names_of_a_file_with_cycles_come_once():
    hostile_files.write("x.h5", "group that holds the root")
    assert open_source("x.h5").variable == "good"
    assert open_source("x.h5", "group/bad/group/again/bad/good").shape == (3,)


def child(kind):
    np.save("x.npy", GOOD)
    return ChildFile(kind, Path("x.npy"))


def test_a_crash_at_opening_is_an_error():
    error = error_of(InputError, child, hostile_files.EndsAtOpening)
    assert error.reason.endswith("x.npy' cannot be read: the library that reads it crashes")
    assert error.given == "SIGABRT"


def test_a_crash_at_reading_is_an_error_and_prints_nothing(capfd):
    file = child(hostile_files.EndsAtReading)
    assert file.describe(None) == "described"
    for _ in range(2):
        assert error_of(InputError, file.read, None, ()).given == "exit status 3"
    assert capfd.readouterr() == ("", "")


def test_a_process_that_is_killed_is_an_error():
    np.save("x.npy", GOOD)
    file = child(hostile_files.EndsAtReading)
    os.kill(file._process.pid, signal.SIGKILL)
    assert error_of(InputError, file.describe, None).given == "SIGKILL"


def test_an_error_that_cannot_be_sent_arrives_as_its_text():
    assert str(error_of(RuntimeError, child(hostile_files.Raises).describe, None)) == "wrong"


def test_the_process_ends_with_the_file():
    file = child(hostile_files.EndsAtReading)
    process = file._process
    assert process.poll() is None
    del file
    assert process.poll() is not None


def test_a_file_that_declares_exabytes_takes_no_memory():
    with Dataset("x.nc", "w") as whole:
        whole.createDimension("x", 2**40)
        whole.createDimension("y", 2**20)
        whole.createVariable("v", "f4", ("x", "y"), chunksizes=(1024, 1024))
    start = time.perf_counter()
    job = planned("argmax", [open_source("x.nc")], 0, 64_000_000)
    work = steps(job)
    assert all(next(work).read > 0 for _ in range(3))
    work.close()
    assert len(job.pieces) > 1000
    assert time.perf_counter() - start < 60


def test_an_empty_file_says_that_it_is_empty():
    Dataset("x.nc", "w").close()
    assert explained(open_source, "x.nc") == "InputError: 'x.nc' holds no variable"
