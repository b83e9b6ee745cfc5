"""Creating, writing, saving, loading; the modes of opening."""

import pickle

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.arange(60, dtype="f4").reshape(6, 10)


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return zellige.MemoryStore() if request.param == "memory" else str(tmp_path / "new")


@pytest.mark.parametrize("place", ["new", "deep/below/new", "file"])
def test_what_is_refused_leaves_nothing(tmp_path, place):
    """No folder either, where there was none; but what was there stays."""
    path = f"file://{tmp_path}/a%20b" if place == "file" else tmp_path / place
    for make in (
        lambda: zellige.create_array(path, shape=-1, dtype="u1"),
        lambda: zellige.create_array(path, shape=2, dtype="u1", chunks=(1, 1)),
        lambda: zellige.create_array(store=path, shape=2, dtype="u1", codecs=["none"]),
        lambda: zellige.create_array(path, name="a\\b", shape=2, dtype="u1"),
        lambda: zellige.create_group(path, attributes={"a": np.nan}),
        lambda: zellige.open_array(path, "w", shape=2, dtype="u1", chunks=(1, 1)),
        lambda: zellige.open_array(path, "a"),
        lambda: zellige.open(path, "w", shape=2, dtype="nix"),
        lambda: zellige.open_group(path, "w", zarr_format=4),
        lambda: zellige.from_array(path, data=DATA, chunks=(1, 2, 3)),
    ):
        with pytest.raises(zellige.ZelligeError):
            make()
        assert list(tmp_path.iterdir()) == []
    zellige.create_group(path)
    with pytest.raises(zellige.ZelligeError):
        zellige.create_array(path, name="a", shape=2, dtype="u1", codecs=["none"])
    assert zellige.open_group(path, "r").path == ""


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
    assert array.chunks == (1000, 1500) and array.fill_value == 0 and array.shards is None
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


def test_read_only(tmp_path):
    zellige.save(tmp_path / "a", DATA)
    array = zellige.open_array(tmp_path / "a", "r")
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
        zellige.open_group(store, "r", path="a")
    with pytest.raises(zellige.ExistsError):
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
        zellige.open_group(tmp_path / "g", "r").create_group("x")


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


def test_a_store_without_locks(tmp_path):
    store = zellige.LocalStore(tmp_path, no_locks=True)
    array = zellige.create_array(store, shape=9, dtype="i2", chunks=4, promise="durable")
    array[2:6] = 5
    assert array[...].tolist() == [0, 0, 5, 5, 5, 5, 0, 0, 0]
    again = pickle.loads(pickle.dumps(array))
    assert again.store.no_locks and not zellige.LocalStore(tmp_path).no_locks
    assert (again.promise, again.keep_empty, again.read_only) == ("durable", False, False)
    again[0] = 1
    assert array[0] == 1


def test_chosen_shapes():
    def shapes(**keywords):
        array = zellige.create_array(zellige.MemoryStore(), dtype="f4", **keywords)
        return array.chunks, array.shards

    big = {"shape": (8192, 8192)}
    assert shapes(**big) == ((2048, 2048), None)
    assert shapes(**big, chunks="auto", shards=None) == ((2048, 2048), None)
    assert shapes(**big, target_chunk_bytes=1 << 16) == ((128, 128), None)
    assert shapes(**big, shards="auto") == ((512, 512), (8192, 4096))
    assert shapes(**big, target_shard_bytes=4 << 20) == ((512, 512), (1024, 1024))
    assert shapes(**big, target_shard_bytes=4 << 20, target_chunk_bytes=1 << 18) == (
        (256, 256),
        (1024, 1024),
    )
    assert shapes(**big, chunks=(8, 8192), shards="auto") == ((8, 8192), (4096, 8192))
    assert shapes(**big, chunks=100, shards=(200, 300)) == ((100, 100), (200, 300))
    assert shapes(**big, shards=(-1, 60)) == ((4096, 60), (8192, 60))
    assert shapes(shape=(3001, 77), shards=(3003, 77)) == ((3003, 77), (3003, 77))
    assert shapes(shape=9000, shards=7007 * 77) == ((7007 * 11,), (7007 * 77,))
    assert shapes(
        shape=(4, 6), target_shard_bytes=32, target_chunk_bytes=16, shards="auto"
    ) == (
        (2, 2),
        (2, 4),
    )
    assert shapes(shape=()) == ((), None)
    for wrong in (
        {"chunks": "some"},
        {"shards": "big"},
        {"chunks": 3, "target_chunk_bytes": 5},
        {"chunks": 3, "shards": 9, "target_shard_bytes": 5},
        {"target_chunk_bytes": -1},
        {"chunks": 5, "shards": 9},
        {"shards": "auto", "zarr_format": 2},
    ):
        with pytest.raises(ValueError):
            shapes(shape=100, **wrong)


def codec_names(array):
    if array.zarr_format == 2:
        found = [*(array.codecs["filters"] or []), array.codecs["compressor"]]
        return [codec and codec["id"] for codec in found]
    return [codec["name"] for codec in array.codecs]


BIG = {"name": "bytes", "configuration": {"endian": "big"}}


class Told:
    """A codec of another library."""

    def to_dict(self):
        return {"name": "gzip", "configuration": {"level": 2}}


class ToldOfNumcodecs:
    def get_config(self):
        return {"id": "zlib", "level": 2}


def test_codecs_in_parts():
    def names(**keywords):
        array = zellige.create_array(zellige.MemoryStore(), shape=4, **keywords)
        value = np.zeros(4, array.dtype)
        if array.dtype.kind in "OT":
            value = [b"b" if keywords["dtype"] is bytes else "a"] * 4
        array[1:] = value[1:]
        assert array[...].tolist()[1:] == list(value[1:])
        return codec_names(array)

    transpose = {"name": "transpose", "configuration": {"order": [0]}}
    assert names(dtype="i4") == ["bytes", "zstd"]
    assert names(dtype="i4", compressors=None) == ["bytes"]
    assert names(dtype="i4", compressors=()) == ["bytes"]
    assert names(dtype="i4", compressors=Told()) == ["bytes", "gzip"]
    assert names(dtype="i4", compressors=["crc32c", Told()], filters=transpose) == [
        "transpose",
        "bytes",
        "crc32c",
        "gzip",
    ]
    assert names(dtype="i4", serializer=BIG, filters=None) == ["bytes", "zstd"]
    assert names(dtype="i4", codecs=[BIG, Told()]) == ["bytes", "gzip"]
    assert names(dtype="u1", compressors=None) == ["bytes"]
    assert names(dtype=str, compressors=None) == ["vlen-utf8"]
    assert names(dtype=bytes, compressors="crc32c") == ["vlen-bytes", "crc32c"]
    assert names(dtype={"name": "string"}, compressors=None) == ["vlen-utf8"]
    old = {"zarr_format": 2}
    delta = {"id": "delta", "dtype": "<i4"}
    assert names(dtype="i4", **old) == ["zstd"]
    assert names(dtype="i4", compressors=None, **old) == [None]
    assert names(dtype="i4", compressors=ToldOfNumcodecs(), **old) == ["zlib"]
    assert names(dtype="i4", filters=[delta], compressors=None, **old) == ["delta", None]
    assert names(dtype=str, **old) == ["vlen-utf8", "zstd"]
    assert names(dtype=str, filters=None, compressors=None, **old) == ["vlen-utf8", None]
    assert names(dtype=bytes, filters=[{"id": "vlen-bytes"}], **old) == [
        "vlen-bytes",
        "zstd",
    ]
    for wrong in (
        {"codecs": ["bytes"], "compressors": None},
        {"serializer": "bytes", **old},
        {"compressors": [ToldOfNumcodecs()] * 2, **old},
        {"compressors": "nonsense"},
    ):
        with pytest.raises(ValueError):
            names(dtype="i1", **wrong)


def test_exist_ok(store):
    first = zellige.create_array(store, path="a", data=DATA, attributes={"k": 1})
    keywords = {"path": "a", "shape": (6, 10), "dtype": "f4"}
    again = zellige.create_array(store, exist_ok=True, chunks=(1, 1), **keywords)
    assert again == first and again.chunks == (6, 10) and again.attrs == {"k": 1}
    same(again[...], DATA)
    again[0, 0] = 5
    for change in ({"shape": (6, 11)}, {"dtype": "f8"}):
        with pytest.raises(FileExistsError):
            zellige.create_array(store, exist_ok=True, **{**keywords, **change})
    for more in ({"overwrite": True}, {"data": DATA}):
        with pytest.raises(zellige.UsageError):
            zellige.create_array(store, exist_ok=True, **keywords, **more)
    zellige.create_group(store, path="g", attributes={"k": 1})
    assert zellige.create_group(store, path="g", exist_ok=True).attrs == {"k": 1}
    for make in (zellige.create_group, zellige.create_array):
        with pytest.raises(FileExistsError):
            path = (
                {"path": "a"} if make is zellige.create_group else {**keywords, "path": "g"}
            )
            make(store, exist_ok=True, **path)


LIKES = [
    {"chunks": (2, 5), "shards": (4, 10), "index_location": "start", "compressors": Told()},
    {"chunks": (2, 5), "dimension_names": ("y", "x"), "fill_value": 3},
    {"chunks": (3, 4), "zarr_format": 2, "order": "F", "separator": "/"},
    {"dtype": "string", "chunks": (2, 5), "fill_value": "f"},
    {"dtype": "numpy.datetime64", "chunks": (2, 2)},
]


@pytest.mark.parametrize("keywords", LIKES)
def test_like(keywords):
    keywords = {"shape": (6, 10), "dtype": "i4", **keywords}
    if keywords["dtype"] == "numpy.datetime64":
        keywords["dtype"] = np.dtype("M8[10s]")
    source = zellige.create_array(
        zellige.MemoryStore(), attributes={"only": "here"}, **keywords
    )

    def document(array):
        return {**array.metadata, "attributes": {}, "shape": None}

    made = zellige.create_array(zellige.MemoryStore(), like=source)
    assert document(made) == document(source) and made.shape == (6, 10)
    assert made.attrs == {}
    made = zellige.create_array(
        zellige.MemoryStore(), like=source, shape=(100, 7), attributes={"a": 1}
    )
    assert document(made) == document(source) and made.shape == (100, 7)
    assert made.attrs == {"a": 1}
    assert document(made)["fill_value"] == document(source)["fill_value"]
    with pytest.raises(zellige.UsageError):
        zellige.create_array(zellige.MemoryStore(), like=source, compressors=None)
    with pytest.raises(zellige.UsageError):
        zellige.create_array(zellige.MemoryStore(), like=source, shape=3)
    with pytest.raises(TypeError):
        zellige.create_array(zellige.MemoryStore(), like=DATA)


def test_like_with_changes():
    sharded = zellige.create_array(
        zellige.MemoryStore(), shape=(6, 10), dtype="i4", chunks=(2, 5), shards=(4, 10)
    )
    plain = zellige.create_array(
        zellige.MemoryStore(), shape=(6, 10), dtype="i4", chunks=(3, 5)
    )

    def shapes(**keywords):
        array = zellige.create_array(zellige.MemoryStore(), **keywords)
        return array.chunks, array.shards

    assert shapes(like=sharded, chunks=(4, 2)) == ((4, 2), (4, 10))
    assert shapes(like=sharded, shards=(8, 5)) == ((2, 5), (8, 5))
    assert shapes(like=sharded, chunks=(1, 5), shards=(8, 5)) == ((1, 5), (8, 5))
    assert shapes(like=sharded, codecs=[BIG]) == ((2, 5), (4, 10))
    assert shapes(like=plain, chunks=(6, 10)) == ((6, 10), None)
    assert shapes(like=plain, shards=(6, 10)) == ((3, 5), (6, 10))
    array = zellige.create_array(
        zellige.MemoryStore(), like=plain, data=DATA[:4], dtype="f8"
    )
    assert array.dtype == "f8" and array.shape == (4, 10)
    same(array[...], DATA[:4].astype("f8"))


def test_data_in_its_own_byte_order(store):
    data = DATA.astype(">f4")
    array = zellige.create_array(store, path="3", data=data)
    assert array.zarr_dtype == "float32"
    same(array[...], DATA)
    array = zellige.create_array(store, path="2", data=data, zarr_format=2)
    assert array.zarr_dtype == ">f4"
    same(array[...], DATA)


def test_attributes_that_are_no_json(store):
    for make in (zellige.create_group, zellige.create_array):
        keywords = {} if make is zellige.create_group else {"shape": 1, "dtype": "i1"}
        for zarr_format in (2, 3):
            keywords["path"] = f"{make.__name__}{zarr_format}"
            keywords["zarr_format"] = zarr_format
            with pytest.raises(zellige.UsageError, match="deep"):
                make(store, attributes={"a": {"deep": [1, np.nan]}}, **keywords)
            with pytest.raises(zellige.NotFoundError):
                zellige.open(store, path=keywords["path"])
            node = make(store, attributes={"a": np.nan}, python_tokens=True, **keywords)
            assert np.isnan(node.attrs["a"])


def test_overwrite_looks_at_the_data_first(tmp_path):
    zellige.create_array(tmp_path, data=np.arange(3))
    for data in (["a", None], np.array(["a", object()], object)):
        with pytest.raises((TypeError, ValueError)):
            zellige.create_array(tmp_path, data=data, dtype="string", overwrite=True)
    assert zellige.open_array(tmp_path)[...].tolist() == [0, 1, 2]


def test_zstd_of_version_2():
    """Readers that are older than checksums refuse to hear of them."""
    plain = {"id": "zstd", "level": 3}
    for codec, expected in (
        (zellige.codecs.ZstdCodec(level=3), plain),
        ({**plain, "checksum": False}, plain),
        ({"name": "zstd", "configuration": {"level": 3, "checksum": False}}, plain),
        (zellige.codecs.Zstd(level=3, checksum=True), {**plain, "checksum": True}),
    ):
        array = zellige.create_array(data=DATA, zarr_format=2, compressors=codec)
        assert array.metadata["compressor"] == expected
        same(array[...], DATA)


@pytest.mark.parametrize("name", ["a/.zlg-tmp-0", ".zlg-tmp-0/b", "a/b/" + 256 * "x"])
def test_names_of_no_file_leave_nothing(tmp_path, name):
    for make in (zellige.create_group, lambda *a, **k: zellige.zeros(*a, shape=1, **k)):
        with pytest.raises(zellige.UsageError, match="reserved|256 bytes"):
            make(store=tmp_path / "new", path=name)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["string", str, "|O"])
@pytest.mark.parametrize(
    "codec",
    [
        {"id": "json2"},
        {"id": "msgpack2"},
        {"id": "vlen-utf8"},
        {"id": "categorize", "labels": ["a", "b"], "dtype": "|O", "astype": "|u1"},
    ],
)
def test_filters_of_texts_in_version_2(codec, dtype):
    array = zellige.create_array(shape=2, dtype=dtype, zarr_format=2, filters=[codec])
    array[...] = ["a", "b"]
    assert array[...].tolist() == ["a", "b"]
    assert [filter["id"] for filter in array.metadata["filters"]] == [codec["id"]]
