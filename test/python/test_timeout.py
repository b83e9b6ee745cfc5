"""A timeout ends a call although it has a large chunk in hand, on whatever thread.

What is in hand is held up by a door of the test's until the call has come back.
"""

import asyncio
import math
import threading

import numpy as np
import pytest
import zellige
from conftest import same

N = 9 << 20
SECONDS = 0.05


class Held:
    """A transform that stays in its first chunk until it is let go."""

    def __init__(self):
        self.n, self.let_go = 0, threading.Event()

    def __call__(self, *args):
        self.n += 1
        self.let_go.wait(60)
        return args[-1] * 2


class Slow(dict):
    """A store of Python that does not take chunks until it is let go."""

    def __init__(self):
        super().__init__()
        self.let_go = threading.Event()

    def __setitem__(self, key, value):
        if "c/" in key:
            self.let_go.wait(60)
        super().__setitem__(key, value)


def on_main(call):
    call()


def on_another(call):
    """The same in another thread; what it raises is raised here."""
    errors = []

    def run():
        try:
            call()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    if errors:
        raise errors[0]


THREADS = pytest.mark.parametrize("somewhere", [on_main, on_another])


def end(held):
    """Lets go what was left behind, and waits for it."""
    threads = [t for t in threading.enumerate() if t.name == "zellige"]
    held.let_go.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return len(threads)


@pytest.fixture
def array(tmp_path):
    return zellige.create_array(tmp_path, data=np.ones((2, N), "u1"), chunks=(1, N))


@THREADS
def test_reads(array, somewhere):
    def later(held, out):
        asyncio.run(array.read_async(out=out, transform=held, timeout=SECONDS))

    for call in (
        lambda held, out: array.read(transform=held, timeout=SECONDS),
        lambda held, out: array.read(out=out, transform=held, timeout=SECONDS),
        lambda held, out: zellige.read_many(
            [(array, ...)], [out], transform=held, timeout=SECONDS
        ),
        later,
    ):
        held, out = Held(), np.full((2, N), 9, "u1")
        with pytest.raises(TimeoutError, match="deadline passed") as found:
            somewhere(lambda: call(held, out))
        assert isinstance(found.value, zellige.CancelledError)
        out[...] = 7
        assert 1 <= held.n <= 2
        n = held.n
        assert end(held) == 1
        assert held.n == n and (out == 7).all()


@THREADS
def test_writes(somewhere):
    """What is in the hands of a store may come to be stored; nothing else does."""
    for call in (
        lambda array: array.write(3, timeout=SECONDS),
        lambda array: array.fill(3, timeout=SECONDS),
        lambda array: zellige.write_many([(array, ..., 3)], timeout=SECONDS),
        lambda array: array.append(np.full((1, N), 3, "u1"), timeout=SECONDS),
        lambda array: asyncio.run(array.write_async(3, timeout=SECONDS)),
    ):
        memory = Slow()
        array = zellige.create_array(
            zellige.MemoryStore(memory), shape=(2, N), chunks=(1, N), dtype="u1"
        )
        with pytest.raises(TimeoutError, match="deadline passed"):
            somewhere(lambda: call(array))
        assert not any("c/" in key for key in memory)
        assert end(memory) == 1


@THREADS
def test_time_enough(array, somewhere):
    def use():
        same(array.read((1, slice(4, 6)), timeout=60), np.ones(2, "u1"))
        array.write(5, 1, timeout=60)
        out = np.zeros((2, N), "u1")
        assert array.read(out=out, timeout=60) is out
        same(out[:, 7], np.array([1, 5], "u1"))
        array.resize((1, N), timeout=60)
        assert array.append(out[1:], timeout=60) == (2, N)
        assert asyncio.run(array.read_async((1, 3), timeout=60)) == 5

    somewhere(use)
    assert not [t for t in threading.enumerate() if t.name == "zellige"]


@THREADS
def test_what_is_no_timeout(array, somewhere):
    for timeout, error in (("5", TypeError), (-1, ValueError), (math.nan, ValueError)):
        for call in (array.read, lambda timeout: array.write(1, timeout=timeout)):
            with pytest.raises(error):
                somewhere(lambda call=call, timeout=timeout: call(timeout=timeout))


def test_within_a_transform(array):
    """Nothing of the engine may be waited for there, in a thread or not."""

    def read(index, data):
        array.read(timeout=5)

    def many(index, data):
        zellige.read_many([(array, ...)], timeout=5)

    for transform in (read, many):
        with pytest.raises(zellige.UsageError, match="must not read or write"):
            array.read(transform=transform)
