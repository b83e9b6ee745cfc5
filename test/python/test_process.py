"""Signals, deadlines, threads, forks."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zellige
from conftest import same, write_v3


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Takes many seconds to read: millions of objects are looked for, none is there."""
    folder = tmp_path_factory.mktemp("slow")
    path = write_v3(folder, np.zeros(1, "u1"), (1,), shape=[40_000_000], fill=0)
    return zellige.open_array(path)


@pytest.fixture
def slow_to_write(tmp_path):
    """Takes many seconds to fill: a file for each element."""
    return zellige.create_array(tmp_path, shape=400_000, dtype="u1", chunks=1)


def test_ctrl_c_stops_a_write(tmp_path, slow_to_write):
    script = textwrap.dedent(f"""
        import os, signal, threading, time
        import zellige
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
        array = zellige.open_array({str(tmp_path)!r}, "r+")
        for call in (lambda: array.__setitem__(..., 1), lambda: array.fill(2),
                     lambda: zellige.write_many([(array, ..., 3)] * 2)):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            start = time.monotonic()
            try:
                call()
            except KeyboardInterrupt:
                print(time.monotonic() - start < 2.0)
    """)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert result.stdout.split() == ["True"] * 3, result.stderr


def test_ctrl_c_stops_a_removal(tmp_path):
    """What is left of the array is an empty group, which the same call removes."""
    group = zellige.open_group(tmp_path, mode="w")
    group.create_array("a", shape=50_000, chunks=1, dtype="u1")
    (tmp_path / "a" / "c").mkdir()
    for i in range(50_000):
        (tmp_path / "a" / "c" / str(i)).touch()
    script = textwrap.dedent(f"""
        import os, signal, threading, time
        import zellige
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
        group = zellige.open_group({str(tmp_path)!r}, "r+")
        for call in (lambda: group.__delitem__("a"),
                     lambda: group.create_group("a", overwrite=True),
                     lambda: group.create_array("a", shape=1, dtype="u1", overwrite=True)):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            start = time.monotonic()
            try:
                call()
            except KeyboardInterrupt:
                print(time.monotonic() - start < 1.0, len(group["a"]))
    """)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert result.stdout.split() == ["True", "0"] * 3, result.stderr
    assert 0 < len(list((tmp_path / "a" / "c").iterdir())) < 50_000
    del group["a"]
    assert not (tmp_path / "a").exists()


def test_deadline_of_a_write(slow_to_write):
    for call in (
        lambda: slow_to_write.write(1, timeout=0.1),
        lambda: slow_to_write.fill(1, timeout=0.1),
        lambda: zellige.write_many([(slow_to_write, ..., 1)], timeout=0.1),
    ):
        with pytest.raises(zellige.CancelledError):
            call()
    assert slow_to_write[0] == 1


def test_the_lock_is_free_during_a_write(slow_to_write):
    ticks = []
    done = threading.Event()

    def count():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(TimeoutError):
            slow_to_write.write(1, timeout=0.3)
        n = len(ticks)
    finally:
        done.set()
        thread.join()
    assert n > 20


def test_ctrl_c_stops_a_read(slow):
    """In a process of its own, with a handler's exception and the default one."""
    script = textwrap.dedent(f"""
        import os, signal, threading, time
        import zellige
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
        array = zellige.open_array({slow.store.root!r})
        class Stop(Exception): pass
        def handler(*_): raise Stop
        for expected in (KeyboardInterrupt, Stop):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            start = time.monotonic()
            try:
                array[...]
            except expected:
                print(time.monotonic() - start < 2.0)
            signal.signal(signal.SIGINT, handler)
    """)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert result.stdout.split() == ["True", "True"], result.stderr


def test_ctrl_c_does_not_wait_for_a_large_chunk(tmp_path):
    """The engine ends what it has in hand by itself, in a thread, and stores nothing."""
    gzip = [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}]
    n = 64 << 20
    array = zellige.create_array(tmp_path, shape=n, dtype="u1", chunks=n, codecs=gzip)
    array[...] = np.random.default_rng(1).integers(0, 40, n, "u1")
    script = textwrap.dedent(f"""
        import os, signal, threading
        import numpy as np
        import zellige
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
        array = zellige.open_array({str(tmp_path)!r}, "r+")
        out = np.zeros({n}, "u1")
        values = np.random.default_rng(2).integers(0, 40, {n}, "u1")
        for call in (lambda: array[...], lambda: array.read(out=out),
                     lambda: zellige.read_many([(array, ...), (array, slice(1))], [out, out[:1]]),
                     lambda: array.__setitem__(..., values),
                     lambda: zellige.write_many([(array, ..., values)]),
                     lambda: array.append(values)):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                call()
            except KeyboardInterrupt:
                left = [t for t in threading.enumerate() if t.name == "zellige"]
                print(len(left), out.any())
                left[0].join()
    """)
    before = array.store.get("c/0")
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300
    )
    assert result.stdout.split() == ["1", "False"] * 6, result.stderr
    assert array.store.get("c/0") == before
    with pytest.raises(zellige.NotFoundError):
        array.store.get("c/1")
    assert zellige.open_array(tmp_path).shape == (n,)


def test_large_chunks_in_calls_of_many(tmp_path):
    """Such calls are made in a thread too; they give what they give otherwise."""
    n = 9 << 20
    array = zellige.create_array(tmp_path, shape=n, dtype="u1", chunks=n)
    data = np.arange(n, dtype="u1")
    zellige.write_many([(array, slice(0, 5), 7), (array, slice(3, n), data[3:])])
    data[:3] = 7
    first, rest = zellige.read_many([(array, slice(0, 4)), (array, slice(4, None))])
    same(first, data[:4])
    same(rest, data[4:])
    outs = [np.zeros(4, "u1"), np.zeros(n, "u1")]
    results = zellige.read_many([(array, slice(0, 4)), (array, ...)], outs)
    assert results[0] is outs[0] and results[1] is outs[1]
    same(outs[1], data)
    with pytest.raises(zellige.UsageError):
        zellige.read_many([(array, slice(0, 4))], [np.zeros(5, "u1")])
    assert array.append(data) == (2 * n,)
    same(array[n:], data)
    with pytest.raises(zellige.UsageError):
        array.append(np.zeros((2, 2), "u1"))


def test_deadline(slow):
    with pytest.raises(TimeoutError) as caught:
        slow.read(timeout=0.05)
    assert caught.value.kind == "cancelled"
    with pytest.raises(zellige.CancelledError):
        zellige.read_many([(slow, ...), (slow, 3)], timeout=0.05)


def test_the_lock_is_free_during_a_read(slow):
    ticks = []
    done = threading.Event()

    def count():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(TimeoutError):
            slow.read(timeout=0.3)
        n = len(ticks)
    finally:
        done.set()
        thread.join()
    assert n > 20


def test_many_threads_share_an_array(tmp_path):
    data = np.random.default_rng(0).integers(0, 1000, (64, 64, 16), dtype="<u2")
    array = zellige.open_array(write_v3(tmp_path, data, (32, 32, 16), inner=(8, 8, 8)))

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            key = tuple(slice(*sorted(rng.integers(0, n + 1, 2))) for n in data.shape)
            same(array[key], data[key])
            zellige.open_array(str(tmp_path))
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_a_child_reads_on(tmp_path):
    data = np.arange(1 << 20, dtype="<i4").reshape(1024, 1024)
    array = zellige.open_array(write_v3(tmp_path, data, (256, 256), inner=(64, 64)))
    same(array[...], data)  # starts the workers
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                if np.array_equal(array[...], data) and array[5, 5] == data[5, 5]:
                    code = 0
            finally:
                os._exit(code)
        children.append(pid)
    for pid in children:
        deadline = time.monotonic() + 30
        while (found := os.waitpid(pid, os.WNOHANG))[
            0
        ] == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        if found[0] == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            pytest.fail("a child hangs")
        assert os.waitstatus_to_exitcode(found[1]) == 0
    same(array[...], data)


WRITER = """
import sys
import numpy as np
import zellige
path, me, n_writers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
array = zellige.open_array(path, "r+")
rng = np.random.default_rng(me)
mine = np.arange(array.size) % n_writers == me
for places in np.array_split(rng.permutation(np.flatnonzero(mine)), 60):
    at = np.unravel_index(places, array.shape)
    array.vindex[at] = places + 1
for i in range(20):
    array.attrs[f"{me}.{i}"] = i
"""


def test_processes_write_into_the_same_shards(tmp_path):
    """Elements of each lie between those of the others, and none is lost."""
    array = zellige.create_array(
        tmp_path, shape=(60, 50), dtype="i4", chunks=(5, 5), shards=(20, 25)
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(i), "4"])
        for i in range(4)
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0] * 4
    same(array[...], np.arange(1, 3001, dtype="i4").reshape(60, 50))
    array.refresh()
    assert len(array.attrs) == 80
    assert sorted(array.store.keys()) == sorted(
        ["zarr.json", *(f"c/{i}/{k}" for i in range(3) for k in range(2))]
    )


def test_threads_write_into_the_same_shards():
    array = zellige.create_array(
        zellige.MemoryStore(), shape=(60, 50), dtype="i4", chunks=(5, 5), shards=(20, 25)
    )

    def work(me):
        rng = np.random.default_rng(me)
        for places in np.array_split(rng.permutation(np.arange(me, 3000, 8)), 40):
            array.vindex[np.unravel_index(places, array.shape)] = places + 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    same(array[...], np.arange(1, 3001, dtype="i4").reshape(60, 50))


def test_a_child_writes_on(tmp_path):
    array = zellige.create_array(tmp_path, shape=(256, 256), dtype="i4", chunks=(64, 64))
    array[...] = 1  # starts the workers
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            array[0:200] = 2
            array.append(np.full((4, 256), 3))
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    array.refresh()
    same(array[:, 0], np.repeat(np.array([2, 1, 3], "i4"), [200, 56, 4]))


def test_nothing_leaks(tmp_path):
    """Handles, buffers and results are given back, also when calls fail."""
    data = np.arange(1000, dtype="<i4")
    path = write_v3(tmp_path / "a", data, (100,))
    array = zellige.open_array(path, "r+")
    out = np.empty(1000, "i4")
    texts = zellige.create_array(zellige.MemoryStore(), shape=9, dtype=str)

    def round_of_calls():
        for _ in range(50):
            zellige.open_array(path)[3:5]
            array.read([1, 2, 3])
            array.read(out=out)
            zellige.read_many([(array, slice(0, 3)), (array, 4)])
            for bad in (5000, ([0, 1], 0), "a"):
                with pytest.raises(IndexError):
                    array[bad]
            with pytest.raises(zellige.UsageError):
                array.read(out=out[1:])
            array[...] = out
            array[5:9] = out[5:9].astype(">i4")
            array.vindex[[[1, 2], [3, 4]]] = out[[[1, 2], [3, 4]]].T
            zellige.write_many(
                [(array, slice(3, 9), out[3:9]), (array, 4, 4), (texts, 1, "a")]
            )
            texts[...] = ["a"] * 9
            texts.fill("b")
            for bad in (out[1:], "a", object()):
                with pytest.raises((ValueError, TypeError)):
                    array[...] = bad
                with pytest.raises((ValueError, TypeError)):
                    zellige.write_many([(array, 0, 1), (array, ..., bad)])
            array.attrs["k"] = 1
            array.resize(1001)
            array.resize(1000)
            array.append(out[:0])
            array.refresh()

    def counts():
        return [sys.getrefcount(each) for each in (array, out, texts, array.store)]

    round_of_calls()
    before = counts()
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    round_of_calls()
    assert counts() == before
    if files:
        assert len(os.listdir("/proc/self/fd")) == files
