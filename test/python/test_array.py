"""What an array tells of itself, and the protocols of NumPy."""

import math
import pickle

import numpy as np
import pytest
import zellige
from conftest import same, write_v2, write_v3

DATA = np.arange(70, dtype="<i2").reshape(10, 7)


@pytest.fixture
def sharded(tmp_path):
    text = {"a": 1.5, "big": 2**80, "nan": math.nan, "list": [1, {"b": None}]}
    return zellige.open_array(
        write_v3(
            tmp_path / "s",
            DATA,
            (6, 4),
            inner=(3, 2),
            fill=-1,
            attributes=text,
            dimension_names=["y", None],
        )
    )


def test_facts(sharded):
    a = sharded
    assert (a.shape, a.ndim, a.size, a.nbytes) == ((10, 7), 2, 70, 140)
    assert a.dtype == np.dtype("i2") and a.zarr_dtype == "int16" and a.zarr_format == 3
    assert (a.chunks, a.shards, a.nchunks) == ((3, 2), (6, 4), 16)
    assert a.fill_value == -1 and a.fill_value.dtype == "i2"
    assert a.dimension_names == ("y", None)
    assert (a.path, a.name, a.basename) == ("", "/", "")
    assert a.codecs[0]["name"] == "sharding_indexed"
    assert a.metadata["shape"] == [10, 7]
    assert a.write_chunk_sizes == ((6, 4), (4, 3))
    assert a.read_chunk_sizes == ((3, 3, 3, 1), (2, 2, 2, 1))
    assert not a.read_only and len(a) == 10
    assert zellige.open_array(a.store.root, "r").read_only


def test_attributes_are_exact(sharded):
    attrs = sharded.attrs
    assert (
        attrs["big"] == 2**80
        and math.isnan(attrs["nan"])
        and attrs["list"] == [1, {"b": None}]
    )
    assert list(attrs) == ["a", "big", "nan", "list"]


def test_unsharded(tmp_path):
    a = zellige.open_array(write_v2(tmp_path, DATA, (6, 4), fill=None, attributes={"x": 1}))
    assert (a.chunks, a.shards, a.nchunks, a.zarr_format) == ((6, 4), None, 4, 2)
    assert a.fill_value is None and a.zarr_dtype == "<i2" and a.dimension_names is None
    assert a.codecs == {"filters": None, "compressor": None}
    assert dict(a.attrs) == {"x": 1}
    assert a.nbytes_stored() == 4 * 6 * 4 * 2
    same(a[...], DATA)


def test_rectilinear(tmp_path):
    grid = {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[2, 5, 3], [[4, 2]]]},
    }
    path = write_v3(tmp_path, DATA, (10, 7), chunk_grid=grid)
    (tmp_path / "c" / "0" / "0").write_bytes(DATA[:2, :4].tobytes())
    a = zellige.open_array(path)
    assert a.write_chunk_sizes == ((2, 5, 3), (4, 3)) == a.read_chunk_sizes
    assert a.nchunks == 6
    with pytest.raises(ValueError, match="rectilinear"):
        a.chunks
    same(a[:2, :4], DATA[:2, :4])
    assert "rectilinear" in a.info


def test_report(sharded):
    text = str(sharded.info)
    for part in ("shape", "(10, 7)", "int16", "sharding_indexed (bytes)", "y", "140"):
        assert part in text
    assert repr(sharded.info) == text
    assert "(10, 7)" in repr(sharded)


def test_numpy_protocols(sharded):
    same(np.asarray(sharded), DATA)
    same(np.array(sharded, dtype="f4"), DATA.astype("f4"))
    same(np.from_dlpack(sharded), DATA)
    same(np.add(sharded, 1), DATA + 1)
    with pytest.raises(ValueError):
        sharded.__array__(copy=False)
    assert np.array_equal(list(sharded), list(DATA))
    assert [type(x) for x in zellige.open_array(sharded.store.root)[:2, 0]] == [
        np.int16
    ] * 2


def test_equality_and_pickle(sharded, tmp_path):
    again = zellige.open_array(str(tmp_path / "s"))
    assert again == sharded and hash(again) == hash(sharded) and again != DATA.tolist()
    copy = pickle.loads(pickle.dumps(zellige.open_array(sharded.store.root, "r")))
    assert copy == sharded and copy.read_only
    same(copy[...], DATA)
    memory = zellige.create_array(zellige.MemoryStore(), data=DATA)
    with pytest.raises(TypeError, match="memory"):
        pickle.dumps(memory)


def test_pickle_of_stores(tmp_path):
    write_v3(tmp_path / "away" / "a", DATA, (5, 5))
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "link").symlink_to(tmp_path / "away")
    with pytest.raises(zellige.ZelligeError):
        zellige.open_array(tmp_path / "s", path="link/a")
    store = zellige.LocalStore(tmp_path / "s", follow_links=True, read_only=True)
    again = pickle.loads(pickle.dumps(store))
    assert (again.root, again.follow_links, again.read_only) == (store.root, True, True)
    same(zellige.open_array(again, path="link/a")[...], DATA)
    same(pickle.loads(pickle.dumps(zellige.open_array(store, path="link/a")))[...], DATA)


def test_pickle_survives_a_change_of_folder(tmp_path, monkeypatch):
    write_v3(tmp_path / "here", DATA, (5, 5))
    monkeypatch.chdir(tmp_path)
    text = pickle.dumps(zellige.open_array("here"))
    monkeypatch.chdir("/")
    same(pickle.loads(text)[...], DATA)


def test_explain_reads_nothing(sharded):
    plan = sharded.explain((slice(0, 3), 0))
    assert isinstance(plan, dict) and "c/0/0" in str(plan)


def test_types_cannot_be_called():
    for cls in (zellige.Array, zellige.Group):
        with pytest.raises(TypeError):
            cls()


def test_a_foreign_class_is_refused(tmp_path):
    store = zellige.LocalStore(write_v3(tmp_path, DATA, (5, 5)))
    for cls in (int, 3, zellige.Group, object):
        with pytest.raises(TypeError):
            zellige._core.open_array(cls, store, "", 0, True)
    with pytest.raises(TypeError):
        zellige._core.open_array(zellige.Array, tmp_path, "", 0, True)


def test_results_that_no_memory_holds(tmp_path):
    for n, error in ((2**60, (MemoryError, zellige.LimitError)), (2**44, MemoryError)):
        path = write_v3(tmp_path / str(n), np.zeros(1, "f8"), (1,), shape=[n])
        with pytest.raises(error) as caught:
            zellige.open_array(path)[...]
        assert isinstance(caught.value, zellige.ZelligeError)
