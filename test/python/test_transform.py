"""A function sees each chunk on its way to memory."""

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
import time
import weakref
import zlib

import numpy as np
import pytest
import zellige
from conftest import same, write_v2
from zellige import Points

DATA = np.arange(30 * 20, dtype="i4").reshape(30, 20)
ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 1}}
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def sharding(chunk, codecs):
    configuration = {"chunk_shape": chunk, "codecs": codecs, "index_codecs": [LITTLE]}
    return {"name": "sharding_indexed", "configuration": configuration}


#: What arrays are made with, and the shape of their chunks.
KINDS = {
    "chunks": ({"chunks": (8, 5)}, (8, 5)),
    "big-endian": (
        {"chunks": (8, 5), "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]},
        (8, 5),
    ),
    "transposed": (
        {
            "chunks": (8, 5),
            "codecs": [
                {"name": "transpose", "configuration": {"order": [1, 0]}},
                LITTLE,
                {"name": "gzip", "configuration": {"level": 1}},
            ],
        },
        (8, 5),
    ),
    "shards": ({"chunks": (4, 5), "shards": (16, 10)}, (4, 5)),
    "nested shards": (
        {
            "chunks": (16, 20),
            "codecs": [sharding([8, 10], [sharding([4, 5], [LITTLE])])],
        },
        (4, 5),
    ),
    "version 2": ({"chunks": (8, 5), "zarr_format": 2}, (8, 5)),
    "version 2, F": ({"chunks": (8, 5), "zarr_format": 2, "order": "F"}, (8, 5)),
}


def make(store=None, data=DATA, **keywords):
    array = zellige.create_array(
        store if store is not None else zellige.MemoryStore(),
        shape=data.shape,
        dtype=data.dtype,
        **keywords,
    )
    array[...] = data
    return array


def padded(data, index, chunk):
    """The part of `data` that lies in a chunk; what is beyond the shape is left out."""
    return data[tuple(slice(i * c, i * c + c) for i, c in zip(index, chunk))]


# ---------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("kind", KINDS)
def test_each_chunk_once(kind):
    how, chunk = KINDS[kind]
    array, seen = make(**how), []

    def show(index, data):
        seen.append((index, data))
        return -data

    same(array.read(transform=show), -DATA)
    grid = [-(-n // c) for n, c in zip(DATA.shape, chunk)]
    assert sorted(index for index, _ in seen) == list(np.ndindex(*grid))
    for index, data in seen:
        assert type(index) is tuple and set(map(type, index)) == {int}
        assert type(data) is np.ndarray and data.flags.c_contiguous and data.flags.writeable
        assert data.shape == chunk and data.dtype == DATA.dtype
        part = padded(DATA, index, chunk)
        assert np.array_equal(data[tuple(map(slice, part.shape))], part)


def test_selections_show_what_they_touch():
    array, seen = make(chunks=(8, 5)), []

    def show(index, data):
        seen.append(index)
        return data + 1

    same(array.read((slice(7, 9), 3), transform=show), DATA[7:9, 3] + 1)
    assert sorted(seen) == [(0, 0), (1, 0)]
    seen.clear()
    points = [0, 29, 0], [0, 19, 1]
    same(array.read(Points(points), transform=show), DATA[points] + 1)
    assert sorted(seen) == [(0, 0), (3, 3)]
    assert array.read((29, 19), transform=show) == DATA[29, 19] + 1
    seen.clear()
    same(array.read(np.s_[0:0], transform=show), DATA[0:0])
    assert seen == []


def test_edges_that_differ():
    grid = {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[4, 26], [20]]},
    }
    shapes = {}
    array = make(chunk_grid=grid)
    array.read(transform=lambda index, data: shapes.update({index: data.shape}))
    assert shapes == {(0, 0): (4, 20), (1, 0): (26, 20)}


def test_what_is_not_stored_is_not_shown(tmp_path):
    array, seen = make(chunks=(4, 5), shards=(16, 10), fill_value=9), []
    array.fill(selection=np.s_[16:, :10])  # a shard
    array.fill(selection=np.s_[0:4, 0:5])  # one of the chunks of another
    wanted = -array[...]
    wanted[16:, :10] = wanted[0:4, 0:5] = 9

    def show(index, data):
        seen.append(index)
        return -data

    same(array.read(transform=show), wanted)
    assert (0, 0) not in seen and (4, 0) not in seen and (0, 1) in seen
    with pytest.raises(zellige.NotFoundError):
        array.read(transform=show, missing_is_error=True)


@pytest.mark.parametrize(
    "dtype",
    ["?", "i1", "<u8", "f2", "c16", "S3", "V5", "M8[ns]", "m8[s]", "i2, (2,)f4"],
)
def test_types(dtype):
    raw = np.random.default_rng(5).integers(0, 2, 6 * np.dtype(dtype).itemsize, "u1")
    data = raw.view(dtype)
    array = zellige.create_array(
        zellige.MemoryStore(), shape=6, dtype=data.dtype, chunks=4, zarr_format=2
    )
    array[...] = data
    seen = []

    def turn(index, data):
        seen.append(data.dtype)
        return data[::-1]  # not contiguous

    found = array.read(transform=turn)
    assert found[:4].tobytes() == data[3::-1].tobytes()
    assert seen == [array.dtype] * 2


def test_no_axes_and_no_characters():
    one = make(data=np.array(7, "u2"), chunks=())
    assert one.read(transform=lambda index, data: data + data if index == () else 0) == 14
    how = {"dtype": "S0", "chunks": 3, "zarr_format": 2, "keep_empty": True}
    none, shapes = zellige.create_array(zellige.MemoryStore(), shape=3, **how), []
    none[...] = b""
    none.read(transform=lambda index, data: shapes.append(data.shape))
    assert shapes == [(3,)]


def test_version_2_by_hand(tmp_path):
    data = DATA.astype(">f8")
    array = zellige.open_array(write_v2(tmp_path, data, (30, 7)))
    found = array.read(transform=lambda index, data: np.sqrt(data))
    same(found, np.sqrt(DATA.astype("f8")))


# ---------------------------------------------------------------------- lifetimes


def test_what_is_kept_stays():
    array, kept = make(chunks=(8, 5)), {}
    array.read(transform=kept.__setitem__)
    for _ in range(5):
        array.read(transform=lambda index, data: data.fill(-1))
    for index, data in kept.items():
        part = padded(DATA, index, (8, 5))
        assert np.array_equal(data[tuple(map(slice, part.shape))], part)


@pytest.mark.parametrize("raw", [False, True])
def test_what_is_not_kept_goes(raw):
    array, seen = make(chunks=(8, 5)), []

    class Result(np.ndarray):
        pass

    def show(index, data):
        result = np.zeros((8, 5), "i4").view(Result)
        seen.append(weakref.ref(result))
        if not raw:
            seen.append(weakref.ref(data))
        return result

    array.read(transform=show, raw=raw)
    gc.collect()
    assert len(seen) >= 16 and all(one() is None for one in seen)


def test_the_function_goes():
    def read():
        def show(index, data):
            raise RuntimeError("no")

        with pytest.raises(RuntimeError):
            array.read(transform=show)
        return weakref.ref(show)

    array = make(chunks=(8, 5))
    gone = read()
    gc.collect()
    assert gone() is None


# ---------------------------------------------------------------------- what comes back


def first_row(index, data):
    return data if index[0] == 0 else None


def test_none_leaves_memory_alone():
    array = make(chunks=(8, 5))
    wanted = np.full(DATA.shape, -1, "i4")
    wanted[:8] = DATA[:8]
    out = np.full(DATA.shape, -1, "i4")
    assert array.read(out=out, transform=first_row) is out
    same(out, wanted)
    out = np.full((20, 60), -1, "i4").T[::2, ::-1]  # strided
    array.read(out=out, transform=first_row)
    same(np.ascontiguousarray(out), wanted)
    out = np.full((3, 2), -1, "i4")[:, 1]  # points: by way of a fresh array
    array.read(Points(([0, 29, 7], [0, 19, 4])), out=out, transform=first_row)
    assert out.tolist() == [DATA[0, 0], -1, DATA[7, 4]]


def test_a_function_that_places():
    array, sums = make(chunks=(4, 5), shards=(16, 10)), np.zeros((8, 4), "i8")

    def add_up(index, data):
        i, k = (n * c for n, c in zip(index, (4, 5)))
        sums[index] = data[: 30 - i, : 20 - k].sum()

    array.read(transform=add_up)
    assert sums.sum() == DATA.sum() and sums[7, 3] == DATA[28:, 15:].sum()


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (5, "an array or None, not <class 'int'>"),
        (b"12", "an array or None, not <class 'bytes'>"),
        (np.zeros((8, 4), "i4"), r"the shape \(8, 4\) instead of \(8, 5\)"),
        (np.zeros((8, 5), "f4"), "the dtype float32 instead of int32"),
        (np.zeros((8, 5), ">i4"), "the dtype >i4 instead of int32"),
        (np.zeros((8, 5), "O"), "the dtype object instead of int32"),
    ],
)
@pytest.mark.parametrize("raw", [False, True])
def test_wrong_results(result, message, raw):
    array = make(chunks=(8, 5))
    with pytest.raises(zellige.UsageError, match=message):
        array.read(transform=lambda index, data: result, raw=raw)
    same(array[...], DATA)


def test_a_result_that_lies():
    class Liar:
        shape, dtype = (8, 5), np.dtype("i4")

        def __init__(self, memory):
            self.__array_interface__ = {}
            self.memory = memory

    with pytest.raises(TypeError, match="bytes-like"):
        make(chunks=(8, 5)).read(transform=lambda index, data: Liar(b""))


def test_wrong_arguments():
    array = make(chunks=(8, 5))
    with pytest.raises(TypeError, match="a transform is a function, not <class 'int'>"):
        array.read(transform=3)
    with pytest.raises(TypeError, match="raw says"):
        array.read(raw=True)
    same(array.read(transform=None, raw=False), DATA)
    words = zellige.create_array(zellige.MemoryStore(), shape=2, dtype="string", chunks=1)
    words[...] = ["a", "b"]
    for raw in (False, True):
        with pytest.raises(zellige.UnsupportedError, match="variable length"):
            words.read(transform=print, raw=raw)


# ---------------------------------------------------------------------- as they are stored


class Zlib:
    """A codec as numcodecs has them."""

    def decode(self, buf, out=None):
        return zlib.decompress(buf)


@pytest.mark.parametrize("kind", ["chunks", "shards", "nested shards", "version 2"])
def test_raw(kind):
    how, chunk = KINDS[kind]
    how = dict(how)
    if kind == "version 2":
        how["compressors"] = {"id": "zlib", "level": 1}
    elif kind == "nested shards":
        how["codecs"] = [sharding([8, 10], [sharding([4, 5], [LITTLE, ZLIB])])]
    else:
        how["compressors"] = ZLIB
    array, codec, types = make(**how), Zlib(), set()

    def decode(index, data):
        types.add(type(data))
        return np.frombuffer(codec.decode(data), "<i4").reshape(chunk)

    same(array.read(transform=decode, raw=True), DATA)
    same(array.read(np.s_[3:25:2, 4], transform=decode, raw=True), DATA[3:25:2, 4])
    assert types == {bytes}


def test_raw_shows_what_does_not_decode():
    store = zellige.MemoryStore()
    make(store, chunks=(30, 20), compressors=ZLIB)
    store.put("c/0/0", b"not zlib")
    array, seen = zellige.open_array(store), []
    with pytest.raises(zellige.CorruptError):
        array.read(transform=lambda index, data: seen.append(data))
    array.read(transform=lambda index, data: seen.append(data), raw=True)
    assert seen == [b"not zlib"]


# ---------------------------------------------------------------------- many, without waiting


@pytest.mark.parametrize("raw", [False, True])
def test_many(raw):
    a = make(chunks=(8, 5), codecs=[LITTLE])
    b = make(data=DATA.astype("f8"), chunks=(10, 20), codecs=[LITTLE])
    seen = []

    def show(array, index, data):
        seen.append((array, index))
        if raw:
            data = np.frombuffer(data, array.dtype).reshape(array.chunks)
        return data + (1 if array is a else 2)

    reads = [(a, 0), (b, np.s_[29, 2:4]), (a, np.s_[0:3, 19]), (b, (29, 0)), (a, (0, 0))]
    found = zellige.read_many(reads, transform=show, raw=raw)
    for (array, key), one in zip(reads, found):
        same(one, (DATA + 1)[key] if array is a else (DATA.astype("f8") + 2)[key])
    assert len(seen) == len({(id(array), index) for array, index in seen}) == 5
    assert all(array is a or array is b for array, _ in seen)
    outs = [np.full(20, -1, "i4")]
    zellige.read_many([(a, 0)], outs, transform=lambda array, index, data: None)
    assert (outs[0] == -1).all()
    assert zellige.read_many([], transform=show) == []


def test_async():
    array, seen = make(chunks=(8, 5)), []

    async def main():
        same(await array.read_async(transform=lambda index, data: -data), -DATA)
        await array.read_async(transform=lambda index, data: seen.append(data), raw=True)
        with pytest.raises(ZeroDivisionError):
            await array.read_async(transform=lambda index, data: 1 / 0)

        def slow(index, data):
            seen.append(index)
            started.set()
            time.sleep(0.05)

        seen.clear()
        started = threading.Event()
        task = asyncio.ensure_future(array.read_async(transform=slow))
        while not started.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        n = len(seen)
        await asyncio.sleep(0.2)
        assert len(seen) == n < 16, "none is begun any more"

    asyncio.run(main())
    assert all(type(one) in (bytes, tuple) for one in seen)


# ---------------------------------------------------------------------- threads, failures


@pytest.fixture
def with_threads():
    """Arrays that are made here are read by four threads."""
    with zellige.config.set({"engine.threads": 4}):
        yield


@pytest.fixture
def large(with_threads):
    return make(data=np.ones((64, 100_000), "u1"), chunks=(1, 100_000))


def test_several_at_once(large):
    barrier, threads = threading.Barrier(2, timeout=20), set()

    def meet(index, data):
        if index[0] < 2:
            barrier.wait()
        threads.add(threading.get_ident())
        return data * 3

    assert (large.read(transform=meet) == 3).all()
    assert len(threads) >= 2


class Stop(BaseException):
    pass


def test_exceptions_come_unchanged(large):
    """Whichever thread they are raised on, that of the call too; and they stop all."""
    error, n_seen = Stop("here"), []

    def fail(index, data):
        n_seen.append(index)
        time.sleep(0.001)
        if (threading.current_thread().name == "zellige") == here:
            raise error

    for here in (True, False):
        n_seen.clear()
        with pytest.raises(Stop) as caught:
            large.read(transform=fail)
        assert caught.value is error
        assert caught.traceback[-1].name == "fail"
        assert len(n_seen) < 40
        error = Stop("again")
    assert large[5, 5] == 1
    with pytest.raises(Stop):  # all fail: one is raised
        large.read(transform=lambda index, data: (_ for _ in ()).throw(Stop))
    with pytest.raises(TypeError, match="positional"):
        large.read(transform=lambda index: None)


def test_no_calls_inside(large):
    def read(index, data):
        return large[index[0], 0:100_000].reshape(1, -1)

    def write(index, data):
        large[index[0]] = 4

    for bad in (read, write, lambda index, data: large.read_encoded([index])):
        with pytest.raises(zellige.UsageError, match="a transform must not read or write"):
            large.read(transform=bad)
    assert (large[...] == 1).all()
    facts = []
    large.read(0, transform=lambda index, data: facts.append(large.shape))
    assert facts == [large.shape]


def test_deadline(large):
    with pytest.raises(TimeoutError):
        large.read(transform=lambda index, data: time.sleep(0.05), timeout=0.1)


def test_from_many_threads(large):
    errors = []

    def read(k):
        try:
            for _ in range(3):
                rows = slice(k, k + 20)
                found = large.read(rows, transform=lambda index, data: data + index[0])
                assert (found[:, 5] == np.arange(k + 1, k + 21)).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize("large_chunks", [False, True])
def test_ctrl_c(tmp_path, large_chunks):
    """While the function runs: never on this thread; none is begun after."""
    n = 2_100_000 if large_chunks else 100_000
    script = textwrap.dedent(f"""
        import os, signal, threading, time
        import numpy as np
        import zellige
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
        zellige.config.set({{"engine.threads": 3}})
        array = zellige.create_array({str(tmp_path)!r}, shape=(40, {n}), dtype="i4",
                                     chunks=(1, {n}), fill_value=1)
        array.fill(7)
        main = threading.get_ident()
        seen = []
        def on_some(index, data):
            assert threading.get_ident() != main
            seen.append(index)
            if index[0] % 2:
                time.sleep(0.05)
        def on_all(index, data):
            seen.append(index)
            time.sleep(0.05)
        for function in (on_some, on_all):
            for raw in (False, True):
                seen.clear()
                threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
                start = time.monotonic()
                try:
                    for _ in range(100):
                        array.read(np.s_[:, 0], transform=function, raw=raw)
                except KeyboardInterrupt:
                    time.sleep(0.05)  # one may have been called, and not begun
                    n = len(seen)
                    time.sleep(0.2)
                    print(n == len(seen))
    """)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert result.stdout.split() == ["True"] * 4, result.stderr


def test_with_progress(large):
    told, seen = [], []

    def show(index, data):
        seen.append(index)
        time.sleep(0.01)
        return data

    large.read(transform=show, progress=lambda done, n_all: told.append((done, n_all)))
    assert told[-1] == (large.nbytes, large.nbytes) and len(seen) == 64
    with pytest.raises(ZeroDivisionError):
        large.read(transform=show, progress=lambda done, n_all: 1 / 0)
