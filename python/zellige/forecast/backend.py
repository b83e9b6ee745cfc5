"""The class that models write to."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import RLock
from types import TracebackType
from typing import Any, Self

import numpy as np

from ..api import open_group
from ..errors import StoreError, UnsupportedError, UsageError, ZarrUserWarning
from ..group import Group
from ..store import Promise
from ..waiting import in_thread
from ..watching import Progress
from ..writer import Partial, budget_number, partial_number
from .coordinates import Axis, Values, as_values
from .fields import Field, Fields, element_type
from .layout import check_sizes
from .leaving import watch
from .output import Output, Stop, Ticket, journal_of
from .places import Place, place_of
from .schema import (
    Part,
    Region,
    Schema,
    Ways,
    check_place,
    check_shape,
    converted,
    parts_of,
)
from .times import TimeEncoding

__all__ = ["AsyncZarrBackend"]

CoordSystem = Mapping[str, Any]
Names = str | Iterable[str]
_ZERO = np.zeros((), bool)


class AsyncZarrBackend:
    """Stores the fields of a forecast while the model computes on.

    `parallel_coords` are the dimensions along which fields come, with all values that will
    ever come; a chunk is 1 along them. Other dimensions are written whole. Arrays are made
    when they are first written, or by :func:`add_array`.

    Each object of the store is written once, when all of it has been given; what is not full
    is stored by :func:`flush`, :func:`close` and ``io[name]``. The last two say whether all
    of it is stored: a failure is told by the next write, and by each `flush` and `close`
    until it has been made good. Always close, or use ``with``.

    - `blocking`: a write waits until the objects that it makes full are stored. Else it has
      copied the fields when it returns; it waits only where `memory_budget` is full.
    - `pool_size`, and `max_inflight_shards` where there are shards: no more threads than
      that, which bounds how many objects are stored at once.
    - `async_timeout`: seconds that a write may wait, then ``TimeoutError``.
    - `zarr_kwargs`: `mode` ("a", "r+", "w", "w-"), `path` and `attributes` of the group.
    - `zarr_codecs`: compressors of new arrays, as :func:`zellige.create_array` takes them.
    - `chunked_coords`, `shard_coords`: lengths of chunks and shards along dimensions.
    - `store`: a path, a URL, or a store of zarr-python, obstore or Zellige, in place of
      `file_name`. `store_kwargs` go with a URL. `fs_factory` is deprecated.

    The rest is not in earth2studio:

    - `memory_budget`: bytes for all that was given and is not stored yet. None: 160 MiB, or
      more where the arrays cannot do with it.
    - `fill_value`: what reads where nothing was written, for new arrays whose type has it.
      None: zero.
    - `time_encoding`: "cf" stores times as numbers with `units`, as netCDF does.
    - `progress`: called with bytes stored and bytes given, or a bar of tqdm.
    - `level`: what stored means; see :data:`zellige.Promise`.
    - `resume`: notes in a journal beside the directory what is stored, so that the same
      program, run again after it was killed, stores only the rest; see :func:`is_stored`.
    - `partial`: what `flush` does with objects that are not full: "publish" stores them as
      they are, "keep" keeps them in the journal, which needs `resume`, until they are full
      or the backend is closed.
    """

    def __init__(
        self,
        file_name: str | os.PathLike[str] | None,
        parallel_coords: CoordSystem,
        fs_factory: Callable[..., Any] | None = None,
        blocking: bool = True,
        pool_size: int = 8,
        async_timeout: float | None = 600,
        zarr_kwargs: Mapping[str, Any] = {"mode": "a"},  # noqa: B006
        zarr_codecs: Any = None,
        chunked_coords: Mapping[str, int] = {},  # noqa: B006
        shard_coords: Mapping[str, int] = {},  # noqa: B006
        max_inflight_shards: int = 4,
        store: Any = None,
        store_kwargs: Mapping[str, Any] = {},  # noqa: B006
        *,
        memory_budget: int | None = None,
        fill_value: Any = None,
        time_encoding: TimeEncoding = "numpy",
        progress: Progress | None = None,
        level: Promise | None = None,
        resume: bool = False,
        partial: Partial = "publish",
    ) -> None:
        for name, value in (
            ("pool_size", pool_size),
            ("max_inflight_shards", max_inflight_shards),
        ):
            if value < 1:
                raise UsageError(f"{name} is {value}: it must be 1 or more")
        if time_encoding not in ("numpy", "cf"):
            raise UsageError(f'time_encoding is "numpy" or "cf", not {time_encoding!r}')
        budget = budget_number(memory_budget)
        values = {name: as_values(name, v) for name, v in parallel_coords.items()}
        self._ways = Ways(
            zarr_codecs,
            dict(chunked_coords),
            check_sizes("shard_coords", shard_coords),
            fill_value,
            time_encoding,
        )
        axes = {name: Axis(name, v) for name, v in values.items()}
        for axis in axes.values():
            axis.check_unique()
        self.parallel_coords: OrderedDict[str, Values] = OrderedDict(values)
        self.blocking = blocking
        self.async_timeout = async_timeout
        self._lock = RLock()
        self._is_left = False  # with something to store, when the process began to end
        self._place = place_of(file_name, fs_factory, store, store_kwargs)
        if resume and not self._place.is_local:
            raise UnsupportedError("resume needs a directory: its journal lies beside that")
        if partial_number(partial) and not resume:
            raise UsageError('partial="keep" needs resume=True: it keeps in the journal')
        self._group_path = str(zarr_kwargs.get("path") or "")
        self._zarr_store: Any = None
        group = _open_group(self._place, zarr_kwargs, level)
        self._schema = Schema(group, axes, self._ways)
        self._output = Output(
            store=group.store,
            parallel=axes,
            n_threads=min(pool_size, max_inflight_shards) if shard_coords else pool_size,
            memory_budget=budget,
            promise=level,
            progress=progress,
            resume=resume,
            partial=partial,
        )
        watch(self)

    # ------------------------------------------------------------------ what is set

    @property
    def zarr_codecs(self) -> Any:
        """Compressors of arrays that are made from now on."""
        return self._ways.codecs

    @zarr_codecs.setter
    def zarr_codecs(self, codecs: Any) -> None:
        self._ways.codecs = codecs

    @property
    def chunked_coords(self) -> dict[str, int]:
        """Lengths of chunks of arrays that are made from now on."""
        return self._ways.chunked

    @chunked_coords.setter
    def chunked_coords(self, sizes: Mapping[str, int]) -> None:
        self._ways.chunked = dict(sizes)

    @property
    def shard_coords(self) -> dict[str, int]:
        """Lengths of shards of arrays that are made from now on."""
        return self._ways.sharded

    @shard_coords.setter
    def shard_coords(self, sizes: Mapping[str, int]) -> None:
        self._ways.sharded = check_sizes("shard_coords", sizes)

    # ------------------------------------------------------------------ making arrays

    def add_array(
        self,
        coords: CoordSystem,
        array_name: Names,
        dtype: Any = np.float32,
        *,
        attributes: Mapping[str, Any] | None = None,
        **ignored: Any,
    ) -> None:
        """Makes arrays and their coordinates, where they are missing.

        Arrays that are there stay as they are, with their data. Without names only the
        coordinates are made. `attributes` are those of each array that is made.
        """
        if ignored:
            warnings.warn(
                f"add_array ignores {', '.join(sorted(ignored))}: elements come with write",
                ZarrUserWarning,
                stacklevel=2,
            )
        names, element = self._names(array_name, coords), element_type(dtype)
        self._output.check_process()
        with self._lock:
            region = self._schema.region(coords)
            self._make(region, dict.fromkeys(names, element), attributes)

    def _names(self, names: Names, coords: CoordSystem) -> list[str]:
        """Names of arrays, which those of their coordinates cannot be."""
        found = [names] if isinstance(names, str) else [str(name) for name in names]
        for name in found:
            if name in coords or name in self.parallel_coords:
                raise UsageError(f"{name} is a coordinate: an array needs another name")
        return found

    def _make(
        self,
        region: Region,
        elements: Mapping[str, np.dtype[Any]],
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Makes what is missing of some arrays and their coordinates, all or, where one of
        them is refused, nothing."""
        schema, missing = self._schema, []
        for name in elements:
            known = schema.known(name)
            if known is None:
                missing.append(name)
            else:
                check_place(known, region)
        layouts = dict.fromkeys(missing, schema.layout(region.coords)) if missing else {}
        schema.make_coordinates(region.coords)
        for name, layout in layouts.items():
            schema.make(name, region.coords, elements[name], layout, attributes)

    # ------------------------------------------------------------------ writing

    def write(self, x: Any, coords: CoordSystem, array_name: Names) -> None:
        """Gives fields, one for each name, with the coordinates that they all have.

        Values of parallel coordinates may be any of those that were named, in any order:
        each field lies where its value does. Axes may come in another order than those of
        an array that is there. Nothing is stored of a write that is refused.
        """
        self._settle(self._give(x, coords, array_name, borrow=self.blocking), self.blocking)

    async def async_write(self, x: Any, coords: CoordSystem, array_name: Names) -> None:
        """Gives fields as :func:`write` does, while the event loop goes on, until what they
        make full is stored. They must not change before that."""
        ticket = await in_thread(self._give, x, coords, array_name)
        await in_thread(self._settle, ticket, True)

    def _give(
        self,
        x: Any,
        coords: CoordSystem,
        array_name: Names,
        *,
        borrow: bool = False,
        cancel: Stop = None,
    ) -> Ticket:
        names = self._names(array_name, coords)
        fields = list(x) if isinstance(x, (list, tuple)) else [x]
        if len(fields) != len(names):
            raise UsageError(f"{len(fields)} fields for {len(names)} names of arrays")
        self._output.check_process()
        given = Fields(fields)
        with given as arrays:
            try:
                parts = self._parts(names, arrays, coords)
            except StoreError as error:
                self._output.refuse(names, self._schema.places(coords), error)
                raise
            borrow = borrow and not given.are_copies
            return self._output.give(parts, borrow, self.async_timeout, cancel)

    def _parts(self, names: list[str], fields: list[Field], coords: CoordSystem) -> list[Part]:
        """What the writer is given; all of it has been looked at before anything is made."""
        schema = self._schema
        region = schema.region(coords)
        missing: dict[str, np.dtype[Any]] = {}
        for i, name in enumerate(names):
            check_shape(name, region, fields[i])
            known = schema.arrays.get(name) or schema.known(name)
            if known is None:
                missing.setdefault(name, fields[i].dtype)
            else:
                check_place(known, region)
                fields[i] = converted(known, fields[i])
        if missing or not schema.has(region):
            with self._lock:
                self._make(region, missing)
        parts: list[Part] = []
        for name, field in zip(names, fields):
            known = schema.arrays[name]
            if name in missing:  # or made meanwhile by somebody else
                check_place(known, region)
                field = converted(known, field)
            parts += parts_of(known, region, field)
        return parts

    def _settle(self, ticket: Ticket, wait: bool, *, cancel: Stop = None) -> None:
        if wait:
            self._output.settle(ticket, self.async_timeout, cancel)
        self._output.tell()

    def is_stored(self, coords: CoordSystem, array_name: Names) -> bool:
        """True where a run before this one, which was killed, has stored or kept all that a
        write would store: it need not be computed. Always False without `resume`."""
        self._output.check_process()
        region = self._schema.region(coords)
        parts: list[Part] = []
        for name in self._names(array_name, coords):
            known = self._schema.known(name)
            if known is None:
                return False
            check_place(known, region)
            parts += parts_of(known, region, np.broadcast_to(_ZERO, region.shape))
        return self._output.is_stored(parts)

    # ------------------------------------------------------------------ the end

    def flush(self, timeout: float | None = None) -> None:
        """Stores all that was given, and tries again what failed; shards of which a part is
        missing are stored too, or kept: see `partial`."""
        self._output.flush(timeout)

    async def async_flush(self) -> None:
        """The same, while the event loop goes on."""
        await in_thread(self._output.flush)

    def close(self, timeout: float | None = None) -> None:
        """Stores all that was given, and ends the threads that do so.

        It raises as long as something that was given, or refused after a failure, is not
        stored, and tries again each time. A write after it begins anew.
        """
        self._output.close(timeout)

    def abort(self) -> None:
        """Gives up what is not stored, and forgets what was refused."""
        self._output.abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._output.leave(None)

    def _leave(self, is_early: bool) -> bool:
        """Stores at the end of the process; True where nothing is lost."""
        output = self._output
        if not output.is_open:
            return True
        # Threads may give more to files, and close them; or this was all, in a child.
        is_flush = is_early and output.is_local
        self._is_left = self._is_left or output.is_waiting
        if self._is_left and not is_flush:
            print(f"{self!r} was not closed: storing what it was given", file=sys.stderr)
        try:
            end = output.flush if is_flush else output.leave
            end(self.async_timeout)
        except Exception as error:
            print(f"{self!r} could not be stored: {error}", file=sys.stderr)
            return False
        return True

    def __del__(self) -> None:
        output: Output | None = getattr(self, "_output", None)
        if output is None or not output.is_open:
            return
        if output.is_waiting:
            warnings.warn(
                f"{self!r} was not closed: storing what it was given",
                ZarrUserWarning,
                stacklevel=2,
            )
        output.leave(self.async_timeout)

    # ------------------------------------------------------------------ looking at it

    def counts(self) -> dict[str, int]:
        """Counters of the writer since the first write after the last `close`, or those up
        to it: bytes, objects, memory."""
        return self._output.counts()

    def __contains__(self, name: object) -> bool:
        return name in self._schema.group

    def __iter__(self) -> Iterator[str]:
        """Names of arrays and coordinates."""
        return iter(self._schema.group)

    def __len__(self) -> int:
        return len(self._schema.group)

    def __getitem__(self, name: str) -> Any:
        """An array of zarr-python, to look at what was stored; stores all that was given
        first, which takes its time in the middle of a run."""
        if self._output.is_waiting:
            self.flush()
        import zarr

        group = zarr.open_group(
            self.store, mode="r", path=self._group_path or None, use_consolidated=False
        )
        return group[name]

    @property
    def coords(self) -> OrderedDict[str, Values]:
        """The coordinates as they are stored, in the order of the dimensions of arrays."""
        schema = self._schema
        return OrderedDict(
            (name, schema.values(name, schema.group.get_array(name)))
            for name in schema.order()
        )

    @property
    def store(self) -> Any:
        """The store, of zarr-python: for ``zarr.consolidate_metadata(io.store)``."""
        if self._zarr_store is None:
            self._zarr_store = self._place.for_zarr()
        return self._zarr_store

    @property
    def root(self) -> Any:
        """The group, of zarr-python: a ``zarr.AsyncGroup``."""
        from zarr import AsyncGroup
        from zarr.core.sync import sync
        from zarr.storage import StorePath

        place = StorePath(self.store, self._group_path)
        return sync(AsyncGroup.open(place, use_consolidated=False))

    def __repr__(self) -> str:
        return f"<zellige.forecast.AsyncZarrBackend {self._schema.group.store_path}>"


def _open_group(place: Place, zarr_kwargs: Mapping[str, Any], level: Promise | None) -> Group:
    """An emptied store leaves its journal behind: that goes too, being of what is gone."""
    group = open_group(place.store, **_group_ways(zarr_kwargs), promise=level)
    is_emptied = zarr_kwargs.get("mode") == "w" and not zarr_kwargs.get("path")
    if is_emptied and place.is_local:
        shutil.rmtree(journal_of(group.store), ignore_errors=True)
    return group


def _group_ways(zarr_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What opens the group, of what zarr-python's function takes."""
    ways = dict(zarr_kwargs)
    if ways.pop("use_consolidated", None):
        warnings.warn(
            "use_consolidated is ignored: what is written must be seen",
            ZarrUserWarning,
            stacklevel=4,
        )
    if ways.get("mode") == "r":
        raise UsageError('zarr_kwargs has the mode "r", which writes nothing')
    return {**ways, "use_consolidated": False}
