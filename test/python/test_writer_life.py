"""Tickets, failures, threads, processes and the end of writers."""

import asyncio
import gc
import os
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import zellige
from conftest import same
from writing import DATA, SHAPES, Gated, array, gated, n_threads, run


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


def test_progress():
    class Slow(dict):
        def __setitem__(self, key, value):
            time.sleep(0.06 if "c/" in key else 0)
            super().__setitem__(key, value)

    told = []

    def tell(done, of):
        told.append((done, of))

    array = zellige.create_array(Slow(), shape=(12, 100), dtype="f8", chunks=(1, 100))
    with zellige.Writer(array, progress=tell, threads=1) as writer:
        writer.submit(..., 1.0)
    dones, alls = zip(*told)
    assert list(dones) == sorted(dones) and len(set(alls)) == 1
    assert dones[0] == 0 and dones[-1] == alls[0] > 0 and len(set(dones)) > 4


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
    with pytest.raises(zellige.UsageError, match="has failed; close it again to see why"):
        writer.submit(1, 2.0)
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
        {"memory_budget": 10**30},
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
    for beyond in (slice(20, 30), slice(12, None), (..., slice(100, 101))):
        with pytest.raises(zellige.RangeError, match="claim of"):
            zellige.Writer(array, claim=beyond)
    zellige.Writer(array, claim=slice(12, 12)).close()  # a share with nothing in it


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
    writer.flush()
    writer.drain()
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
    assert "writer.py" not in result.stderr, "no line of the package is to blame"
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
