"""Calls that are awaited."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
import zellige
from conftest import same
from zellige.threads import MOST_THREADS, threads_of

DATA = np.arange(600, dtype="i4").reshape(60, 10)


@pytest.fixture
def array():
    return zellige.array(DATA, chunks=(7, 5))


def test_read_and_write(array):
    async def main():
        same(await array.read_async(np.s_[3:20, ::2]), DATA[3:20, ::2])
        out = np.zeros((60, 10), "i4")
        assert await array.read_async(out=out) is out and np.array_equal(out, DATA)
        await array.write_async(5, (0, slice(None)))
        assert (await array.read_async((0, 3))) == 5
        parts = await asyncio.gather(*(array.read_async(i) for i in range(1, 40)))
        assert np.array_equal(parts, DATA[1:40])
        with pytest.raises(zellige.RangeError):
            await array.read_async(99)

    asyncio.run(main())


def test_the_loop_goes_on(tmp_path):
    big = zellige.create_array(tmp_path, data=np.random.default_rng(1).random((3000, 1000)))

    async def main():
        reading = asyncio.create_task(big.read_async())
        n = 0
        while not reading.done():
            await asyncio.sleep(0.001)
            n += 1
        return n, await reading

    n, found = asyncio.run(main())
    assert n > 1 and np.array_equal(found, big[...])


def test_cancelled(tmp_path):
    data = np.tile(np.random.default_rng(1).integers(0, 99, (100, 1000)), (80, 1))
    big = zellige.create_array(
        tmp_path, data=data, chunks=(100, 1000), compressors={"id": "gzip", "level": 1}
    )
    out = np.zeros((8000, 1000), data.dtype)

    async def main():
        reading = asyncio.create_task(big.read_async(out=out))
        await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        out[...] = -1  # nobody writes into it any more
        await asyncio.sleep(0.3)
        assert (out == -1).all()

    asyncio.run(main())


@pytest.mark.parametrize("way", ["read", "write"])
def test_cancelled_before_a_thread_is_free(array, way):
    """What no thread has begun is not waited for, and is never done."""
    free = threading.Event()
    out = np.full((60, 10), -1, "i4")

    async def main():
        threads = threads_of(asyncio.get_running_loop())
        for _ in range(MOST_THREADS):
            threads.start(partial(free.wait, 60))
        call = array.read_async(out=out) if way == "read" else array.write_async(5)
        waiting = asyncio.create_task(call)
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        free.set()
        threads.end()  # after what was begun and what stood before it

    asyncio.run(main())
    assert (out == -1).all() and np.array_equal(array[...], DATA)


def test_rows_and_reads(array):
    async def main():
        rows = [row async for row in array]
        assert np.array_equal(rows, DATA)
        reads = [(array, i) for i in (5, 0, 59)]
        same(np.array([row async for row in zellige.read_each(reads)]), DATA[[5, 0, 59]])
        async for row in zellige.read_each([(array, 1), (array, 99), (array, 2)], ahead=5):
            assert np.array_equal(row, DATA[1])
            break
        with pytest.raises(zellige.RangeError):
            async for _ in zellige.read_each([(array, 99)]):
                pass

    asyncio.run(main())


def test_progress_is_told(array):
    told = []

    async def main():
        await array.read_async(progress=lambda *bytes_of: told.append(bytes_of))

    asyncio.run(main())
    assert told[0] == (0, 2400) and told[-1] == (2400, 2400)


def test_what_cancels():
    array = zellige.zeros(3)
    for wrong in (b"1234", bytearray(3)):
        with pytest.raises((BufferError, ValueError)):
            array.read(cancel=wrong)
    stopped = np.ones(1, np.intc)
    with pytest.raises(zellige.CancelledError):
        array.read(cancel=stopped)
    with pytest.raises(zellige.CancelledError):
        array.write(1, cancel=stopped)


def test_threads_end_with_their_loop(array):
    before = threading.active_count()
    for _ in range(200):
        asyncio.run(array.read_async())
    end = time.monotonic() + 30
    while threading.active_count() > before + 2 and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    assert threading.active_count() <= before + 2


def test_many_at_once_share_a_few_threads(array):
    before = threading.active_count()

    async def main():
        reads = await asyncio.gather(*(array.read_async(i % 60) for i in range(500)))
        return reads, threading.active_count()

    reads, n = asyncio.run(main())
    assert np.array_equal(reads, DATA[np.arange(500) % 60])
    assert n <= before + MOST_THREADS


AT_EXIT = """
import asyncio, atexit, sys, threading
import numpy as np
import zellige

array = zellige.create_array(sys.argv[1], shape=(4000, 1000), chunks=(100, 1000), dtype="f8")
late = zellige.create_array(sys.argv[2], shape=10, dtype="i4")
atexit.register(lambda: asyncio.run(late.write_async(7)))  # after what is in hand

loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
data = np.random.default_rng(1).random((4000, 1000))
asyncio.run_coroutine_threadsafe(array.write_async(data), loop)
while array.nchunks_initialized == 0:
    pass
"""


def test_the_interpreter_waits_for_what_is_in_hand(tmp_path):
    """Others, too, may still have something to await."""
    paths = [str(tmp_path / name) for name in ("array", "late")]
    subprocess.run([sys.executable, "-c", AT_EXIT, *paths], check=True, timeout=120)
    data = np.random.default_rng(1).random((4000, 1000))
    assert np.array_equal(zellige.open_array(paths[0])[...], data)
    assert np.array_equal(zellige.open_array(paths[1])[...], np.full(10, 7))


IN_A_CHILD = """
import asyncio, multiprocessing, sys, threading
import numpy as np
import zellige

def run(path):
    array = zellige.open_array(path)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    data = np.random.default_rng(1).random(array.shape)
    asyncio.run_coroutine_threadsafe(array.write_async(data), loop)
    while array.nchunks_initialized == 0:
        pass

zellige.create_array(sys.argv[1], shape=(4000, 1000), chunks=(100, 1000), dtype="f8")
child = multiprocessing.get_context("fork").Process(target=run, args=(sys.argv[1],))
child.start()
child.join()
assert child.exitcode == 0
"""


def test_a_forked_child_waits_for_what_is_in_hand(tmp_path):
    path = str(tmp_path / "array")
    subprocess.run([sys.executable, "-c", IN_A_CHILD, path], check=True, timeout=120)
    data = np.random.default_rng(1).random((4000, 1000))
    assert np.array_equal(zellige.open_array(path)[...], data)


INTO_A_WRITER = """
import asyncio, sys, threading
import numpy as np
import zellige

array = zellige.create_array(sys.argv[1], shape=(200, 20000), chunks=(10, 20000), dtype="i4")
for use in sys.argv[2:]:
    if use == "await":
        asyncio.run(array.read_async(0))
    else:
        writer = zellige.Writer(array)

loop, begun, tasks = asyncio.new_event_loop(), threading.Event(), []

def begin():
    for i in range(200):
        tasks.append(loop.create_task(writer.submit_async(i, np.full(20000, i, "i4"))))
    loop.call_soon(begun.set)

loop.call_soon_threadsafe(begin)
threading.Thread(target=loop.run_forever, daemon=True).start()
begun.wait()
"""


@pytest.mark.parametrize("uses", [["await", "writer"], ["writer", "await"]])
def test_what_is_awaited_is_given_before_a_writer_is_closed(tmp_path, uses):
    """Whichever was there first."""
    path = str(tmp_path / "array")
    script = [sys.executable, "-c", INTO_A_WRITER, path, *uses]
    subprocess.run(script, check=True, timeout=120)
    found = zellige.open_array(path)[...]
    assert np.array_equal(found, np.full((200, 20000), np.arange(200)[:, None]))
