"""Groups that change: members made, required, removed, moved; consolidated metadata."""

import json

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.arange(12, dtype="i4").reshape(3, 4)


@pytest.fixture(params=["memory 3", "folder 3", "folder 2"])
def root(request, tmp_path):
    kind, zarr_format = request.param.split()
    store = zellige.MemoryStore() if kind == "memory" else tmp_path
    root = zellige.create_group(store, zarr_format=int(zarr_format))
    root.create_group("g", attributes={"k": 1}).create_array("x", data=DATA, chunks=(2, 2))
    root.create_array("g/h/y", shape=5, dtype="u1")
    return root


def names(group):
    return [path for path, _ in group.members(max_depth=None)]


def fresh(root, mode="r", **keywords):
    return zellige.open_group(root.store, mode, **keywords)


def test_require(root):
    same(root.require_array("g/x", shape=(3, 4), dtype="i4", chunks=(1, 1))[...], DATA)
    assert root.require_group("g").attrs == {"k": 1}
    assert root.require_group("new", attributes={"n": 1}).attrs == {"n": 1}
    made = root.require_array("new/a", shape=2, dtype=str)
    assert made.zarr_format == root.zarr_format and made[...].tolist() == ["", ""]
    assert root.require_array("g/x", shape=(3, 4), dtype="i8").dtype == "i4"  # can be cast
    for wrong in (
        {"shape": (3, 5), "dtype": "i4"},
        {"shape": (3, 4), "dtype": "i2"},
        {"shape": (3, 4), "dtype": "i8", "exact": True},
    ):
        with pytest.raises(zellige.IncompatibleError) as caught:
            root.require_array("g/x", **wrong)
        assert isinstance(caught.value, zellige.ExistsError)
        assert isinstance(caught.value, TypeError)  # as zarr-python has it
    with pytest.raises(zellige.ExistsError):
        root.require_group("g/x")
    with pytest.raises(zellige.ExistsError):
        root.require_array("g", shape=1, dtype="i1")
    assert names(root) == ["g", "g/h", "g/h/y", "g/x", "new", "new/a"]


def test_members_are_removed(root):
    del root["g/x"]
    assert names(fresh(root)) == names(root) == ["g", "g/h", "g/h/y"]
    assert not [key for key in root.store.keys() if key.startswith("g/x")]
    del root["g"]
    assert len(root) == 0 and len(fresh(root)) == 0
    for path in ("g", "g/x", "nothing/at/all"):
        with pytest.raises(KeyError):
            del root[path]
    for path in ("", "/"):
        with pytest.raises(zellige.UsageError):
            del root[path]
    assert root.attrs == {}


def test_members_are_moved(root):
    root.move("g/x", "g/h/z")
    assert names(root) == ["g", "g/h", "g/h/y", "g/h/z"]
    same(root["g/h/z"][...], DATA)
    root.move("g", dest="other")
    assert names(fresh(root)) == ["other", "other/h", "other/h/y", "other/h/z"]
    assert root["other"].attrs == {"k": 1}
    same(root["other/h/z"][...], DATA)
    for source, destination, error in [
        ("nothing", "a", zellige.NotFoundError),
        ("other/h/y", "other/h/z", zellige.ExistsError),
        ("other", "other/h/deeper", ValueError),
        ("other/h/y", "no/group/there", zellige.ZelligeError),
        ("other", "", zellige.UsageError),
    ]:
        with pytest.raises(error):
            root.move(source, destination)
    assert names(fresh(root)) == ["other", "other/h", "other/h/y", "other/h/z"]


def test_a_group_for_reading_changes_nothing(root, tmp_path):
    reader = fresh(root)
    if root.store.root is not None:
        assert zellige.open_group(tmp_path, "r")["g/x"].read_only
    for change in (
        lambda: reader.__delitem__("g"),
        lambda: reader.move("g", "h"),
        lambda: reader.consolidate(),
        lambda: reader.require_group("g"),
        lambda: reader.create_array("q", data=DATA),
        lambda: reader["g/x"].append(DATA),
    ):
        with pytest.raises(zellige.UsageError, match="reading only"):
            change()
    assert names(fresh(root)) == ["g", "g/h", "g/h/y", "g/x"]


def consolidated_names(root):
    if root.zarr_format == 3:
        document = json.loads(root.store.get("zarr.json"))
        return sorted(document["consolidated_metadata"]["metadata"])
    keys = json.loads(root.store.get(".zmetadata"))["metadata"]
    found = {key.rpartition("/")[0] for key in keys if not key.endswith(".zattrs")}
    return sorted(found - {""})


def test_consolidate(root):
    assert not root.is_consolidated
    root.consolidate()
    assert root.is_consolidated and fresh(root).is_consolidated
    assert consolidated_names(root) == names(root) == ["g", "g/h", "g/h/y", "g/x"]
    assert not fresh(root, use_consolidated=False).is_consolidated
    again = zellige.consolidate(root.store)
    assert again.is_consolidated and names(again) == names(root)
    again = zellige.consolidate_metadata(root.store, zarr_format=root.zarr_format)
    assert again.is_consolidated and again == root
    with pytest.raises(zellige.NotFoundError):
        zellige.consolidate(root.store, "nothing")
    with pytest.raises(zellige.NotFoundError):
        zellige.consolidate(root.store, "g/x")


def test_changes_reach_consolidated_metadata(root):
    """Whatever is changed through a consolidated group, the next reader sees it there."""
    root.consolidate()
    writer = fresh(root, "r+")
    x, g = writer["g/x"], writer["g"]
    x.append(DATA)
    assert fresh(root)["g/x"].shape == (6, 4)
    x.attrs["a"] = 1
    assert fresh(root)["g/x"].attrs == {"a": 1}
    x.resize((2, 4))
    same(fresh(root)["g/x"][...], DATA[:2])
    g.attrs["b"] = 2
    assert fresh(root)["g"].attrs == {"k": 1, "b": 2}
    g.create_array("new", data=DATA)[0] = 9
    assert "g/new" in names(fresh(root)) and "g/new" in names(writer) and "new" in g
    g.require_group("deep/er").create_array("z", data=DATA)
    writer.move("g/new", "moved")
    del g["h"]
    wanted = ["g", "g/deep", "g/deep/er", "g/deep/er/z", "g/x", "moved"]
    assert names(fresh(root)) == names(writer) == consolidated_names(root) == wanted
    writer.attrs["top"] = True
    assert fresh(root).attrs == {"top": True} and fresh(root).is_consolidated
    same(fresh(root)["moved"][1:], DATA[1:])


def test_metadata_that_cannot_be_consolidated(tmp_path):
    """The change is made, and the error says what is not."""
    root = zellige.create_group(tmp_path)
    root.create_array("x", data=DATA)
    root.consolidate()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "zarr.json").write_text('{"zarr_format": 3, "node_')
    with pytest.raises(zellige.MetadataError, match="torn") as caught:
        root["x"].append(DATA)
    assert caught.value.__notes__ == [
        "The change is made; consolidated metadata do not show it."
    ]
    assert fresh(root)["x"].shape == (3, 4)
    assert zellige.open_array(tmp_path, path="x").shape == (6, 4)


def test_groups_opened_without_them_leave_them_alone(root):
    root.consolidate()
    writer = fresh(root, "r+", use_consolidated=False)
    writer.create_array("late", data=DATA)
    writer["g/x"].append(DATA)
    assert "late" in writer and "late" not in fresh(root)
    assert fresh(root)["g/x"].shape == (3, 4)
    writer.consolidate()
    assert "late" in fresh(root) and fresh(root)["g/x"].shape == (6, 4)


def test_refresh(root):
    other = fresh(root, "r+")
    root.attrs["n"] = 1
    root.create_group("late")
    assert other.attrs == {} and "late" in other
    other.refresh()
    assert other.attrs == {"n": 1}
    other.consolidate()
    stale = fresh(root, "r+")
    root.create_group("later")
    root.consolidate()
    assert "later" not in stale
    stale.refresh()
    assert "later" in stale and stale.is_consolidated


def test_sweep(tmp_path):
    """Only what a dead writer left is removed."""
    zellige.save(tmp_path, DATA)
    assert zellige.sweep(tmp_path) == 0
    assert zellige.LocalStore(tmp_path).sweep("c") == 0
    assert zellige.MemoryStore().sweep() == 0
    same(zellige.load(tmp_path), DATA)
