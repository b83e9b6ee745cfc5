"""Writers: what is given in any order is stored, once, or said to be missing."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from array import array as c_array

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.random.default_rng(0).integers(0, 1 << 30, (12, 20, 30), "i4")
SHAPES = dict(chunks=(1, 8, 10), shards=(4, 16, 20))


@pytest.fixture
def array(tmp_path):
    return zellige.create_array(tmp_path / "a", shape=DATA.shape, dtype="i4", **SHAPES)


class Gated(dict):
    """A store that takes no chunks while it is shut."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.fails = False
        self.n_tries = 0

    def __setitem__(self, key, value):
        if "c/" in key:
            self.n_tries += 1
            self.gate.wait()
            if self.fails:
                raise OSError("no space is left")
        super().__setitem__(key, value)


@pytest.fixture
def gated():
    """A store, and an array in it; open at the end, so that nobody waits for ever."""
    store = Gated()
    yield (
        store,
        zellige.create_array(
            store, shape=(8, 1000), dtype="f8", chunks=(1, 1000), compressors=None
        ),
    )
    store.gate.set()


def n_threads():
    """Once those that are about to end have ended."""
    found = [len(os.listdir("/proc/self/task"))]
    while found[-5:] != [found[-1]] * 5:
        time.sleep(0.01)
        found.append(len(os.listdir("/proc/self/task")))
    return found[-1]


def run(script, *args, timeout=60):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, args)],
        capture_output=True,
        text=True,
        timeout=timeout,
    )


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


def test_somebody_else_makes_the_array_longer(tmp_path):
    array = zellige.create_array(tmp_path, shape=(0, 4), dtype="i4", chunks=(2, 4))
    writer = zellige.Writer(array)
    writer.append(np.zeros(4, "i4"))
    zellige.open_array(tmp_path, "r+").append(np.ones((3, 4), "i4"))
    with pytest.raises(zellige.ExistsError):
        writer.close()
    writer.abort()
    assert zellige.open_array(tmp_path).shape == (3, 4)


# ---------------------------------------------------------------------- tickets, waiting


def test_tickets(gated):
    store, array = gated
    writer = zellige.Writer(array)
    half = writer.submit((0, slice(0, 500)), 1.0)
    whole = writer.submit(1, 2.0)
    lent = writer.submit(2, np.full(1000, 3.0), copy=False)
    lent.wait_taken(10)
    assert [t.state for t in (half, whole, lent)] == ["taken"] * 3
    assert not whole.done() and "taken" in repr(whole)
    for call in (whole.result, writer.flush, writer.drain):
        with pytest.raises(zellige.CancelledError):
            call(0.05)
    store.gate.set()
    whole.result(10)
    lent.result(10)
    assert whole.state == lent.state == "stored"
    writer.flush()
    half.result()
    writer.close()
    assert half.done() and half.state == "stored"
    writer.close()
    with pytest.raises(zellige.UsageError, match="closed"):
        writer.submit(0, 1.0)


def test_waiting_for_memory(gated):
    store, array = gated
    writer = zellige.Writer(array, memory_budget=60_000, threads=1)
    for i in range(3):
        writer.submit(i, float(i))
    with pytest.raises(zellige.LimitError):
        for i in range(8):
            writer.submit(i, float(i), timeout=0)
    start = time.monotonic()
    with pytest.raises(zellige.CancelledError):
        for i in range(8):
            writer.submit(i, float(i), timeout=0.1)
    assert time.monotonic() - start < 5
    threading.Timer(0.1, store.gate.set).start()
    for i in range(8):
        writer.submit(i, float(i))
    writer.close()
    assert writer.counts["nanoseconds_waited"] > 0
    same(array[...], np.repeat(np.arange(8.0), 1000).reshape(8, 1000))


def test_the_timeout_of_all_calls(gated):
    store, array = gated
    writer = zellige.Writer(array, timeout=0.05)
    writer.submit(0, 1.0)
    with pytest.raises(zellige.CancelledError):
        writer.close()
    assert not writer.closed
    store.gate.set()
    writer.close(10)
    assert writer.closed and array[0, 0] == 1


def test_progress(array):
    told = []

    def tell(done, of):
        told.append((done, of))

    with zellige.Writer(array, progress=tell) as writer:
        writer.submit(..., DATA)
    assert told == sorted(told) and (not told or told[-1][0] == told[-1][1])


# ---------------------------------------------------------------------- failures


def test_a_store_that_fails_and_heals(gated):
    store, array = gated
    store.gate.set()
    store.fails = True
    writer = zellige.Writer(array)
    ticket = writer.submit(0, 1.0)
    for _ in range(2):
        with pytest.raises(zellige.StoreError, match="c/0/0.*no space is left"):
            writer.flush()
    assert ticket.state == "failed" and ticket.done()
    with pytest.raises(zellige.StoreError, match="no space"):
        ticket.result()
    with pytest.raises(zellige.StoreError, match="no space"):
        writer.submit(1, 2.0)
    assert writer.counts["failed"] == 1
    for _ in range(2):
        with pytest.raises(zellige.StoreError, match="no space"):
            writer.close()
    assert not writer.closed
    store.fails = False
    writer.close()
    assert writer.closed and ticket.state == "stored" and array[0, 0] == 1
    assert writer.counts["failed"] == 0 and writer.counts["retried"] > 0


def test_healthy_arrays_are_written_on(tmp_path):
    """Where a folder is to be made, a file lies."""
    root = zellige.create_group(tmp_path)
    bad = root.create_array("bad", shape=(4, 8), dtype="i4", chunks=(2, 8))
    good = root.create_array("good", shape=(4, 8), dtype="i4", chunks=(2, 8))
    (tmp_path / "bad" / "c").write_text("in the way")
    writer = zellige.Writer(root)
    writer.submit("bad", slice(0, 2), 1)
    with pytest.raises(zellige.StoreError, match="bad.*c/0/0"):
        writer.flush()
    writer.submit("good", ..., 2)
    with pytest.raises(zellige.StoreError, match="bad"):
        writer.submit("bad", 3, 3)
    with pytest.raises(zellige.StoreError, match="bad"):
        writer.flush()
    same(good[...], np.full((4, 8), 2, "i4"))
    (tmp_path / "bad" / "c").unlink()
    writer.flush()
    writer.submit("bad", 3, 3)
    writer.close()
    same(bad[...], np.repeat(np.array([1, 1, 0, 3], "i4"), 8).reshape(4, 8))


def test_files_that_may_not_grow(tmp_path):
    result = run(
        """
        import resource, signal, sys
        import numpy as np, zellige
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        array = zellige.create_array(sys.argv[1], shape=(4, 100_000), dtype="f8",
                                     chunks=(1, 100_000), compressors=None)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        writer = zellige.Writer(array)
        for i in range(4):
            try:
                writer.submit(i, float(i + 1))
            except zellige.StoreError:
                pass
        for _ in range(2):
            try:
                writer.close()
                print("closed")
            except zellige.StoreError as error:
                print("c/" in str(error))
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        writer.close()
        print(writer.closed, array[0, 5])
        """,
        tmp_path,
    )
    assert result.stdout.split() == ["True", "True", "True", "1.0"], result.stderr


def test_leaving_by_an_exception(array):
    with pytest.raises(KeyError, match="mine"):
        with zellige.Writer(array) as writer:
            writer.submit(0, DATA[0])
            raise KeyError("mine")
    same(array[0], DATA[0])
    assert writer.closed
    store = Gated()
    store.gate.set()
    store.fails = True
    other = zellige.create_array(store, shape=4, dtype="i4")
    with pytest.raises(KeyError, match="mine") as caught:
        with zellige.Writer(other) as writer:
            writer.submit(..., 1)
            raise KeyError("mine")
    assert "no space is left" in caught.value.__notes__[0]
    writer.abort()


def test_abort(array):
    with zellige.Writer(array) as writer:
        ticket = writer.submit((0, 0), 1)
        writer.abort()
        assert writer.closed and ticket.state == "failed"
        with pytest.raises(zellige.CancelledError):
            writer.submit(0, 1)
        with pytest.raises(zellige.CancelledError):
            writer.flush()
    assert array.store.keys("c") == []


def test_arguments(array, tmp_path):
    for keywords in (
        {"existing": "keep"},
        {"casting": "no"},
        {"level": "sure"},
        {"memory_budget": -1},
        {"threads": -1},
    ):
        with pytest.raises(zellige.UsageError):
            zellige.Writer(array, **keywords)
    with pytest.raises(TypeError):
        zellige.Writer(str(tmp_path))
    with pytest.raises(zellige.UsageError, match="reading only"):
        zellige.Writer(zellige.open_array(tmp_path / "a", "r"))
    with pytest.raises(TypeError):
        zellige.Writer(array).submit(1)
    for level in ("visible", "durable", "verified"):
        with zellige.Writer(array, level=level, threads=1) as writer:
            writer.submit(..., DATA)
        same(array[...], DATA)


def test_claims(array):
    with zellige.Writer(array, claim=slice(0, 4)) as writer:
        with pytest.raises(zellige.ExistsError):
            zellige.Writer(array, claim=(slice(2, 8), ...))
        with zellige.Writer(array, claim=slice(4, 12)) as other:
            writer.submit(0, DATA[0])
            other.submit(slice(4, 12), DATA[4:])
            with pytest.raises(zellige.RangeError):
                other.submit(0, DATA[0])
    same(array[4:], DATA[4:])
    del writer, other
    gc.collect()
    zellige.Writer(array, claim=...).close()


# ---------------------------------------------------------------------- threads, processes


def test_no_thread_is_left(array):
    same(array[...], np.zeros_like(DATA))
    before = n_threads()
    writer = zellige.Writer(array)
    assert n_threads() == before
    writer.submit(..., DATA)
    assert n_threads() > before
    writer.close()
    assert n_threads() == before
    with zellige.Writer(array) as writer:
        writer.submit(0, 1)
        writer.abort()
    assert n_threads() == before


def test_many_threads_submit(array):
    def work(me, writer):
        for i in range(me, 12, 4):
            for j in range(20):
                writer.submit((i, j), DATA[i, j])

    with zellige.Writer(array, memory_budget=60_000) as writer:
        threads = [threading.Thread(target=work, args=(me, writer)) for me in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    same(array[...], DATA)


def test_the_lock_is_free_while_a_writer_waits(gated):
    store, array = gated
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    writer = zellige.Writer(array)
    ticket = writer.submit(0, 1.0)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        for call in (writer.flush, writer.drain, ticket.result):
            n = len(ticks)
            with pytest.raises(zellige.CancelledError):
                call(0.2)
            assert len(ticks) - n > 10
    finally:
        done.set()
        thread.join()
        store.gate.set()
    writer.close()


def test_ctrl_c(tmp_path):
    result = run(
        """
        import os, signal, sys, threading, time
        import numpy as np, zellige
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
        class Shut(dict):
            gate = threading.Event()
            def __setitem__(self, key, value):
                if "c/" in key:
                    self.gate.wait()
                super().__setitem__(key, value)
        array = zellige.create_array(Shut(), shape=(8, 1000), dtype="f8",
                                     chunks=(1, 1000), compressors=None)
        writer = zellige.Writer(array, memory_budget=60_000, threads=1)
        def fill():
            for _ in range(9):
                for i in range(8):
                    writer.submit(i, i + 1.0)
        first = writer.submit(0, 1.0)
        for call in (fill, writer.flush, writer.drain, first.result, writer.close):
            sent = []
            def send():
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
            threading.Timer(0.2, send).start()
            try:
                call()
            except KeyboardInterrupt:
                print(time.monotonic() - sent[0])
        Shut.gate.set()
        writer.close()
        print(writer.closed, array[0, 0])
        """
    )
    *times, closed, value = result.stdout.split()
    assert len(times) == 5 and closed == "True", result.stderr
    assert value == "1.0"
    assert sorted(map(float, times))[2] < 0.1, times


def test_a_child_is_refused(gated):
    _, array = gated
    writer = zellige.Writer(array)
    ticket = writer.submit(0, 1.0)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            calls = (
                lambda: writer.submit(1, 1.0),
                writer.flush,
                writer.close,
                lambda: writer.counts,
                lambda: ticket.state,
                lambda: ticket.result(5),
            )
            n = 0
            for call in calls:
                try:
                    call()
                except zellige.UsageError:
                    n += 1
            writer.abort()
            del writer, ticket
            gc.collect()
            code = 0 if n == len(calls) else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 20
    while (found := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if found[0] == 0:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(found[1]) == 0
    array.store  # the parent goes on
    gated[0].gate.set()
    writer.close()
    assert array[0, 0] == 1


def test_a_writer_that_is_forgotten(array):
    writer = zellige.Writer(array)
    writer.submit(0, DATA[0])
    before = n_threads()
    with pytest.warns(ResourceWarning, match="not closed"):
        del writer
        gc.collect()
    same(array[0], DATA[0])
    assert n_threads() < before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zellige.Writer(array)
        gc.collect()


EXIT = """
import sys, threading, time
import zellige
array = zellige.create_array(
    sys.argv[1], shape=(12, 10), dtype="i4", chunks=(1, 10), shards=(6, 10)
)
writer = zellige.Writer(array)
for i in range(7):
    writer.submit(i, i)
def later():
    time.sleep(0.5)
    writer.submit(11, 11)
if "thread" in sys.argv:
    threading.Thread(target=later).start()
"""


@pytest.mark.parametrize("more", [(), ("thread",)])
def test_the_end_of_the_interpreter(tmp_path, more):
    """A thread may go on to submit when the main one has ended."""
    result = run(EXIT, tmp_path, *more)
    assert result.returncode == 0, result.stderr
    assert "was not closed before the interpreter ended" in result.stderr
    found = zellige.open_array(tmp_path)[:, 0]
    last = [0] * 4 + [11 if more else 0]
    same(found, np.array([0, 1, 2, 3, 4, 5, 6, *last], "i4"))


def test_a_store_that_never_answers():
    result = run(
        """
        import threading
        import zellige, zellige.writer
        zellige.writer._SECONDS_AT_EXIT = 0.3
        class Shut(dict):
            def __setitem__(self, key, value):
                if "c/" in key:
                    threading.Event().wait()
                super().__setitem__(key, value)
        array = zellige.create_array(Shut(), shape=4, dtype="i4")
        writer = zellige.Writer(array)
        writer.submit(..., 1)
        """
    )
    assert result.returncode == 0 and "not everything is stored" in result.stderr


# ---------------------------------------------------------------------- asyncio


def test_async(array):
    async def work():
        async with zellige.Writer(array) as writer:
            tickets = [await writer.submit_async(i, DATA[i]) for i in range(12)]
            await asyncio.gather(*tickets)
            await writer.flush_async()
        return tickets

    tickets = asyncio.run(work())
    assert {ticket.state for ticket in tickets} == {"stored"}
    same(array[...], DATA)


def test_async_append(tmp_path):
    array = zellige.create_array(tmp_path, shape=(0, 20, 30), dtype="i4", **SHAPES)

    async def work():
        async with zellige.Writer(array) as writer:
            for i in range(12):
                assert (await writer.append_async(DATA[i])).first == i

    asyncio.run(work())
    same(array[...], DATA)


def test_awaiting_what_a_flush_will_store(array):
    """More tickets than threads wait; the flush finds one."""

    async def work():
        async with zellige.Writer(array) as writer:
            tickets = [writer.submit((i % 12, i // 12), 1) for i in range(200)]
            waits = [asyncio.ensure_future(_of(ticket)) for ticket in tickets]
            await asyncio.sleep(0.05)
            await writer.flush_async()
            await asyncio.gather(*waits)

    async def _of(ticket):
        await ticket

    asyncio.run(asyncio.wait_for(work(), 30))


def test_cancelling(gated):
    store, array = gated

    async def work():
        writer = zellige.Writer(array)
        ticket = writer.submit(0, 1.0)
        for call in (writer.flush_async(), ticket):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(call, 0.1)
        store.gate.set()
        await ticket
        await writer.close_async()

    asyncio.run(work())
    assert array[0, 0] == 1


def test_async_failures(gated):
    store, array = gated
    store.gate.set()
    store.fails = True

    async def work():
        with pytest.raises(KeyError) as caught:
            async with zellige.Writer(array) as writer:
                ticket = writer.submit(0, 1.0)
                with pytest.raises(zellige.StoreError):
                    await ticket
                raise KeyError("mine")
        assert "no space" in caught.value.__notes__[0]
        store.fails = False
        await writer.close_async()

    asyncio.run(work())
    assert array[0, 0] == 1


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
