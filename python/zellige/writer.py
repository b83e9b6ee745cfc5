"""A writer that takes fields as they come and stores them on threads of its own.

Selections and types are looked at here; what is given is the library's from then on.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  ends after writers, not before: see below
import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, overload
from weakref import WeakSet

from . import _core
from .array import Array
from .errors import UnsupportedError, UsageError, ZelligeError
from .group import Group
from .selection import box_of, claim_of
from .source import Casting, fit
from .store import Promise
from .threads import end_threads
from .watching import Progress

__all__ = ["Estimate", "Existing", "Partial", "Reduction", "Ticket", "Writer"]

#: What is done with objects that were stored before: see :class:`Writer`.
Existing = Literal["merge", "replace", "refuse", "skip_equal"]
#: What `flush` does with objects of which a part is missing: see :class:`Writer`.
Partial = Literal["publish", "keep"]
State = Literal["pending", "taken", "stored", "failed"]

#: What stands for a window of elements: see :meth:`Writer.add_coarser`.
Reduction = Literal["mean", "min", "max", "decimate"]
_REDUCTIONS: tuple[Reduction, ...] = ("mean", "min", "max", "decimate")
_EXISTING: tuple[Existing, ...] = ("merge", "replace", "refuse", "skip_equal")
_PARTIAL: tuple[Partial, ...] = ("publish", "keep")
_STATES: tuple[State, ...] = ("pending", "taken", "stored", "failed")
_TAKEN, _STORED = 1, 2

#: How long the end of the interpreter waits for writers that were not closed.
_SECONDS_AT_EXIT = 60.0


class Estimate(NamedTuple):
    """Bytes of memory: upper bounds, as chunks are counted without compression."""

    #: With less than this a writer does not work.
    least: int
    #: With this one object of each array fills without the side file.
    usual: int


def partial_number(partial: Partial) -> int:
    """The number by which the library knows it."""
    if partial not in _PARTIAL:
        raise UsageError(f"partial is one of {', '.join(_PARTIAL)}, not {partial!r}")
    return _PARTIAL.index(partial)


def budget_number(memory_budget: int | None) -> int:
    """The bytes as the library takes them; 0 where it may choose."""
    n_bytes = memory_budget or 0
    if not 0 <= n_bytes < 2**63:
        raise UsageError(f"memory_budget is {n_bytes}: it must be from 0 to 2**63 - 1")
    return n_bytes


class Ticket:
    """What becomes of one submit. It may be awaited."""

    __slots__ = ("_number", "_writer", "first")

    #: The number of the first row that was appended; None for other submits.
    first: int | None

    def __init__(self, writer: _core.Writer, number: int, first: int | None = None) -> None:
        self._writer, self._number, self.first = writer, number, first

    @property
    def state(self) -> State:
        """ "pending": memory that was lent is in use; "taken": not any more; "stored": all
        of it is; "failed": an object of it could not be stored, so far."""
        return _STATES[self._writer.poll(self._number)]

    @property
    def taken(self) -> bool:
        """True once memory that was lent is free again."""
        return self._writer.poll(self._number) >= _TAKEN

    def done(self) -> bool:
        """True when it is stored or has failed."""
        return self._writer.poll(self._number) >= _STORED

    def result(self, timeout: float | None = None) -> None:
        """Waits until all of it is stored, and raises what went wrong. An object that gets
        no more data is stored when somebody flushes or closes the writer."""
        self._writer.wait(self._number, _STORED, timeout, None)

    def wait_taken(self, timeout: float | None = None) -> None:
        """Waits until memory that was lent is free again."""
        self._writer.wait(self._number, _TAKEN, timeout, None)

    def __await__(self) -> Generator[Any, None, None]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        from asyncio import sleep

        pause = 0.001  # threads that wait might be all there are, and flush needs one
        while not self.done():
            await sleep(pause)
            pause = min(2 * pause, 0.02)
        self.result()

    def __repr__(self) -> str:
        return f"<zellige.Ticket {self._number}, {self.state}>"


class _Target:
    """An array that is written."""

    __slots__ = ("array", "coarser", "dtype", "is_grown", "number", "shape")

    def __init__(self, array: Array, number: int) -> None:
        self.array, self.number = array, number
        self.shape, self.dtype = array.shape, array.dtype
        self.is_grown = False
        self.coarser: list[_Target] = []

    def grows(self) -> None:
        """It has new rows, and so have those that are given its reduction."""
        self.is_grown = True
        for target in self.coarser:
            target.grows()


class Writer:
    """Takes parts of an array, or of the arrays of a group, in any order, and stores them
    on threads of its own: every chunk, or shard, once, when all of it has been given.

    >>> with zellige.Writer(zellige.open_array("air.zarr", "r+")) as writer:
    ...     for step in range(n_steps):
    ...         writer.submit((step, ...), compute(step))

    What has been given is stored when `flush` or `close` has returned, or the `with` block
    was left; objects of which parts are missing are kept until then. An element that is
    given twice holds what came last. An object that cannot be stored is kept: its array
    takes nothing more, and `flush` and `close` raise and try again, until it is stored.

    Every ``submit`` copies, unless asked not to, and waits while `memory_budget` is used up
    (bytes; 160 MiB, or more where one object and a chunk per thread need more). Chunks that
    the budget cannot hold go to a file without a name beside the store, or in
    `side_directory`.

    `level` is what "stored" promises, as in :func:`open_array`. `existing` is about objects
    that were stored before: "merge" keeps what is not given of them, "replace" keeps
    nothing, "refuse" fails with ExistsError, "skip_equal" leaves those alone that would
    stay the same. `timeout` is for all calls that name none, in seconds. `progress` is told
    how far `flush` and `close` are. `claim` is the box that this writer alone will write,
    or a dictionary of boxes of a group's arrays.

    `journal` is a directory, beside the store, in which is noted what is stored: the same
    program, run again after it was killed, stores only what is missing. What was stored is
    known to :meth:`is_stored`, and data for it is dropped. `close` removes the journal,
    unless other writers have it open; when the ``with`` block is left by an exception, or
    the writer is not closed, it stays.

    `partial` is about objects of which a part is missing at `flush`: "publish" stores them
    as they are, "keep" keeps their chunks in files in the journal, which it needs, until
    they are full or the writer is closed: so each is stored once, and what `flush` has
    returned for is safe all the same. A writer that is opened with the journal again has
    these chunks already.

    Values must be of the type of the array, or safe to cast to it as NumPy says: float64 for
    float32 is refused, and so are values that a safe cast changes (2**53 + 1 for float64),
    unless `casting` is "same_kind" or "unsafe". Numbers and lists of Python are taken, but
    no fractions for integers.
    """

    def __init__(
        self,
        arrays: Array | Group,
        *,
        memory_budget: int | None = None,
        level: Promise | None = None,
        existing: Existing = "merge",
        threads: int | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
        casting: Casting = "safe",
        claim: Any = None,
        keep_empty: bool | None = None,
        side_directory: str | os.PathLike[str] | None = None,
        journal: str | os.PathLike[str] | None = None,
        partial: Partial = "publish",
    ) -> None:
        if not isinstance(arrays, (Array, Group)):
            raise TypeError(f"an Array or a Group, not a {type(arrays).__name__}")
        if existing not in _EXISTING:
            raise UsageError(f"existing is one of {', '.join(_EXISTING)}, not {existing!r}")
        number = partial_number(partial)
        if casting not in ("safe", "same_kind", "unsafe"):
            raise UsageError(f"casting is safe, same_kind or unsafe, not {casting!r}")
        self._node = arrays
        self._timeout, self._progress = timeout, progress
        self._casting: Casting = casting
        self._claim = claim
        self._targets: dict[str, _Target] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._is_aborted = False
        is_first = journal is not None and not os.path.exists(journal)
        self._core = _core.open_writer(
            arrays.store,
            budget_number(memory_budget),
            threads or 0,
            level or arrays.promise,
            _EXISTING.index(existing),
            arrays.keep_empty if keep_empty is None else keep_empty,
            number,
            None if side_directory is None else os.fspath(side_directory),
            None if journal is None else os.fspath(journal),
        )
        self._has_journal = journal is not None
        if isinstance(arrays, Array):
            try:
                self._add("", arrays)
            except BaseException:
                if is_first:  # closing removes the journal, in which is nothing
                    with suppress(ZelligeError):
                        self._core.close(None, None, None)
                self._core.abort()
                raise
        self._is_closed = False
        _open.add(self)

    # ------------------------------------------------------------------ arrays

    def _add(self, name: str, array: Array) -> _Target:
        if os.getpid() != self._pid:
            raise UsageError("a writer cannot be used after a fork")
        with self._lock:
            if name in self._targets:
                return self._targets[name]
            claim = self._claim if isinstance(self._node, Array) else None
            if isinstance(self._claim, dict):
                claim = self._claim.get(name)
            if claim is None:
                number = self._core.add(array, None, None)
            else:
                number = self._core.add(array, *claim_of(array.shape, claim))
            target = self._targets[name] = _Target(array, number)
            return target

    def _split(self, args: tuple[Any, ...], n: int) -> tuple[_Target, tuple[Any, ...]]:
        """The array that arguments are for, and those behind its name."""
        is_group = isinstance(self._node, Group)
        if len(args) != n + is_group:
            names = "the name of an array, and " * is_group
            raise TypeError(f"{names}{n} more are needed, {len(args)} were given")
        if not is_group:
            return self._targets[""], args
        return self._of_group(args[0]), args[1:]

    def _of_group(self, name: str) -> _Target:
        if not isinstance(self._node, Group):
            raise UsageError("a writer of one array has no other")
        name = name.strip("/")
        target = self._targets.get(name)
        if target is None:
            array = self._node[name]
            if not isinstance(array, Array):
                raise UsageError(f"{name} is a group, not an array")
            target = self._add(name, array)
        return target

    def add_coarser(
        self, fine: str, coarse: str, factors: Sequence[int], how: Reduction = "mean"
    ) -> None:
        """From now on gives an array of the group the reduction of all that is given to
        another: `factors` says how many elements along each axis become one.

        "mean" of integers, bools and times is exact, and rounded to the nearest, halves to
        even; of floats it is summed in double. NaN and NaT win, in "min" and "max" too.
        "decimate" takes the first of a window. The arrays have one type, and the shape of
        the coarse one is that of the fine one, divided and rounded up. What is submitted
        must consist of whole windows, which are cut short where the array ends; rows that
        are appended are a multiple of the factor of their axis.
        """
        if how not in _REDUCTIONS:
            raise UsageError(f"how is one of {', '.join(_REDUCTIONS)}, not {how!r}")
        above, below = self._of_group(fine), self._of_group(coarse)
        lengths = tuple(int(factor) for factor in factors)
        self._core.add_coarser(above.number, below.number, lengths, _REDUCTIONS.index(how))
        above.coarser.append(below)

    # ------------------------------------------------------------------ giving

    @overload
    def submit(
        self, selection: Any, data: Any, /, *, copy: bool = ..., timeout: float | None = ...
    ) -> Ticket: ...
    @overload
    def submit(
        self,
        name: str,
        selection: Any,
        data: Any,
        /,
        *,
        copy: bool = ...,
        timeout: float | None = ...,
    ) -> Ticket: ...
    def submit(
        self, *args: Any, copy: bool = True, timeout: float | None = None
    ) -> Ticket:
        """Gives the values of a box: ``submit(selection, data)``, or for a group
        ``submit(name, selection, data)``.

        `selection` is of integers, slices of step 1 and an ellipsis; `data` is repeated as
        NumPy does. While the budget is full this waits; a `timeout` of 0 raises LimitError
        instead. With ``copy=False`` the writer reads `data` until the ticket is taken: it
        must not change so long.
        """
        return self._submit(args, copy, timeout)

    def _submit(
        self, args: tuple[Any, ...], copy: bool, timeout: float | None, cancel: Any = None
    ) -> Ticket:
        target, (selection, data) = self._split(args, 2)
        start, count = box_of(target.shape, selection)
        value, swapped = fit(data, target.dtype, self._casting)
        part = (target.number, start, count, value, swapped, not copy)
        number = self._core.submit([part], self._seconds(timeout), cancel)
        return Ticket(self._core, number)

    @overload
    def append(
        self, frames: Any, /, *, axis: int = ..., timeout: float | None = ...
    ) -> Ticket: ...
    @overload
    def append(
        self, name: str, frames: Any, /, *, axis: int = ..., timeout: float | None = ...
    ) -> Ticket: ...
    def append(self, *args: Any, axis: int = 0, timeout: float | None = None) -> Ticket:
        """Adds rows behind the end of an axis, or one that lacks this axis:
        ``append(frames)``, or for a group ``append(name, frames)``.

        The axis is the same in all appends to an array. Readers see the new length when all
        rows below it are stored: as objects become full, and after `flush`. `first` of the
        ticket is the number of the first row.
        """
        return self._append(args, axis, timeout)

    def _append(
        self, args: tuple[Any, ...], axis: int, timeout: float | None, cancel: Any = None
    ) -> Ticket:
        target, (frames,) = self._split(args, 1)
        value, swapped = fit(frames, target.dtype, self._casting)
        axis, shape = _shape_of_rows(value.shape, target.shape, axis)
        first, number = self._core.append(
            target.number, axis, shape, value, swapped, self._seconds(timeout), cancel
        )
        n = shape[axis]
        end = first + (1 if n is None else n)
        if end > target.shape[axis]:
            target.shape = (*target.shape[:axis], end, *target.shape[axis + 1 :])
        target.grows()
        return Ticket(self._core, number, first)

    def _seconds(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is None else timeout

    # ------------------------------------------------------------------ storing

    def _end(
        self, call: Callable[..., None], timeout: float | None, cancel: Any = None
    ) -> None:
        call(self._seconds(timeout), self._progress, cancel)
        for target in list(self._targets.values()):
            if target.is_grown:
                target.is_grown = False
                target.array.refresh()
                target.array._changed()

    def drain(self, timeout: float | None = None) -> None:
        """Waits until all objects are stored of which every part has been given."""
        self._end(self._core.drain, timeout)

    def flush(self, timeout: float | None = None) -> None:
        """Stores all that was given before, and tries again what failed; what is not
        complete is stored too, or kept. When the time is up, the rest is still on its way."""
        self._end(self._core.flush, timeout)

    def close(self, timeout: float | None = None) -> None:
        """Stores all that was given, and ends the threads. Nothing can be submitted then.
        Again after a failure it tries again; again after success it does nothing."""
        self._close(timeout)

    def _close(self, timeout: float | None, cancel: Any = None) -> None:
        if not self._is_aborted:
            self._end(self._core.close, timeout, cancel)
        self._is_closed = True
        _open.discard(self)

    def _leave(self, timeout: float | None = None, cancel: Any = None) -> None:
        """Closes what the program has not: its work is not done, so a journal stays."""
        if self._has_journal and not self._is_aborted:
            self._end(self._core.flush, timeout, cancel)
            self.abort()
        else:
            self._close(timeout, cancel)

    def abort(self) -> None:
        """Gives up what is not stored, and ends the threads. A journal stays, with what was
        kept."""
        self._is_aborted = self._is_closed = True
        _open.discard(self)
        self._core.abort()

    @property
    def closed(self) -> bool:
        """True once it was closed without an error, or aborted."""
        return self._is_closed

    # ------------------------------------------------------------------ facts

    @property
    def counts(self) -> dict[str, int]:
        """What it has done and holds, by the names of zlg_writer_counts: submits, objects
        open, stored and failed, bytes of memory now and at most, objects read."""
        return self._core.counts()

    @overload
    def is_stored(self, selection: Any, /) -> bool: ...
    @overload
    def is_stored(self, name: str, selection: Any, /) -> bool: ...
    def is_stored(self, *args: Any) -> bool:
        """Is all of every chunk or shard that a box touches stored, by this writer or an
        earlier one with the same journal, or is every chunk of the box kept whole?
        ``is_stored(selection)``, or for a group ``is_stored(name, selection)``. False
        without a journal."""
        target, (selection,) = self._split(args, 1)
        start, count = box_of(target.shape, selection)
        lengths = tuple(1 if n is None else n for n in count)
        return self._core.is_stored(target.number, start, lengths)

    def estimate(self) -> Estimate:
        """Memory that is needed: for all arrays of a group."""
        if isinstance(self._node, Group):
            for name, array in self._node.arrays():
                try:
                    self._add(name, array)
                except UnsupportedError:
                    pass  # it cannot be written here, and says so when it is tried
        return Estimate(*self._core.estimate())

    def __repr__(self) -> str:
        return f"<zellige.Writer of {self._node.store_path}>"

    # ------------------------------------------------------------------ with

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
            return
        try:  # what was taken is stored all the same
            self._leave()
        except ZelligeError as other:
            error.add_note(f"Not everything that was given is stored: {other}")

    def __del__(self) -> None:
        if getattr(self, "_is_closed", True) or os.getpid() != self._pid:
            return
        if self._core.counts()["submitted"] > 0:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self)
        if self._has_journal:
            self._core.flush(_SECONDS_AT_EXIT, None, None)
        else:
            self._core.close(_SECONDS_AT_EXIT, None, None)

    # ------------------------------------------------------------------ without waiting

    async def submit_async(
        self, *args: Any, copy: bool = True, timeout: float | None = None
    ) -> Ticket:
        """Submits in a thread, while the event loop goes on."""
        from .waiting import in_thread

        return await in_thread(self._submit, args, copy, timeout)

    async def append_async(
        self, *args: Any, axis: int = 0, timeout: float | None = None
    ) -> Ticket:
        """Appends in a thread, while the event loop goes on."""
        from .waiting import in_thread

        return await in_thread(self._append, args, axis, timeout)

    async def flush_async(self, timeout: float | None = None) -> None:
        """Flushes in a thread, while the event loop goes on."""
        from .waiting import in_thread

        await in_thread(self._end, self._core.flush, timeout)

    async def close_async(self, timeout: float | None = None) -> None:
        """Closes in a thread, while the event loop goes on."""
        from .waiting import in_thread

        await in_thread(self._close, timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from .waiting import in_thread

        if error is None:
            await self.close_async()
            return
        try:
            await in_thread(self._leave)
        except ZelligeError as other:
            error.add_note(f"Not everything that was given is stored: {other}")


def _shape_of_rows(
    found: tuple[int, ...], shape: tuple[int, ...], axis: int
) -> tuple[int, tuple[int | None, ...]]:
    """The axis that grows, and the lengths of what is appended; None for one row that lacks
    this axis."""
    if not -len(shape) <= axis < len(shape):
        raise UsageError(f"no axis {axis} in an array of {len(shape)} axes")
    axis %= len(shape)
    n: int | None = None
    rest = found
    if len(found) == len(shape):
        n, rest = found[axis], found[:axis] + found[axis + 1 :]
    if rest != shape[:axis] + shape[axis + 1 :]:
        raise UsageError(
            f"rows of shape {found} do not fit an array of shape {shape} along axis {axis}"
        )
    return axis, (*rest[:axis], n, *rest[axis:])


# ---------------------------------------------------------------------- the end

_open: WeakSet[Writer] = WeakSet()
os.register_at_fork(after_in_child=_open.clear)


def _try_all(end: Callable[[Writer, float], None]) -> None:
    end_threads()  # what is awaited is given first
    deadline = time.monotonic() + _SECONDS_AT_EXIT
    for writer in list(_open):
        end(writer, max(0.1, deadline - time.monotonic()))


def _flush_one(writer: Writer, seconds: float) -> None:
    try:
        writer.flush(seconds)
    except ZelligeError:
        pass  # closing it says the same


def _close_one(writer: Writer, seconds: float) -> None:
    said = f"{writer!r} was not closed before the interpreter ended"
    try:
        writer._leave(seconds)
    except ZelligeError as error:
        said = f"{said}, and not everything is stored: {error}"
        writer._core.leave()  # what hangs must not keep the process from ending
    warnings.warn(said, RuntimeWarning, stacklevel=3)  # there is no line of the program


# While threads may still be started, which stores of Python need; threads that are not
# daemons may go on to submit after that. Then when none of them is left.
getattr(threading, "_register_atexit", atexit.register)(_try_all, _flush_one)
atexit.register(_try_all, _close_one)
