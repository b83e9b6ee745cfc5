"""Stores of zarr-python, fsspec and obstore: read and written, also by writers."""

import asyncio
import pickle
import subprocess
import sys
import threading

import fsspec
import numpy as np
import obstore.store
import pytest
import zarr
import zellige

DATA = np.arange(60, dtype="i4").reshape(6, 10)


def same(found, wanted):
    assert found.dtype == wanted.dtype and np.array_equal(found, wanted)


def _of_zarr_memory(_):
    return zarr.storage.MemoryStore()


def _of_zarr_directory(folder):
    return zarr.storage.LocalStore(folder / "zarr")


def _of_zarr_wrapper(_):
    return zarr.storage.LoggingStore(zarr.storage.MemoryStore(), log_level="ERROR")


def _of_zarr_fsspec(folder):
    return zarr.storage.FsspecStore.from_url(f"memory://{folder.name}/a")


def _of_zarr_fsspec_directory(folder):
    return zarr.storage.FsspecStore.from_url(
        f"file://{folder}/b", storage_options={"auto_mkdir": True}
    )


def _of_zarr_obstore(_):
    return zarr.storage.ObjectStore(obstore.store.MemoryStore())


def _of_obstore(_):
    return obstore.store.MemoryStore()


def _of_obstore_directory(folder):
    (folder / "c").mkdir()
    return obstore.store.LocalStore(folder / "c")


def _of_mapper(folder):
    return fsspec.get_mapper(f"memory://{folder.name}/d")


def _of_mapper_directory(folder):
    return fsspec.get_mapper(str(folder / "e"))


def _of_files(folder):
    memory = fsspec.filesystem("memory")
    return fsspec.filesystem("dir", path=f"/{folder.name}/f", fs=memory)


def test_a_zip(tmp_path):
    """Written once: what is in one is not changed."""
    for mode in "wr":
        store = zarr.storage.ZipStore(tmp_path / "a.zip", mode=mode)
        if mode == "w":
            zellige.create_array(store, path="x", data=DATA, chunks=(2, 5))
        same(zellige.open_array(store, path="x", mode="r")[...], DATA)
        store.close()


KINDS = [value for name, value in sorted(globals().items()) if name.startswith("_of_")]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__[4:])
def store(request, tmp_path):
    return request.param(tmp_path)


def test_everything_works(store):
    root = zellige.create_group(store, attributes={"k": 1})
    array = root.create_array("g/x", data=DATA, chunks=(2, 5), shards=(4, 10))
    array[1:3, 2:7] = -1
    wanted = DATA.copy()
    wanted[1:3, 2:7] = -1
    again = zellige.open_group(store, mode="r+")
    same(again["g/x"][...], wanted)
    assert dict(again.attrs) == {"k": 1}
    assert [path for path, _ in again.members(max_depth=None)] == ["g", "g/x"]
    assert sorted(again.store.keys("g/x")) == ["c/0/0", "c/1/0", "zarr.json"]
    assert again.store.exists("g/x/c/0/0") and not again.store.exists("g/x/c")
    assert array.nbytes_stored() == sum(
        len(again.store.get(f"g/x/c/{i}/0")) for i in range(2)
    )
    array.resize((2, 10))
    assert not again.store.exists("g/x/c/1/0")
    del root["g"]
    assert again.store.keys() == ["zarr.json"]


def test_others_read_it(store):
    zellige.create_array(store, path="x", data=DATA, chunks=(2, 5))
    if type(store).__module__.startswith("zarr."):
        same(zarr.open_array(store, path="x", mode="r")[...], DATA)
        theirs = zarr.create_array(store, name="y", data=DATA, chunks=(3, 5))
        same(zellige.open_array(store, path="y")[...], theirs[...])


def test_missing(store):
    with pytest.raises(zellige.NotFoundError):
        zellige.open_array(store, path="nothing")
    zellige.create_array(store, path="x", shape=(4,), dtype="f4")
    same(zellige.open_array(store, path="x")[...], np.zeros(4, "f4"))
    with pytest.raises(zellige.ExistsError):
        zellige.create_array(store, path="x", shape=(4,), dtype="f4")


def test_threads_change_one_object(store):
    """Each by a handle of its own."""
    zellige.create_array(store, path="x", shape=(64,), dtype="i4", chunks=(64,))

    def work(me):
        mine = zellige.open_array(store, path="x", mode="r+")
        for i in range(me, 64, 4):
            mine[i] = i + 1

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(zellige.open_array(store, path="x")[...], np.arange(1, 65, dtype="i4"))


def test_places_of_zarr():
    place = zarr.storage.StorePath(zarr.storage.MemoryStore(), "a/b")
    zellige.create_array(place, data=DATA)
    same(zellige.open_array(place)[...], DATA)
    same(zarr.open_array(place.store, path="a/b")[...], DATA)


def test_reading_only():
    source = zarr.storage.MemoryStore()
    zellige.create_array(source, data=DATA)
    for one in (source.with_read_only(True), source):
        reader = zellige.storage.ForeignStore(one, read_only=one is source)
        assert reader.read_only
        with pytest.raises(zellige.UsageError):
            reader.put("k", b"")
        with pytest.raises(zellige.UsageError):
            zellige.create_array(reader, path="y", data=DATA)
        same(zellige.open_array(reader, mode="r")[...], DATA)


def test_from_an_event_loop():
    """That of somebody else; the loop of zarr-python itself cannot wait for itself."""
    source = zarr.storage.LoggingStore(zarr.storage.MemoryStore(), log_level="ERROR")

    async def work():
        array = zellige.create_array(source, data=DATA)
        return await array.read_async()

    same(asyncio.run(work()), DATA)
    from zarr.core.sync import sync

    async def blocked():
        return zellige.open_array(source, mode="r")

    with pytest.raises(zellige.StoreError, match="loop"):
        sync(blocked())


def test_failures_have_their_reason():
    class Failing(zarr.storage.MemoryStore):
        async def set(self, key, value, *_):
            raise PermissionError(f"no entry for {key}")

    with pytest.raises(zellige.StoreError, match="PermissionError: no entry for zarr.json"):
        zellige.create_array(Failing(), data=DATA)
    with pytest.raises(TypeError, match="not a int"):
        zellige.open_array(5)


def test_pickle(tmp_path):
    array = zellige.create_array(
        zarr.storage.FsspecStore.from_url(
            f"file://{tmp_path}/p", storage_options={"auto_mkdir": True}
        ),
        data=DATA,
    )
    same(pickle.loads(pickle.dumps(array))[...], DATA)


# ---------------------------------------------------------------------- writers


def test_a_writer(store):
    data = np.random.default_rng(0).integers(1, 1 << 30, (12, 10), "i4")
    array = zellige.create_array(
        store, path="w", shape=(12, 10), dtype="i4", chunks=(1, 10), shards=(4, 10)
    )
    with zellige.Writer(array) as writer:
        for i in np.random.default_rng(3).permutation(12):
            writer.submit(i, data[i])
    same(zellige.open_array(store, path="w", mode="r")[...], data)
    assert writer.counts["opened"] == 0
    with zellige.Writer(array) as writer:
        writer.submit((3, slice(2, 9)), 1)
        writer.append(data[:1])
    wanted = np.concatenate([data, data[:1]])
    wanted[3, 2:9] = 1
    same(zellige.open_array(store, path="w", mode="r")[...], wanted)


def test_a_writer_whose_store_fails_and_heals():
    class Failing(zarr.storage.MemoryStore):
        fails = True

        async def set(self, key, value, *_):
            if self.fails and "c/" in key:
                raise PermissionError("closed today")
            await super().set(key, value)

    store = zarr.storage.LoggingStore(Failing(), log_level="ERROR")
    array = zellige.create_array(store, shape=(4,), dtype="i4", chunks=(2,))
    writer = zellige.Writer(array)
    writer.submit(..., 1)
    for _ in range(2):
        with pytest.raises(zellige.StoreError, match="c/[01].*closed today"):
            writer.close()
    Failing.fails = False
    writer.close()
    same(array[...], np.ones(4, "i4"))


EXIT = """
import sys
import fsspec, obstore.store
import zellige
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from zarr.storage import FsspecStore
kind, path = sys.argv[1:]
if kind == "obstore":
    store = obstore.store.LocalStore(path)
else:
    files = fsspec.filesystem("file", auto_mkdir=True)
    files = fsspec.filesystem("dir", path=path, fs=files)
    files = AsyncFileSystemWrapper(files, asynchronous=True)  # works in threads
    store = FsspecStore(files, path="")
array = zellige.create_array(store, shape=(9, 8), dtype="i4", chunks=(1, 8), shards=(3, 8))
writer = zellige.Writer(array)
for i in range(5):
    writer.submit(i, i)
"""


@pytest.mark.parametrize("kind", ["obstore", "coroutines"])
def test_a_writer_at_the_end_of_the_interpreter(tmp_path, kind):
    result = subprocess.run(
        [sys.executable, "-c", EXIT, kind, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert "was not closed before the interpreter ended" in result.stderr
    found = zellige.open_array(tmp_path)[:, 0]
    same(found, np.array([0, 1, 2, 3, 4, 0, 0, 0, 0], "i4"))
