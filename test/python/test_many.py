"""read_many, and reading into memory of the caller."""

import numpy as np
import pytest
import zellige
from conftest import same, write_v3
from zellige import Blocks, Outer, Points


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    a = np.arange(600, dtype="<i4").reshape(20, 30)
    b = np.linspace(0, 1, 120, dtype="<f8").reshape(4, 5, 6)
    return [
        (a, zellige.open_array(write_v3(folder / "a", a, (10, 10), inner=(5, 5)))),
        (b, zellige.open_array(write_v3(folder / "b", b, (2, 3, 4)))),
    ]


def test_many_of_several_arrays(pairs):
    (a, za), (b, zb) = pairs
    reads = [
        (za, (slice(2, 9), 3)),
        (zb, ...),
        (za, [1, 5]),
        (zb, (0, 0, 0)),
        (za, Points(([1, 2], [3, 4]))),
        (za, Outer(([1], [2, 3]))),
        (zb, Blocks(1)),
        (za, slice(0, 0)),
        (za, a % 2 == 0),
    ]
    wanted = [
        a[2:9, 3],
        b,
        a[[1, 5]],
        b[0, 0, 0],
        a[[1, 2], [3, 4]],
        a[[1]][:, [2, 3]],
        b[2:],
        a[0:0],
        a[a % 2 == 0],
    ]
    for found, right in zip(zellige.read_many(reads), wanted, strict=True):
        same(found, right)
    assert zellige.read_many([]) == []
    assert len(zellige.read_many((za, 0) for _ in range(3))) == 3


def test_many_into_memory(pairs):
    (a, za), (b, zb) = pairs
    out = [np.zeros((20, 30), "i4"), np.zeros((4, 5), "f8")]
    found = zellige.read_many([(za, ...), (zb, (..., 2))], out=out)
    assert found[0] is out[0] and found[1] is out[1]
    same(out[0], a)
    same(out[1], b[..., 2])


@pytest.mark.parametrize("reads", [[1], [(1, 2)], [(None, ...)], [()], 3])
def test_wrong_reads(reads):
    with pytest.raises(TypeError):
        zellige.read_many(reads)


def test_one_bad_read_fails_the_call(pairs):
    (_, za), _ = pairs
    with pytest.raises(zellige.RangeError):
        zellige.read_many([(za, ...), (za, 99)])
    with pytest.raises(ValueError, match="out"):
        zellige.read_many([(za, ...)], out=[])


def test_which_read_or_write_is_wrong(tmp_path):
    group = zellige.open_group(tmp_path, mode="w")
    arrays = [group.create_array(name, shape=4, dtype="u1") for name in "ab"]
    for key, words in [
        (9, "index 9 "),
        ((0, 0), "too many"),
        ([7], "index 7 "),
        (zellige.Outer("x"), ""),
    ]:
        for call in (
            lambda key: zellige.read_many([(arrays[0], 0), (arrays[1], key)]),
            lambda key: zellige.write_many([(arrays[0], 0, 1), (arrays[1], key, 1)]),
        ):
            with pytest.raises(zellige.ZelligeError, match="array b: selection 1: " + words):
                call(key)


def test_into_any_layout(pairs):
    (a, za), (b, zb) = pairs
    for out in (
        np.zeros((20, 30), "i4"),
        np.zeros((20, 30), "i4", order="F"),
        np.zeros((40, 60), "i4")[::2, ::-2],
        np.zeros((30, 20), "i4").T,
    ):
        assert za.read(out=out) is out
        assert np.array_equal(out, a)
        assert za.read((slice(None), slice(None, None, -1)), out=out) is out
        assert np.array_equal(out, a[:, ::-1])
    spaced = np.zeros((3, 8, 2), "f8")
    zb.read((1, [4, 0, 0], slice(0, 4)), out=spaced[:, ::2, 0])
    assert np.array_equal(spaced[:, ::2, 0], b[1, [4, 0, 0], 0:4])
    assert not spaced[:, 1::2].any() and not spaced[..., 1].any()
    unaligned = np.zeros(20 * 30 * 4 + 1, "u1")[1:].view("i4").reshape(20, 30)
    za.read(out=unaligned)
    assert np.array_equal(unaligned, a)
    element = np.zeros((), "i4")
    za.read((3, 4), out=element)
    assert element == a[3, 4]


def test_memory_that_does_not_fit(pairs):
    (_, za), _ = pairs
    for out in (
        np.zeros((20, 31), "i4"),
        np.zeros((20, 30), "i8"),
        np.zeros((20, 30), ">i4"),
        [1, 2],
        np.zeros(600, "i4"),
    ):
        with pytest.raises(zellige.UsageError, match="out"):
            za.read(out=out)
    fixed = np.zeros((20, 30), "i4")
    fixed.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        za.read(out=fixed)


def test_texts_into_memory(tmp_path):
    store = zellige.MemoryStore()
    words = np.array(["a", "", "ünï", "漢字"], dtype=object)
    array = zellige.create_array(store, data=words, dtype="string", chunks=2)
    out = np.empty(4, array.dtype)
    array.read(out=out)
    assert list(out) == list(words)
    assert [list(x) for x in zellige.read_many([(array, slice(1, 3)), (array, [3])])] == [
        ["", "ünï"],
        ["漢字"],
    ]
    assert zellige.read_many([(array, 2)]) == ["ünï"]
