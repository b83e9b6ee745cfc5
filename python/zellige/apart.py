"""Reads and writes of chunks so large that a person who pressed Ctrl-C would have to wait.

The engine looks for a wish to stop between chunks, and inside of those that are not
compressed; a compressed one is decoded in one go. So on the main thread, where signals are
handled, such a call is made in a thread of its own and waited for here. When a signal's
handler raises, the call is told to stop and left behind: what it still has in hand is its
own memory, and it stores nothing any more.
"""

from __future__ import annotations

import threading
from array import array as c_array
from collections.abc import Callable
from typing import Any, TypeVar

from . import _core

__all__ = ["apart"]

_Result = TypeVar("_Result")


def apart(call: Callable[..., _Result], *args: Any, **keywords: Any) -> _Result:
    """The result of a call that takes `cancel`, made in another thread."""
    cancel = c_array("i", [0])
    done = threading.Event()
    results: list[_Result] = []
    errors: list[BaseException] = []
    report = _core.watch(None)  # who watches this thread watches the call
    _core.watch(report)

    def run() -> None:
        _core.watch(report)
        try:
            results.append(call(*args, cancel=cancel, **keywords))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=run, name="zellige")
    thread.start()
    try:
        done.wait()
    except BaseException:
        cancel[0] = 1
        raise
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
