"""zarr-python's names for parts of an array; fields of records."""

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.arange(48, dtype="i4").reshape(8, 6)
MASK = DATA % 5 == 0
RECORD = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "S2")])


@pytest.fixture
def array():
    return zellige.array(DATA, chunks=(3, 2))


@pytest.fixture
def records():
    array = zellige.create_array(shape=(4, 3), chunks=(3, 2), dtype=RECORD)
    values = np.zeros((4, 3), RECORD)
    values["a"] = np.arange(12).reshape(4, 3)
    values["b"] = -1.5
    array[...] = values
    return array, values


SELECTIONS = {
    "basic": (slice(1, 7, 2), 3),
    "orthogonal": ([5, 0], slice(2, 4)),
    "coordinate": ([0, 5, 2], [1, 1, 4]),
    "mask": MASK,
    "block": (1, slice(0, 2)),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_get_and_set(array, name):
    key = SELECTIONS[name]
    get = getattr(array, f"get_{name}_selection")
    change = getattr(array, f"set_{name}_selection")
    found = get(key)
    wanted = {
        "basic": DATA[1:7:2, 3],
        "orthogonal": DATA[[5, 0], 2:4],
        "coordinate": DATA[[0, 5, 2], [1, 1, 4]],
        "mask": DATA[MASK],
        "block": DATA[3:6, 0:4],
    }[name]
    same(found, wanted)
    out = np.zeros_like(wanted)
    assert get(key, out=out) is out and np.array_equal(out, wanted)
    change(key, wanted + 100)
    same(get(key, prototype=None), wanted + 100)
    assert int(np.sum(array[...] != DATA)) == wanted.size


def test_wrong_keys(array):
    for call in (
        lambda: array.get_basic_selection([0, 1]),
        lambda: array.get_mask_selection(np.zeros((8, 6), int)),
        lambda: array.get_mask_selection(np.zeros((8, 5), bool)),
        lambda: array.get_coordinate_selection((slice(0, 2), [1])),
        lambda: array.get_block_selection((slice(0, 3, 2),)),
        lambda: array["a"],
        lambda: array[0, ["a"]],
        lambda: array.get_basic_selection(fields="a"),
    ):
        with pytest.raises(zellige.SelectionError):
            call()


def test_fields(records):
    array, values = records
    same(array["a"], values["a"])
    same(array[1:3, "b"], values["b"][1:3])
    same(array["a", 2], values["a"][2])
    assert array[0, 1, "a"] == 1
    both = array["a", "c"]
    assert both.dtype == np.dtype([("a", "<i4"), ("c", "S2")]) and both.dtype.itemsize == 6
    assert np.array_equal(both["a"], values["a"])
    assert array[["b"]].dtype.names == ("b",)
    same(array.get_orthogonal_selection(([3, 0],), fields="a"), values["a"][[3, 0]])
    out = np.zeros(3, "f8")
    assert array.get_basic_selection(0, fields="b", out=out) is out
    assert out.tolist() == [-1.5] * 3
    with pytest.raises(zellige.SelectionError, match="no field 'x' among a, b, c"):
        array["x"]


def test_a_field_of_one_record():
    data = np.array((1, 2.5), dtype=[("a", "i4"), ("b", "f8")])
    array = zellige.create_array(zellige.MemoryStore(), data=data)
    for key in ("b", ("b", ...)):
        same(np.asarray(array[key]), data["b"])
    assert np.shape(array[["a", "b"]]) == ()


def test_fields_are_set(records):
    array, values = records
    array["a"] = 7
    array[0:2, "b"] = np.arange(6.0).reshape(2, 3)
    array.set_coordinate_selection(([3], [2]), b"zz", fields="c")
    array[2, ["a", "b"]] = np.array([(1, 2.0)] * 3, [("a", "i4"), ("b", "f8")])
    values["a"] = 7
    values["b"][0:2] = np.arange(6.0).reshape(2, 3)
    values["c"][3, 2] = b"zz"
    values["a"][2], values["b"][2] = 1, 2.0
    same(array[...], values)
