"""What zarr-python's names of functions and of groups do."""

import numpy as np
import pytest
import zellige
from conftest import same
from zellige.coding import split

DATA = np.arange(60, dtype="i4").reshape(6, 10)


class Told:
    """A codec as objects of zarr-python are, or with `get_config` those of numcodecs."""

    def __init__(self, document, tell="to_dict"):
        setattr(self, tell, lambda: dict(document))


class ZDType:
    """A data type as zarr-python has them."""

    def __init__(self, told, native):
        self._told, self._native = told, native

    def to_json(self, *, zarr_format):
        return self._told

    def to_native_dtype(self):
        return self._native


def codecs(**keywords):
    array = zellige.create_array(shape=(4, 4), dtype="f4", **keywords)
    array[1:3] = 2.5
    assert zellige.open_array(array.store)[1, 1] == 2.5
    return split(array.codecs)


# ---------------------------------------------------------------------- creating


def test_codecs_of_every_kind():
    zlib = Told({"id": "zlib", "level": 1}, "get_config")
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    plain = {"name": "bytes", "configuration": {"endian": "little"}}
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}

    assert codecs(compressors=zlib)[2] == (
        {"name": "numcodecs.zlib", "configuration": {"level": 1}},
    )
    found = codecs(compressors=[Told(blosc, "get_config"), "crc32c"])[2]
    assert [codec["name"] for codec in found] == ["blosc", "crc32c"]
    assert found[0]["configuration"]["shuffle"] == "shuffle"
    assert found[0]["configuration"]["typesize"] == 4
    found = codecs(
        filters=Told({"name": "transpose", "configuration": {"order": (1, 0)}}),
        serializer=Told(plain),
        compressors=None,
    )
    assert found == ((transpose,), plain, ())
    assert codecs(filters=None, compressors="gzip")[2][0]["name"] == "gzip"
    assert codecs(serializer=None)[1] == plain
    assert codecs(chunks=2, shards=4, compressors=())[1:] == (plain, ())


def test_codecs_are_told():
    for keywords in (
        {"compressors": {"name": "numcodecs.zlib", "configuration": {"level": 1}}},
        {"chunks": 2, "shards": 4, "compressors": ["gzip", "crc32c"]},
        {"filters": {"name": "transpose", "configuration": {"order": [1, 0]}}},
        {"zarr_format": 2, "filters": {"id": "delta", "dtype": "<f8"}},
    ):
        array = zellige.create_array(shape=(4, 4), dtype="f8", **keywords)
        parts = {"filters": array.filters, "compressors": array.compressors}
        if array.zarr_format == 3:
            assert array.serializer == zellige.codecs.BytesCodec()
            parts["serializer"] = array.serializer
        again = zellige.create_array(
            shape=(4, 4), dtype="f8", zarr_format=array.zarr_format, **parts
        )
        assert again.filters == array.filters and again.compressors == array.compressors
    assert zellige.zeros(3).compressors == (zellige.codecs.ZstdCodec(level=0),)


def test_choices_have_names():
    made = zellige.codecs.BloscCodec(
        cname=zellige.codecs.BloscCname.lz4, shuffle=zellige.codecs.BloscShuffle.from_int(2)
    )
    found = codecs(compressors=made)[2][0]["configuration"]
    assert (found["cname"], found["shuffle"]) == ("lz4", "bitshuffle")
    assert type(made.to_dict()["configuration"]["cname"]) is str
    big = zellige.codecs.BytesCodec(endian=zellige.codecs.Endian.big)
    sharding = zellige.codecs.ShardingCodec(
        chunk_shape=(2, 2), index_location=zellige.codecs.ShardingCodecIndexLocation.start
    )
    assert codecs(serializer=big)[1]["configuration"] == {"endian": "big"}
    array = zellige.create_array(
        shape=(4, 4), dtype="i4", chunks=4, serializer=sharding, compressors=None
    )
    assert array.codecs[0]["configuration"]["index_location"] == "start"


def test_codecs_of_version_2():
    for given in (
        {"id": "gzip", "level": 2},
        {"name": "gzip", "configuration": {"level": 2}},
        Told({"name": "numcodecs.gzip", "configuration": {"level": 2}}),
        [Told({"id": "gzip", "level": 2}, "get_config")],
    ):
        found = codecs(compressors=given, zarr_format=2)
        assert found == ((), None, ({"id": "gzip", "level": 2},))
    found = codecs(
        zarr_format=2,
        filters={"id": "delta", "dtype": "<f4"},
        compressors={
            "name": "blosc",
            "configuration": {
                "cname": "lz4",
                "clevel": 1,
                "shuffle": "bitshuffle",
                "typesize": 4,
                "blocksize": 0,
            },
        },
    )
    assert found[0][0]["id"] == "delta" and found[2][0]["shuffle"] == 2
    array = zellige.create_array(shape=3, dtype="f4", zarr_format=2)
    assert array.compressor == array.compressors[0]
    with pytest.raises(TypeError):
        zellige.zeros(3).compressor


def test_blosc_of_zarr_python_learns_the_elements():
    codec = Told(
        {
            "name": "blosc",
            "configuration": {
                "cname": "zstd",
                "clevel": 5,
                "typesize": 1,
                "shuffle": "bitshuffle",
                "blocksize": 0,
            },
        }
    )
    codec._tunable_attrs = {"typesize", "shuffle"}
    assert codecs(compressors=codec)[2][0]["configuration"]["typesize"] == 4
    assert codecs(compressors=codec)[2][0]["configuration"]["shuffle"] == "shuffle"
    codec._tunable_attrs = set()
    assert codecs(compressors=codec)[2][0]["configuration"]["shuffle"] == "bitshuffle"


def test_chunks_and_shards():
    def shapes(**keywords):
        array = zellige.create_array(shape=(8, 6), dtype="i4", **keywords)
        return array.chunks, array.shards

    assert shapes(chunks=2) == ((2, 2), None)
    assert shapes(chunks=(-1, 2)) == ((8, 2), None)
    assert shapes(chunks=np.int64(3), shards=np.array([6, 6])) == ((3, 3), (6, 6))
    assert shapes(chunks=np.array([4, 3])) == ((4, 3), None)
    assert shapes(chunks="auto", shards=None)[1] is None
    assert shapes(chunks=2, shards={"shape": (4, 6), "index_location": "start"}) == (
        (2, 2),
        (4, 6),
    )
    array = zellige.create_array(
        shape=(8, 6), dtype="i4", chunks=2, shards={"shape": 4, "index_location": "start"}
    )
    assert array.codecs[0]["configuration"]["index_location"] == "start"
    array = zellige.create_array(data=np.arange(48).reshape(8, 6), chunks=[[3, 5], 4])
    assert array.write_chunk_sizes == ((3, 5), (4, 2)) and array[4, 5] == 29
    array = zellige.create_array(
        data=np.arange(48).reshape(8, 6), chunks=(2, 2), shards=[[2, 6], [4, 2]]
    )
    assert array.write_chunk_sizes == ((2, 6), (4, 2)) and array[4, 5] == 29
    assert array.nchunks_initialized == array.nchunks == 12
    for wrong in (
        {"chunks": True},
        {"chunks": {"a": 1}},
        {"chunks": [[8], [6], [1]]},
        {"shards": [[4, 4], 6]},
        {"shards": {}},
    ):
        with pytest.raises((ValueError, KeyError)):
            shapes(**wrong)


def test_keys_of_chunks():
    def key(**keywords):
        store = zellige.MemoryStore()
        zellige.create_array(store, data=DATA, chunks=(6, 10), **keywords)
        return [one for one in store.keys() if not one.startswith((".z", "zarr"))]

    assert key() == ["c/0/0"]
    assert key(chunk_key_encoding={"name": "default", "separator": "."}) == ["c.0.0"]
    assert key(chunk_key_encoding=("v2", ".")) == ["0.0"]
    assert key(chunk_key_encoding="v2") == ["0.0"]
    assert key(zarr_format=2, chunk_key_encoding={"name": "v2", "separator": "/"}) == [
        "0/0"
    ]
    told = Told({"name": "v2", "configuration": {"separator": "/"}})
    assert key(chunk_key_encoding=told) == ["0/0"]
    with pytest.raises(zellige.UsageError):
        key(zarr_format=2, chunk_key_encoding={"name": "default", "separator": "/"})


def test_types_of_every_kind():
    for given in ("str", str, "string", ZDType("string", np.dtype(object))):
        assert zellige.create_array(shape=2, dtype=given).zarr_dtype == "string"
    told = ZDType({"name": "x"}, np.dtype(">i2"))
    assert zellige.create_array(shape=2, dtype=told).dtype == np.dtype("i2")
    for version in (2, 3):
        array = zellige.create_array(shape=2, dtype="M8[s]", zarr_format=version)
        assert np.isnat(array[0]) and np.isnat(array.fill_value)
        array = zellige.create_array(
            shape=2, dtype="i4", zarr_format=version, fill_value=None
        )
        assert array.fill_value == (None if version == 2 else 0) and array[0] == 0


def test_what_a_name_says():
    store = zellige.MemoryStore()
    zellige.create_array(store, name="a/b", shape=2, dtype="i4")
    assert list(zellige.open_group(store, path="a")) == ["b"]
    with pytest.raises(zellige.UsageError):
        zellige.create_array(store, name="x", path="y", shape=2, dtype="i4")
    array = zellige.create_array(store, name="w", data=DATA, write_data=False)
    assert array.shape == DATA.shape and array.nchunks_initialized == 0


def test_like():
    sharded = zellige.create_array(
        shape=(6, 10),
        dtype="f8",
        chunks=(2, 5),
        shards=(4, 10),
        fill_value=1.5,
        codecs=["bytes", {"name": "gzip", "configuration": {"level": 1}}],
    )
    plain = zellige.create_array(like=sharded, shards=None)
    assert (plain.chunks, plain.shards) == ((2, 5), None) and plain.fill_value == 1.5
    assert [codec["name"] for codec in plain.codecs] == ["bytes", "gzip"]
    assert zellige.create_array(like=sharded, shards=None, chunks=3).chunks == (3, 3)
    assert zellige.create_array(like=sharded).shards == (4, 10)
    for dtype, fill in (
        ("f4", 1.5),
        ("i4", 0),
        ("M8[s]", np.datetime64(0, "s")),
        ("S2", b""),
    ):
        made = zellige.create_array(like=sharded, dtype=dtype)
        assert made.dtype == dtype and made.fill_value == fill
    whole = zellige.create_array(like=sharded, fill_value=3)
    assert zellige.create_array(like=whole, dtype="u1").fill_value == 3


def test_like_numpy():
    source = zellige.create_array(shape=(4, 4), dtype="i4", chunks=2, compressors=None)
    for made, value in (
        (zellige.zeros_like(source), 0),
        (zellige.ones_like(source), 1),
        (zellige.full_like(source, 7), 7),
        (zellige.empty_like(source), 0),
    ):
        assert (made[...] == value).all() and made.chunks == (2, 2) and not made.compressors
    assert zellige.full_like(source, 2, zarr_format=2).zarr_format == 2
    assert zellige.ones_like([1, 2, 3]).shape == (3,)
    assert zellige.zeros(3).dtype == "f8" and zellige.ones(3)[0] == 1
    assert zellige.create(4, chunks=False).chunks == (4,)
    assert zellige.create(4, codecs=["bytes"]).compressors == ()
    with pytest.raises(zellige.UsageError):
        zellige.create(4, chunks=True)
    with pytest.raises(zellige.UsageError):
        zellige.create(4, read_only=True)
    with pytest.warns(zellige.errors.ZarrRuntimeWarning, match="synchronizer"):
        zellige.create(4, synchronizer=object())


def test_open_like(tmp_path):
    source = zellige.create_array(shape=(4, 4), dtype="i4", chunks=2)
    made = zellige.open_like(source, tmp_path / "x")
    assert made.chunks == (2, 2) and zellige.open_like(source, tmp_path / "x") == made
    made = zellige.open_like(np.zeros(3), "y", store=tmp_path, chunks=2)
    assert made.path == "y" and made.chunks == (2,) and made.dtype == "f8"


# ---------------------------------------------------------------------- groups


def test_members_of_a_group():
    root = zellige.group(attributes={"a": 1})
    root.zeros(name="z", shape=(2, 2), chunks=1)
    root.ones(name="o", shape=2)
    root.full(name="f", shape=2, fill_value=5)
    root.empty(name="e", shape=2, dtype="i2")
    for name in ("zeros", "ones", "empty"):
        getattr(root, f"{name}_like")(name=f"{name}_like", data=root["f"])
    root.full_like(name="full_like", data=root["o"], fill_value=3)
    assert root["full_like"][0] == 3 and root["zeros_like"][0] == 0 and root["f"][1] == 5
    assert root["o"].dtype == "f8" and root["z"].chunks == (1, 1)
    root["new"] = [1, 2]
    root["new"] = [3]
    assert root["new"][...].tolist() == [3]
    assert root.create("c", shape=3, dtype="i4", compressor=None).compressors == ()
    assert len(root.members()) == root.nmembers() == 10
    first, second = root.require_groups("g", "h")
    assert list(root.group_keys()) == ["g", "h"] == [g.path for g in root.group_values()]
    assert [name for name, _ in root.groups()] == ["g", "h"]
    assert len(list(root.arrays())) == len(list(root.array_keys())) == 10
    assert all(isinstance(array, zellige.Array) for array in root.array_values())
    with pytest.raises(zellige.IncompatibleError):
        root.get_array("g")
    with pytest.raises(zellige.errors.ContainsArrayError):
        root.get_group("new")
    assert root.require_group("g", overwrite=True).path == "g"
    assert root.update_attributes({"b": 2}) is root and root.attrs == {"a": 1, "b": 2}


def test_ways_to_a_group(tmp_path):
    made = zellige.Group.from_store(tmp_path, attributes={"k": 1})
    assert zellige.Group.open(tmp_path).attrs == made.attrs
    made.create_array("x", data=DATA)
    same(zellige.Array.open(made.store_path / "x")[...], DATA)
    with pytest.raises(zellige.UsageError, match="no consolidated metadata"):
        zellige.open_consolidated(tmp_path)
    with pytest.raises(zellige.UsageError):
        zellige.open_group(tmp_path, use_consolidated=True)
    assert made.metadata.consolidated_metadata is None
    zellige.consolidate_metadata(tmp_path)
    group = zellige.open_consolidated(tmp_path)
    assert group.is_consolidated and "x" in group.metadata.consolidated_metadata["metadata"]
    assert group.members(use_consolidated_for_children=False) == group.members()
    with pytest.raises(TypeError):
        zellige.open_consolidated(tmp_path, use_consolidated=False)
    with pytest.raises(TypeError):
        zellige.open_group(tmp_path, nonsense=1)
    with pytest.raises(zellige.UnsupportedError):
        zellige.open_group(tmp_path, use_consolidated="elsewhere")
    with pytest.raises(TypeError):
        zellige.open(tmp_path, config={"write_empty_chunks": True})


def test_reports():
    root = zellige.group()
    root.create_array("g/x", data=DATA, chunks=(2, 5))
    assert "n stored    : 6" not in str(root["g/x"].info)
    assert "n stored    : 6" in str(root["g/x"].info_complete())
    assert "arrays      : 0" in str(root.info)
    assert "arrays      : 1" in str(root.info_complete())
    assert str(root.tree(level=0)) == "/\n└── g" == str(zellige.tree(root, level=0))
    assert "1 more" in str(root.tree(max_nodes=1))
    assert root["g/x"].metadata.to_dict()["shape"] == [6, 10]
    assert root["g/x"].metadata.zarr_format == 3
    with pytest.raises(AttributeError):
        root.metadata.nonsense


def test_what_a_report_of_a_fault_says(capsys):
    zellige.print_debug_info()
    said = capsys.readouterr().out
    assert f"zellige: {zellige.__version__}" in said and np.__version__ in said


def test_names_that_are_no_text():
    for version in (2, 3):
        group = zellige.create_group(zarr_format=version, attributes={"a\udc80": 1, "b": 2})
        assert dict(group.attrs) == {"a\udc80": 1, "b": 2}
        del group.attrs["a\udc80"]
        assert zellige.open_group(group.store).attrs == {"b": 2}


# ---------------------------------------------------------------------- many


@pytest.mark.parametrize("version", [2, 3])
def test_hierarchy(version):
    source = zellige.group(zarr_format=version, attributes={"r": 1})
    source.create_array("g/x", data=DATA, chunks=(2, 5), attributes={"k": [1]})
    source.create_array("s", shape=3, dtype=str)
    if version == 3:
        source.create_array("t", shape=(4, 4), dtype="f4", chunks=2, shards=4, fill_value=2)
    nodes = {path: node.metadata for path, node in source.members(max_depth=None)}
    store = zellige.MemoryStore()
    made = dict(zellige.create_hierarchy(store=store, nodes={"": source.metadata, **nodes}))
    assert list(made) == ["", *sorted(nodes, key=lambda path: (path.count("/"), path))]
    for path, node in nodes.items():
        assert zellige.open(store, path=path).metadata == node
    assert zellige.open_group(store).attrs == {"r": 1}
    with pytest.raises(zellige.ExistsError):
        list(zellige.create_hierarchy(store=store, nodes={"s": nodes["s"]}))
    target = zellige.group(zarr_format=version).create_group("in")
    assert len(dict(target.create_hierarchy({"a/b": Told(nodes["g/x"])}))) == 1
    assert target["a/b"].attrs == {"k": [1]}
    with pytest.raises(zellige.UsageError):
        list(target.create_hierarchy({"q": {"shape": 3}}))


def test_from_array():
    source = zellige.create_array(
        data=DATA,
        chunks=(2, 5),
        shards=(4, 10),
        fill_value=-1,
        attributes={"a": 1},
        dimension_names=("y", "x"),
        compressors="gzip",
    )
    kept = zellige.from_array(None, data=source)
    same(kept[...], DATA)
    assert kept.metadata == source.metadata
    other = zellige.from_array(None, data=source, chunks=(3, 10), shards=None)
    assert (other.chunks, other.shards) == ((3, 10), None)
    assert other.compressors == source.compressors
    same(other[...], DATA)
    assert zellige.from_array(None, data=source, compressors=None).compressors == ()
    old = zellige.from_array(None, data=source, zarr_format=2)
    same(old[...], DATA)
    assert old.zarr_format == 2 and old.fill_value == -1 and old.attrs == {"a": 1}
    varied = zellige.create_array(data=DATA, chunks=[[1, 5], 10])
    assert zellige.from_array(None, data=varied).metadata == varied.metadata
    assert zellige.from_array(None, data=varied, chunks=3).chunks == (3, 3)
    empty = zellige.from_array(None, data=source, write_data=False)
    assert empty.nchunks_initialized == 0
    same(zellige.from_array(None, data=[[1, 2]])[...], np.array([[1, 2]]))
    with pytest.raises(zellige.UsageError):
        zellige.from_array(source.store, data=source, overwrite=True)


def test_from_what_is_no_array_of_numpy():
    class Lazy:
        """Parts on request, and none larger than was asked for."""

        shape, dtype = (6, 10), DATA.dtype
        asked = []

        def __getitem__(self, key):
            self.asked.append(key)
            return DATA[key]

    same(zellige.from_array(None, data=Lazy(), chunks=(2, 10))[...], DATA)
    assert Lazy.asked
    texts = zellige.create_array(data=np.array(["a", "bb"], object), dtype=str)
    assert zellige.from_array(None, data=texts)[...].tolist() == ["a", "bb"]
    assert zellige.create_array(data=texts)[...].tolist() == ["a", "bb"]


def test_copies(tmp_path):
    source = zellige.create_group(tmp_path / "a", attributes={"k": 1})
    source.create_array("g/x", data=DATA)
    source.create_array("y", data=DATA[0])
    target = zellige.copy_all(source, tmp_path / "b")
    same(target["g/x"][...], DATA)
    assert sorted(target) == ["g", "y"] and not target.attrs
    assert zellige.copy(source["y"], target, name="z").path == "z"
    told = []
    n, skipped, n_bytes = zellige.copy_store(
        tmp_path / "a", tmp_path / "c", progress=lambda *at: told.append(at)
    )
    same(zellige.open_group(tmp_path / "c")["y"][...], DATA[0])
    assert (n, skipped) == (6, 0) and told[-1][0] == told[-1][1] == n_bytes > 0
    with pytest.raises(zellige.ExistsError):
        zellige.copy_store(tmp_path / "a", tmp_path / "c")
    assert zellige.copy_store(tmp_path / "a", tmp_path / "c", if_exists="skip")[:2] == (
        0,
        6,
    )
    assert zellige.copy_store(tmp_path / "a", tmp_path / "c", if_exists="replace")[0] == 6
    assert zellige.copy_store(tmp_path / "a", tmp_path / "c", "g", "q")[0] == 3
    with pytest.raises(zellige.UsageError):
        zellige.copy_store(tmp_path / "a", tmp_path / "c", if_exists="maybe")


def test_progress_of_long_calls(tmp_path):
    told = []

    def tell(*at):
        told.append(at)

    for call in (
        lambda: zellige.save(tmp_path / "a", DATA, progress=tell),
        lambda: zellige.save(tmp_path / "g", DATA, x=DATA, progress=tell),
        lambda: zellige.copy(tmp_path / "g", tmp_path / "h", progress=tell),
        lambda: zellige.from_array(None, data=zellige.array(DATA), progress=tell),
        lambda: zellige.create_array(data=DATA, progress=tell),
        lambda: zellige.array(DATA).read(progress=tell),
        lambda: zellige.read_many([(zellige.array(DATA), ...)], progress=tell),
        lambda: zellige.write_many([(zellige.array(DATA), ..., DATA)], progress=tell),
    ):
        told.clear()
        call()
        assert told[0] == (0, 240) and told[-1] == (240, 240)
    for wrong in (5, "tqdm"):
        with pytest.raises(TypeError):
            zellige.array(DATA).read(progress=wrong)
