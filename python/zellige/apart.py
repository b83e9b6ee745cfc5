"""Calls that may have a large chunk in hand, or a transform that takes its time, when a
person presses Ctrl-C and would have to wait.

The engine looks for a wish to stop between chunks, and inside of those that are not
compressed; a compressed one is decoded in one go. So on the main thread, where signals are
handled, such a call is made in a thread of its own and waited for here. When a signal's
handler raises, the call is told to stop and left behind: what it still has in hand is its
own memory, and it stores nothing any more. A call with a timeout is made so on any thread,
and left when it has not ended by itself soon after that.

Memory of the caller's is behind a door (python/core/call.c) which closes when they leave: the
engine decodes into memory of its own and puts things there through the door, and what the
engine cannot place there goes through `put`; they wait for no more than a piece of that.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from array import array as c_array
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from . import _core
from .errors import CancelledError

__all__ = ["PAUSE", "Call", "Patience", "apart", "apart_if", "on_main_thread", "put"]

_Result = TypeVar("_Result")

#: Seconds: a signal that comes just before somebody falls asleep wakes nobody up.
PAUSE = 0.05

#: Bytes that are copied before somebody is looked for who wants to leave.
_PIECE = 16 << 20


class Patience:
    """How long somebody waits for a call that has been given a timeout, or None."""

    def __init__(self, timeout: Any) -> None:
        self._end = math.inf
        with contextlib.suppress(TypeError, ValueError):  # the call says what is wrong
            if float(timeout) >= 0:
                # The call looks at the clock itself, and has more to say.
                self._end = time.monotonic() + float(timeout) + PAUSE / 2

    def pause(self) -> float:
        """Seconds to sleep before another look."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise CancelledError("the deadline passed")
        return min(PAUSE, left)


class Call(Generic[_Result]):
    """A call that takes `cancel`, in a thread of its own; `done` is called there at its end."""

    def __init__(self, call: Callable[[Any], _Result], done: Callable[[], object]) -> None:
        self._door = c_array("i", [0, 0])
        self._results: list[_Result] = []
        self._errors: list[BaseException] = []

        def run() -> None:
            try:
                self._results.append(call(self._door))
            except BaseException as error:
                self._errors.append(error)
            finally:
                done()

        self._thread = threading.Thread(target=run, name="zellige")

    def start(self) -> None:
        self._thread.start()

    def leave(self) -> None:
        _core.leave(self._door)

    def result(self) -> _Result:
        self._thread.join()
        if self._errors:
            raise self._errors[0]
        return self._results[0]


def apart(
    call: Callable[..., _Result], *args: Any, within: Any = None, **keywords: Any
) -> _Result:
    """The result of a call that takes `cancel`, made in another thread; `within` is its
    timeout."""
    patience = Patience(within)
    report = _core.watch(None)  # who watches this thread watches the call
    _core.watch(report)

    def run(cancel: Any) -> _Result:
        _core.watch(report)
        return call(*args, cancel=cancel, **keywords)

    done = threading.Event()
    made = Call(run, done.set)
    try:
        made.start()
        while not done.wait(patience.pause()):
            pass
    except BaseException:
        made.leave()
        raise
    return made.result()


def apart_if(goes: bool, call: Callable[..., _Result], within: Any = None) -> _Result:
    """The same where that is worth a thread; else here."""
    return apart(call, within=within) if goes else call(cancel=None)


def on_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def put(out: npt.NDArray[Any], result: npt.NDArray[Any], cancel: Any) -> bool:
    """``out[...] = result``, in pieces; False when the caller has gone before."""
    if result.ndim == 0 or result.nbytes <= _PIECE:
        return _core.put(cancel, out, ..., result)
    step = _PIECE * len(result) // result.nbytes
    if step == 0:
        return all(put(out[i], result[i], cancel) for i in range(len(result)))
    parts = (slice(i, i + step) for i in range(0, len(result), step))
    return all(_core.put(cancel, out, part, result[part]) for part in parts)
