"""How far a call of the engine is, told while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core

__all__ = ["Steps", "progress"]

Report = Callable[[int, int], object]


class _Bar:
    """Moves a bar of tqdm, one after another over the calls that are made."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._before = self._done = 0  # bytes of earlier calls, and of this one

    def __call__(self, n_done: int, n_all: int) -> None:
        if n_done == 0:  # a call begins; the one before may have failed on its way
            self._before, self._done = self._before + self._done, 0
        self._bar.total = self._before + n_all
        self._bar.update(n_done - self._done)
        self._done = n_done


class progress:  # noqa: N801
    """``with zellige.progress(report):`` tells how far a call is, about 20 times a second.

    `report` is called with the bytes of elements that are done and those of the whole call,
    none of them at its beginning and all at its end; or it is a bar of tqdm. Reads, writes and copies of this
    thread are reported, but not those that take less than a twentieth of a second. What
    `report` raises stops the call.
    """

    def __init__(self, report: Any) -> None:
        self._report: Report = _Bar(report) if hasattr(report, "update") else report
        self._outer: Report | None = None

    def __enter__(self) -> None:
        self._outer = _core.watch(self._report)

    def __exit__(self, *_: object) -> None:
        _core.watch(self._outer)


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
