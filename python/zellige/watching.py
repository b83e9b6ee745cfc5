"""How far a call of the engine is, told while it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from . import _core

__all__ = ["Bar", "Progress", "Report", "Steps", "progress", "reporter", "watched"]

Report = Callable[[int, int], object]


class Bar(Protocol):
    """What is used of a bar of tqdm. It counts bytes: `unit="B", unit_scale=True`."""

    total: Any

    def update(self, n: Any = ..., /) -> object: ...


Progress = Report | Bar


class _Bar:
    """Moves a bar of tqdm, one after another over the calls that are made."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._before = getattr(bar, "n", 0)  # bytes of earlier calls
        self._done = 0  # and of this one

    def __call__(self, n_done: int, n_all: int) -> None:
        if n_done == 0:  # a call begins; the one before may have failed on its way
            self._before, self._done = self._before + self._done, 0
        self._bar.total = self._before + n_all
        self._bar.update(n_done - self._done)
        self._done = n_done


def reporter(report: Any) -> Report:
    """A function of the bytes that are done and of all: that, or a bar of tqdm."""
    if hasattr(report, "update"):
        return _Bar(report)
    if not callable(report):
        raise TypeError(f"progress is a function or a bar of tqdm, not {report!r}")
    function: Report = report
    return function


class progress:  # noqa: N801
    """``with zellige.progress(report):`` tells how far a call is, about 20 times a second.

    `report` is called with the bytes of elements that are done and those of the whole call,
    none of them at its beginning and all at its end; or it is a bar of tqdm. Reads, writes
    and copies of this thread are reported, but not those that take less than a twentieth of
    a second. What `report` raises stops the call.
    """

    def __init__(self, report: Any) -> None:
        self._report = reporter(report)
        self._outer: Report | None = None

    def __enter__(self) -> None:
        self._outer = _core.watch(self._report)

    def __exit__(self, *_: object) -> None:
        _core.watch(self._outer)


def watched(report: Progress | None) -> AbstractContextManager[None]:
    """The same where somebody wants to be told."""
    return nullcontext() if report is None else progress(report)


class Steps:
    """Makes one report of many calls, whose own reports are held back."""

    def __init__(self, n_all: int) -> None:
        self._n_done, self._n_all = 0, n_all
        self._report: Report | None = None

    def __enter__(self) -> Steps:
        self._report = _core.watch(None)
        self.add(0)
        return self

    def __exit__(self, *_: object) -> None:
        _core.watch(self._report)

    def add(self, n: int) -> None:
        """So many bytes more are done."""
        self._n_done += n
        if self._report is not None and self._n_all > 0:
            self._report(self._n_done, self._n_all)
