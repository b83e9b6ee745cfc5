"""Arrays that grow, shrink and are read again."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zellige
from conftest import same

LAYOUTS = {
    "plain": {"chunks": (4, 3)},
    "shards": {"chunks": (2, 3), "shards": (4, 6)},
    "version 2": {"chunks": (4, 3), "zarr_format": 2, "separator": "/"},
    "edges": {"chunks": [[2, 4], [4, 1]]},
}


@pytest.fixture(params=LAYOUTS)
def array(request):
    return zellige.create_array(
        zellige.MemoryStore(),
        shape=(6, 5),
        dtype="i4",
        fill_value=-1,
        **LAYOUTS[request.param],
    )


def resized(model, shape):
    result = np.full(shape, -1, model.dtype)
    kept = tuple(slice(0, min(a, b)) for a, b in zip(shape, model.shape))
    result[kept] = model[kept]
    return result


@pytest.mark.parametrize("seed", range(4))
def test_random_changes(array, seed):
    rng = np.random.default_rng(seed)
    model = np.full((6, 5), -1, "i4")
    for _ in range(30):
        if rng.random() < 0.5:
            shape = tuple(int(n) for n in rng.integers(0, 14, 2))
            assert array.resize(shape) is None
            model = resized(model, shape)
        else:
            axis = int(rng.integers(-2, 2))
            shape = list(model.shape)
            shape[axis] = int(rng.integers(0, 5))
            data = rng.integers(0, 99, shape).astype(rng.choice(["i4", ">i4", "f8"]))
            data = np.asfortranarray(data) if rng.random() < 0.5 else data
            model = np.concatenate([model, data.astype("i4")], axis)
            assert array.append(data, axis) == model.shape
        assert array.shape == model.shape == tuple(array.metadata["shape"])
        same(array[...], model)
        if model.size:
            array[-1] = model[-1] = int(rng.integers(0, 99))
        same(zellige.open_array(array.store)[...], model)


def test_other_objects_keep_their_shape(array):
    other = zellige.open_array(array.store, "r+")
    array.attrs["k"] = 1
    array.append(np.ones((2, 5)))
    assert array.shape == (8, 5) and other.shape == (6, 5) and other.attrs == {}
    assert other[...].shape == (6, 5)
    with pytest.raises(IndexError):
        other[7]
    assert other.refresh() is None
    assert other.shape == (8, 5) and other.attrs == {"k": 1}
    assert other[7].tolist() == [1] * 5 and other.metadata["shape"] == [8, 5]
    assert array.attrs == {"k": 1}


def test_an_array_made_anew(tmp_path):
    """Type, version and layout may all be others."""
    old = zellige.create_array(tmp_path, data=np.arange(6.0), attributes={"a": 1})
    assert (old.codecs, old.attrs, old.metadata) is not None
    zellige.create_array(tmp_path, data=["x", "yz"], dtype=str, chunks=1, overwrite=True)
    old.refresh()
    assert old[...].tolist() == ["x", "yz"] and old.attrs == {} and old.chunks == (1,)
    old[0] = "w"
    assert old.codecs[0]["name"] == "vlen-utf8"
    zellige.create_group(tmp_path, overwrite=True)
    with pytest.raises(zellige.NotFoundError):
        old.refresh()
    assert old.shape == (2,)


def test_texts_are_appended():
    array = zellige.create_array(
        zellige.MemoryStore(), data=["a", "b"], dtype=str, chunks=2
    )
    assert array.append(["c", "dé"]) == (4,)
    assert array.append(np.array(["e"]), axis=-1) == (5,)
    assert array[...].tolist() == ["a", "b", "c", "dé", "e"]
    array.resize(3)
    array.resize([4])
    assert array[...].tolist() == ["a", "b", "c", ""]
    with pytest.raises(TypeError):
        array.append([1])


def test_what_does_not_fit(array):
    for shape in ((1,), (1, 2, 3), (-1, 2), 7):
        with pytest.raises(ValueError):
            array.resize(shape)
    for data, axis in [
        (np.ones(5), 0),
        (np.ones((1, 4)), 0),
        (np.ones((1, 5)), 1),
        (np.ones((1, 5)), 2),
        (np.ones((1, 5)), -3),
        (1, 0),
    ]:
        with pytest.raises(ValueError):
            array.append(data, axis)
    with pytest.raises(ValueError):
        zellige.create_array(zellige.MemoryStore(), shape=(), dtype="i1").append(1)
    assert array.shape == (6, 5) and zellige.open_array(array.store).shape == (6, 5)


def test_read_only(tmp_path):
    zellige.save(tmp_path, np.arange(4))
    array = zellige.open_array(tmp_path, "r")
    for change in (
        lambda: array.resize(2),
        lambda: array.append([1]),
        lambda: array.fill(),
        lambda: array.write(1),
        lambda: zellige.write_many([(array, 0, 1)]),
    ):
        with pytest.raises(zellige.UsageError, match="reading only"):
            change()
    same(array[...], np.arange(4))


@pytest.mark.parametrize("make", [str, lambda path: zellige.MemoryStore()])
def test_the_fill_value_by_its_value(tmp_path, make):
    """Costs what is stored, where there are more chunks than anybody could write."""
    array = zellige.create_array(
        make(tmp_path), shape=(1 << 50,), dtype="f4", chunks=(1,), fill_value=0
    )
    array[5] = array[1 << 49] = 1
    for value in (0, np.zeros((), "f4")):
        array.fill(value, timeout=20)
        assert array[5] == array[1 << 49] == 0
    array.fill(-0.0, slice(2))  # another value, bit for bit
    assert np.signbit(array[:2]).all() and not np.signbit(array[2])


def test_threads_append_through_one_object():
    array = zellige.create_array(
        zellige.MemoryStore(), shape=(0, 4), dtype="i4", chunks=(3, 4)
    )
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: array.append(np.full((i % 3 + 1, 4), i)), range(60)))
    n = sum(i % 3 + 1 for i in range(60))
    assert array.shape == (n, 4)
    found = array[...]
    assert (found == found[:, :1]).all()
    assert np.bincount(found[:, 0]).tolist() == [i % 3 + 1 for i in range(60)]


def test_reads_go_on_while_an_object_changes():
    """Calls in other threads go on with the metadata that they began with."""
    array = zellige.create_array(
        zellige.MemoryStore(), shape=(64, 64), dtype="i4", chunks=(8, 8), fill_value=5
    )
    array[...] = 5
    done = threading.Event()
    wrong = []

    def read():
        while not done.is_set():
            shape = array.shape
            found = array[...]
            if not (found == 5).all() or found.ndim != len(shape):
                wrong.append(found)
            array.explain()
            array.nbytes_stored()

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(200):
        array.resize((64 + i % 7, 64))
        array.refresh()
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
