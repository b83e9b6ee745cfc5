"""Documents that changes leave behind, and the data under them, with zarr-python."""

import json

import numpy as np
import pytest
import zarr
import zellige

pytestmark = pytest.mark.filterwarnings("ignore")

LAYOUTS = {
    "chunks": {"chunks": (4, 3)},
    "shards": {"chunks": (2, 3), "shards": (4, 6)},
    "version 2": {"chunks": (4, 3), "zarr_format": 2},
    "version 2, in folders": {"chunks": (4, 3), "zarr_format": 2, "separator": "/"},
    "version 2, columns first": {"chunks": (4, 3), "zarr_format": 2, "order": "F"},
}


def checked(folder, expected):
    """What both libraries read is this."""
    theirs = zarr.open_array(folder, mode="r")
    ours = zellige.open_array(folder)
    assert theirs.shape == ours.shape == expected.shape
    assert (theirs[...] == expected).all() and (ours[...] == expected).all()
    return theirs


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_shapes(tmp_path, layout):
    """Both of them in turn: append, shrink and grow."""
    folder = tmp_path / "a"
    data = np.arange(70, dtype="i4").reshape(10, 7)
    zellige.create_array(folder, data=data, fill_value=-1, **layout)
    ours = zellige.open_array(folder, mode="r+")
    ours.append(data[:, :2], axis=1)
    expected = np.concatenate([data, data[:, :2]], axis=1)
    checked(folder, expected)
    zarr.open_array(folder, mode="r+").append(expected[:3], axis=0)
    expected = np.concatenate([expected, expected[:3]], axis=0)
    checked(folder, expected)
    ours.refresh()
    ours.resize((5, 4))
    expected = expected[:5, :4]
    checked(folder, expected)
    zarr.open_array(folder, mode="r+").resize((12, 12))
    grown = np.full((12, 12), -1, "i4")
    grown[:5, :4] = expected
    checked(folder, grown)
    ours.refresh()
    ours.resize((13, 3))
    expected = np.full((13, 3), -1, "i4")
    expected[:12] = grown[:, :3]
    checked(folder, expected)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes(tmp_path, zarr_format):
    """What zarr-python wrote stays, also what is no JSON; both see what the other sets."""
    theirs = zarr.create_array(
        tmp_path / "a",
        shape=(4,),
        dtype="f4",
        zarr_format=zarr_format,
        attributes={"nan": float("nan"), "old": [1, 2.5], "gone": 0},
    )
    ours = zellige.open_array(tmp_path / "a", mode="r+")
    ours.update_attributes({"new": {"né": 2**63}}, remove=["gone"])
    found = dict(zarr.open_array(tmp_path / "a", mode="r").attrs)
    assert np.isnan(found.pop("nan"))
    assert found == {"old": [1, 2.5], "new": {"né": 2**63}}
    theirs = zarr.open_array(tmp_path / "a", mode="r+")
    theirs.attrs["new"] = 3
    ours.refresh()
    assert ours.attrs["new"] == 3 and ours.attrs["old"] == [1, 2.5]
    name = "zarr.json" if zarr_format == 3 else ".zarray"
    document = json.loads((tmp_path / "a" / name).read_text())
    assert document["shape"] == [4]


def documents(group):
    """The metadata of all members, as zarr-python has them."""
    members = group.members(max_depth=None)
    return {path: node.metadata.to_dict() for path, node in members}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata(tmp_path, zarr_format):
    """Ours opens as consolidated, and holds what zarr-python's own would hold."""
    root = zellige.create_group(
        tmp_path / "g", attributes={"r": 1}, zarr_format=zarr_format
    )
    root.create_array("b", shape=(4,), dtype="f4", attributes={"x": 1})
    root.create_array("a/z", shape=(4, 5), dtype="i2", chunks=(2, 5))
    root.create_group("a/e", attributes={"k": [None]})
    root.create_group("B")
    zellige.consolidate(tmp_path / "g")
    found = zarr.open_consolidated(tmp_path / "g", zarr_format=zarr_format)
    assert found.metadata.consolidated_metadata is not None
    names = [path for path, _ in found.members(max_depth=None)]
    assert sorted(names) == ["B", "a", "a/e", "a/z", "b"]
    assert dict(found["a/e"].attrs) == {"k": [None]} and found["a/z"].chunks == (2, 5)
    ours = documents(found)
    name = "zarr.json" if zarr_format == 3 else ".zmetadata"
    written = json.loads((tmp_path / "g" / name).read_text())
    zarr.consolidate_metadata(tmp_path / "g", zarr_format=zarr_format)
    again = zarr.open_consolidated(tmp_path / "g", zarr_format=zarr_format)
    assert documents(again) == ours
    theirs = json.loads((tmp_path / "g" / name).read_text())
    if zarr_format == 3:
        written, theirs = (d["consolidated_metadata"] for d in (written, theirs))
    assert written["metadata"].keys() == theirs["metadata"].keys()
    assert written.keys() == theirs.keys()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_nodes_that_move_and_go(tmp_path, zarr_format):
    root = zellige.create_group(tmp_path / "g", zarr_format=zarr_format)
    data = np.arange(6, dtype="i2")
    root.create_array("a/b", data=data, chunks=4)
    root.create_group("to")
    root.move("a/b", "to/c")
    del root["a"]
    found = zarr.open_group(tmp_path / "g", mode="r")
    assert sorted(found.keys()) == ["to"]
    assert (found["to/c"][...] == data).all()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_shapes_that_are_chosen(tmp_path, zarr_format):
    data = np.arange(1000 * 300, dtype="f8").reshape(1000, 300)
    zellige.create_array(
        tmp_path / "a", data=data, target_chunk_bytes=100_000, zarr_format=zarr_format
    )
    found = checked(tmp_path / "a", data)
    assert found.chunks == (125, 75)  # 1000 thrice, 300 twice
    if zarr_format == 3:
        zellige.create_array(
            tmp_path / "s",
            data=data,
            target_chunk_bytes=100_000,
            target_shard_bytes=1_000_000,
        )
        found = checked(tmp_path / "s", data)
        assert found.chunks == (125, 75) and found.shards == (500, 150)
