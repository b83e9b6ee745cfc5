"""The writer behind a backend: opened by the first write, and told what was refused.

An array that could not be stored takes nothing more until it has been. So a write that
meets one tries again what failed, and gives the others alone if that does not help. What it
could not give is remembered, place by place along the parallel dimensions, until all of it
comes once more: close does not succeed without it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import product
from threading import RLock
from typing import Any

from .. import _core
from ..errors import CancelledError, StoreError, UsageError, ZelligeError
from ..store import LocalStore, Promise, Store
from ..watching import Progress, Report, reporter
from ..writer import Partial, partial_number
from .fields import Field
from .schema import Ints, Known, Part

__all__ = ["Output", "Stop", "Ticket", "journal_of"]

#: What becomes of a write: tickets of the writer, one, or one for each part.
Ticket = list[int]
#: The memory of one int, which another thread sets to stop a call.
Stop = Any
#: What the binding takes: array, start, count, elements, swapped or not, lent or not.
Given = tuple[int, tuple[int, ...], tuple[int | None, ...], Field, bool, bool]
#: The name of an array, and a place along each parallel dimension that it has.
Cell = tuple[str, Ints]
_MERGE = 0  # what is there already stays, but for what is given
_FAILED = 3  # the state of a ticket


def journal_of(store: Store) -> str:
    """Beside the directory: in it a journal would look like a node."""
    return f"{store.root}.journal"


class Output:
    """A writer for arrays by name."""

    def __init__(
        self,
        *,
        store: Store,
        parallel: Collection[str],
        n_threads: int,
        memory_budget: int,
        promise: Promise | None,
        progress: Progress | None,
        resume: bool,
        partial: Partial,
    ) -> None:
        # Threads for files do nothing but work; others wait for their store. What the
        # budget cannot hold goes beside the files of a directory.
        is_local = isinstance(store, LocalStore)
        n_processors = len(os.sched_getaffinity(0))
        self._ways = (
            store,
            memory_budget,
            min(n_threads, n_processors) if is_local else n_threads,
            promise,
            _MERGE,
            False,
            partial_number(partial),
            None if is_local else tempfile.gettempdir(),
            journal_of(store) if resume else None,
        )
        self._report: Report | None = None if progress is None else reporter(progress)
        self._writer: _core.Writer | None = None
        self._numbers: dict[str, int] = {}
        self._has_failed_to_close = False
        self._parallel = parallel
        self._refused: dict[Cell, ZelligeError] = {}
        self._counts: dict[str, int] = {}
        self._lock = RLock()
        self._process = os.getpid()
        if resume:  # from now on a journal is in use, and stays
            self._opened(None)

    # ------------------------------------------------------------------ opening

    def check_process(self) -> None:
        """Refuses to work in a process that was forked: the threads did not come along."""
        if os.getpid() != self._process:
            raise UsageError("the output was opened before a fork: open it again here")

    def _opened(self, timeout: float | None) -> _core.Writer:
        writer = self._writer
        if writer is None or self._has_failed_to_close:
            with self._lock:
                if self._has_failed_to_close:
                    self._close(timeout)
                if self._writer is None:
                    self._writer = _core.open_writer(*self._ways)
                writer = self._writer
        return writer

    def _number(self, writer: _core.Writer, known: Known) -> int:
        """By what the writer knows an array."""
        found = self._numbers.get(known.name)
        if found is None:
            with self._lock:
                found = self._numbers.get(known.name)
                if found is None:
                    found = writer.add(known.array, None, None)
                    self._numbers[known.name] = found
        return found

    # ------------------------------------------------------------------ giving

    def give(
        self, parts: list[Part], borrow: bool, timeout: float | None, cancel: Stop
    ) -> Ticket:
        """Gives all parts of a write at once."""
        try:
            writer = self._opened(timeout)
        except ZelligeError as error:
            self._remember(parts, error)
            raise
        given = [self._given(writer, part, borrow) for part in parts]
        try:
            number = writer.submit(given, timeout, cancel)
        except ZelligeError as error:
            if cancel is not None and cancel[0]:
                raise  # the caller does not want it any more
            if writer.counts()["failed"] == 0:
                self._remember(parts, error)
                raise
        else:
            if self._refused:
                self._forget(parts)
            return [number]
        with suppress(ZelligeError):
            writer.drain(timeout, None, cancel)  # tries again what failed
        return self._give_each(writer, parts, timeout, cancel)

    def _given(self, writer: _core.Writer, part: Part, borrow: bool) -> Given:
        number = self._number(writer, part.known)
        return number, part.start, part.lengths, part.field, False, borrow

    def _give_each(
        self, writer: _core.Writer, parts: list[Part], timeout: float | None, cancel: Stop
    ) -> Ticket:
        """Gives the parts one by one: those of arrays that are well do not wait for others.
        Nothing is lent: where one part is refused, nobody waits for those that are not."""
        ticket: Ticket = []
        first = None
        for part in parts:
            try:
                given = [self._given(writer, part, False)]
                ticket.append(writer.submit(given, timeout, cancel))
            except ZelligeError as error:
                self._remember([part], error)
                first = first or error
            else:
                self._forget([part])
        if first is not None:
            raise first
        return ticket

    def is_stored(self, parts: list[Part]) -> bool:
        """True where all of these parts are stored already."""
        writer = self._opened(None)
        return all(
            writer.is_stored(self._number(writer, known), start, lengths)
            for known, start, lengths, _ in parts
        )

    def refuse(
        self, names: Iterable[str], places: Iterable[Ints], error: ZelligeError
    ) -> None:
        """Remembers fields that could not be given, by their places along the parallel
        dimensions that they have."""
        self._refused.update(dict.fromkeys(product(names, places), error))

    def _cells(self, parts: list[Part]) -> Iterator[Cell]:
        for known, start, lengths, _ in parts:
            sides = {
                dim: range(at, at + n) for dim, at, n in zip(known.dims, start, lengths)
            }
            for place in product(*(sides[dim] for dim in self._parallel if dim in sides)):
                yield known.name, place

    def _remember(self, parts: list[Part], error: ZelligeError) -> None:
        self._refused.update(dict.fromkeys(self._cells(parts), error))

    def _forget(self, parts: list[Part]) -> None:
        for cell in self._cells(parts):
            self._refused.pop(cell, None)

    def _check_refused(self) -> None:
        refused = self._refused.copy()  # while other threads may give them again
        if not refused:
            return
        names = sorted({name for name, _ in refused})
        error = next(iter(refused.values()))
        raise StoreError(
            f"{len(refused)} fields of {', '.join(names)} were refused, and not given "
            f"again: {error}"
        ) from error

    # ------------------------------------------------------------------ storing

    def settle(self, ticket: Ticket, timeout: float | None, cancel: Stop) -> None:
        """Waits until all that is full is stored; raises where some of a write is not."""
        writer = self._writer
        if writer is None:
            return
        try:
            writer.drain(timeout, None, cancel)
        except CancelledError:
            raise
        except ZelligeError:
            # Another array may have failed, which was told when it did.
            if any(writer.poll(number) == _FAILED for number in ticket):
                raise

    def flush(self, timeout: float | None = None, *, cancel: Stop = None) -> None:
        """Stores all that was given, and tries again what failed."""
        self.check_process()
        if self._writer is not None:
            self._flush(self._writer, timeout, cancel)
        self._check_refused()

    def _flush(self, writer: _core.Writer, timeout: float | None, cancel: Stop) -> None:
        report = self._report
        if report is None:
            writer.flush(timeout, None, cancel)
            return
        given = writer.counts()["bytes_submitted"]
        try:
            writer.flush(timeout, lambda n, n_all: report(given - n_all + n, given), cancel)
        finally:
            self.tell()

    def close(self, timeout: float | None) -> None:
        """Stores all that was given, and ends the writer where that went well."""
        self.check_process()
        with self._lock:
            self._close(timeout)
        self._check_refused()

    def _close(self, timeout: float | None) -> None:
        writer = self._writer
        if writer is None:
            return
        if self._report is not None:
            with suppress(ZelligeError):  # close meets it again
                self._flush(writer, timeout, None)
        self._has_failed_to_close = True
        writer.close(timeout, None, None)
        self._end(writer)

    def leave(self, timeout: float | None) -> None:
        """Closes before all has been given: a journal stays, for a run that gives the rest."""
        if self._ways[-1] is None:
            self.close(timeout)
            return
        try:
            self.flush(timeout)
        finally:
            self.abort()

    def abort(self) -> None:
        """Gives up what is not stored."""
        self.check_process()
        with self._lock:
            if self._writer is not None:
                self._writer.abort()
                self._end(self._writer)
            self._refused.clear()

    def _end(self, writer: _core.Writer) -> None:
        self._counts = writer.counts()
        self._writer = None
        self._has_failed_to_close = False
        self._numbers.clear()

    # ------------------------------------------------------------------ telling

    @property
    def is_local(self) -> bool:
        """True where the engine stores files by itself, without Python."""
        return isinstance(self._ways[0], LocalStore)

    @property
    def is_open(self) -> bool:
        """True where a writer is there that may have something to store."""
        is_here = os.getpid() == self._process
        return is_here and (self._writer is not None or bool(self._refused))

    @property
    def is_waiting(self) -> bool:
        """True where something was given that is not stored."""
        return self._writer is not None and self._writer.counts()["open"] > 0

    def counts(self) -> dict[str, int]:
        """Counters of the writer, or of the last one that was closed."""
        writer = self._writer
        return self._counts if writer is None else writer.counts()

    def tell(self) -> None:
        """Says how many bytes are stored, and how many were given."""
        if self._report is not None:
            counts = self.counts()
            given = counts.get("bytes_submitted", 0)
            self._report(given - counts.get("bytes_queued", 0), given)
