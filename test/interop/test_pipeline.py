"""The codec pipeline for zarr-python: what its own suite does not ask of one.

That suite and others run whole in test/interop/suites.
"""

import asyncio
import itertools
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import zarr
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, TransposeCodec
from zarr.storage import LocalStore, ManagedMemoryStore, MemoryStore

import zellige
from zellige.chunks import Chunks
from zellige.threads import MOST_THREADS, threads_of

PIPELINE = "zellige.ZelligeCodecPipeline"
BATCHED = "zarr.core.codec_pipeline.BatchedCodecPipeline"
@pytest.fixture(autouse=True)
def pipeline():
    with zarr.config.set({"codec_pipeline.path": PIPELINE}):
        zellige.pipeline_stats(reset=True)
        yield


@pytest.fixture(params=["local", "memory", "managed"])
def store(request, tmp_path):
    if request.param == "local":
        return LocalStore(tmp_path / "a.zarr")
    return MemoryStore() if request.param == "memory" else ManagedMemoryStore(tmp_path.name)


def make(store, shape=(40, 30), **more):
    options = {"chunks": (5, 6), "shards": (20, 12), "dtype": "i4", "fill_value": 0}
    array = zarr.create_array(store, shape=shape, **{**options, **more})
    data = np.arange(np.prod(shape), dtype=array.dtype).reshape(shape)
    array[...] = data
    return array, data


def all_native():
    stats = zellige.pipeline_stats(reset=True)
    assert stats["reasons"] == {}
    return stats["read_native"] + stats["written_native"] > 0


# ---------------------------------------------------------------------- what it is


def test_it_is_chosen_and_native(store):
    array, data = make(store)
    assert type(array.async_array.codec_pipeline) is zellige.ZelligeCodecPipeline
    assert np.array_equal(array[3:38:4, 5:], data[3:38:4, 5:])
    assert all_native()


def test_pickled_arrays_are_equal(tmp_path):
    array, data = make(LocalStore(tmp_path))
    copy = pickle.loads(pickle.dumps(array))
    assert copy == array
    assert np.array_equal(copy[...], data)
    assert all_native()


def test_its_codecs_are_told():
    array, _ = make(MemoryStore())
    names = [type(codec).__name__ for codec in array.async_array.codec_pipeline]
    assert names == ["ShardingCodec"]


def test_nothing_is_imported_or_started_before_use():
    code = (
        "import os, sys, numpy; n = len(os.listdir('/proc/self/task'));"  # some of BLAS
        "import zellige; print('zarr' in sys.modules, len(os.listdir('/proc/self/task')) - n)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["False", "0"], run.stderr


UNKNOWN_ZARR = """
import zarr, zarr.core.common
del zarr.core.common.concurrent_map
array = zarr.create_array({}, shape=4, chunks=2, dtype="i4")
array[...] = 3
print(array[...].sum())
zarr.config.set({"codec_pipeline.path": "zellige.ZelligeCodecPipeline"})
try:
    zarr.create_array({}, shape=4, chunks=2, dtype="i4")
except ImportError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(zarr.core.common, "concurrent_map"), reason="a later zarr")
def test_a_zarr_that_is_not_known_works_without_it():
    run = subprocess.run([sys.executable, "-c", UNKNOWN_ZARR], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    done, refused = run.stdout.splitlines()
    assert done == "12"
    assert refused.startswith("zellige has no codec pipeline for this zarr: cannot import name")


# ---------------------------------------------------------------------- fallbacks


class Mirror(BytesBytesCodec):
    """A codec written in Python."""

    is_fixed_size = True

    def to_dict(self):
        return {"name": "mirror"}

    @classmethod
    def from_dict(cls, data):
        return cls()

    def compute_encoded_size(self, n, spec):
        return n

    async def _encode_single(self, data, spec):
        return type(data).from_bytes(data.to_bytes()[::-1])

    _decode_single = _encode_single


@pytest.fixture
def mirror():
    zarr.registry.register_codec("mirror", Mirror)
    name = f"{Mirror.__module__}.{Mirror.__qualname__}"
    with zarr.config.set({"codecs.mirror": name}):
        yield


def test_codecs_in_python_fall_back(store, mirror):
    array, data = make(store, shards=None, compressors=[Mirror()])
    assert np.array_equal(array[...], data)
    stats = zellige.pipeline_stats()
    assert stats["read_native"] == stats["written_native"] == 0
    assert stats["read_fallback"] == stats["written_fallback"] == 40
    assert list(stats["reasons"]) == [f"the codec {__name__}.Mirror"]


def test_strict_raises_instead(store, mirror):
    with zarr.config.set({"codec_pipeline.strict": True}):
        with pytest.raises(zellige.FallbackError, match="the codec .*Mirror") as raised:
            make(store, shards=None, compressors=[Mirror()])
    assert not isinstance(raised.value, NotImplementedError)


# ---------------------------------------------------------------------- right answers


def test_chunks_beyond_the_shape_at_opening(store):
    array, data = make(store)
    older = zarr.open_array(array.store, mode="r+")
    array.append(data)
    older.resize((80, 30))
    assert np.array_equal(older[...], np.concatenate([data, data]))
    older[77] = 5
    assert (array[77] == 5).all()
    assert all_native()


@pytest.mark.skipif(
    tuple(map(int, zarr.__version__.split(".")[:2])) < (3, 3), reason="no such grids"
)
@pytest.mark.parametrize("shards", [False, True])
def test_rectilinear_grids_that_grow(store, shards):
    """The pipeline knows the grid at opening; each chunk comes with its own shape."""
    rows, columns = ((4, 2, 8), (4, 2)) if shards else ((2, 3, 5), (3, 3))
    n_rows, n_columns = sum(rows), sum(columns)
    more = {"serializer": ShardingCodec(chunk_shape=(2, 2))} if shards else {}
    with zarr.config.set({"array.rectilinear_chunks": True}):
        array = zarr.create_array(
            store, shape=(n_rows, n_columns), chunks=(rows, columns), dtype="i4", **more
        )
        data = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
        array[...] = data
        for n in (6, 2, 10, 4):
            new = np.random.default_rng(n).integers(0, 99, (n, n_columns))
            array.append(new)
            data = np.concatenate([data, new])
        array.resize((len(data) + 8, n_columns + 4))
        array[-3:, -2:] = 7  # in chunks behind one that nobody has asked for
        assert np.array_equal(array[: len(data), :n_columns], data)
        assert np.array_equal(zarr.open_array(store)[...], array[...])
        assert (array[-3:, -2:] == 7).all()
        assert array[len(data) - 4 :].sum() == data[-4:].sum() + 6 * 7
    assert all_native()


@pytest.mark.parametrize(
    ("dtype", "fill", "value", "is_stored"),
    [
        ("f4", 0.0, -0.0, True),
        ("f4", -0.0, -0.0, False),
        ("f4", np.nan, np.float32(-np.nan), False),
        ("c8", 0, complex(-0.0, 0.0), False),
        ("f8", 1.5, 1.5, False),
        ("M8[s]", np.datetime64("NaT", "s"), np.datetime64("NaT", "s"), False),
        ("i2", 7, 7, False),
        ("U3", "ab", "ab", False),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_emptiness(store, dtype, fill, value, is_stored):
    array = zarr.create_array(store, shape=8, chunks=4, dtype=dtype, fill_value=fill)
    array[...] = np.full(8, value, dtype)
    assert array.nchunks_initialized == (2 if is_stored else 0)
    with zarr.config.set({"codec_pipeline.path": BATCHED}):
        theirs = zarr.create_array({}, shape=8, chunks=4, dtype=dtype, fill_value=fill)
        theirs[...] = np.full(8, value, dtype)
        assert theirs.nchunks_initialized == array.nchunks_initialized
    assert all_native()


def test_missing_chunks_are_told(store):
    array = zarr.create_array(
        store,
        shape=16,
        chunks=2,
        shards=8,
        dtype="i4",
        fill_value=9,
        config={"read_missing_chunks": False},
    )
    array[0:2] = 1
    assert array[0:8].tolist() == [1, 1] + 6 * [9]
    with pytest.raises(zarr.errors.ChunkNotFoundError):
        array[...]
    assert all_native()


def test_fortran_order_and_strides(store):
    array, data = make(store, config={"order": "F"})
    assert array[...].flags.f_contiguous
    assert np.array_equal(array[...], data)
    memory = np.zeros((80, 90), "i4")
    out = zarr.core.buffer.cpu.NDBuffer.from_ndarray_like(memory[::2, ::3])
    array.get_basic_selection(Ellipsis, out=out)
    assert np.array_equal(memory[::2, ::3], data)
    assert memory.sum() == data.sum()
    array[...] = np.asfortranarray(data + 1)[::-1]
    assert np.array_equal(array[...], data[::-1] + 1)
    assert all_native()


@pytest.mark.parametrize("n", [None, -1, 1, "many", 10**12])
def test_any_number_of_workers(store, n):
    array, data = make(store)
    with zarr.config.set({"codec_pipeline.max_workers": n}):
        assert np.array_equal(array[...], data)


# ---------------------------------------------------------------------- shards

ORDERS = getattr(zarr.codecs.sharding, "SUBCHUNK_WRITE_ORDER", ("morton",))  # since 3.3


def shard_of(inner, order, codecs=None, **more):
    if len(ORDERS) > 1:
        more["subchunk_write_order"] = order
    return ShardingCodec(chunk_shape=inner, codecs=codecs or [BytesCodec()], **more)


def same_objects(store, serializer, **options):
    """What both pipelines make of some writes: the same objects, in the same bytes."""
    found = []
    for path, where in (PIPELINE, store), (BATCHED, MemoryStore()):
        with zarr.config.set({"codec_pipeline.path": path}):
            array = zarr.create_array(
                where,
                shape=(30, 20),
                chunks=(16, 12),
                serializer=serializer,
                overwrite=True,
                **{"dtype": "f4", "fill_value": 0, "compressors": None, **options},
            )
            data = np.random.default_rng(1).integers(0, 9, array.shape).astype(array.dtype)
            is_nan = np.isnan(array.fill_value)  # which equals any other
            data[3:14, 4:17] = -np.nan if is_nan else array.fill_value
            array[...] = data
            found.append([objects(array)])
            array[7:24, 5] = 8
            array.vindex[[0, 15, 29], [19, 0, 6]] = 3
            array.oindex[[1, 18], ::3] = array.fill_value
            found[-1].append(objects(array))
            array[16:, 12:] = array.fill_value
            found[-1].append(objects(array))
    ours, theirs = found
    assert [list(stored) for stored in ours] == [list(stored) for stored in theirs]
    assert ours == theirs
    assert all_native()


def objects(array):
    async def fetch():
        prototype = zarr.core.buffer.default_buffer_prototype()
        keys = sorted([key async for key in array.store.list() if "c/" in key])
        return {key: (await array.store.get(key, prototype)).to_bytes() for key in keys}

    return asyncio.run(fetch())


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize(("outer", "inner"), [*itertools.product(ORDERS, ORDERS)])
def test_shards_in_shards_have_orders_of_their_own(store, outer, inner, location):
    deepest = shard_of((2, 2), inner, index_location=location)
    same_objects(store, shard_of((8, 4), outer, [deepest]))


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_shards_inside_of_other_codecs(store, order, keeps):
    """Made whole: the order is the same, and so is which inner chunks are stored."""
    options = {"compressors": [Crc32cCodec()], "config": {"write_empty_chunks": keeps}}
    same_objects(store, shard_of((4, 3), order, index_location="start"), **options)
    deeper = shard_of((8, 4), ORDERS[-1], [shard_of((2, 2), order), Crc32cCodec()])
    same_objects(store, deeper, **options)
    same_objects(store, shard_of((4, 3), order), fill_value=np.nan, **options)


@pytest.mark.parametrize("keeps", [False, True])
def test_shards_behind_other_codecs(store, keeps):
    filters = [TransposeCodec(order=(0, 1))]
    options = {"filters": filters, "config": {"write_empty_chunks": keeps}}
    same_objects(store, shard_of((4, 3), "morton"), **options)
    same_objects(store, shard_of((8, 4), "morton", [shard_of((2, 2), "morton")]), **options)


# ---------------------------------------------------------------------- records

RECORD = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "<i4")])


@pytest.mark.parametrize("dtype", [RECORD, np.dtype([("a", "<i4")])])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.filterwarnings("ignore")
def test_fields_of_records(store, dtype, zarr_format):
    """zarr-python asks for whole records; what comes of it is NumPy's way to cast them."""
    data = np.zeros(20, dtype)
    for i, name in enumerate(dtype.names):
        data[name] = np.arange(20) + 100 * i
    names = dtype.names
    asked = [*names, list(names[:1]), list(names[::-1]), list(names[:2]), "other"]
    found = []
    for path, where in (PIPELINE, store), (BATCHED, MemoryStore()):
        with zarr.config.set({"codec_pipeline.path": path}):
            array = zarr.create_array(
                where, shape=20, chunks=6, dtype=dtype, zarr_format=zarr_format
            )
            n = 12 if len(names) > 1 else 20  # zarr-python cannot cast a fill value
            array[:n] = data[:n]
            results = [array["a"]] if len(names) == 1 else []
            for fields in asked:
                for selection in (slice(2, 9), slice(9, 20, 2), slice(14, 17), 4):
                    try:
                        got = array.get_basic_selection(selection, fields=fields)
                    except Exception as error:
                        got = type(error)
                    results.append(got)
                    try:
                        array.set_basic_selection(selection, 7, fields=fields)
                    except Exception as error:
                        results.append(type(error))
                    results.append(array[...])
            found.append([getattr(r, "tolist", lambda r=r: r)() for r in results])
            found[-1].append(objects(array))
    assert found[0] == found[1]
    assert all_native()


# ---------------------------------------------------------------------- many at once


def test_threads_lose_nothing(store):
    array, _ = make(store)
    array[...] = 0

    def add(i):
        array[i : i + 1] = np.full((1, 30), i + 1, "i4")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(40)))
    assert (array[...] == np.arange(1, 41)[:, None]).all()
    assert all_native()


def _write_rows(path, rows):
    with zarr.config.set({"codec_pipeline.path": PIPELINE}):
        array = zarr.open_array(path, mode="r+")
        for i in rows:
            array[i] = i + 1


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_lose_nothing(tmp_path, how):
    array, _ = make(LocalStore(tmp_path / "a.zarr"))
    array[...] = 0
    context = multiprocessing.get_context(how)
    workers = [
        context.Process(target=_write_rows, args=(tmp_path / "a.zarr", range(i, 40, 3)))
        for i in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (array[...] == np.arange(1, 41)[:, None]).all()


def _ticks_while(coroutine):
    """How often the event loop came round while something was awaited."""

    async def run():
        count = 0

        async def tick():
            nonlocal count
            while True:
                await asyncio.sleep(0.001)
                count += 1

        ticking = asyncio.ensure_future(tick())
        await coroutine
        ticking.cancel()
        return count

    return asyncio.run(run())


def test_the_event_loop_goes_on(store):
    array = zarr.create_array(
        store, shape=(64, 250_000), chunks=(1, 250_000), dtype="f8", compressors="auto"
    )
    data = np.random.default_rng(1).random((64, 250_000)).round(3)
    assert _ticks_while(array.async_array.setitem(..., data)) > 20
    assert _ticks_while(array.async_array.getitem(...)) > 5
    assert all_native()


@pytest.mark.parametrize("what", ["read", "write"])
def test_who_is_cancelled_waits_for_the_thread(store, what, monkeypatch):
    """So that nothing is put into memory, or stored, that somebody else uses by then."""
    array = zarr.create_array(store, shape=(64, 250_000), chunks=(1, 250_000), dtype="f8")
    data = np.random.default_rng(1).random((64, 250_000)).round(3)
    array[...] = data
    inside, n_left = [], 0
    call = getattr(Chunks, what)

    def watched(*args, **more):
        inside.append(1)
        try:
            return call(*args, **more)
        finally:
            inside.pop()

    monkeypatch.setattr(Chunks, what, watched)

    async def run():
        nonlocal n_left
        asynchronous = array.async_array
        if what == "read":
            task = asyncio.ensure_future(asynchronous.getitem(...))
        else:
            task = asyncio.ensure_future(asynchronous.setitem(..., data))
        while not inside and not task.done():
            await asyncio.sleep(0.001)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            n_left += 1
        assert not inside

    for _ in range(5):
        asyncio.run(run())
    assert n_left > 0
    assert np.array_equal(array[...], data)


def test_who_is_cancelled_before_a_thread_is_free_does_not_wait(store):
    array, data = make(store)
    free = threading.Event()

    async def run():
        threads = threads_of(asyncio.get_running_loop())
        for _ in range(MOST_THREADS):
            threads.start(partial(free.wait, 60))
        asynchronous = array.async_array
        calls = asynchronous.getitem(...), asynchronous.setitem(..., data + 1)
        tasks = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(error) for error in found] == 2 * [asyncio.CancelledError]
        free.set()
        threads.end()

    asyncio.run(run())
    assert np.array_equal(array[...], data)


def test_a_cancelled_write_does_not_come_late(store):
    array = zarr.create_array(store, shape=(1000, 2000), chunks=(50, 250), dtype="f8")

    async def run():
        asynchronous = array.async_array
        for i in range(10):
            task = asyncio.ensure_future(asynchronous.setitem(..., np.ones((1000, 2000))))
            await asyncio.sleep(0.001 * (i + 1))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await asynchronous.setitem(..., 2)
            await asyncio.sleep(0.1)
            assert (await asynchronous.getitem(...) == 2).all()

    asyncio.run(run())
    assert all_native()


def test_threads_stay_bounded(store):
    array, data = make(store, shape=(400, 300))
    most, stop = 0, threading.Event()

    def watch():
        nonlocal most
        while not stop.is_set():
            most = max(most, len(os.listdir("/proc/self/task")))
            time.sleep(0.001)

    before = len(os.listdir("/proc/self/task"))
    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(8) as threads:
        for result in threads.map(lambda _: array[...], range(64)):
            assert np.array_equal(result, data)
    stop.set()
    watcher.join()
    n_of_zarr = zarr.config.get("threading.max_workers") or min(32, os.cpu_count() + 4)
    assert most <= before + 1 + 8 + n_of_zarr + os.cpu_count()


def test_opening_keeps_nothing(tmp_path):
    """Ten thousand times: a handle that stayed would be far more than 400 bytes each."""
    make(LocalStore(tmp_path / "a.zarr"))
    code = f"""
import gc, os, zarr
zarr.config.set({{"codec_pipeline.path": {PIPELINE!r}}})
def open_and_read(n):
    for _ in range(n):
        zarr.open_array({str(tmp_path / "a.zarr")!r}, mode="r")[0]
    gc.collect()  # what is open may wait for it
    with open("/proc/self/statm") as statm:
        return len(os.listdir("/proc/self/fd")), int(statm.read().split()[1])
files, pages = open_and_read(500)
more_files, more_pages = open_and_read(10_000)
print(more_files - files, (more_pages - pages) * os.sysconf("SC_PAGESIZE"))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    files, n_bytes = map(int, run.stdout.split())
    assert files <= 0
    assert n_bytes < 4_000_000

