"""Lists, masks, points and blocks."""

import numpy as np
import pytest
import zellige
from conftest import same, write_v3

SHAPE = (13, 7, 9)


@pytest.fixture(scope="module", params=["plain", "shards"])
def pair(request, tmp_path_factory):
    data = np.arange(1, np.prod(SHAPE) + 1, dtype="<u2").reshape(SHAPE)
    inner = (4, 2, 3) if request.param == "shards" else None
    path = write_v3(tmp_path_factory.mktemp("fancy"), data, (8, 4, 6), inner=inner)
    return data, zellige.open_array(path)


def outer(data, key):
    """Each axis by itself, in plain NumPy, one axis after another."""
    drop = []
    for axis, item in enumerate(key):
        whole = [slice(None)] * data.ndim
        if isinstance(item, (int, np.integer)):
            drop.append(axis)
            item = [item]
        whole[axis] = item
        data = data[tuple(whole)]
    return data.reshape([n for axis, n in enumerate(data.shape) if axis not in drop])


def some_outer(rng, n):
    kind = rng.integers(5)
    if kind == 0:
        return int(rng.integers(-n, n))
    if kind == 1:
        return rng.integers(-n, n, rng.integers(0, 2 * n)).tolist()
    if kind == 2:
        return rng.random(n) < 0.4
    start, stop = sorted(int(i) for i in rng.integers(-n, n, 2))
    return slice(start, stop, int(rng.choice([1, 2, -1])))


@pytest.mark.parametrize("seed", range(5))
def test_random_outer(pair, seed):
    data, array = pair
    rng = np.random.default_rng(seed)
    for _ in range(60):
        key = tuple(some_outer(rng, n) for n in SHAPE)
        wanted = outer(
            data, [i if not isinstance(i, list) else np.array(i, int) for i in key]
        )
        found = array.oindex[key]
        assert np.array_equal(np.asarray(found), wanted) and np.shape(found) == wanted.shape


@pytest.mark.parametrize("seed", range(5))
def test_random_points(pair, seed):
    data, array = pair
    rng = np.random.default_rng(seed)
    for shape in [(1,), (50,), (3, 4), (2, 0), ()]:
        key = tuple(rng.integers(-n, n, shape) for n in SHAPE)
        same(np.asarray(array.vindex[key]), np.asarray(data[key]))
    key = (rng.integers(0, 13, (4, 1)), 3, rng.integers(0, 9, 5))
    same(array.vindex[key], data[key])
    same(array[key], data[key])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "u8"])
def test_integer_types(pair, dtype):
    data, array = pair
    rows = np.array([2, 0, 12, 2], dtype)
    same(array[rows], data[rows.astype(int)])
    same(array.vindex[rows, rows % 7, rows % 9], data[rows.astype(int), rows % 7, rows % 9])


def test_unsigned_never_wraps(pair):
    _, array = pair
    far = np.array([2**64 - 1], "u8")
    for read in (
        lambda: array[far],
        lambda: array.oindex[far],
        lambda: array.vindex[far, 0, 0],
    ):
        with pytest.raises(zellige.RangeError, match=str(2**64 - 1)):
            read()


def test_masks(pair):
    data, array = pair
    mask = data % 3 == 0
    same(array[mask], data[mask])
    same(array.vindex[mask], data[mask])
    rows = np.arange(13) % 4 == 1
    same(array[rows], data[rows])
    same(array[:, np.arange(7) > 3], data[:, np.arange(7) > 3])
    same(array[np.zeros(SHAPE, bool)], data[np.zeros(SHAPE, bool)])
    with pytest.raises(IndexError):
        array[np.zeros(12, bool)]
    with pytest.raises(IndexError):
        array[np.zeros((13, 7), bool)]


def test_a_list_beside_integers_and_slices(pair):
    data, array = pair
    same(array[0:12, 0, [0, 1]], data[0:12, 0, [0, 1]])
    same(array[3:13, 6, [5, 2, 2]], data[3:13, 6, [5, 2, 2]])
    same(array[[1, 2]], data[[1, 2]])
    same(array[..., [1, 2]], data[..., [1, 2]])
    same(array[[], 1:3], data[[], 1:3])
    same(array[[1, 2], [3, 4], 0], data[[1, 2], [3, 4], 0])
    same(array[5, (1, 2), :], data[5, (1, 2), :])
    same(array[range(3)], data[range(3)])


def test_two_meanings_are_refused(pair):
    _, array = pair
    for key in [([0, 1], slice(None), [0, 1]), ([0, 1], [0, 1]), (None, [0, 1])]:
        with pytest.raises(IndexError):
            array[key]


@pytest.mark.parametrize(
    "read",
    [
        lambda a: a[[13]],
        lambda a: a[[-14]],
        lambda a: a.oindex[[0, 13]],
        lambda a: a.vindex[0, 7, 0],
        lambda a: a.vindex[[0], [0]],
        lambda a: a.vindex[:, 0, 0],
        lambda a: a.oindex[[[0]]],
        lambda a: a[[0.5]],
        lambda a: a.oindex["a"],
        lambda a: a.blocks[2],
        lambda a: a.blocks[::2],
        lambda a: a.oindex[0, 0, 0, 0],
        lambda a: a.vindex["a", "b", "c"],
    ],
)
def test_wrong_lists(pair, read):
    with pytest.raises((IndexError, TypeError)):
        read(pair[1])


def test_blocks(pair):
    data, array = pair
    same(array.blocks[0, 0, 0], data[0:8, 0:4, 0:6])
    same(array.blocks[-1], data[8:13])
    same(array.blocks[:, 1, 0:2], data[:, 4:7])
    same(array.blocks[...], data)


def test_lists_of_many_axes_in_one_dimension(tmp_path):
    data = np.arange(10, dtype="i8")
    array = zellige.open_array(write_v3(tmp_path, data, (4,)))
    same(array[[1, -1, 1]], data[[1, -1, 1]])
    same(array[np.array([[1, 2], [3, 4]])], data[np.array([[1, 2], [3, 4]])])
    same(array[data > 4], data[data > 4])
    same(array.vindex[3], data[3])
