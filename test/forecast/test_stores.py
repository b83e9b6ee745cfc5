"""The backend with zarr-python: its stores, those of others, and what it sees of ours."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import fsspec
import numpy as np
import obstore.store
import pytest
import torch
import xarray as xr
import zarr
from forecasts import backend, coords, fields, give, leads, stored, times
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
from zarr.storage import FsspecStore, LocalStore, MemoryStore, ObjectStore

import zellige
from zellige.forecast import AsyncZarrBackend

PARALLEL = {"time": times(1), "lead_time": leads(4)}


def opened(store, name="t2m"):
    return zarr.open_group(store, mode="r", use_consolidated=False)[name]


def of_fsspec():
    """An empty store on a file system that works asynchronously."""
    files = fsspec.filesystem("memory")
    if files.exists("/run.zarr"):
        files.rm("/run.zarr", recursive=True)
    return FsspecStore(AsyncFileSystemWrapper(files, asynchronous=True), path="/run.zarr")


def places(folder):
    """Stores of any kind, and the same for zarr-python to read."""
    yield MemoryStore()
    yield LocalStore(folder / "zarr")
    yield ObjectStore(obstore.store.MemoryStore())
    yield of_fsspec()


def obstore_of_files(folder):
    folder.mkdir(exist_ok=True)
    return obstore.store.LocalStore(str(folder))


# ---------------------------------------------------------------------- any store


@pytest.mark.parametrize("shard", [{}, {"lead_time": 2}])
@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("kind", range(4))
def test_stores_of_zarr(tmp_path, kind, blocking, shard):
    store = list(places(tmp_path))[kind]
    x = fields(4)
    for steps in ([0], [2, 3], [1]):
        with backend(store, 4, blocking=blocking, pool_size=2, shard_coords=shard) as io:
            give(io, x, [(0, j) for j in steps])
            assert io.store is store
    assert np.array_equal(opened(store)[...], x)
    assert sorted(io) == ["lat", "lead_time", "lon", "t2m", "time"] and "t2m" in io


def test_a_store_for_reading_is_refused(tmp_path):
    for store in places(tmp_path):
        if hasattr(store, "with_read_only"):
            with pytest.raises(ValueError, match="for reading only"):
                backend(store.with_read_only(True), 4)


def test_stores_of_obstore(tmp_path):
    x = fields(4)
    store = obstore_of_files(tmp_path / "a")
    for steps in ([0, 1], [2, 3]):
        with backend(store, 4, blocking=False) as io:
            give(io, x, [(0, j) for j in steps])
    assert np.array_equal(opened(str(tmp_path / "a"))[...], x)
    with pytest.raises(ValueError, match="store_kwargs are for a URL"):
        backend(obstore.store.MemoryStore(), 4, store_kwargs={"region": "x"})


def test_urls(tmp_path):
    x = fields(4)
    with backend("memory:///", 4) as io:
        give(io, x)
    assert np.array_equal(opened(io.store)[...], x)
    with backend(f"file://{tmp_path}/a", 4) as io:
        give(io, x)
    assert np.array_equal(opened(str(tmp_path / "a"))[...], x)


@pytest.mark.filterwarnings("ignore:fs_factory:FutureWarning")
def test_file_systems_of_fsspec(tmp_path):
    x = fields(4)

    def of_network():
        files = of_fsspec().fs
        files.protocol = "network"
        return files

    for factory in (LocalFileSystem, MemoryFileSystem, of_network):
        io = AsyncZarrBackend(str(tmp_path / "run.zarr"), PARALLEL, fs_factory=factory)
        with io:
            give(io, x)
        assert np.array_equal(io["t2m"][...], x)
    assert np.array_equal(opened(tmp_path / "run.zarr")[...], x)
    assert isinstance(io.store, FsspecStore)


def test_all_stores_are_the_same_to_xarray(tmp_path):
    seen = []
    for store in (tmp_path / "a", MemoryStore(), obstore_of_files(tmp_path / "b")):
        with backend(store, 4, shard_coords={"lead_time": 2}) as io:
            give(io, fields(4))
        seen.append(xr.open_zarr(io.store, consolidated=False).load())
    for one in seen[1:]:
        xr.testing.assert_identical(one, seen[0])
    assert np.array_equal(seen[0].lead_time.values, leads(4))


def test_times_of_cf_are_decoded_by_xarray(tmp_path):
    with backend(tmp_path, 4, 2, time_encoding="cf") as io:
        give(io, fields(4, 2))
    seen = xr.open_zarr(tmp_path, consolidated=False)
    assert np.array_equal(seen.time.values, times(2))
    assert np.array_equal(seen.lead_time.values, leads(4))


def test_awaited_steps(tmp_path):
    async def run(io, x):
        for j in range(4):
            await io.async_write(x[:, j : j + 1], coords(leads(4)[j : j + 1]), "t2m")
            array = await io.root.get("t2m")
            assert np.array_equal((await array.getitem(...))[:, : j + 1], x[:, : j + 1])

    for store in places(tmp_path):
        with backend(store, 4) as io:
            asyncio.run(run(io, fields(4)))


# ---------------------------------------------------------------------- what is seen


def test_looking_at_arrays_stores_what_was_given(tmp_path):
    x = fields(8)
    io = backend(tmp_path, 8, blocking=False, shard_coords={"lead_time": 8})
    for j in range(8):
        give(io, x, [(0, j)])
        if j in (2, 5):
            assert isinstance(io["t2m"], zarr.Array)
            assert np.array_equal(io["t2m"][:, : j + 1], x[:, : j + 1])
    io.close()
    assert np.array_equal(io["t2m"][...], x)
    with pytest.raises(KeyError):
        io["absent"]


def test_the_group(tmp_path):
    with backend(tmp_path, 2, zarr_kwargs={"path": "a/b"}) as io:
        give(io, fields(2))
        assert isinstance(io.root, zarr.AsyncGroup) and io.root.path == "a/b"
        assert np.array_equal(io["t2m"][...], fields(2))


def test_consolidated_metadata_is_neither_used_nor_changed(tmp_path):
    with backend(tmp_path, 2) as io:
        give(io, fields(2), names="a")
    zarr.consolidate_metadata(io.store)
    with backend(tmp_path, 2) as io:
        give(io, fields(2), [(0, 0)], names="b")
        assert "b" in io and "b" not in zarr.open_consolidated(tmp_path)
        give(io, fields(2), [(0, 1)], names="b")
    zarr.consolidate_metadata(io.root.store)
    seen = zarr.open_consolidated(tmp_path)
    for name in "ab":
        assert np.array_equal(seen[name][...], fields(2))


@pytest.mark.parametrize(
    "codec",
    [BloscCodec(cname="zstd", clevel=3, shuffle="shuffle"), GzipCodec(level=3), ZstdCodec()],
)
def test_codecs_of_zarr(tmp_path, codec):
    with backend(tmp_path, 2, zarr_codecs=codec) as io:
        give(io, fields(2))
    assert type(io["t2m"].compressors[0]) is type(codec)
    assert np.array_equal(io["t2m"][...], fields(2))


def test_a_store_that_zarr_cannot_open():
    with backend(zellige.MemoryStore(), 1) as io:
        give(io, fields(1))
        with pytest.raises(ValueError, match="give a store of its own instead"):
            io["t2m"]


# ---------------------------------------------------------------------- torch


def devices():
    found = ["cpu"]
    if torch.cuda.is_available():
        found += [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    return found


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("device", devices())
def test_tensors(tmp_path, device, blocking):
    """One tensor is refilled for each step, as a model does that works in place."""
    step = torch.zeros(1, 1, 6, 8, device=device)
    with backend(tmp_path, 6, blocking=blocking, shard_coords={"lead_time": 4}) as io:
        for j in range(6):
            step.fill_(float(j + 1))
            io.write([step, step], coords(leads(6)[j : j + 1]), ["t2m", "z500"])
            step.fill_(-999.0)
    for name in ("t2m", "z500"):
        assert stored(tmp_path, name)[0, :, 2, 3].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
              "complex64", "complex128", "bool", "uint16", "uint32", "uint64"],
)
def test_types_of_torch(tmp_path, dtype):
    x = torch.ones(1, 1, 6, 8, dtype=getattr(torch, dtype))
    with backend(tmp_path, 1) as io:
        io.write(x, coords(leads(1)), "t2m")
    assert stored(tmp_path).dtype == dtype and (stored(tmp_path)[...] == 1).all()


def test_tensors_that_are_views(tmp_path):
    x = fields(2)
    whole = torch.from_numpy(np.ascontiguousarray(x.transpose(3, 2, 1, 0)))
    with backend(tmp_path, 2) as io:
        io.write(whole.permute(3, 2, 1, 0), coords(leads(2)), "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)


# ---------------------------------------------------------------------- the end


@pytest.mark.parametrize("kind", ["fsspec", "obstore", "zarr"])
def test_the_process_ends_before_all_is_stored(tmp_path, kind):
    """Stores written in Python work until the last of it is there."""
    made = {
        "obstore": "obstore_of_files(path)",
        "zarr": "ZarrWrapper(zarr.storage.LocalStore(str(path)))",
        "fsspec": "FsspecStore(AsyncFileSystemWrapper(LocalFileSystem(auto_mkdir=True), "
        "asynchronous=True), path=str(path))",
    }[kind]
    text = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1] / "python")]!r}
import conftest
from test_stores import *
from zarr.storage import WrapperStore as ZarrWrapper
path = Path({str(tmp_path / "a")!r})
io = backend({made}, 8, blocking=False, shard_coords={{"lead_time": 4}})
give(io, fields(8), [(0, j) for j in range(6)])
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60,
        env=dict(os.environ, PYTHONWARNINGS="ignore"),
    )
    assert done.returncode == 0, done.stderr
    assert "was not closed: storing what it was given" in done.stderr
    assert np.array_equal(stored(tmp_path / "a")[:, :6], fields(8)[:, :6])
