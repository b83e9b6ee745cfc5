"""Creating, writing, saving, loading; the modes of opening."""

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.arange(60, dtype="f4").reshape(6, 10)


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return zellige.MemoryStore() if request.param == "memory" else str(tmp_path / "new")


def test_round_trip_with_everything(store):
    array = zellige.create_array(
        store,
        path="a/b",
        data=DATA,
        chunks=(2, 5),
        shards=(4, 10),
        fill_value=np.nan,
        attributes={"u": "é", "n": 2**70},
        dimension_names=("y", None),
        codecs=[
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "gzip", "configuration": {"level": 1}},
            "crc32c",
        ],
        index_location="start",
        chunk_key_encoding={"name": "v2", "configuration": {"separator": "."}},
    )
    again = zellige.open_array(store, path="a/b")
    same(again[...], DATA)
    assert again == array and (again.chunks, again.shards) == ((2, 5), (4, 10))
    assert np.isnan(again.fill_value) and again.attrs == {"u": "é", "n": 2**70}
    assert again.dimension_names == ("y", None)
    assert again.metadata["chunk_key_encoding"]["name"] == "v2"
    assert isinstance(zellige.open(store), zellige.Group)
    assert list(zellige.open_group(store, path="a")) == ["b"]


def test_version_2(store):
    zellige.create_array(
        store,
        data=DATA,
        chunks=(4, 10),
        zarr_format=2,
        separator="/",
        order="F",
        codecs={
            "filters": [{"id": "delta", "dtype": "<f4"}],
            "compressor": {"id": "zlib", "level": 1},
        },
        attributes={"k": [1]},
    )
    array = zellige.open_array(store)
    same(array[...], DATA)
    assert (
        array.zarr_format == 2
        and array.metadata["order"] == "F"
        and array.attrs == {"k": [1]}
    )


def test_defaults(store):
    array = zellige.create_array(store, path="f", shape=(4000, 3000), dtype="f8")
    assert array.chunks == (250, 375) and array.fill_value == 0 and array.shards is None
    assert zellige.create_array(store, path="s", shape=7, dtype=str).chunks == (7,)
    assert zellige.create_array(store, path="e", shape=(0, 3), dtype="u1").chunks == (1, 3)
    assert zellige.create_array(
        store, path="w", shape=(9, 8), dtype="u1", chunks=(-1, 2)
    ).chunks == (9, 2)


def test_documents_of_zarr(store):
    grid = {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[2, 4], 5]},
    }
    array = zellige.create_array(store, path="r", data=DATA, chunk_grid=grid)
    assert array.write_chunk_sizes == ((2, 4), (5, 5))
    same(array[...], DATA)
    kind = {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}}
    array = zellige.create_array(store, path="t", shape=2, dtype=kind, fill_value=3)
    same(array[...], np.full(2, 3, "M8[10s]"))


def test_writing_whole_chunks(store):
    array = zellige.create_array(
        store, shape=(6, 10), dtype="i4", chunks=(2, 5), fill_value=9
    )
    array[0:2, 5:10] = DATA[0:2, 5:10]  # cast
    array[2:4] = 7  # repeated
    array[4:6, 0:5] = np.arange(5)[None]  # broadcast
    array.blocks[2, 1] = DATA[4:6, 5:10]
    wanted = np.full((6, 10), 9, "i4")
    wanted[0:2, 5:10] = DATA[0:2, 5:10]
    wanted[2:4] = 7
    wanted[4:6, 0:5] = np.arange(5)
    wanted[4:6, 5:10] = DATA[4:6, 5:10]
    same(array[...], wanted)
    array[:] = DATA.astype("i4").T.copy().T  # F order
    same(array[...], DATA.astype("i4"))
    array[...] = 9  # the fill value: nothing is kept
    assert array.nbytes_stored() == 0
    same(array[...], np.full((6, 10), 9, "i4"))


def test_writing_parts_is_refused(store):
    array = zellige.create_array(store, shape=(6, 10), dtype="i4", chunks=(2, 5))
    for key in [
        (0, 0),
        slice(0, 3),
        slice(None, None, 2),
        ([0, 1],),
        np.ones((6, 10), bool),
    ]:
        with pytest.raises(zellige.UnsupportedError):
            array[key] = 1
    with pytest.raises(ValueError):
        array[...] = np.zeros((7, 10))
    with pytest.raises(IndexError):
        array[9] = 1
    with pytest.raises(ValueError, match="delete"):
        del array[0]


def test_wrong_texts_are_refused():
    array = zellige.create_array(zellige.MemoryStore(), shape=2, dtype="string")
    for value in ([1, 2], [None, "a"], [b"a", b"b"]):
        with pytest.raises(TypeError, match="string"):
            array[...] = value
    array[...] = "same"
    assert array[...].tolist() == ["same", "same"]


def test_lists_of_variable_length():
    array = zellige.create_array(
        zellige.MemoryStore(),
        shape=3,
        dtype="|O",
        zarr_format=2,
        codecs={"filters": [{"id": "vlen-array", "dtype": "<i4"}], "compressor": None},
    )
    value = np.empty(3, object)
    value[:] = [np.arange(n, dtype="i4") for n in (2, 0, 3)]
    array[...] = value
    for found, wanted in zip(array[...], value):
        same(found, wanted)
    same(array[2], value[2])


def test_read_only(tmp_path):
    zellige.save(tmp_path / "a", DATA)
    array = zellige.open_array(tmp_path / "a")
    with pytest.raises(ValueError, match="reading only"):
        array[...] = 1
    writable = zellige.open_array(tmp_path / "a", mode="r+")
    writable[...] = DATA + 1
    same(array[...], DATA + 1)
    store = zellige.LocalStore(tmp_path / "a", read_only=True)
    with pytest.raises(zellige.ZelligeError):
        store.put("k", b"")
    with pytest.raises(ValueError, match="reading only"):
        zellige.open_array(store, mode="r+")[...] = 1


def test_modes(store):
    for mode in ("r", "r+"):
        for function in (zellige.open, zellige.open_array, zellige.open_group):
            with pytest.raises(FileNotFoundError):
                function(store, mode)
    with pytest.raises(zellige.NotFoundError):
        zellige.open_array(store, "a")  # nothing says what to make
    made = zellige.open_array(store, "a", path="x", shape=(2,), dtype="i1")
    made[...] = 5
    assert zellige.open_array(store, "a", path="x", shape=(2,), dtype="i1")[0] == 5
    with pytest.raises(FileExistsError):
        zellige.open_array(store, "w-", path="x", shape=(2,), dtype="i1")
    assert zellige.open_array(store, "w", path="x", shape=(2,), dtype="i1")[0] == 0
    group = zellige.open_group(store, "a", attributes={"a": 1})
    assert dict(group.attrs) in ({}, {"a": 1}) and list(group) == ["x"]
    assert isinstance(zellige.open(store, "r+", path="x"), zellige.Array)
    assert isinstance(
        zellige.open(store, "w", path="y", shape=3, dtype="f4"), zellige.Array
    )
    assert isinstance(zellige.open(store, "w-", path="z"), zellige.Group)
    assert len(zellige.open_group(store, "w")) == 0
    with pytest.raises(zellige.UsageError, match="mode"):
        zellige.open(store, "x")


def test_open_of_the_wrong_kind(store):
    zellige.create_array(store, path="a", data=DATA)
    with pytest.raises(zellige.NotFoundError):
        zellige.open_group(store, path="a")
    with pytest.raises(zellige.NotFoundError):
        zellige.open_array(store)
    with pytest.raises(FileExistsError):
        zellige.create_array(store, path="a", data=DATA)
    zellige.create_array(store, path="a", data=DATA[0], overwrite=True)
    same(zellige.open_array(store, path="a")[...], DATA[0])


def test_groups_create(store):
    root = zellige.create_group(store, attributes={"t": 1}, zarr_format=2)
    root.create_group("g", attributes={"u": 2}).create_array("x", data=DATA)
    assert zellige.open_group(store)["g/x"].zarr_format == 2
    assert zellige.open_group(store)["g"].attrs == {"u": 2}
    with pytest.raises(zellige.UsageError):
        root.create_array("/", data=DATA)


def test_a_group_for_reading_makes_nothing(tmp_path):
    zellige.create_group(tmp_path / "g")
    with pytest.raises(zellige.UsageError, match="reading only"):
        zellige.open_group(tmp_path / "g").create_group("x")


def test_save_and_load(store):
    zellige.save(store, DATA, path="one")
    same(zellige.load(store, "one"), DATA)
    zellige.save(store, DATA, DATA + 1, path="many", z=DATA + 2)
    found = zellige.load(store, "many")
    assert sorted(found) == ["arr_0", "arr_1", "z"]
    same(found["z"], DATA + 2)
    zellige.save(store, DATA[0], path="many")
    same(zellige.load(store, "many"), DATA[0])
    with pytest.raises(zellige.UsageError):
        zellige.save(store)


def test_wrong_arguments(store):
    for keywords in (
        {},
        {"shape": 3},
        {"dtype": "i4"},
        {"shape": (3, 4), "dtype": "i4", "chunks": (2,)},
        {"shape": -1, "dtype": "i4"},
        {"shape": (3, 4), "dtype": "i4", "dimension_names": ["a"]},
        {"shape": 3, "dtype": "nonsense"},
        {"shape": 3, "dtype": "i4", "chunks": 0},
        {"shape": 3, "dtype": "i4", "fill_value": "x"},
        {"shape": 3, "dtype": "i4", "zarr_format": 4},
        {"shape": (1,) * 40, "dtype": "i4"},
        {"shape": 3, "dtype": "i4", "codecs": ["nonsense"]},
    ):
        with pytest.raises((ValueError, TypeError)):
            zellige.create_array(store, path="w", **keywords)


def test_stores():
    store = zellige.MemoryStore()
    store.put("a/b", b"123")
    store.put("c", bytearray(b"4"))
    assert store.get("a/b") == b"123" and sorted(store.keys()) == ["a/b", "c"]
    assert store.keys("a") == ["b"]
    store.delete("c")
    store.delete("c")
    with pytest.raises(KeyError, match="no key c"):
        store.get("c")
    with pytest.raises(zellige.ZelligeError):
        store.get("../c")
