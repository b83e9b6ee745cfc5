"""Stores by zarr-python's names, dictionaries as stores, places in stores."""

import threading

import numpy as np
import pytest
import zellige
from conftest import same
from zellige import storage

DATA = np.arange(60, dtype="i4").reshape(6, 10)


def test_a_directory_is_made(tmp_path):
    store = storage.LocalStore(tmp_path / "new" / "store")
    zellige.create_group(store).create_array("x", data=DATA)
    same(zellige.open_group(store)["x"][...], DATA)
    with pytest.raises(FileNotFoundError):
        storage.LocalStore(tmp_path / "other", read_only=True)
    with pytest.raises(FileNotFoundError):
        storage.LocalStore(tmp_path / "other", create=False)
    reader = store.with_read_only(True)
    assert reader.read_only and zellige.open_group(reader).read_only
    assert reader == store.with_read_only(True) and reader != store
    with pytest.raises(zellige.UsageError):
        zellige.create_group(reader, path="y")


def test_keys():
    for store in (storage.MemoryStore(), storage.MemoryStore({})):
        assert store.is_empty() and not store.exists("a/b")
        store.put("a/b", b"1")
        store.put("a-c", b"22")
        assert store.exists("a/b") and not store.exists("a") and not store.is_empty("a")
        assert sorted(store.keys()) == ["a-c", "a/b"] and store.get("a-c") == b"22"
        store.clear()
        assert store.is_empty()


def test_a_dictionary_is_a_store():
    entries = {}
    root = zellige.create_group(entries, attributes={"k": 1})
    array = root.create_array("g/x", data=DATA, chunks=(2, 5), shards=(4, 10))
    assert {"zarr.json", "g/zarr.json", "g/x/zarr.json", "g/x/c/0/0"} <= set(entries)
    assert all(isinstance(value, bytes) for value in entries.values())
    again = zellige.open_group(entries, "r")
    same(again["g/x"][...], DATA)
    assert [path for path, _ in again.members(max_depth=None)] == ["g", "g/x"]
    assert array.nbytes_stored() == sum(
        len(value) for key, value in entries.items() if key.startswith("g/x/c/")
    )
    array.resize((2, 10))
    assert "g/x/c/1/0" not in entries
    del root["g"]
    assert sorted(entries) == ["zarr.json"]


def test_entries_of_any_kind():
    source = {}
    zellige.create_array(source, data=DATA)
    kinds = {key: memoryview(bytearray(value)) for key, value in source.items()}
    same(zellige.open_array(kinds)[...], DATA)

    class Failing(dict):
        def get(self, *_):
            raise RuntimeError("out of order")

    with pytest.raises(zellige.StoreError, match="out of order"):
        zellige.open_array(Failing(), "r")
    with pytest.raises(zellige.StoreError):
        zellige.open_array({"zarr.json": 5}, "r")
    reader = storage.MemoryStore(source, read_only=True)
    with pytest.raises(zellige.UsageError):
        zellige.create_group(reader, path="y")
    with pytest.raises(zellige.UsageError):
        reader.put("k", b"")


def test_threads_change_one_object():
    entries = {}
    array = zellige.create_array(entries, shape=(16, 50), dtype="i4", chunks=(16, 50))

    def write(row):
        for i in range(20):
            array[row] = row * 100 + i

    threads = [threading.Thread(target=write, args=(row,)) for row in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert array[:, 7].tolist() == [row * 100 + 19 for row in range(16)]


def test_places(tmp_path):
    root = zellige.create_group(tmp_path)
    array = root.create_array("g/x", data=DATA)
    place = array.store_path
    assert place == f"{tmp_path}/g/x" and (place.path, place.store) == ("g/x", root.store)
    same(zellige.open_array(place)[...], DATA)
    same(zellige.open_array(root["g"].store_path / "x")[...], DATA)
    assert zellige.open_group(root["g"].store_path).path == "g"
    assert zellige.create_group(root["g"].store_path, path="h").path == "g/h"


def test_stores_that_are_missing(tmp_path):
    for kind in (
        "ZipStore",
        "FsspecStore",
        "ObjectStore",
        "GpuMemoryStore",
        "LoggingStore",
    ):
        with pytest.raises(zellige.UnsupportedError, match=kind) as raised:
            getattr(storage, kind)("x")
        assert ("zarr-python" in str(raised.value)) == (kind != "GpuMemoryStore")
        with pytest.raises(zellige.UnsupportedError, match=kind):
            getattr(storage, kind).open("x", mode="r")
    with pytest.raises(zellige.UnsupportedError, match="storage_options.*fsspec"):
        zellige.open(tmp_path, storage_options={"anon": True})
    with pytest.raises(zellige.UnsupportedError, match="s3://a: .*fsspec"):
        zellige.open("s3://a")

    class OtherStore:
        pass

    with pytest.raises(zellige.UnsupportedError, match="OtherStore"):
        zellige.open(OtherStore())
