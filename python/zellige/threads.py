"""Threads for calls that are awaited: what the executor of an event loop does, in half of its
time, since nobody asks for more than to be told of the end.

Each event loop has its own, so that a call may wait for what another loop awaits. They start
when there is something to do, stay for the next call, and end with their loop. When the
interpreter ends, what they have in hand is waited for.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

__all__ = ["MOST_THREADS", "Threads", "threads_of"]

_Work = Callable[[], object]

#: For each loop, as asyncio has it: they wait for the engine mostly.
MOST_THREADS = min(32, (os.cpu_count() or 1) + 4)


def _serve(queue: SimpleQueue[_Work | None], free: list[None]) -> None:
    while (work := queue.get()) is not None:
        work()
        del work  # and what it holds
        free.append(None)
    queue.put(None)  # for the next one


class Threads:
    """Those of one event loop. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._free: list[None] = []  # an item for each thread that waits
        self._threads: list[threading.Thread] = []

    def __del__(self) -> None:
        self._queue.put(None)

    def start(self, work: _Work) -> None:
        """Has `work`, which raises nothing, called as soon as a thread is free; or calls it,
        where none can be had, as when the interpreter is ending."""
        with self._lock:
            if self._free:
                self._free.pop()
            elif len(self._threads) < MOST_THREADS:
                self._add()
            if self._threads:
                self._queue.put(work)
                return
        work()

    def _add(self) -> None:
        thread = threading.Thread(
            target=_serve, args=(self._queue, self._free), name="zellige", daemon=True
        )
        with contextlib.suppress(RuntimeError):
            thread.start()
            self._threads.append(thread)

    def end(self) -> None:
        """Waits until all that was started is done. What is started later has other
        threads: somebody else, too, may have something to do when the interpreter ends."""
        with self._lock:
            queue, ending = self._queue, self._threads
            self._begin()
        queue.put(None)
        for thread in ending:
            thread.join()


_of: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Threads] = (
    weakref.WeakKeyDictionary()
)


def threads_of(loop: asyncio.AbstractEventLoop) -> Threads:
    found = _of.get(loop)
    if found is None:
        found = _of[loop] = Threads()
    return found


@atexit.register
def _end_all() -> None:
    for threads in list(_of.values()):
        threads.end()


os.register_at_fork(after_in_child=_of.clear)  # a child has none of them
