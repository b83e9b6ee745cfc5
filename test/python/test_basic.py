"""array[...] with integers, slices, Ellipsis and newaxis: the same as NumPy's."""

import random

import numpy as np
import pytest
import zellige
from conftest import same, write_v3

SHAPE = (13, 7, 9)


def stores(folder):
    data = np.arange(1, np.prod(SHAPE) + 1, dtype="<i4").reshape(SHAPE)
    data[4:8, :, 3:6] = 0  # some chunks and inner chunks hold only fill
    yield data, write_v3(folder / "plain", data, (4, 3, 5))
    yield data, write_v3(folder / "shards", data, (8, 6, 6), inner=(4, 2, 3))
    yield data, write_v3(folder / "missing", data, (4, 7, 3), skip={(1, 0, 1)})


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    return [(d, zellige.open_array(p)) for d, p in stores(tmp_path_factory.mktemp("basic"))]


def some_item(rng, n):
    """A random integer or slice along an axis of n elements."""
    if rng.random() < 0.35:
        return rng.randrange(-n, n)
    bound = lambda: rng.choice([None, rng.randrange(-2 * n, 2 * n)])  # noqa: E731
    step = rng.choice([None, 1, 1, 2, 3, n, -1, -2, -n - 1])
    return slice(bound(), bound(), step)


def some_key(rng):
    items = [some_item(rng, n) for n in SHAPE[: rng.randrange(4)]]
    if rng.random() < 0.4:
        keep = rng.randrange(len(items) + 1)
        tail = len(items) - keep
        items[keep:] = (
            [some_item(rng, n) for n in SHAPE[len(SHAPE) - tail :]] if tail else []
        )
        items.insert(keep, Ellipsis)
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        items.insert(rng.randrange(len(items) + 1), None)
    return items[0] if len(items) == 1 and rng.random() < 0.5 else tuple(items)


@pytest.mark.parametrize("seed", range(8))
def test_random_keys(arrays, seed):
    rng = random.Random(seed)
    for _ in range(150):
        key = some_key(rng)
        for data, array in arrays:
            try:
                same(array[key], data[key])
            except AssertionError as error:
                raise AssertionError(f"{key!r} of {array!r}") from error


def test_an_element_is_a_scalar(arrays):
    for data, array in arrays:
        same(array[1, 2, 3], data[1, 2, 3])
        same(array[-1, np.int64(2), np.uint8(3)], data[-1, 2, 3])
        same(array[1, 2, 3, ...], data[1, 2, 3, ...])


def test_no_axes(tmp_path):
    data = np.array(7, dtype="f8")
    array = zellige.open_array(write_v3(tmp_path, data, ()))
    same(array[()], data[()])
    same(array[...], data[...])
    same(array[None], data[None])
    with pytest.raises(IndexError):
        array[0]
    with pytest.raises(TypeError):
        len(array)


def test_no_elements(tmp_path):
    array = zellige.open_array(write_v3(tmp_path, np.empty((0, 3), "f4"), (2, 2)))
    same(array[...], np.empty((0, 3), "f4"))
    same(array[:, 1], np.empty((0, 3), "f4")[:, 1])
    with pytest.raises(IndexError):
        array[0]


@pytest.mark.parametrize(
    "key",
    [
        13,
        -14,
        (0, 7),
        (0, 0, 9),
        (0, 0, 0, 0),
        (Ellipsis, Ellipsis),
        2**70,
        "a",
        1.5,
        True,
        slice(1.5),
        {},
        (0, "a"),
        b"x",
    ],
)
def test_wrong_keys(arrays, key):
    for _, array in arrays:
        with pytest.raises((IndexError, TypeError)):
            array[key]


@pytest.mark.parametrize(
    ("key", "kind", "words"),
    [
        ((0, 0, 0, 0), zellige.SelectionError, "has 3 axes, 4 were indexed"),
        ((None,) * 80, zellige.SelectionError, "axes"),
        ((..., 0, ...), zellige.SelectionError, "a single ellipsis"),
        (2**70, zellige.RangeError, f"index {2**70} is out of bounds for axis 0"),
        ((0, -(2**63)), zellige.RangeError, f"index {-(2**63)} is out of bounds for axis 1"),
        (10**5000, zellige.RangeError, "index .* is out of bounds for axis 0"),
    ],
    ids=["axes", "new axes", "ellipsis", "large", "small", "very large"],
)
def test_wrong_keys_are_errors_of_the_library(arrays, key, kind, words):
    for _, array in arrays:
        with pytest.raises(kind, match=words) as caught:
            array[key]
        assert isinstance(caught.value, IndexError)


def test_out_of_range_has_its_kind(arrays):
    with pytest.raises(zellige.RangeError, match="index 13 .* axis 0 .* 13") as caught:
        arrays[0][1][13]
    assert caught.value.kind == "range"


def test_results_belong_to_the_caller(arrays):
    for data, array in arrays:
        for _ in range(2):
            result = array[2:5]
            same(result, data[2:5])
            assert result.flags.writeable and result.flags.owndata
            result[...] = -1


def test_step_zero(arrays):
    with pytest.raises(ValueError, match="zero"):
        arrays[0][1][::0]
