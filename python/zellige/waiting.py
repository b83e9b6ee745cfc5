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
from functools import partial
from typing import Any, TypeVar

from .apart import Call, Patience
from .threads import threads_of

__all__ = ["apart_async", "in_thread", "read_each"]

_Result = TypeVar("_Result")


async def in_thread(call: Callable[..., _Result], *args: Any, **keywords: Any) -> _Result:
    """Awaits a call of the engine that takes `cancel`."""
    loop = asyncio.get_running_loop()
    cancel = c_array("i", [0])
    told: asyncio.Future[None] = loop.create_future()
    has_begun = has_ended = False
    results: list[_Result] = []
    errors: list[BaseException] = []

    def work() -> None:
        nonlocal has_begun
        has_begun = True
        try:
            if not cancel[0]:
                results.append(call(*args, cancel=cancel, **keywords))
        except BaseException as error:
            errors.append(error)
        with contextlib.suppress(RuntimeError):  # the loop is closed by now
            loop.call_soon_threadsafe(tell)

    def tell() -> None:
        nonlocal has_ended
        has_ended = True
        if not told.done():
            told.set_result(None)

    threads_of(loop).start(partial(copy_context().run, work))
    try:
        await told
    except asyncio.CancelledError:
        cancel[0] = 1
        while has_begun and not has_ended:  # what no thread has begun is never done
            told = loop.create_future()
            with contextlib.suppress(asyncio.CancelledError):  # the engine is stopping
                await told
        raise
    if errors:
        raise errors.pop()
    return results[0]


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
