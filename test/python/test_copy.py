"""Copies of arrays and groups."""

import math

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.arange(221, dtype="i4").reshape(13, 17)
GZIP = {"name": "gzip", "configuration": {"level": 1}}


def document(array):
    return {**array.metadata, "attributes": {}}


SOURCES = {
    "shards": {"data": DATA, "chunks": (2, 3), "shards": (4, 6), "index_location": "start"},
    "plain": {"data": DATA, "chunks": (5, 5), "dimension_names": ("y", None)},
    "version 2": {"data": DATA, "chunks": (5, 5), "zarr_format": 2, "order": "F"},
    "big-endian": {"data": DATA.astype(">i4"), "chunks": 4, "zarr_format": 2},
    "no axes": {"data": np.array(5.5)},
    "nothing": {"data": np.zeros((0, 3))},
    "texts": {"data": DATA.astype(str), "dtype": str, "chunks": (5, 20)},
    "texts 2": {"data": DATA.astype("S"), "dtype": bytes, "chunks": 5, "zarr_format": 2},
    "records": {"data": np.ones(5, [("a", "i2"), ("b", "f8")]), "chunks": 2},
    "rectilinear": {
        "data": DATA,
        "chunk_grid": {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": [[2, 7, 4], 5]},
        },
    },
}


@pytest.mark.parametrize("name", SOURCES)
def test_arrays(tmp_path, name, monkeypatch):
    monkeypatch.setattr("zellige.copying._PIECE", 200)
    attributes = {"u": "K", "nan": math.nan}
    keywords = {**SOURCES[name], "attributes": attributes, "python_tokens": True}
    source = zellige.create_array(zellige.MemoryStore(), path="a", **keywords)
    with pytest.raises(zellige.UsageError, match="a: attributes: 'nan' holds NaN"):
        zellige.copy(source, tmp_path / "none", path="b/c")
    assert not (tmp_path / "none").exists()
    made = zellige.copy(source, tmp_path, path="b/c", python_tokens=True)
    again = zellige.open_array(tmp_path, path="b/c")
    assert made == again and document(again) == document(source)
    assert repr(again.attrs) == repr(source.attrs)
    same(np.asarray(again[...]), np.asarray(source[...]))
    with pytest.raises(zellige.ExistsError):
        zellige.copy(source, tmp_path, path="b/c", python_tokens=True)
    ways = {"overwrite": True, "python_tokens": True}
    zellige.copy(source.store, tmp_path, source_path="a", path="b/c", **ways)
    same(np.asarray(zellige.load(tmp_path, "b/c")), np.asarray(source[...]))


def test_other_layouts(monkeypatch):
    monkeypatch.setattr("zellige.copying._PIECE", 500)

    def copied(source, **changes):
        made = zellige.copy(source, zellige.MemoryStore(), **changes)
        assert np.array_equal(made[...], source[...])
        assert made.fill_value == source.fill_value and made.attrs == source.attrs
        return made

    for name in ("shards", "version 2", "texts", "texts 2", "rectilinear"):
        source = zellige.create_array(
            zellige.MemoryStore(), attributes={"k": 1}, **SOURCES[name]
        )
        for zarr_format in (2, 3):
            changes = {"zarr_format": zarr_format, "chunks": (3, 17), "shards": None}
            made = copied(source, **changes)
            assert made.zarr_format == zarr_format and made.chunks == (3, 17)
            assert made.shards is None
        made = copied(source, zarr_format=3, chunks=(3, 4), shards=(9, 8), compressors=GZIP)
        assert (made.chunks, made.shards) == ((3, 4), (9, 8))
        assert made.codecs[0]["configuration"]["codecs"][-1]["name"] == "gzip"
    source = zellige.create_array(zellige.MemoryStore(), **SOURCES["shards"])
    assert copied(source, chunks=(4, 3)).shards == (4, 6)
    wide = copied(source, dtype="i8", keep_empty=True)
    assert wide.dtype == "i8" and wide.chunks == (2, 3) and wide.keep_empty
    assert copied(source, shards="auto").chunks == (2, 3)


def test_what_is_not_stored_stays_so():
    source = zellige.create_array(
        zellige.MemoryStore(), shape=(100, 100), dtype="f8", chunks=(10, 10), fill_value=3
    )
    source[55, 55] = 1
    made = zellige.copy(source, zellige.MemoryStore())
    assert made._stored()[0] == 1
    same(made[...], source[...])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_groups(tmp_path, zarr_format):
    source = zellige.create_group(
        zellige.MemoryStore(), zarr_format=zarr_format, attributes={"t": 1}
    )
    source.create_group("g", attributes={"u": 2}).create_array("x", data=DATA, chunks=5)
    source.create_array("g/h/y", data=DATA[0], attributes={"v": 3})
    source.create_group("empty")
    made = zellige.copy(source, tmp_path / "a")
    assert made == zellige.open_group(tmp_path / "a") and not made.is_consolidated

    def nodes(group):
        return {
            path: (type(node).__name__, node.attrs.asdict(), node.zarr_format)
            for path, node in group.members(max_depth=None)
        }

    assert nodes(made) == nodes(source) and made.attrs == {"t": 1}
    same(made["g/x"][...], DATA)
    source.consolidate()
    into = zellige.create_group(tmp_path / "b")
    made = zellige.copy(source, into, path="below", promise="durable")
    assert made.is_consolidated and made.path == "below" and nodes(made) == nodes(source)
    other = zellige.copy(made["g"], tmp_path / "c", zarr_format=5 - zarr_format)
    assert {node[2] for node in nodes(other).values()} == {5 - zarr_format}
    same(other["h/y"][...], DATA[0])
    with pytest.raises(zellige.ExistsError):
        zellige.copy(source, tmp_path / "a")
    zellige.copy(source["g"], tmp_path / "a", overwrite=True)
    assert list(zellige.open_group(tmp_path / "a")) == ["h", "x"]


def test_copies_within_a_store(tmp_path):
    root = zellige.create_group(tmp_path)
    root.create_group("a").create_array("x", data=DATA)
    root.create_group("ab")
    zellige.copy(root["a"], root, path="b")
    zellige.copy(root["a"], tmp_path, path="ab/c")
    same(root["b/x"][...], DATA)
    same(root["ab/c/x"][...], DATA)
    for source, path in [("a", "a"), ("a", "a/b"), ("a", ""), ("ab/c", "ab"), ("", "a")]:
        with pytest.raises(zellige.UsageError, match="within"):
            zellige.copy(
                zellige.open_group(tmp_path, path=source),
                tmp_path,
                path=path,
                overwrite=True,
            )
    same(root["a/x"][...], DATA)


@pytest.mark.parametrize("version", [2, 3])
def test_tokens_that_are_no_json(tmp_path, version):
    """A new document has them only when they are asked for; one that has some keeps them."""
    bad = {"n": [{"x": math.inf}]}
    source = zellige.create_group(tmp_path / "a", zarr_format=version)
    array = source.create_array(
        "g/x", data=np.arange(4), attributes=bad, python_tokens=True
    )
    whole = r"g/x: .*\"n\".*Infinity is no JSON; python_tokens"
    with pytest.raises(zellige.UsageError, match=whole):
        source.consolidate()
    with pytest.raises(zellige.UsageError, match=whole):
        zellige.consolidate_metadata(tmp_path / "a")
    with pytest.raises(zellige.UsageError, match="g/x: attributes: 'n' holds NaN"):
        zellige.copy(source, tmp_path / "b")
    nodes = {path: node.metadata for path, node in source.members(max_depth=None)}
    copies = [
        lambda **k: zellige.copy_all(source, tmp_path / "c", **k),
        lambda **k: zellige.from_array(tmp_path / "d", data=array, **k),
        lambda **k: dict(zellige.create_hierarchy(store=tmp_path / "e", nodes=nodes, **k)),
    ]
    for copied in copies:
        with pytest.raises(zellige.UsageError, match="python_tokens"):
            copied()
    assert not any((tmp_path / name).exists() for name in "bd")
    assert zellige.copy(array, tmp_path / "f", attributes={"k": 1}).attrs == {"k": 1}
    source.consolidate(python_tokens=True)
    assert source["g/x"].attrs == bad
    source.consolidate()
    assert zellige.copy(source, tmp_path / "b", python_tokens=True)["g/x"].attrs == bad
    for copied in copies[:2]:
        copied(python_tokens=True)


@pytest.mark.parametrize("version", [2, 3])
def test_consolidated_metadata_follow_tokens(version):
    """A change that was asked for through a consolidated group is seen there."""
    root = zellige.create_group(zellige.MemoryStore(), zarr_format=version)
    root.create_array("x", shape=2, dtype="i1")
    root.consolidate()
    root["x"].update_attributes({"n": math.inf}, python_tokens=True)
    found = zellige.open_group(root.store)
    assert found.is_consolidated and found["x"].attrs == {"n": math.inf}
