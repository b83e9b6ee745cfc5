"""Common scripts of zarr-python, run with `import zarr` and with `import zellige as zarr`:
what they give is the same."""

import os

import numpy as np
import pytest
import zarr
import zellige

pytestmark = pytest.mark.filterwarnings("ignore")


def plain(value):
    """Values of either library as lists, texts and numbers."""
    if isinstance(value, (zarr.Array, zellige.Array)):
        return plain(value[...]), str(value.dtype), value.shape, value.chunks, value.shards
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return value.shape, value.dtype.kind, value.tolist()
    if isinstance(value, (np.generic, np.ndarray)):  # zarr-python gives arrays of no axes
        return repr(value.item())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    return value


# ---------------------------------------------------------------------- scripts


def hierarchy(zarr, folder):
    store = zarr.storage.LocalStore(folder / "h")
    root = zarr.create_group(store=store, attributes={"title": "x"})
    foo = root.create_group("foo", attributes={"k": 1})
    bar = foo.create_array("bar", shape=(10, 10), chunks=(5, 5), dtype="i4")
    bar[:] = np.arange(100).reshape(10, 10)
    root.require_group("foo")
    root.require_array("foo/bar", shape=(10, 10), dtype="i4")
    root.require_groups("a", "b")
    bar.update_attributes(new_attributes={"units": "m"})
    root["a"].update_attributes(new_attributes={"n": 2})
    yield root["foo/bar"], root["foo"]["bar"], bar.attrs.asdict(), dict(root["a"].attrs)
    yield sorted(root), sorted(root.group_keys()), sorted(foo.array_keys())
    yield sorted(path for path, _ in root.members(max_depth=None)), root.nmembers()
    yield sorted(name for name, _ in root.groups()), [a.name for a in foo.array_values()]
    yield root.get("nothing", 5), root.get(path="foo/bar"), "foo/bar" in root, "nothing" in root
    yield bar.path, bar.name, bar.basename, root.name, root.path, foo.basename
    yield str(root.tree()).strip()
    yield str(root.tree(level=0)).strip()
    del root["foo/bar"]
    yield list(root["foo"])
    foo["new"] = np.arange(3)
    yield foo["new"]


def modes(zarr, folder):
    place = folder / "m.zarr"
    z = zarr.open(place, mode="w", shape=(4, 4), chunks=(2, 2), dtype="f8")
    z[:] = np.arange(16).reshape(4, 4)
    yield zarr.open(place), zarr.open_array(place), zarr.open_array(place, mode="r")
    zarr.open_array(place)[0, 0] = 7
    yield zarr.open(place, mode="r")[0], zarr.open(place, mode="r").read_only
    yield zarr.open(place, mode="a", shape=(4, 4), dtype="f8")[0, 0]
    yield zarr.open_array(place, mode="w", shape=3, dtype="i2", fill_value=4)
    g = zarr.open_group(folder / "g.zarr")
    g.create_array("x", shape=2, dtype="u1")
    yield list(zarr.open_group(folder / "g.zarr")), list(zarr.group(folder / "g.zarr"))
    yield list(zarr.group(folder / "g.zarr", overwrite=True))
    yield list(zarr.open_group(folder / "g.zarr", mode="w"))


def refusals(zarr, folder):
    def caught(call, *errors):
        try:
            call()
        except errors:
            return True
        return False

    errors = zarr.errors
    (folder / "no").mkdir()
    root = zarr.open_group(folder / "r", mode="w")
    root.create_array("x", shape=3, dtype="i4")
    root.create_group("g")
    yield caught(
        lambda: zarr.open_group(folder / "no", mode="r"), errors.GroupNotFoundError
    )
    yield caught(lambda: zarr.open_group(folder / "no", mode="r"), FileNotFoundError)
    yield caught(
        lambda: zarr.open_array(folder / "no", mode="r"), errors.ArrayNotFoundError
    )
    yield caught(lambda: root["no"], KeyError)
    yield caught(
        lambda: root.create_array("x", shape=1, dtype="i1"), errors.ContainsArrayError
    )
    yield caught(lambda: root.create_group("g"), errors.ContainsGroupError)
    yield caught(lambda: root.get_array("g"), errors.ContainsGroupError)
    yield caught(lambda: root.get_group("x"), errors.ContainsArrayError)
    yield caught(lambda: root.require_array("x", shape=4, dtype="i4"), TypeError)
    yield (
        caught(lambda: root["x"][5], IndexError),
        caught(lambda: root["x"][0, 0], IndexError),
    )
    yield caught(
        lambda: root["x"].vindex[0:2], errors.VindexInvalidSelectionError, IndexError
    )
    yield caught(lambda: zarr.open_consolidated(folder / "r"), ValueError)
    yield caught(lambda: zarr.open(folder / "r", mode="r").create_group("q"), ValueError)


def like_numpy(zarr, folder):
    yield zarr.zeros((3, 2), chunks=2), zarr.ones((3,), dtype="i2", chunks=3)
    yield (
        zarr.full((2, 2), 42, chunks=1, dtype="u1"),
        zarr.empty((2,), chunks=2, dtype="f4"),
    )
    a = zarr.array([[1, 2], [3, 4]], chunks=(1, 2))
    yield a, zarr.zeros_like(a), zarr.ones_like(a), zarr.full_like(a, fill_value=9)
    yield zarr.empty_like(a), zarr.full_like(a, fill_value=1, dtype="f4")
    yield zarr.zeros_like(np.ones((3,), "f4"), chunks=3)
    b = zarr.create((4, 4), chunks=(2, 2), store=folder / "c", fill_value=1.5, path="x")
    yield b, b.fill_value, b.order
    yield zarr.array(a, store=folder / "again", chunks=(2, 2))


def version_2(zarr, folder):
    a = zarr.create(
        shape=(4, 4),
        chunks=(2, 2),
        dtype="u1",
        zarr_format=2,
        store=folder / "v2",
        fill_value=3,
        dimension_separator="/",
        order="F",
    )
    a[0, 0] = 9
    yield a, a.order, a.metadata.zarr_format, a.fill_value
    yield (folder / "v2" / "0" / "0").is_file()
    b = zarr.create_array(folder / "n", shape=3, dtype="i4", zarr_format=2, fill_value=None)
    yield b.fill_value
    c = zarr.create_array(
        folder / "k",
        shape=(2, 2),
        chunks=1,
        dtype="i4",
        zarr_format=2,
        chunk_key_encoding={"name": "v2", "separator": "/"},
        compressors=None,
    )
    c[:] = 1
    yield (folder / "k" / "1" / "1").is_file(), len(c.compressors), len(c.filters)
    with zarr.config.set({"default_zarr_format": 2}):
        yield zarr.create_group(folder / "d").metadata.zarr_format
        yield zarr.zeros((2,), store=folder / "e").metadata.zarr_format


def facts(zarr, folder):
    a = zarr.create_array(
        folder / "f",
        shape=(100, 7),
        chunks=(10, 7),
        shards=(50, 7),
        dtype="f4",
        fill_value=np.nan,
        dimension_names=("t", None),
        attributes={"a": [1, 2]},
    )
    a[5:10] = 1
    yield a.shape, a.ndim, a.size, a.nbytes, a.chunks, a.shards, a.nchunks, a.cdata_shape
    yield a.nchunks_initialized, a.read_chunk_sizes, a.write_chunk_sizes, a.order
    yield repr(a.fill_value), a.metadata.dimension_names, a.read_only, a.attrs["a"]
    yield len(a.filters), len(a.compressors), a.config.write_empty_chunks
    yield a.with_config({"write_empty_chunks": True}).config.write_empty_chunks
    b = zarr.create_array(folder / "s", shape=8, chunks=2, shards={"shape": 4}, dtype="i1")
    yield b.shards, b.nchunks_initialized
    r = zarr.config.set({"array.rectilinear_chunks": True})
    with r:
        c = zarr.create_array(folder / "r", shape=(6, 4), chunks=[[1, 5], [4]], dtype="i1")
        yield c.write_chunk_sizes, c.read_chunk_sizes


def selections(zarr, folder):
    a = zarr.create_array(folder / "s", data=np.arange(48).reshape(8, 6), chunks=(3, 2))
    rows, columns = [0, 5, 2], [1, 1, 4]
    mask = np.arange(48).reshape(8, 6) % 5 == 0
    yield a[2], a[-1, 3], a[1:7:2, ...], a[rows, columns], a[mask], a[:, [0, 2]], a[...]
    yield a.oindex[rows, slice(0, 4)], a.vindex[rows, columns], a.vindex[mask]
    yield a.blocks[1, 0:2], a.blocks[-1]
    yield a.get_basic_selection((slice(0, 2), 3)), a.get_basic_selection()
    yield a.get_orthogonal_selection((rows, columns)), a.get_mask_selection(mask)
    yield a.get_coordinate_selection((rows, columns)), a.get_block_selection((0, 1))
    a.set_basic_selection((0, slice(None)), -1)
    a.set_orthogonal_selection(([1, 2], [0, 5]), np.array([[1, 2], [3, 4]]))
    a.set_coordinate_selection((rows, columns), [70, 71, 72])
    a.set_mask_selection(mask, 9)
    a.set_block_selection((2, 2), np.full((2, 2), 8))
    a.vindex[[7], [0]] = 5
    a.oindex[6, :] = np.arange(6)
    a.blocks[0, 0] = 0
    yield a
    yield a.append(np.zeros((2, 6), int)), a.shape
    a.resize((3, 4))
    yield a


def saved(zarr, folder):
    zarr.save(folder / "one", np.arange(4))
    yield zarr.load(folder / "one")
    zarr.save(folder / "many", np.arange(4), x=np.arange(3.0))
    g = zarr.open_group(folder / "many", mode="r")
    yield sorted(g.array_keys()), g["x"][:], g["arr_0"][:]
    zarr.save_array(folder / "a", np.arange(6).reshape(2, 3), path="p")
    yield zarr.load(folder / "a", path="p")
    zarr.save_group(folder / "g", y=np.arange(2))
    yield zarr.open(folder / "g")["y"]
    zarr.consolidate_metadata(folder / "g")
    c = zarr.open_consolidated(folder / "g")
    yield c["y"], c.metadata.consolidated_metadata is not None


def copies(zarr, folder):
    a = zarr.create_array(
        folder / "a",
        shape=(8, 4),
        chunks=(2, 2),
        shards=(4, 4),
        dtype="i4",
        fill_value=3,
        attributes={"k": 1},
        dimension_names=("y", "x"),
    )
    a[0:4] = np.arange(16).reshape(4, 4)
    b = zarr.from_array(folder / "b", data=a)
    yield b, b.attrs.asdict(), b.metadata.dimension_names, b.fill_value
    yield zarr.from_array(folder / "c", data=a, chunks=(4, 2), shards=None, name="x")
    other = zarr.create_array(folder / "p", data=np.arange(6), chunks=4)
    yield zarr.from_array(folder / "d", data=other, zarr_format=2)
    yield zarr.from_array(folder / "e", data=a, write_data=False)
    yield zarr.from_array(folder / "f", data=np.arange(6), chunks=4)
    yield zarr.create_array(
        folder / "g", data=np.arange(6.0), chunks=(2,), write_data=False
    )


def kinds(zarr, folder):
    for i, dtype in enumerate(
        ["bool", "i1", ">u2", "f2", "c8", "M8[s]", "m8[ms]", "S3", "U2", "str"]
    ):
        for version in (2, 3):
            a = zarr.create_array(
                folder / f"{i}{version}",
                shape=3,
                chunks=2,
                dtype=dtype,
                zarr_format=version,
            )
            yield (
                str(a.fill_value),
                np.asarray(a[:]).tobytes() if dtype != "str" else a[:].tolist(),
            )
    s = zarr.create_array(folder / "s", shape=3, dtype="string")
    s[:] = np.array(["a", "bb", "é"])
    yield s[:].tolist()
    r = zarr.create_array(folder / "r", shape=3, dtype=[("a", "i4"), ("b", "f8")])
    r[1] = (5, 2.5)
    yield r[:].tolist()


def settings(zarr, folder):
    with zarr.config.set({"array.write_empty_chunks": True}):
        a = zarr.create_array(folder / "a", shape=4, chunks=2, dtype="i4")
        a[:] = 0
        yield a.nchunks_initialized, zarr.config.get("array.write_empty_chunks")
    yield (
        zarr.config.get("array.write_empty_chunks"),
        zarr.config.get("default_zarr_format"),
    )
    b = zarr.create_array(
        folder / "b", shape=4, chunks=2, dtype="i4", config={"read_missing_chunks": False}
    )
    b[0:2] = 1
    try:
        yield b[:]
    except zarr.errors.ChunkNotFoundError:
        yield b[0:2]
    yield zarr.open_array(folder / "b")


def dictionaries(zarr, folder):
    store = {}
    root = zarr.group(store=store, attributes={"a": 1})
    root.create_array("x", shape=(4,), chunks=(2,), dtype="i4")[1:] = [1, 2, 3]
    yield sorted(store), zarr.open_group(store, mode="r")["x"], dict(zarr.open(store).attrs)
    memory = zarr.storage.MemoryStore()
    zarr.create_array(memory, name="y", data=np.arange(3))
    yield zarr.open_array(memory, path="y"), zarr.open_group(memory)["y"]


SCRIPTS = [
    hierarchy,
    modes,
    refusals,
    like_numpy,
    version_2,
    facts,
    selections,
    saved,
    copies,
    kinds,
    settings,
    dictionaries,
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_script(script, tmp_path):
    results = []
    for library in (zarr, zellige):
        folder = tmp_path / library.__name__
        folder.mkdir()
        results.append([plain(value) for value in script(library, folder)])
    for wanted, found in zip(*results, strict=True):
        assert found == wanted


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_what_a_script_stored(script, tmp_path):
    """zarr-python opens what a script has stored through zellige."""
    list(script(zellige, tmp_path))
    n_nodes = 0
    with zarr.config.set({"array.rectilinear_chunks": True}):
        for folder, _, names in os.walk(tmp_path):
            if {"zarr.json", ".zarray", ".zgroup"} & set(names):
                zarr.open(folder, mode="r")
                n_nodes += 1
    assert n_nodes > 0 or script in (dictionaries, like_numpy)
