"""Attributes: a mapping whose changes are stored at once and touch nothing else."""

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zellige


@pytest.fixture(params=["array 3", "array 2", "group 3", "group 2"])
def node(request, tmp_path):
    kind, zarr_format = request.param.split()
    keywords = {"zarr_format": int(zarr_format), "attributes": {"a": 1, "b": [1, 2]}}
    if kind == "group":
        return zellige.create_group(tmp_path, **keywords)
    return zellige.create_array(tmp_path, shape=3, dtype="i2", **keywords)


def reopened(node):
    return zellige.open(node.store, "r+")


def stored(node):
    """The object as it lies in the file, read as strictly as can be."""
    name = "zarr.json" if node.zarr_format == 3 else ".zattrs"

    def refuse(token):
        raise AssertionError(token)

    text = node.store.get(name).decode()
    document = json.loads(text, parse_constant=refuse)
    return document["attributes"] if node.zarr_format == 3 else document


def test_a_mutable_mapping(node):
    attrs = node.attrs
    attrs["c"] = {"d": None}
    attrs["a"] = "é"
    del attrs["b"]
    wanted = {"a": "é", "c": {"d": None}}
    assert attrs == wanted == stored(node) == reopened(node).attrs.asdict()
    assert list(attrs) == ["a", "c"] and len(attrs) == 2 and "b" not in attrs
    assert node.metadata["attributes"] == wanted and node.attrs == wanted
    assert repr(attrs) == f"Attributes({wanted!r})"
    assert attrs.setdefault("c", 5) == {"d": None} and attrs.setdefault("e", 5) == 5
    assert attrs.pop("e") == 5 and attrs.pop("e", None) is None
    with pytest.raises(KeyError):
        del attrs["nothing"]
    with pytest.raises(KeyError):
        attrs["nothing"]
    attrs.update({"x": 1}, y=2)
    attrs.update([("x", 3)])
    assert stored(node) == {**wanted, "x": 3, "y": 2}
    attrs.put({"only": True})
    assert attrs == {"only": True} == stored(node)
    attrs.clear()
    assert attrs == {} == reopened(node).attrs


def test_several_at_once(node):
    node.update_attributes({"n": 1}, remove=["a", "nothing"])
    assert stored(node) == {"b": [1, 2], "n": 1} == node.attrs
    node.update_attributes({"n": 2}, replace=True, promise="durable")
    assert stored(node) == {"n": 2} == node.attrs
    node.update_attributes(remove=("n",))
    assert node.attrs == {}


def test_numbers_are_kept(node):
    values = {
        "big": 2**64 + 1,
        "low": -(2**63),
        "fine": 0.1,
        "tiny": 5e-324,
        "one": 1.0,
        "minus": -0.0,
    }
    node.attrs.update(values)
    found = reopened(node).attrs
    for name, value in values.items():
        assert type(found[name]) is type(value) and repr(found[name]) == repr(value)
    node.attrs.update(
        i=np.int64(2**62),
        f=np.float32(0.5),
        b=np.bool_(True),
        a=np.arange(3),
        n=np.str_("t"),
    )
    found = reopened(node).attrs
    assert [found[name] for name in "ifban"] == [2**62, 0.5, True, [0, 1, 2], "t"]


@pytest.mark.parametrize(
    "value",
    [math.nan, [1, math.inf], {"x": [-math.inf]}, np.float32("nan"), np.array([np.inf])],
)
def test_what_is_no_json_is_refused(node, value):
    before = stored(node)
    with pytest.raises(zellige.UsageError, match="bad"):
        node.attrs["bad"] = value
    with pytest.raises(zellige.UsageError, match="bad"):
        node.attrs.update(good=1, bad=value)
    assert stored(node) == before == node.attrs
    node.update_attributes({"bad": value}, python_tokens=True)
    assert repr(reopened(node).attrs["bad"]) == repr(
        json.loads(json.dumps(node.attrs["bad"]))
    )
    node.attrs["good"] = 1  # what stood there stays
    assert "good" in reopened(node).attrs and "bad" in reopened(node).attrs


def test_wrong_values(node):
    for value in (object(), {1, 2}, np.datetime64(1, "s"), b"bytes", np.array([1j])):
        with pytest.raises(TypeError, match="no JSON"):
            node.attrs["x"] = value
    with pytest.raises(TypeError, match="name"):
        node.attrs[3] = 1
    assert stored(node) == {"a": 1, "b": [1, 2]}


def test_nothing_else_changes(tmp_path):
    array = zellige.create_array(
        tmp_path,
        shape=(4, 6),
        dtype="f4",
        fill_value=np.nan,
        chunks=(2, 3),
        shards=(4, 6),
        dimension_names=("y", None),
        chunk_key_encoding={"name": "default", "configuration": {"separator": "."}},
    )
    document = json.loads(array.store.get("zarr.json"))
    document["storage_transformers"] = []
    document["unknown"] = {"must_understand": False, "n": 12345678901234567890}
    array.store.put("zarr.json", json.dumps(document).encode())
    array = zellige.open_array(tmp_path, "r+")
    array.attrs["k"] = 1
    array.resize((8, 6))
    wanted = {**document, "attributes": {"k": 1}, "shape": [8, 6]}
    assert json.loads(array.store.get("zarr.json")) == wanted


def test_changes_of_others_stay(node):
    other = reopened(node)
    other.attrs["theirs"] = 1
    node.attrs["ours"] = 2
    assert stored(node) == {"a": 1, "b": [1, 2], "theirs": 1, "ours": 2}
    assert "theirs" not in node.attrs
    node.refresh()
    assert node.attrs == stored(node) == node.metadata["attributes"]


def test_threads(node):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: reopened(node).attrs.update({f"t{i}": i}), range(64)))
    node.refresh()
    assert len(node.attrs) == 66 and all(node.attrs[f"t{i}"] == i for i in range(64))


def test_read_only(node):
    reader = zellige.open(node.store, "r")
    for change in (
        lambda: reader.attrs.update(a=2),
        lambda: reader.attrs.pop("a"),
        lambda: reader.attrs.clear(),
    ):
        with pytest.raises(zellige.UsageError, match="reading only"):
            change()
    assert reader.attrs == {"a": 1, "b": [1, 2]} == stored(node)
