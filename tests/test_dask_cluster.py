"""Dask's distributed scheduler with two processes: the same bits, also when one of them dies; models; processors."""

import os

import dask.array as da
import numpy as np
import onnx
import pytest
import xarray as xr
from distributed import Client, LocalCluster

import chunked_calls
import extremum as ex
import extremum.dask as ed
import large_files
from agreement import assert_identical
from extremum.errors import ExecutionError, InputError
from extremum.large import Job, Piece, open_source, planned, steps_on
from refusal import refusal
from strategies import sample

CLASSIFIER = '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 4] x) => (int64[n, 1] y) { y = ArgMax<axis=1>(x) }'


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0", host="127.0.0.1", silence_logs=50
    )
    with cluster, Client(cluster) as client:
        yield client


def test_every_function_and_element_type(client):
    chunked_calls.assert_every_function_agrees(lambda lazy: client.gather(client.compute(lazy)))


def die_once(block, marker):
    """End the whole process, the first time that any process runs this."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return block
    os._exit(1)


def test_a_worker_that_dies_changes_nothing(client, tmp_path):
    x = sample(np.random.default_rng(6), np.dtype("float32"), (40, 30))
    marker = tmp_path / "died"
    d = da.from_array(x, chunks=(5, 6)).map_blocks(die_once, marker=str(marker), dtype=x.dtype, meta=np.empty((0, 0)))
    index = client.compute(ed.max(d, (0, 1), return_index=True, split_every=3).indices).result(timeout=60)
    assert marker.exists()
    assert_identical(index, ex.argmax(x))


def test_a_model_is_prepared_once_in_each_process(client):
    x = np.random.default_rng(7).random((50, 4)).astype(np.float32)
    lazy = ed.run(onnx.parser.parse_model(CLASSIFIER), da.from_array(x, chunks=((20, 1, 29), 4)))
    assert (lazy.shape, lazy.dtype, lazy.chunks[0]) == ((50, 1), np.int64, (20, 1, 29))
    assert_identical(client.compute(lazy).result(timeout=60), ex.argmax(x, 1, keepdims=True))
    again = ed.run(onnx.parser.parse_model(CLASSIFIER), da.from_array(x[::-1].copy(), chunks=(7, 4)))
    client.compute(again).result(timeout=60)
    counts = client.run(lambda: __import__("extremum.dask").dask.models._session.cache_info().currsize)
    assert set(counts.values()) <= {0, 1}
    assert 1 in counts.values()


def test_apply_sends_its_work_to_a_scheduler(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = client.scheduler.address
    x = sample(np.random.default_rng(8), np.dtype("float32"), (40, 30, 4))
    np.save("x.npy", x)
    onnx.save(onnx.parser.parse_model(CLASSIFIER), "m.onnx")
    np.save("rows.npy", x.reshape(-1, 4))
    expected = {
        "argmax x.npy --axis 0": ex.argmax(x, 0),
        "max x.npy --axis 2": ex.max(x, 2),
        "hardmax x.npy --axis 1": ex.hardmax(x, 1),
        "minimum x.npy x.npy": x,
        "m.onnx rows.npy": ex.argmax(x.reshape(-1, 4), 1, keepdims=True),
    }
    for number, (words, whole) in enumerate(expected.items()):
        large_files.apply(*words.split(), "-o", f"{number}.npy", "--scheduler", address)
        assert_identical(np.load(f"{number}.npy"), whole)
    large_files.apply("minmax", "x.npy", "--axis", 1, "--index", "-o", "y.npy", "--scheduler", address)
    for name, whole in zip(("min", "max", "argmin", "argmax"), ex.minmax(x, 1, return_index=True), strict=True):
        assert_identical(np.load(f"y.{name}.npy"), whole)


class Deadly(Job):
    """A job whose pieces end the process that makes them."""

    sources = ()
    pieces = (Piece((), ((),)),)

    def part(self, read, blocks):
        os._exit(1)


@pytest.mark.parametrize("form", ["F", "zarr2", "zarr3", "netcdf"])
def test_the_workers_read_every_format(form, client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = large_files.sample()
    words = large_files.save(x, form)
    large_files.apply("argmin", *words, "--axis", 1, "-o", "y.nc", "--scheduler", client.scheduler.address)
    with xr.open_dataset("y.nc") as dataset:
        (name,) = dataset.data_vars
        assert_identical(dataset[name].values, ex.argmin(x, 1))


@pytest.mark.parametrize("form", ["C", "zarr2", "zarr3"])
def test_a_file_that_workers_do_not_see_is_no_file_of_zeros(form, client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *words = large_files.save(large_files.sample(), form)
    job = planned("argmax", [open_source(name, *words[1:])], 0)
    (tmp_path / name).rename(tmp_path / "elsewhere")
    assert refusal(ExecutionError, list, steps_on(client.scheduler.address, job)) == (
        "a worker could not read or send a piece"
    )


def test_work_that_workers_die_of_is_given_up(client, monkeypatch):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    text = refusal(ExecutionError, list, steps_on(client.scheduler.address, Deadly()))
    assert text == "workers were killed while they computed"


def test_a_scheduler_without_workers_is_refused():
    with LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1") as cluster:
        address = cluster.scheduler_address
        assert refusal(InputError, next, steps_on(address, Deadly())) == f"the scheduler at {address} has no workers"
