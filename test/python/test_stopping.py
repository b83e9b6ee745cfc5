"""Ctrl-C: a call comes back while its work is not done, and what is left of it does no harm.

What is in hand is held up by a door of the test's, so that nothing depends on time.
"""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import zellige
from conftest import same

#: In a process of its own: a transform, and what presses Ctrl-C once it is inside.
HEAD = """
    import asyncio, os, signal, sys, threading, time
    import numpy as np
    import zellige
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    zellige.config.set({"engine.threads": 1})

    class Held:
        '''A transform that stays in its first chunk until it is let go.'''
        def __init__(self, answer):
            self.answer, self.n = answer, 0
            self.inside, self.let_go = threading.Event(), threading.Event()
        def __call__(self, *args):
            self.n += 1
            self.inside.set()
            self.let_go.wait(60)
            return self.answer(*args)
        def press(self):
            self.inside.wait(60)
            os.kill(os.getpid(), signal.SIGINT)

    def left():
        return [t for t in threading.enumerate() if t.name == "zellige"]
"""


def run(body):
    script = textwrap.dedent(HEAD) + textwrap.dedent(body)
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout.split("\n")[:-1]


@pytest.mark.parametrize("n", [1000, 10 << 20])
def test_a_transform_is_left_behind(tmp_path, n):
    """It ends what it has in hand, is called no more, and what it gives is dropped."""
    zellige.create_array(tmp_path, data=np.ones((4, n), "u1"), chunks=(1, n))
    found = run(f"""
        array = zellige.open_array({str(tmp_path)!r})
        out, rows = np.full((4, {n}), 9, "u1"), np.full((8, {n}), 9, "u1")
        data = lambda *args: np.full((1, {n}), 5, "u1")
        raw = lambda *args: np.full((1, {n}), 5, "u1") if type(args[-1]) is bytes else None
        scattered = rows[::2]
        reads = [(array, slice(0, 2)), (array, slice(2, 4))]
        for answer in (data, raw):
            ways = dict(raw=answer is raw)
            for call in (
                lambda f: array.read(transform=f, **ways),
                lambda f: array.read(out=out, transform=f, **ways),
                lambda f: array.read([3, 0, 1, 2], out=scattered, transform=f, **ways),
                lambda f: zellige.read_many(reads, transform=f, **ways),
                lambda f: zellige.read_many(reads, [out[:2], out[2:]], transform=f, **ways),
                lambda f: asyncio.run(array.read_async(out=out, transform=f, **ways)),
            ):
                held = Held(answer)
                threading.Thread(target=held.press).start()
                try:
                    call(held)
                except KeyboardInterrupt:
                    n = held.n
                    out[...] = rows[...] = 7
                    threads = left()
                    held.let_go.set()
                    for thread in threads:
                        thread.join(60)
                    print(len(threads), n == held.n, set(np.unique(out)) == {{7}},
                          set(np.unique(rows)) == {{7}})
    """)
    assert found == ["1 True True True"] * 12


def test_a_handler_that_raises(tmp_path):
    """Any exception of a handler's; and an exception of the transform is nobody's then."""
    zellige.create_array(tmp_path, data=np.ones((4, 100)), chunks=(1, 100))
    found = run(f"""
        class Stop(Exception): pass
        def stop(*args): raise Stop
        signal.signal(signal.SIGINT, stop)
        array = zellige.open_array({str(tmp_path)!r})
        held = Held(lambda *args: 1 / 0)
        threading.Thread(target=held.press).start()
        try:
            array.read(transform=held)
        except Stop:
            threads = left()
            held.let_go.set()
            threads[0].join(60)
            print(len(threads), left() == [])
        print(array[1, 1], array.read(transform=lambda i, d: d + i[0])[3, 0])
    """)
    assert found == ["1 True", "1.0 4.0"]


def test_a_handler_that_does_not_raise(tmp_path):
    zellige.create_array(tmp_path, data=np.ones((4, 100)), chunks=(1, 100))
    found = run(f"""
        array = zellige.open_array({str(tmp_path)!r})
        held = Held(lambda index, data: data + 1)
        signal.signal(signal.SIGINT, lambda *args: held.let_go.set())
        threading.Thread(target=held.press).start()
        print((array.read(transform=held) == 2).all())
    """)
    assert found == ["True"]


def test_what_a_transform_places_stays(tmp_path):
    """It writes into `out` itself; the engine touches only what it is given."""
    data = np.arange(40, dtype="i4").reshape(4, 10)
    array = zellige.create_array(tmp_path, data=data, chunks=(1, 10), fill_value=-1)
    array.fill(selection=3)
    for rows in (slice(None), [2, 0, 3, 1]):
        wide = np.full((4, 20), 77, "i4")
        out = np.full((4, 10), 77, "i4") if isinstance(rows, slice) else wide[:, ::2]
        mine = np.zeros((4, 10), "i4")

        def place(index, chunk):
            if index[0] == 1:
                return chunk * 10
            mine[index[0]] = chunk[0]
            return None

        assert array.read(rows, out=out, transform=place) is out
        expected = np.full((4, 10), 77)
        expected[1], expected[3] = data[1] * 10, -1
        same(out, expected.astype("i4")[rows])
        same(mine[[0, 2]], data[[0, 2]])


def test_a_transform_writes_into_out(tmp_path):
    data = np.arange(40, dtype="i4").reshape(4, 10)
    array = zellige.create_array(tmp_path, data=data, chunks=(1, 10))
    out = np.zeros((4, 10), "i4")

    def place(index, chunk):
        out[index[0]] = chunk[0] + 1

    array.read(out=out, transform=place)
    same(out, data + 1)


def test_exceptions_of_transforms(tmp_path):
    array = zellige.create_array(tmp_path, data=np.ones((4, 10)), chunks=(1, 10))
    for error in (ZeroDivisionError, KeyboardInterrupt, SystemExit):

        def fail(*args):
            raise error("here")

        with pytest.raises(error, match="here"):
            array.read(transform=fail)
        with pytest.raises(error, match="here"):
            zellige.read_many([(array, 0)], transform=fail)
    with pytest.raises(zellige.UsageError):
        array.read(transform=lambda index, data: array[0, 0])
    with pytest.raises(zellige.UsageError):
        array.read(transform=lambda index, data: data[:, 1:])
    found = array.read(transform=lambda index, data: np.asfortranarray(data.T).T * 2)
    same(found, np.full((4, 10), 2.0))


def test_awaited_reads_of_large_chunks(tmp_path):
    """A task that is cancelled does not wait for the chunk in hand."""
    n = 9 << 20
    array = zellige.create_array(tmp_path, data=np.ones(n, "u1"), chunks=n)
    inside, let_go = threading.Event(), threading.Event()

    def hold(index, data):
        inside.set()
        let_go.wait(60)
        return data

    async def main():
        out = np.zeros(n, "u1")
        task = asyncio.create_task(array.read_async(out=out, transform=hold))
        while not inside.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        threads = [t for t in threading.enumerate() if t.name == "zellige"]
        let_go.set()
        for thread in threads:
            thread.join(60)
        assert len(threads) == 1 and not out.any()
        assert await array.read_async(out=out) is out and out.all()
        same(await array.read_async(slice(5, 9)), np.ones(4, "u1"))
        await array.write_async(3)
        with pytest.raises(zellige.UsageError):
            await array.read_async(out=out[1:])

    asyncio.run(main())
    assert (array[...] == 3).all()


def test_a_large_out(tmp_path):
    """What is not the engine's to write comes in pieces, of any shape."""
    data = np.random.default_rng(1).integers(0, 99, (3, 10 << 20), "u1")
    array = zellige.create_array(tmp_path, data=data, chunks=(1, 10 << 20))
    out = np.zeros_like(data)
    assert array.read(out=out) is out
    same(out, data)
    wide = np.zeros((20, 1 << 20, 2), "u1")
    wider = zellige.create_array(
        zellige.MemoryStore(), data=np.ones((20, 1 << 20, 2), "u1"), chunks=wide.shape
    )
    assert wider.read(out=wide) is wide and wide.all()
    with pytest.raises(zellige.UsageError):
        array.read(out=out[:1])


CODECS = {"raw": None, "zstd": zellige.codecs.Zstd(level=1)}


@pytest.mark.parametrize("codec", CODECS)
def test_a_read_into_out_is_left_behind(codec):
    """What comes of the chunk in hand does not reach memory that is free by then."""
    found = run(f"""
        class Slow(dict):
            held = None
            def get(self, key):
                found = super().get(key)
                return self.held(found) if self.held else found

        n, slow, Zstd = 9 << 20, Slow(), zellige.codecs.Zstd
        array = zellige.create_array(
            zellige.MemoryStore(slow), data=np.ones((2, n), "u1"), chunks=(1, n),
            compressors={CODECS[codec]!r},
        )
        for seconds, call in (
            (None, lambda out: array.read(out=out)),
            (None, lambda out: array.read([1, 0], out=out)),
            (None, lambda out: zellige.read_many([(array, 0), (array, 1)], list(out))),
            (None, lambda out: asyncio.run(array.read_async(out=out))),
            (0.2, lambda out: array.read(out=out, timeout=0.2)),
        ):
            out = np.zeros((2, n), "u1")
            slow.held = Held(lambda data: data)
            if seconds is None:
                threading.Thread(target=slow.held.press).start()
            try:
                call(out)
            except (KeyboardInterrupt, TimeoutError):
                threads = left()
                slow.held.let_go.set()
                for thread in threads:
                    thread.join(60)
                print(len(threads), out.any())
            slow.held = None
    """)
    assert found == ["1 False"] * 5


@pytest.mark.parametrize("codec", CODECS)
def test_no_second_result(tmp_path, codec):
    """However a call may be left, the memory beyond its result is that of pieces: that of
    two workers, each with a chunk stored and decoded, and 16 MiB."""
    n, chunk = 192 << 20, 12 << 20
    array = zellige.create_array(
        tmp_path, shape=n, chunks=chunk, dtype="u1", compressors=CODECS[codec]
    )
    for i in range(0, n, chunk):
        array[i : i + chunk] = np.random.default_rng(i).integers(0, 9, chunk, "u1")
    found = run(f"""
        zellige.config.set({{"engine.threads": 2}})
        array = zellige.open_array({str(tmp_path)!r})
        out = np.full(({n}), 9, "u1")

        def kib(name):
            with open("/proc/self/status") as file:
                return int(file.read().split(name + ":")[1].split()[0])

        def on_another(call):
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()

        for call in (
            lambda: array.read(out=out),
            lambda: array.read(out=out, timeout=600),
            lambda: on_another(lambda: array.read(out=out, timeout=600)),
            lambda: zellige.read_many([(array, ...)], [out]),
            lambda: zellige.read_many([(array, slice(None, None, -1))], [out]),
            lambda: asyncio.run(array.read_async(out=out)),
        ):
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")  # the highest mark of memory falls to what is in use
            before = kib("VmRSS")
            call()
            print((kib("VmHWM") - before) >> 10)
    """)
    assert len(found) == 6
    assert max(map(int, found)) <= 2 * 2 * (chunk >> 20) + 16, found


# ---------------------------------------------------------------------- names


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    """A group, and in it an array with very many chunks in one folder."""
    folder = tmp_path_factory.mktemp("flat")
    group = zellige.open_group(folder, mode="w")
    group.create_array("a", shape=10_000_000, chunks=1, dtype="u1")
    (folder / "a" / "c").mkdir()
    first = folder / "a" / "c" / "0"
    first.write_bytes(b"1")
    for i in range(1, 150_000):
        if i % 30_000 == 0:  # more links to one file than some file systems bear
            first = folder / "a" / "c" / str(i)
            first.write_bytes(b"1")
        else:
            os.link(first, folder / "a" / "c" / str(i))
    return folder


CALLS = {
    "listed": "array.store._list('c', False)",
    "one level": "array.store._list('c', True)",
    "counted": "array.nchunks_initialized",
    "bytes": "array.nbytes_stored()",
}


@pytest.mark.parametrize("what", CALLS)
def test_names_are_not_listed_to_the_end(flat, what):
    """How long the call takes is measured first; then it comes back long before that, at
    least once in many times: never, if nobody looked."""
    found = run(f"""
        array = zellige.open_array({str(flat)!r} + "/a")
        call = lambda: {CALLS[what]}
        def seconds(call):
            start = time.perf_counter()
            try:
                call()
            except KeyboardInterrupt:
                pass
            return time.perf_counter() - start
        whole = min(seconds(call) for _ in range(3))
        def press():
            time.sleep(whole / 8)
            os.kill(os.getpid(), signal.SIGINT)
        for _ in range(50):
            try:
                thread = threading.Thread(target=press)
                thread.start()
                part = seconds(call)
                thread.join()
            except KeyboardInterrupt:
                continue
            if part < 0.7 * whole:
                print("stopped")
                break
    """)
    assert found == ["stopped"]


def test_a_lock_that_somebody_holds(tmp_path):
    """Nothing but Ctrl-C ends these calls."""
    group = zellige.open_group(tmp_path, mode="w")
    group.store.put("k", b"1")
    found = run(f"""
        import fcntl, struct
        store = zellige.open_group({str(tmp_path)!r}, mode="r+").store
        fd = os.open({str(tmp_path / "k")!r}, os.O_RDWR)
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, lock)
        for call in (lambda: store.put("k", b"2"), lambda: store.delete("k")):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                call()
            except KeyboardInterrupt:
                print("stopped", store.get("k"))
    """)
    assert found == ["stopped b'1'"] * 2


def test_a_codec_is_left_behind(tmp_path):
    """What codecs alone have in hand; and what comes of them otherwise."""
    data = np.random.default_rng(1).integers(0, 4, 5 << 20, "u1")
    codec = zellige.codecs.BZ2(level=1)
    encoded = codec.encode(data)
    assert codec.decode(encoded) == data.tobytes()
    out = np.zeros(len(data) + 3, "u1")
    assert codec.decode(encoded, out[:-3]) is not None
    same(out[:-3], data)
    found = run(f"""
        codec = zellige.codecs.BZ2(level=1)
        data = np.random.default_rng(1).integers(0, 4, {64 << 20}, "u1")
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            codec.encode(data)
        except KeyboardInterrupt:
            print(len(left()))
            os._exit(0 if sys.stdout.flush() is None else 1)
    """)
    assert found == ["1"]


class Listed(dict):
    """A store of Python that presses Ctrl-C while it is listed."""

    def items(self):
        signal.raise_signal(signal.SIGINT)
        return super().items()


def test_a_store_of_python():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        store = zellige.MemoryStore(Listed())
        array = zellige.create_array(store, shape=10, chunks=1, dtype="u1")
        array[...] = 1
        for call in (array.nbytes_stored, lambda: store._list("", False)):
            with pytest.raises(KeyboardInterrupt):
                call()
    finally:
        signal.signal(signal.SIGINT, before)
