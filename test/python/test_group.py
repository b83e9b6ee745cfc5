"""Groups as mappings, trees and walks."""

import json
import pickle
import warnings

import numpy as np
import pytest
import zellige
from conftest import same, write_group, write_v2, write_v3

DATA = np.arange(6, dtype="<i4").reshape(2, 3)


@pytest.fixture
def root(tmp_path):
    write_group(tmp_path, title="top")
    write_v3(tmp_path / "x", DATA, (2, 2))
    write_group(tmp_path / "g")
    write_v3(tmp_path / "g" / "y", DATA + 1, (1, 3))
    write_group(tmp_path / "g" / "h")
    write_v3(tmp_path / "g" / "h" / "z", DATA + 2, (2, 3))
    (tmp_path / "not a node").mkdir()
    return zellige.open_group(tmp_path)


def test_mapping(root):
    assert list(root) == list(root.keys()) == ["g", "x"] and len(root) == 2
    assert isinstance(root["g"], zellige.Group) and isinstance(root["x"], zellige.Array)
    same(root["g/h/z"][...], DATA + 2)
    same(root["/g/y/"][...], DATA + 1)
    assert (
        "g/h" in root
        and "nothing" not in root
        and 3 not in root
        and "not a node" not in root
    )
    assert dict(root.items())["x"] == root["x"]
    assert root.get("nothing") is None and root.get("nothing", 5) == 5
    assert root.get(path="x", default=5) == root["x"]
    with pytest.raises(KeyError) as caught:
        root["nothing"]
    assert isinstance(caught.value, FileNotFoundError) and caught.value.kind == "not_found"
    assert not str(caught.value).startswith("'")


def test_walks(root):
    assert [p for p, _ in root.members()] == ["g", "x"]
    assert [p for p, _ in root.members(max_depth=1)] == ["g", "g/h", "g/y", "x"]
    assert sorted(p for p, _ in root.members(max_depth=None)) == [
        "g",
        "g/h",
        "g/h/z",
        "g/y",
        "x",
    ]
    assert [root.nmembers(d) for d in (0, 1, None)] == [2, 4, 5]
    assert [n for n, _ in root.arrays()] == ["x"] and [n for n, _ in root.groups()] == ["g"]


def test_reports(root):
    assert str(root.tree()).splitlines() == [
        "/",
        "├── g",
        "│   ├── h",
        "│   │   └── z (2, 3) int32",
        "│   └── y (2, 3) int32",
        "└── x (2, 3) int32",
    ]
    assert "arrays      : 1" in root.info and root.attrs == {"title": "top"}
    assert root.metadata["node_type"] == "group" and root.name == "/"
    assert root["g/h"].name == "/g/h" and root["g/h"].basename == "h"


def test_equality_and_pickle(root):
    again = pickle.loads(pickle.dumps(root["g"]))
    assert again == root["g"] and hash(again) == hash(root["g"]) and again != root


def test_a_broken_member_hides_nobody(root, tmp_path):
    document = json.loads((tmp_path / "x" / "zarr.json").read_text())
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "zarr.json").write_text(
        json.dumps({**document, "data_type": "odd9"})
    )
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "zarr.json").write_text('{"zarr_format": 3, "node_')
    root = zellige.open_group(tmp_path)
    assert set(root) == {"g", "odd", "torn", "x"} and "odd" in root and "torn" in root
    with pytest.raises(zellige.UnsupportedError, match="odd9"):
        root["odd"]
    with pytest.raises(zellige.MetadataError):
        root["torn"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [p for p, _ in root.members()] == ["g", "x"]
    assert len(caught) == 2
    assert "odd (unsupported)" in root.tree() and "torn (metadata)" in root.tree()


def test_version_2(tmp_path):
    (tmp_path / ".zgroup").write_text('{"zarr_format": 2}')
    (tmp_path / ".zattrs").write_text('{"a": NaN}')
    write_v2(tmp_path / "x", DATA, (2, 2))
    root = zellige.open_group(tmp_path)
    assert (
        root.zarr_format == 2 and root.attrs["a"] != root.attrs["a"] and list(root) == ["x"]
    )
    same(root["x"][...], DATA)


def test_consolidated(tmp_path):
    write_v3(tmp_path / "x", DATA, (2, 2))
    inner = json.loads((tmp_path / "x" / "zarr.json").read_text())
    document = {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {},
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": False,
            "metadata": {"x": inner},
        },
    }
    (tmp_path / "zarr.json").write_text(json.dumps(document))
    (tmp_path / "x" / "zarr.json").unlink()
    root = zellige.open_group(tmp_path)
    assert root.is_consolidated and list(root) == ["x"]
    same(root["x"][...], DATA)


@pytest.mark.parametrize("path", ["..", "../x", "a/../x", "a//b", "."])
def test_paths_that_lead_elsewhere(root, path):
    assert path not in root
    with pytest.raises(zellige.ZelligeError):
        root[path]
