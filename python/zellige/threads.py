"""Threads for calls that are awaited: what the executor of an event loop does, in half of its
time, since nobody asks for more than to be told of the end.

Each event loop has its own, so that a call may wait for what another loop awaits. They start
when there is something to do, stay for the next call, and end with their loop. When the
process ends, what they have in hand is waited for, in a forked child of multiprocessing too.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

__all__ = ["MOST_THREADS", "Threads", "end_threads", "threads_of"]

_Work = Callable[[], object]

#: For each loop, as asyncio has it: they wait for the engine mostly.
MOST_THREADS = min(32, (os.cpu_count() or 1) + 4)


def _serve(queue: SimpleQueue[_Work | None], pending: list[None]) -> None:
    while (work := queue.get()) is not None:
        work()
        del work  # and what it holds
        pending.pop()
    queue.put(None)  # for the next one


class Threads:
    """Those of one event loop. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._pending: list[None] = []  # an item for each work that is not done
        self._threads: list[threading.Thread] = []

    def __del__(self) -> None:
        self._queue.put(None)

    def start(self, work: _Work) -> None:
        """Has `work`, which raises nothing, called as soon as a thread is free; or calls it,
        where none can be had, as when the interpreter is ending."""
        with self._lock:
            if len(self._threads) <= len(self._pending) < MOST_THREADS:
                self._add()
            if self._threads:
                self._pending.append(None)
                self._queue.put(work)
                return
        work()

    def _add(self) -> None:
        thread = threading.Thread(
            target=_serve, args=(self._queue, self._pending), name="zellige", daemon=True
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


_of: weakref.WeakKeyDictionary[AbstractEventLoop, Threads] = weakref.WeakKeyDictionary()


def threads_of(loop: AbstractEventLoop) -> Threads:
    found = _of.get(loop)
    if found is None:
        found = _of[loop] = Threads()
    return found


def end_threads() -> None:
    """Waits for what is in hand, whichever loop awaits it. Called before anything is closed
    at the end of the process."""
    for reference in _of.keyrefs():
        loop = reference()
        if loop is not None and loop in _of:
            _of[loop].end()


# While threads may still be started, and for what others start after that.
with contextlib.suppress(RuntimeError):  # the interpreter is ending already
    getattr(threading, "_register_atexit", atexit.register)(end_threads)
atexit.register(end_threads)
os.register_at_fork(after_in_child=_of.clear)  # a child has none of them
