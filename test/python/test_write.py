"""Writing any selection: what is stored is what NumPy would have made of it."""

import array as arrays
import warnings

import numpy as np
import pytest
import zellige
from conftest import same
from zellige import Blocks, Outer, Points

SHAPE = (13, 7, 9)
LAYOUTS = {
    "plain": {"chunks": (8, 4, 6)},
    "shards": {"chunks": (4, 2, 3), "shards": (8, 4, 6)},
    "start": {"chunks": (4, 2, 3), "shards": (16, 8, 9), "index_location": "start"},
    "filters": {
        "chunks": (5, 7, 4),
        "filters": {"name": "transpose", "configuration": {"order": [2, 0, 1]}},
        "compressors": [{"name": "gzip", "configuration": {"level": 1}}, "crc32c"],
    },
    "version 2": {"chunks": (5, 3, 9), "zarr_format": 2, "order": "F"},
    "rectilinear": {
        "chunk_grid": {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": [[2, 11], 3, [1, 7, 1]]},
        }
    },
}


@pytest.fixture(params=LAYOUTS)
def pair(request):
    """A model and an array that hold the same."""
    array = zellige.create_array(
        zellige.MemoryStore(),
        shape=SHAPE,
        dtype="i4",
        fill_value=7,
        **LAYOUTS[request.param],
    )
    return np.full(SHAPE, 7, "i4"), array


def some_slice(rng, n):
    start, stop = (
        None if rng.random() < 0.3 else int(i) for i in rng.integers(-n - 2, n + 2, 2)
    )
    return slice(start, stop, int(rng.choice([1, 1, 2, 3, -1, -2])))


def some_basic(rng):
    key = [
        int(rng.integers(-n, n)) if rng.random() < 0.3 else some_slice(rng, n)
        for n in SHAPE
    ]
    if rng.random() < 0.3:
        at, n = sorted(rng.integers(0, 4, 2))
        key[at:n] = [...]
    if rng.random() < 0.2:
        key.insert(int(rng.integers(0, len(key) + 1)), None)
    return tuple(key)


def some_value(rng, shape):
    """Values that fit a shape: repeated, strided, in any order, of any type."""
    shape = list(shape)
    for axis in range(len(shape)):
        if rng.random() < 0.2:
            shape[axis] = 1
    while shape and shape[0] == 1 and rng.random() < 0.5:
        del shape[0]
    dtype = rng.choice(["i4", "i4", ">i4", "i2", "f8", "u1"])
    steps = [int(rng.integers(1, 3)) for _ in shape]
    space = [max(1, n * step) for n, step in zip(shape, steps)]
    value = rng.integers(0, 100, space).astype(dtype)
    if rng.random() < 0.3:
        value = np.asfortranarray(value)
    value = value[tuple(slice(0, n * s, s) for n, s in zip(shape, steps))]
    if rng.random() < 0.3:
        value = value[tuple(slice(None, None, -1) for _ in shape)]
    return value[None] if rng.random() < 0.1 else value


def spread(value, shape):
    """A value over a shape as NumPy's assignment spreads it."""
    while value.ndim > len(shape):
        value = value[0]
    return np.broadcast_to(value, shape)


@pytest.mark.parametrize("seed", range(6))
def test_random_basic(pair, seed):
    model, array = pair
    rng = np.random.default_rng(seed)
    for _ in range(60):
        key = some_basic(rng)
        value = some_value(rng, model[key].shape)
        model[key] = spread(value, model[key].shape)
        array[key] = value
    same(array[...], model)


def positions(rng, n):
    """Positions along an axis as a key, and as a list."""
    kind = rng.integers(4)
    if kind == 0:
        i = int(rng.integers(-n, n))
        return i, [i]
    if kind == 1:
        found = rng.integers(-n, n, rng.integers(0, 2 * n))
        return found.tolist(), found.tolist()
    if kind == 2:
        mask = rng.random(n) < 0.4
        return mask, np.flatnonzero(mask).tolist()
    part = some_slice(rng, n)
    return part, list(range(n))[part]


@pytest.mark.parametrize("seed", range(6))
def test_random_outer(pair, seed):
    """Against a loop, so that of several values for an element the last one counts."""
    model, array = pair
    rng = np.random.default_rng(seed)
    for _ in range(25):
        picked = [positions(rng, n) for n in SHAPE]
        key = tuple(key for key, _ in picked)
        lists = [found for _, found in picked]
        shape = [len(found) for found in lists]
        result = [n for n, item in zip(shape, key) if not isinstance(item, int)]
        value = some_value(rng, result)
        array.oindex[key] = value
        whole = spread(value, result).reshape(shape)
        for place in np.ndindex(*shape):
            model[tuple(found[i] for found, i in zip(lists, place))] = whole[place]
    same(array[...], model)


@pytest.mark.parametrize("seed", range(6))
def test_random_points(pair, seed):
    model, array = pair
    rng = np.random.default_rng(seed)
    for shape in [(1,), (400,), (3, 4), (2, 0), (), (5, 1, 6)]:
        key = tuple(rng.integers(-n, n, shape) for n in SHAPE)
        value = some_value(rng, shape)
        array.vindex[key] = value
        whole = spread(value, shape)
        for place in np.ndindex(shape):
            model[tuple(one[place] for one in key)] = whole[place]
        same(array[...], model)
    key = (rng.integers(0, 13, (4, 1)), 3, rng.integers(0, 9, 5))
    array[key] = 1000
    model[key] = 1000
    same(array[...], model)


@pytest.mark.parametrize("seed", range(3))
def test_random_masks(pair, seed):
    model, array = pair
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.01, 0.5, 1.0):
        mask = rng.random(SHAPE) < share
        value = rng.integers(0, 99, int(mask.sum()))
        array[mask] = value
        model[mask] = value
        array.vindex[~mask & (model > 50)] = 3
        model[~mask & (model > 50)] = 3
        same(array[...], model)


def test_blocks(pair):
    model, array = pair
    edges = [np.cumsum([0, *sizes]) for sizes in array.write_chunk_sizes]
    array.blocks[0, -1] = 5
    model[: edges[0][1], edges[1][-2] :] = 5
    value = np.arange(model[:, : edges[1][1], edges[2][-2] :].size)
    array.blocks[:, 0, -1:] = value.reshape(model[:, : edges[1][1], edges[2][-2] :].shape)
    model[:, : edges[1][1], edges[2][-2] :] = array[:, : edges[1][1], edges[2][-2] :]
    assert array[-1, 0, -1] == model[-1, 0, -1] != 5
    same(array[...], model)


def test_the_last_of_several_values_counts(pair):
    model, array = pair
    rows = np.array([8, 1, 8, -1, 3, 3, 8, 0, 1])
    value = np.arange(rows.size * 9).reshape(rows.size, 9)
    array.oindex[rows, 2] = value
    for i, row in enumerate(rows):
        model[row, 2] = value[i]
    array.vindex[rows, 1, 0] = np.arange(rows.size)
    model[rows, 1, 0] = np.arange(rows.size)
    same(array[...], model)
    writes = [
        (array, (slice(0, 9), 4), 1),
        (array, (slice(3, 12), 4), 2),
        (array, (5, 4), 3),
    ]
    zellige.write_many(writes)
    for _, key, item in writes:
        model[key] = item
    same(array[...], model)


# ---------------------------------------------------------------------- values


class Lent:
    """Memory that only DLPack gives away."""

    def __init__(self, memory):
        self.memory = memory

    def __dlpack__(self, **keywords):
        return self.memory.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()


def test_sources_of_others(pair):
    model, array = pair
    for value in (
        arrays.array("h", range(9)),
        memoryview(np.arange(9, 18, dtype="i4")),
        memoryview(np.arange(18, dtype=">i4"))[::2],
        bytearray(range(9)),
        Lent(np.arange(18, dtype="i4")[::2]),
        Lent(np.arange(18, dtype="f4")[::-2]),
        list(range(9)),
        tuple(range(9, 0, -1)),
        range(9),
        np.int64(5),
        5,
        5.75,
        True,
        array[3, 2],
        zellige.create_array(zellige.MemoryStore(), data=np.arange(9)),
    ):
        array[4, 5] = value
        wanted = value.memory if isinstance(value, Lent) else value
        model[4, 5] = np.asarray(wanted)
        same(array[...], model)


def test_unaligned_and_read_only_memory(pair):
    model, array = pair
    value = np.arange(model.size * 4 + 1, dtype="u1")[1:].view("i4").reshape(SHAPE)
    value.flags.writeable = False
    array[...] = value
    same(array[...], value.copy())


def test_what_numpy_refuses_is_refused(pair):
    model, array = pair
    before = array[...]
    for key, value, error in [
        ((0, 0), np.arange(8), ValueError),
        ((0, 0), np.arange(9)[:, None], ValueError),
        (slice(0, 2), np.zeros((3, 7, 9)), ValueError),
        (slice(0, 0), np.zeros((2, 7, 9)), ValueError),
        (model > 100, [1, 2], ValueError),
        (Points(([1, 2], [0, 0], [0, 0])), [1, 2, 3], ValueError),
        (Outer(([1, 2], 0)), np.zeros((3, 9)), ValueError),
        (Blocks((0, 0, 0)), np.zeros((3, 3)), ValueError),
        (13, 1, IndexError),
        ([0, 99], 1, IndexError),
        ("a", 1, IndexError),
        ((0, 0, 0), "x", ValueError),
        ((0, 0, 0), None, TypeError),
        ((0, 0, 0), np.ma.masked_array([1], [True]), ValueError),
        ((0, 0, 0), object(), TypeError),
    ]:
        with pytest.raises(error):
            array[key] = value
    with pytest.raises(ValueError, match="deleted"):
        del array[0]
    same(array[...], before)


def test_newaxis_is_as_in_numpy(pair):
    model, array = pair
    value = np.arange(7 * 9).reshape(7, 1, 9)
    array[3, :, None] = model[3, :, None] = value
    array[None, 5] = model[None, 5] = 1
    same(array[...], model)


# ---------------------------------------------------------------------- types

RECORD = np.dtype([("x", "i2"), ("y", "f8"), ("z", "U2")])
TYPES = {
    "bool": [True, False, True],
    "i1": [-1, 0, 127],
    "u8": [2**64 - 1, 0, 2**53 + 1],
    "f2": [-0.0, np.inf, 1.5],
    "f8": [np.nan, -0.0, 1e300],
    "c8": [1 + 2j, -0.0, np.inf],
    "M8[ns]": [2**62, "NaT", 0],
    "m8[s]": [-5, "NaT", 7],
    "S5": [b"a", b"", b"abcde"],
    "U3": ["é", "", "abc"],
    "V3": [b"abc", b"\0\0\0", b"\1\2\3"],
    "record": [(1, 2.5, "ab"), (-3, np.nan, "é"), (0, 0, "")],
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_types(name, zarr_format):
    dtype = RECORD if name == "record" else np.dtype(name)
    value = np.array(TYPES[name], dtype)
    empty = np.array("NaT", dtype) if dtype.kind in "mM" else np.zeros((), dtype)
    model = np.full(11, empty)
    array = zellige.create_array(
        zellige.MemoryStore(), shape=11, dtype=dtype, chunks=4, zarr_format=zarr_format
    )
    other = value.astype(dtype.newbyteorder())
    for key, item in [
        (slice(1, 4), value),
        (slice(9, 3, -2), other),
        ([0, 5, 2], other[::-1]),
        (10, value[0]),
        (slice(4, 8), value[:1]),
        (3, other[1]),
        (8, TYPES[name][0]),
    ]:
        array[key] = item
        model[key] = item
        assert array[...].tobytes() == model.tobytes()
    array.fill(value[2], slice(0, 6))
    model[0:6] = value[2]
    array.fill(None, [3, 7])
    model[[3, 7]] = empty
    assert array[...].tobytes() == model.tobytes()


def test_records_of_another_layout():
    array = zellige.create_array(zellige.MemoryStore(), shape=3, dtype=RECORD)
    value = np.array(TYPES["record"], np.dtype(RECORD.descr, align=True))
    array[...] = value
    assert array[...].tobytes() == value.astype(RECORD).tobytes()
    array[1:] = [(7, 8, "c"), (9, 1, "d")]
    assert array[...].tolist()[1:] == [(7, 8.0, "c"), (9, 1.0, "d")]


def test_casts_are_those_of_numpy():
    array = zellige.create_array(zellige.MemoryStore(), shape=4, dtype="u1")
    array[...] = [1.9, 255.0, 0.5, 3.0]
    assert array[...].tolist() == [1, 255, 0, 3]
    array[...] = np.array([256, 257, -1, 7])
    assert array[...].tolist() == [0, 1, 255, 7]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(getattr(np, "exceptions", np).ComplexWarning):
            array[...] = np.ones(4) * 1j
    times = zellige.create_array(zellige.MemoryStore(), shape=2, dtype="M8[s]")
    times[...] = np.array(["2001-01-01T00:00:01.9", "1970-01-01"], "M8[ns]")
    assert (
        times[...].tolist()
        == np.array(["2001-01-01T00:00:01", "1970-01-01"], "M8[s]").tolist()
    )


def test_types_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = zellige.create_array(
        zellige.MemoryStore(), shape=5, dtype="bfloat16", chunks=2, fill_value=1.5
    )
    array[1:4] = np.array([1.0, 2.5, -3.0], ml_dtypes.bfloat16)
    array[4] = 7.25
    assert array[...].astype("f4").tolist() == [1.5, 1.0, 2.5, -3.0, 7.25]


# ---------------------------------------------------------------------- variable length


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", [str, bytes])
def test_texts(kind, zarr_format):
    def item(text):
        return text if kind is str else text.encode()

    array = zellige.create_array(
        zellige.MemoryStore(),
        shape=(6, 5),
        dtype=kind,
        chunks=(4, 3),
        zarr_format=zarr_format,
    )
    model = np.full((6, 5), item(""), object)
    rng = np.random.default_rng(1)
    words = np.array([item("é" * int(n)) for n in rng.integers(0, 9, 30)], object)
    for key, value in [
        (..., item("x")),
        ((slice(1, 5), slice(None, None, -2)), words[:12].reshape(4, 3)),
        (0, list(words[:5])),
        ((slice(None), 2), words[:6][:, None].T),
        ((2, 3), item("one")),
        (([0, 5], [1, 1]), [item("a"), item("b")]),
        ((slice(2, 4), slice(0, 2)), item("")),
        (model == item("nothing"), item("y")),
        ((slice(0, 0), 0), []),
    ]:
        array[key] = value
        model[key] = value
        assert array[...].tolist() == model.tolist()
    zellige.write_many([(array, 3, item("p")), (array, (slice(2, 5), 1), [item("q")] * 3)])
    model[3], model[2:5, 1] = item("p"), [item("q")] * 3
    assert array[...].tolist() == model.tolist()
    for wrong in (np.zeros((6, 5)), [1, 2, 3, 4, 5], item("x").__class__, None):
        with pytest.raises(TypeError, match="elements of type"):
            array[...] = wrong
    with pytest.raises(ValueError, match="does not fit"):
        array[0] = [item("a")] * 4
    assert array[...].tolist() == model.tolist()


def test_texts_of_every_width():
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("a\0é漢𝄞"), rng.integers(9))) for _ in range(500)]
    array = zellige.create_array(zellige.MemoryStore(), shape=500, chunks=60, dtype=str)
    for few in "a", "aé", "a漢", "a\0é漢𝄞":
        source = ["".join(c for c in word if c in few) for word in words]
        array[...] = source
        assert array[...].tolist() == source
    with pytest.raises(UnicodeEncodeError):
        array[3] = "\ud800"


def test_texts_of_every_kind_of_numpy():
    array = zellige.create_array(zellige.MemoryStore(), shape=3, dtype=str)
    sources = [np.array(["a", "bé", ""]), np.array(["c", "", "d"], object)]
    if array.dtype.kind == "T":
        sources.append(np.array(["long" * 9, "", "x"], array.dtype))
    for source in sources:
        array[...] = source
        assert array[...].tolist() == source.tolist()
        array[::-1] = source
        assert array[...].tolist() == source.tolist()[::-1]


def test_lists_of_variable_length():
    array = zellige.create_array(
        zellige.MemoryStore(),
        shape=3,
        dtype="|O",
        zarr_format=2,
        codecs={"filters": [{"id": "vlen-array", "dtype": "<i4"}], "compressor": None},
    )

    def lists():
        return [item.tolist() for item in array[...]]

    array[...] = [[1, 2], [3], []]
    assert lists() == [[1, 2], [3], []]
    array[1] = np.arange(4)
    array[2] = [7.5]
    assert lists() == [[1, 2], [0, 1, 2, 3], [7]]
    array[:2] = np.arange(6, dtype=">i2").reshape(2, 3)
    array.fill([5, 5], 2)
    assert lists() == [[0, 1, 2], [3, 4, 5], [5, 5]]
    array[:] = np.arange(2)
    assert lists() == [[0, 1]] * 3
    with pytest.raises(ValueError):
        array[...] = [[1], [2]]


# ---------------------------------------------------------------------- calls


def test_write_and_fill(pair):
    model, array = pair
    array.write(3, (0, slice(2, 5)), promise="durable", keep_empty=True, timeout=60)
    model[0, 2:5] = 3
    array.write(np.arange(9), Outer((2, 3)))
    model[2, 3] = np.arange(9)
    array.write(np.arange(3), Points(([1, 1, 2], [0, 1, 2], [3, 3, 3])))
    model[[1, 1, 2], [0, 1, 2], [3, 3, 3]] = np.arange(3)
    array.fill(9, (slice(None), 1))
    model[:, 1] = 9
    array.fill(selection=(slice(3, 9), slice(None, None, 2)))
    model[3:9, ::2] = 7
    array.fill(8, model == 9)
    model[model == 9] = 8
    same(array[...], model)
    array.fill()
    assert array.nbytes_stored() == 0
    same(array[...], np.full(SHAPE, 7, "i4"))
    with pytest.raises(ValueError, match="one element"):
        array.fill([1, 2])
    for wrong in ("", "sure", 3, b"durable"):
        with pytest.raises(zellige.UsageError, match="visible, durable, verified"):
            array.write(1, promise=wrong)
    with pytest.raises(ValueError, match="timeout"):
        array.write(1, timeout=-1)


def test_many_at_once():
    store = zellige.MemoryStore()
    a = zellige.create_array(store, path="a", shape=(40, 40), dtype="f4", chunks=(10, 10))
    b = zellige.create_array(store, path="b", shape=50, dtype="u2", chunks=5, shards=20)
    c = zellige.create_array(store, path="c", shape=9, dtype=str, chunks=4)
    models = {id(a): np.zeros((40, 40), "f4"), id(b): np.zeros(50, "u2")}
    rng = np.random.default_rng(2)
    writes = []
    for _ in range(200):
        at, n = rng.integers(0, 40, 2), rng.integers(1, 12, 2)
        key = tuple(slice(int(i), int(i + k)) for i, k in zip(at, n))
        writes.append((a, key, rng.random(models[id(a)][key].shape)))
        writes.append((b, key[0], rng.integers(0, 99)))
    zellige.write_many([*writes, (c, slice(2, 5), "w"), (c, 8, "last")])
    for array, key, value in writes:
        models[id(array)][key] = value
    same(a[...], models[id(a)])
    same(b[...], models[id(b)])
    assert c[...].tolist() == ["", "", "w", "w", "w", "", "", "", "last"]
    zellige.write_many([])
    zellige.write_many(iter([(a, (0, 0), 5)]), promise="durable", timeout=60)
    assert a[0, 0] == 5
    for wrong, error in [
        ([1], TypeError),
        ([(a, 0)], TypeError),
        ([(None, 0, 1)], TypeError),
        ([(a, 0, 1), (a, 99, 1)], IndexError),
        ([(a, 0, 1), (b, slice(0, 3), [1, 2])], ValueError),
    ]:
        with pytest.raises(error):
            zellige.write_many(wrong)
    assert a[0, 1] != 1


def test_presence_means_written():
    store = zellige.MemoryStore()
    array = zellige.create_array(store, shape=8, dtype="i4", chunks=2, keep_empty=True)
    array[0:4] = 0
    assert array.keep_empty and array._stored()[0] == 2
    array.write(0, slice(4, 8), keep_empty=False)
    assert array._stored()[0] == 2
    with pytest.raises(KeyError):
        array.read(missing_is_error=True)
    assert array.read(slice(0, 4), missing_is_error=True).tolist() == [0] * 4
    with pytest.raises(zellige.NotFoundError):
        zellige.read_many([(array, 7)], missing_is_error=True)
    usual = zellige.open_array(store, "r+")
    usual[0:2] = 0
    assert not usual.keep_empty and usual._stored()[0] == 1
    usual.write(0, keep_empty=True)
    assert usual._stored()[0] == 4


@pytest.mark.parametrize("promise", ["visible", "durable", "verified"])
def test_promises(tmp_path, promise):
    array = zellige.create_array(
        tmp_path, path="a", shape=10, dtype="i4", chunks=3, promise=promise
    )
    assert array.promise == promise
    array[2:7] = range(5)
    array.append([1, 2])
    array.attrs["k"] = 1
    array.resize(11)
    array.write(5, 0, promise="visible")
    for mode in ("r+", "a"):
        again = zellige.open_array(tmp_path, mode, "a", promise=promise)
        assert again.promise == promise
        assert again[...].tolist() == [5, 0, 0, 1, 2, 3, 4, 0, 0, 0, 1]
    group = zellige.open_group(tmp_path, "r+", promise=promise)
    assert group["a"].promise == promise
    assert group.create_array("b", shape=1, dtype="i1").promise == promise
    assert group.create_group("c").promise == promise
    assert zellige.open_array(tmp_path, path="a").promise == "visible"
    with pytest.raises(zellige.UsageError, match="none of"):
        zellige.open_array(tmp_path, path="a", promise="certain")
