"""What is given to writers in any order is stored once."""

import json
import os
import subprocess
import sys
from array import array as c_array

import numpy as np
import pytest
import zellige
from conftest import same
from writing import DATA, SHAPES, array


# ---------------------------------------------------------------------- what is stored


@pytest.mark.parametrize("seed", range(4))
def test_rows_in_any_order(array, seed):
    with zellige.Writer(array) as writer:
        for i in np.random.default_rng(seed).permutation(len(DATA)):
            ticket = writer.submit(i, DATA[i])
    same(array[...], DATA)
    assert ticket.state == "stored" and ticket.done() and writer.closed
    counts = writer.counts
    assert counts["submitted"] == 12 and counts["bytes_submitted"] == DATA.nbytes
    assert counts["stored"] == 3 * 2 * 2 == len(array.store.keys("c"))
    for name in ("opened", "partial", "open", "failed", "bytes_queued"):
        assert counts[name] == 0, name


def test_bytes_do_not_depend_on_the_order(tmp_path):
    stored = []
    for seed in range(3):
        place = tmp_path / str(seed)
        one = zellige.create_array(place, shape=DATA.shape, dtype="i4", **SHAPES)
        with zellige.Writer(one) as writer:
            for i in np.random.default_rng(seed).permutation(len(DATA)):
                writer.submit(i, DATA[i])
        stored.append({key: one.store.get(key) for key in one.store.keys()})
    assert stored[0] == stored[1] == stored[2]


@pytest.mark.parametrize("budget", [None, 60_000])
def test_boxes_over_boxes(array, budget):
    """Each element holds what came last, whatever is flushed between."""
    rng = np.random.default_rng(1)
    wanted = np.zeros(DATA.shape, "i4")
    with zellige.Writer(array, memory_budget=budget) as writer:
        for n in range(300):
            box = tuple(slice(*sorted(rng.integers(0, n + 1, 2))) for n in DATA.shape)
            wanted[box] = rng.integers(1, 1 << 30, wanted[box].shape, "i4")
            writer.submit(box, wanted[box])
            if n % 60 == 59:
                writer.flush()
                same(array[...], wanted)
    same(array[...], wanted)
    assert writer.counts["bytes_peak"] <= writer.counts["bytes_budget"]


def test_the_budget_holds_in_the_worst_order(tmp_path):
    """All shards are open at once; their chunks wait in the side file."""
    data = np.random.default_rng(0).random((16, 16, 64, 64), "f4")
    array = zellige.create_array(
        tmp_path,
        shape=data.shape,
        dtype="f4",
        chunks=(1, 1, 64, 64),
        shards=(16, 1, 64, 64),
    )
    with zellige.Writer(array, memory_budget=1 << 20) as writer:
        assert writer.estimate().least < 1 << 20
        for i in range(16):
            for j in range(16):
                writer.submit((i, j), data[i, j])
    same(array[...], data)
    counts = writer.counts
    assert counts["bytes_peak"] <= counts["bytes_budget"] == 1 << 20
    assert counts["spilled"] == counts["unspilled"] > 0 and counts["opened"] == 0
    assert sorted(os.listdir(tmp_path)) == ["c", "zarr.json"]


def test_too_small_a_budget(array):
    with pytest.raises(zellige.LimitError):
        zellige.Writer(array, memory_budget=1000)


def test_parts_of_shards_are_stored_by_flush(array):
    with zellige.Writer(array) as writer:
        writer.submit((0, slice(3, 9)), DATA[0, 3:9])
        assert array.store.keys("c") == []
        writer.flush()
        wanted = np.zeros_like(DATA)
        wanted[0, 3:9] = DATA[0, 3:9]
        same(array[...], wanted)
        assert writer.counts["partial"] == 2
        writer.submit(..., DATA)
        writer.drain()
        same(array[...], DATA)


def test_what_was_stored_before(array):
    array[...] = DATA
    wanted = DATA.copy()
    wanted[0, :8, :10] = 5
    with zellige.Writer(array) as writer:
        writer.submit((0, slice(0, 8), slice(0, 10)), 5)
    same(array[...], wanted)
    with zellige.Writer(array, existing="skip_equal") as writer:
        writer.submit(..., wanted)
    assert writer.counts["skipped"] == 12
    with zellige.Writer(array, existing="replace") as writer:
        writer.submit((0, slice(0, 8), slice(0, 10)), 6)
    wanted[:4, :16, :20] = 0
    wanted[0, :8, :10] = 6
    same(array[...], wanted)
    writer = zellige.Writer(array, existing="refuse")
    writer.submit(..., DATA)
    for _ in range(2):
        with pytest.raises(zellige.ExistsError, match="c/"):
            writer.close()
    writer.abort()
    same(array[...], wanted)


def test_arrays_of_a_group(tmp_path):
    root = zellige.create_group(tmp_path)
    root.create_array("x", shape=(6, 10), dtype="u2", chunks=(1, 10))
    root.create_array("deep/t", shape=(6,), dtype="M8[s]", chunks=(6,))
    root.create_array("text", shape=(6,), dtype="str")
    with zellige.Writer(root) as writer:
        for i in range(6):
            writer.submit("x", i, np.full(10, i, "u2"))
            writer.submit("/deep/t", i, np.datetime64(i, "s"))
        with pytest.raises(zellige.NotFoundError):
            writer.submit("y", 0, 1)
        with pytest.raises(zellige.UsageError, match="group"):
            writer.submit("deep", 0, 1)
        with pytest.raises(zellige.UnsupportedError, match="text"):
            writer.submit("text", 0, "a")
        with pytest.raises(TypeError):
            writer.submit(0, 1)
        assert writer.estimate().usual >= writer.estimate().least > 0
    same(root["x"][...], np.repeat(np.arange(6, dtype="u2"), 10).reshape(6, 10))
    same(root["deep/t"][...], np.arange(6).astype("M8[s]"))


# ---------------------------------------------------------------------- what is given


@pytest.mark.parametrize(
    "key",
    [
        ...,
        3,
        -1,
        (2, ...),
        (..., 2),
        (slice(1, 5), 3),
        (slice(1, 5), slice(None), slice(-7, None)),
        (1, 2, 3),
        (slice(2, 100), ..., 4),
        (slice(5, 5),),
        np.int64(4),
    ],
)
def test_selections(array, key):
    wanted = np.zeros_like(DATA)
    wanted[key] = DATA[key]
    with zellige.Writer(array) as writer:
        writer.submit(key, DATA[key])
    same(array[...], wanted)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (slice(0, 12, 2), "step 1"),
        (slice(None, None, -1), "step 1"),
        ([1, 2], "list"),
        (np.zeros(DATA.shape, bool), "ndarray"),
        (None, "newaxis"),
        (True, "positions"),
        ("field", "index"),
        (1.0, "index"),
        ((0, 0, 0, 0), "too many"),
        ((..., ...), "ellipsis"),
        (12, "out of bounds"),
    ],
)
def test_selections_that_are_refused(array, key, error):
    with zellige.Writer(array) as writer:
        with pytest.raises(IndexError, match=error):
            writer.submit(key, 1)
    assert writer.counts["submitted"] == 0


def _reversed_bytes(data):
    return data.astype(data.dtype.newbyteorder())


class Lent:
    """An array of some other library."""

    def __init__(self, data):
        self._data = data

    def __dlpack__(self, **keywords):
        return self._data.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._data.__dlpack_device__()


@pytest.mark.parametrize(
    "source",
    [
        np.asfortranarray,
        _reversed_bytes,
        lambda data: data.repeat(2, 1)[:, ::2],
        lambda data: data[::-1].copy()[::-1],
        memoryview,
        lambda data: data.tolist(),
        lambda data: data[np.newaxis],
        Lent,
        lambda data: data.astype("i2").astype("i4"),
    ],
)
@pytest.mark.parametrize("copy", [True, False])
def test_sources(array, source, copy):
    given = source(DATA[:6] % 1000)
    with zellige.Writer(array) as writer:
        writer.submit(slice(0, 6), given, copy=copy)
        writer.submit((slice(6, 7), slice(0, 20)), np.arange(30, dtype="i4"), copy=copy)
        writer.submit((8, slice(0, 20)), np.arange(20, dtype="i2")[:, None], copy=copy)
        writer.submit(9, 7, copy=copy)
    same(array[:6], DATA[:6] % 1000)
    same(array[6], np.tile(np.arange(30, dtype="i4"), (20, 1)))
    same(array[8], np.repeat(np.arange(20, dtype="i4"), 30).reshape(20, 30))
    same(array[9], np.full((20, 30), 7, "i4"))


def test_values_that_do_not_fit(array):
    with zellige.Writer(array) as writer:
        for shape in ((20, 29), (2, 20, 30), (30, 20)):
            with pytest.raises(zellige.UsageError, match="does not fit"):
                writer.submit(0, np.zeros(shape, "i4"))
        with pytest.raises(zellige.UsageError, match="masked"):
            writer.submit(0, np.ma.masked_all((20, 30), "i4"))


@pytest.mark.parametrize(
    ("dtype", "value", "casting"),
    [
        ("f4", np.float64(1e300), "same_kind"),
        ("f4", np.zeros(3), "same_kind"),
        ("f4", np.zeros(3, "i4"), "same_kind"),
        ("f4", np.zeros(3, "i2"), "safe"),
        ("f4", np.zeros(3, "f2"), "safe"),
        ("f4", [1.5, 2, 3], "safe"),
        ("f4", 1.5, "safe"),
        ("i2", np.zeros(3, "i4"), "same_kind"),
        ("i2", np.zeros(3, "f4"), "unsafe"),
        ("i2", [1, 2, 3], "safe"),
        ("i2", [1.5, 2, 3], "unsafe"),
        ("i2", 1.5, "unsafe"),
        ("u1", np.ones(3, bool), "safe"),
        ("?", np.ones(3, "u1"), "unsafe"),
        ("f8", np.zeros(3, "c8"), "unsafe"),
        ("c8", np.zeros(3, "f4"), "safe"),
        ("M8[ns]", np.zeros(3, "M8[s]"), "safe"),
        ("M8[s]", np.zeros(3, "M8[ns]"), "same_kind"),
        ("M8[s]", "2020-01-01", "safe"),
        ("U5", np.array(["abc"] * 3), "safe"),
        ("U2", np.array(["abc"] * 3), "same_kind"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_casting(dtype, value, casting):
    """`casting` is the first that takes the value, of three that take more and more."""
    ways = ("safe", "same_kind", "unsafe")
    array = zellige.create_array(None, shape=(3,), dtype=dtype)
    for way in ways:
        with zellige.Writer(array, casting=way) as writer:
            if ways.index(way) >= ways.index(casting):
                writer.submit(..., value)
                continue
            with pytest.raises(zellige.UsageError, match="casting"):
                writer.submit(..., value)
    expected = np.empty(3, dtype)
    expected[...] = value
    same(array[...], expected)


def test_numbers_that_are_too_large(array):
    with zellige.Writer(array) as writer:
        with pytest.raises(zellige.UsageError, match="may be changed"):
            writer.submit((0, 0, 0), 1 << 40)


BIG = 2**53


@pytest.mark.parametrize(
    ("dtype", "values", "changed"),
    [
        ("f8", np.array([-BIG, 2 * BIG, -(2**63)]), np.array([0, BIG + 1, 0])),
        ("f8", np.array([2**63, 0, 1], "u8"), np.array([2**64 - 1, 0, 0], "u8")),
        ("f8", np.array([BIG, 2, 0], ">i8"), np.array([0, 2**63 - 1, 0], ">i8")),
        ("c16", np.array([BIG, 2, 0]), np.array([0, 0, -BIG - 1])),
        ("f8", [BIG, 3 * BIG, 0], [BIG + 1, 0, 0]),
        ("f8", BIG, BIG + 1),
        ("f4", [2**24, 2**25, 1], [0, 2**24 + 1, 0]),
        ("f2", [2048, -1, 0], [0, 70000, 0]),
        ("f4", [0.1, 1e-3, np.nan], np.array([0, 1, 0])),
        (
            "M8[ns]",
            np.array(["2020-01-01", "NaT", "1999-12-31"], "M8[D]"),
            np.array(["2020-01-01", "NaT", "9999-12-31"], "M8[D]"),
        ),
        ("m8[ns]", np.array([1, 2, 3], "m8[h]"), np.array([1, 2**50, 3], "m8[h]")),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_values_that_a_safe_cast_would_change(dtype, values, changed):
    array = zellige.create_array(None, shape=(3,), dtype=dtype)
    with zellige.Writer(array) as writer:
        with pytest.raises(zellige.UsageError, match="may be changed"):
            writer.submit(..., changed)
        writer.submit(..., values)
    expected = np.empty(3, dtype)
    expected[...] = values
    np.testing.assert_array_equal(array[...], expected)  # NaT and NaN too
    with zellige.Writer(array, casting="same_kind") as writer:
        is_time = np.dtype(dtype).kind in "mM"  # which NumPy 2.5 refuses whatever is asked for
        if np.can_cast(np.asarray(changed).dtype, dtype, "same_kind") and not is_time:
            writer.submit(..., changed)


def test_the_caller_may_use_the_memory_again(array):
    frame = np.empty((20, 30), "i4")
    with zellige.Writer(array) as writer:
        for i in range(12):
            frame[...] = i
            writer.submit(i, frame)
    same(array[...], np.repeat(np.arange(12, dtype="i4"), 600).reshape(DATA.shape))


def test_lent_memory_is_kept_and_given_back(array):
    frame = DATA.copy()
    before = sys.getrefcount(frame)
    with zellige.Writer(array) as writer:
        ticket = writer.submit(..., frame, copy=False)
        ticket.wait_taken(10)
        assert ticket.taken and ticket.state in ("taken", "stored")
        assert sys.getrefcount(frame) == before
        with pytest.raises(zellige.UsageError):
            writer.submit(0, frame, copy=False)
        assert sys.getrefcount(frame) == before
        for i in range(12):
            writer.submit(i, DATA[i] + 1, copy=False)  # nobody else keeps it alive
    same(array[...], DATA + 1)


def test_abort_gives_lent_memory_back(array):
    frame = DATA.copy()
    before = sys.getrefcount(frame)
    writer = zellige.Writer(array)
    for _ in range(20):
        writer.submit(..., frame, copy=False)
    writer.abort()
    assert sys.getrefcount(frame) == before


# ---------------------------------------------------------------------- appending


@pytest.mark.parametrize("n", [1, 3])
def test_append(tmp_path, n):
    array = zellige.create_array(tmp_path, shape=(0, 20, 30), dtype="i4", **SHAPES)
    with zellige.Writer(array) as writer:
        for i in range(0, 12, n):
            ticket = writer.append(DATA[i] if n == 1 else DATA[i : i + n])
            assert ticket.first == i
            seen = zellige.open_array(tmp_path)
            assert len(seen) % 4 == 0  # whole shards, and none of a row that is missing
            same(seen[...], DATA[: len(seen)])
        writer.drain()
        assert zellige.open_array(tmp_path).shape == DATA.shape
        assert array.shape == DATA.shape
        writer.append(DATA[0])
        writer.submit(-1, DATA[1])
        writer.flush()
        assert array.shape == (13, 20, 30)
        writer.append(DATA[5])
    same(array[...], np.concatenate([DATA, DATA[[1, 5]]]))
    assert writer.counts["opened"] <= 4


def test_a_stream_waits_before_the_memory_is_used_up(tmp_path):
    """But not who says how long to wait."""
    frame = np.random.default_rng(1).integers(0, 16, (256, 256), "u2")
    most = {}
    for timeout in (None, 600):
        array = zellige.create_array(
            tmp_path / str(timeout), shape=(0, 256, 256), chunks=(8, 256, 256), dtype="u2",
            compressors={"name": "gzip", "configuration": {"level": 9}},
        )
        with zellige.Writer(array, memory_budget=16 << 20, threads=2) as writer:
            for _ in range(160):
                writer.append(frame, timeout=timeout)
        most[timeout] = writer.counts["bytes_peak"]
        assert len(array) == 160 and np.array_equal(array[159], frame)
    assert most[None] < 7 << 20 < most[600]


def test_append_along_another_axis(tmp_path):
    array = zellige.create_array(tmp_path, shape=(4, 5), dtype="f4", chunks=(2, 3))
    array[...] = 1
    with zellige.Writer(array) as writer:
        assert writer.append(np.full(4, 2, "f4"), axis=1).first == 5
        assert writer.append(np.full((4, 3), 3, "f4"), axis=-1).first == 6
        with pytest.raises(zellige.UsageError):
            writer.append(np.zeros(9, "f4"), axis=0)
        with pytest.raises(zellige.UsageError, match="axis 2"):
            writer.append(np.zeros(4, "f4"), axis=2)
        for shape in ((5,), (4, 1, 1), (1, 4), ()):
            with pytest.raises(zellige.UsageError, match="rows of shape"):
                writer.append(np.zeros(shape, "f4"), axis=1)
    same(array[...], np.repeat(np.array([[1, 2, 3]], "f4"), [5, 1, 3], 1).repeat(4, 0))


def test_append_to_a_line(tmp_path):
    root = zellige.create_group(tmp_path)
    root.create_array("t", shape=(0,), dtype="i8", chunks=(4,))
    with zellige.Writer(root) as writer:
        for i in range(6):
            writer.append("t", i)
        writer.append("t", [6, 7])
    same(zellige.open_array(tmp_path, path="t")[...], np.arange(8))


@pytest.mark.parametrize("shapes", [{"chunks": (2, 4)}, {"chunks": (1, 4), "shards": (4, 4)}])
def test_somebody_else_makes_the_array_longer(tmp_path, shapes):
    """Rows that another program has appended meanwhile stay as they are; this one adds none."""
    array = zellige.create_array(tmp_path, shape=(0, 4), dtype="i4", **shapes)
    writer = zellige.Writer(array)
    writer.append(np.zeros(4, "i4"))
    other = zellige.open_array(tmp_path, "r+")
    with pytest.raises(zellige.ExistsError, match="a writer appends"):
        other.append(np.ones((3, 4), "i4"))
    with pytest.raises(zellige.ExistsError, match="a writer appends"):
        other.resize((0, 4))
    document = tmp_path / "zarr.json"
    longer = json.loads(document.read_text()) | {"shape": [3, 4]}
    document.write_text(json.dumps(longer))
    other.refresh()
    other[...] = 1
    with pytest.raises(zellige.ExistsError, match="somebody else"):
        writer.close()
    writer.abort()
    same(zellige.open_array(tmp_path)[...], np.ones((3, 4), "i4"))


@pytest.mark.parametrize("make", [str, lambda path: zellige.MemoryStore()])
def test_one_writer_appends_at_a_time(tmp_path, make):
    store = make(tmp_path)
    array = zellige.create_array(store, shape=(0, 4), dtype="i4", chunks=(2, 4))
    first, second = zellige.Writer(array), zellige.Writer(zellige.open_array(store, "r+"))
    first.append(np.ones((3, 4), "i4"))
    with pytest.raises(zellige.ExistsError, match="another writer appends"):
        second.append(np.zeros((3, 4), "i4"))
    first.close()
    with pytest.raises(zellige.ExistsError, match="somebody else"):  # its rows are taken
        second.append(np.zeros((3, 4), "i4"))
        second.close()
    second.abort()
    with zellige.Writer(zellige.open_array(store, "r+")) as third:
        third.append(np.full(4, 3, "i4"))
    same(zellige.open_array(store, "r")[:, 0], np.array([1, 1, 1, 3], "i4"))


APPEND = """
import sys, numpy, zellige
writer = zellige.Writer(zellige.open_array(sys.argv[1], "r+"))
try:
    writer.append(numpy.zeros((3, 4), "i4"))
except zellige.ExistsError as error:
    sys.exit(0 if "somebody else appends" in str(error) else 2)
sys.exit(3)
"""


def test_one_process_appends_at_a_time(tmp_path):
    array = zellige.create_array(tmp_path, shape=(0, 4), dtype="i4", chunks=(2, 4))
    with zellige.Writer(array) as writer:
        writer.append(np.ones((3, 4), "i4"))
        child = subprocess.run([sys.executable, "-c", APPEND, tmp_path], timeout=100)
        assert child.returncode == 0
    same(zellige.open_array(tmp_path)[...], np.ones((3, 4), "i4"))


@pytest.mark.parametrize(
    "shapes",
    [
        {"chunks": (4,)},
        {"chunks": (2,), "shards": (4,)},
        {"chunks": (1,), "shards": (4,), "compressors": None},
        {"chunks": (50_000,), "shards": (200_000,), "compressors": None},
        {"chunks": (100_000,), "shards": (200_000,), "compressors": None},
    ],
)
@pytest.mark.parametrize("when", ["before", "between", "after a flush"])
def test_what_others_append_in_the_last_object_stays(tmp_path, shapes, when):
    unit = max(1, max(shapes.get("shards", shapes["chunks"])) // 4)
    array = zellige.create_array(tmp_path, shape=(7 * unit,), dtype="i4", **shapes)
    array[...] = 1

    def append():
        zellige.open_array(tmp_path, "r+").append(np.full(unit, 9, "i4"))

    if when == "before":
        append()
    with zellige.Writer(array) as writer:
        if when == "between":
            append()
        writer.submit(slice(0, 7 * unit), np.full(7 * unit, 2, "i4"))
        if when == "after a flush":
            writer.flush()
            append()
            writer.submit(slice(0, 7 * unit), np.full(7 * unit, 2, "i4"))
    wanted = np.full(8 * unit, 2, "i4")
    wanted[7 * unit :] = 9
    same(zellige.open_array(tmp_path)[...], wanted)


def test_zeros_over_what_is_stored_at_the_border(tmp_path):
    array = zellige.create_array(tmp_path, shape=(7,), dtype="i4", chunks=(4,))
    array[...] = 1
    with zellige.Writer(array) as writer:
        writer.submit(..., np.zeros(7, "i4"))
    same(zellige.open_array(tmp_path)[...], np.zeros(7, "i4"))
    array[...] = 1
    writer = zellige.Writer(array, existing="refuse")
    writer.submit(..., np.zeros(7, "i4"))
    with pytest.raises(zellige.ExistsError, match="c/"):
        writer.close()
    writer.abort()


# ---------------------------------------------------------------------- budget


@pytest.mark.parametrize("timeout", [60, None])
def test_more_than_the_budget_at_once(tmp_path, timeout):
    """With time to wait it is taken piece by piece."""
    rows = np.random.default_rng(0).integers(0, 1 << 60, (64, 16_384))
    array = zellige.create_array(tmp_path, shape=rows.shape, dtype="i8", chunks=(8, 4096))
    with zellige.Writer(array, memory_budget=3 << 20, threads=1, timeout=timeout) as writer:
        writer.submit(..., rows)
    same(array[...], rows)
    assert writer.counts["bytes_peak"] <= writer.counts["bytes_budget"]


def test_an_append_that_ends_early_makes_no_rows_known(tmp_path):
    """What of it has been taken is stored, and no reader sees it."""
    rows = np.random.default_rng(0).integers(0, 1 << 60, (200, 65_536))  # 100 MiB
    array = zellige.create_array(tmp_path, shape=(0, 65_536), dtype="i8", chunks=(1, 65_536))
    with zellige.Writer(array, memory_budget=8 << 20, threads=1) as writer:
        with pytest.raises(TimeoutError):
            writer.append(rows, timeout=0.02)
        writer.flush()
        assert zellige.open_array(tmp_path).shape[0] == 0
        writer.append(rows[7:9])
    same(zellige.open_array(tmp_path)[...], rows[7:9])


@pytest.mark.parametrize("n", [8, 9, 12])
def test_the_budget_holds_where_chunks_end_with_the_array(tmp_path, n):
    rows = np.random.default_rng(0).integers(0, 1 << 40, (n, 256 * 100))
    array = zellige.create_array(
        tmp_path, shape=rows.shape, dtype="i8", chunks=(4, 100), shards=(12, 100), compressors=None
    )
    with zellige.Writer(array, memory_budget=1 << 20, threads=1) as writer:
        for i in reversed(range(n)):
            writer.submit(i, rows[i])
    same(array[...], rows)
    assert writer.counts["bytes_peak"] <= writer.counts["bytes_budget"]


# ---------------------------------------------------------------------- stores


@pytest.mark.parametrize("make", [zellige.MemoryStore, dict])
def test_stores_in_memory(make):
    store = make()
    array = zellige.create_array(store, shape=DATA.shape, dtype="i4", **SHAPES)
    with zellige.Writer(array) as writer:
        for i in np.random.default_rng(3).permutation(12):
            writer.submit(i, DATA[i])
    same(zellige.open_array(store, mode="r")[...], DATA)
    with zellige.Writer(array) as writer:
        writer.submit((3, slice(2, 9)), 1)
        writer.append(DATA[:1])
    wanted = np.concatenate([DATA, DATA[:1]])
    wanted[3, 2:9] = 1
    same(zellige.open_array(store, mode="r")[...], wanted)


def test_a_buffer_of_another_kind():
    array = zellige.create_array(None, shape=(4,), dtype="f8")
    with zellige.Writer(array) as writer:
        writer.submit(..., c_array("d", [1, 2, 3, 4]), copy=False)
    same(array[...], np.arange(1.0, 5))
