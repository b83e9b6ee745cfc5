"""Calls that can be awaited: the engine works in a thread, while the event loop goes on.

A call that is cancelled stops the engine and waits until it has stopped, so that nobody
writes any more into memory that was given to it; or leaves it behind, where that would take
long. One that no thread has begun is not waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
from array import array as c_array
from collections.abc import AsyncIterator, Callable, Iterable
from contextvars import copy_context
from typing import Any, TypeVar

from .apart import Call, Patience

__all__ = ["apart_async", "in_thread", "read_each"]

_Result = TypeVar("_Result")


async def in_thread(call: Callable[..., _Result], *args: Any, **keywords: Any) -> _Result:
    """Awaits a call of the engine that takes `cancel`."""
    cancel, has_begun = c_array("i", [0]), False

    def work() -> _Result:
        nonlocal has_begun
        has_begun = True
        if cancel[0]:
            raise asyncio.CancelledError
        return call(*args, cancel=cancel, **keywords)

    done = asyncio.get_running_loop().run_in_executor(None, copy_context().run, work)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        cancel[0] = 1
        if not has_begun:  # nor will it: no thread was free
            done.cancel()
            raise
        while not done.done():
            try:
                await asyncio.wait([done])
            except asyncio.CancelledError:
                continue  # it was asked again: the engine is stopping
        done.exception()  # that it was cancelled is known
        raise


async def apart_async(
    call: Callable[..., _Result], *args: Any, within: Any = None, **keywords: Any
) -> _Result:
    """Awaits a call that may be left behind: a task that is cancelled does not wait for what
    it has in hand, nor does one whose timeout passes. See apart.py."""
    patience = Patience(within)
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def tell() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed by now
            loop.call_soon_threadsafe(done.set)

    made = Call(lambda cancel: call(*args, cancel=cancel, **keywords), tell)
    try:
        made.start()
        while not done.is_set():
            pause = patience.pause()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), pause)
    except BaseException:
        made.leave()
        raise
    return made.result()


async def read_each(
    reads: Iterable[tuple[Any, Any]], *, ahead: int = 2
) -> AsyncIterator[Any]:
    """Gives the results of ``[(array, selection), ...]`` in their order, each as soon as it
    is there; up to `ahead` of them are read before they are asked for."""
    waiting: list[asyncio.Task[Any]] = []
    try:
        for one, selection in reads:
            waiting.append(asyncio.ensure_future(one.read_async(selection)))
            if len(waiting) > ahead:
                yield await waiting.pop(0)
        while waiting:
            yield await waiting.pop(0)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
