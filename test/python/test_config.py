"""Settings of the process, and of one array."""

import json
import pickle

import numpy as np
import pytest
import zellige
from zellige.config import ArrayConfig, config


@pytest.fixture(autouse=True)
def defaults():
    yield
    config.reset()


def test_set_and_take_back():
    assert zellige.config is config and config.get("array.order") == "C"
    with config.set({"array.write_empty_chunks": True, "array": {"order": "F"}}):
        assert config.get("array.write_empty_chunks") and config.get("array.order") == "F"
        with config.set(array__order="C"):
            assert config.get("array.order") == "C"
        assert config.get("array")["order"] == "F"
    assert config.get("array.order") == "C" and not config.get("array.write_empty_chunks")
    config.set({"default_zarr_format": 2})
    assert zellige.create_group().zarr_format == 2 and zellige.zeros(3).zarr_format == 2
    assert zellige.zeros(3, zarr_format=3).zarr_format == 3
    config.reset()
    assert zellige.zeros(3).zarr_format == 3
    assert config.get("nothing", 5) == 5
    with pytest.raises(KeyError):
        config.get("nothing")


def test_wrong_settings():
    for wrong in (
        {"arrays.order": "C"},
        {"array.order": "X"},
        {"default_zarr_format": 4},
        {"threading.max_workers": 0},
        {"array.write_empty_chunks": "yes"},
        {"engine.limits.chunk_bytes": 1.5},
        {"engine.threads": -1},
    ):
        with pytest.raises(ValueError):
            config.set(wrong)
    assert config.to_dict() == {key: config.get(key) for key in config.to_dict()}
    config.set({"codec_pipeline.path": "x", "async": {"concurrency": 64}})
    assert config.get("async.concurrency") == 64  # of zarr-python: kept, never looked at


def test_limits_hold_for_stores_opened_afterwards(tmp_path):
    array = zellige.create_array(tmp_path, data=np.arange(100))
    with config.set({"engine.limits.chunk_bytes": 100}):
        with pytest.raises(zellige.LimitError, match="chunk_bytes"):
            zellige.open_array(tmp_path)[...]
        assert array[99] == 99
    assert zellige.open_array(tmp_path)[99] == 99


def test_threads_and_caches(tmp_path):
    data = np.arange(4000).reshape(40, 100)
    zellige.create_array(tmp_path, data=data, chunks=(1, 100))
    with config.set({"threading.max_workers": 1}):
        assert np.array_equal(zellige.open_array(tmp_path)[...], data)
    with config.set({"engine.threads": 3, "engine.chunk_cache": 1 << 20}):
        array = zellige.open_array(tmp_path)
        assert np.array_equal(array[...], data)
        for file in (tmp_path / "c").rglob("*"):
            assert file.exists()  # and is not read again
        assert np.array_equal(array[...], data)


def test_names_are_printed(capsys):
    config.pprint()
    printed = capsys.readouterr().out
    assert "engine.limits.chunk_bytes" in printed and "array.write_empty_chunks" in printed


# ---------------------------------------------------------------------- of one array


def test_of_one_array(tmp_path):
    array = zellige.create_array(tmp_path, shape=4, chunks=2, dtype="i4")
    array[...] = 0
    assert array.nchunks_initialized == 0
    keeps = array.with_config({"write_empty_chunks": True})
    keeps[...] = 0
    assert keeps == array and array.nchunks_initialized == 2
    assert keeps.config == ArrayConfig("C", True, True) and not array.keep_empty
    assert keeps.config.to_dict()["write_empty_chunks"] is True
    for wrong in ({"nonsense": 1}, {"write_empty_chunks": 3}):
        with pytest.raises((TypeError, ValueError)):
            array.with_config(wrong)


def test_missing_chunks(tmp_path):
    array = zellige.create_array(
        tmp_path, shape=4, chunks=2, dtype="i4", config={"read_missing_chunks": False}
    )
    array[0:2] = 1
    for one in (array, pickle.loads(pickle.dumps(array))):
        assert one[0:2].tolist() == [1, 1] and not one.config.read_missing_chunks
        for read in (
            lambda one=one: one[...],
            lambda one=one: one.read(),
            lambda one=one: one.oindex[[0, 3]],
        ):
            with pytest.raises(zellige.errors.ChunkNotFoundError):
                read()
        assert one.read(missing_is_error=False).tolist() == [1, 1, 0, 0]
    with config.set({"array.read_missing_chunks": False}):
        with pytest.raises(zellige.NotFoundError):
            zellige.open_array(tmp_path)[...]
    assert zellige.open_array(tmp_path)[...].tolist() == [1, 1, 0, 0]


def test_order_of_version_2():
    with config.set({"array.order": "F"}):
        assert zellige.zeros((2, 3), zarr_format=2).metadata["order"] == "F"
        assert zellige.zeros((2, 3)).order == "C"  # what is read always is
    assert zellige.zeros((2, 3), zarr_format=2, order="F").order == "F"


def test_size_of_shards():
    with config.set({"array.target_shard_size_bytes": 1 << 20}):
        array = zellige.create_array(
            shape=(4096, 4096), dtype="u1", chunks=(64, 64), shards="auto"
        )
    assert array.shards == (1024, 1024)
    json.dumps(array.config.to_dict())
