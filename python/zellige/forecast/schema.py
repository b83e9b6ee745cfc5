"""What is stored: coordinates and arrays, looked up once and made where they are missing.

Everything that a write needs is remembered, so that a step of a model asks nothing of the
store. Nothing is made before all of a write has been looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..array import Array
from ..create import create_array
from ..errors import ExistsError, NotFoundError, UsageError
from ..group import Group
from ..source import kept, recast
from .coordinates import Axis, Run, Values, as_values
from .fields import Field
from .layout import chunks_of, shards_of
from .times import TimeEncoding, decoded, encoded

__all__ = [
    "Ints",
    "Known",
    "Part",
    "Region",
    "Schema",
    "Ways",
    "check_place",
    "check_shape",
    "converted",
    "parts_of",
]

Ints = tuple[int, ...]


@dataclass
class Ways:
    """How new arrays are made; the backend shows these as its attributes."""

    codecs: Any
    chunked: dict[str, int]
    sharded: dict[str, int]
    fill_value: Any
    time_encoding: TimeEncoding


class Known(NamedTuple):
    """An array that is stored."""

    name: str
    array: Array
    dims: tuple[str, ...]
    shape: Ints
    dtype: np.dtype[Any]


class Part(NamedTuple):
    """Elements, and where they lie in an array."""

    known: Known
    start: Ints
    lengths: Ints
    field: Field


class Box(NamedTuple):
    """A part of what is given, and where it is stored."""

    given: tuple[slice, ...] | None  # None: all of it
    start: Ints
    lengths: Ints


class Region(NamedTuple):
    """The place of one write: coordinates as they are given, and what that means."""

    coords: dict[str, Values]
    dims: tuple[str, ...]
    shape: Ints  # of what is given
    whole: Ints  # of the array
    boxes: list[Box]


class Schema:
    """The group of the output, seen by the names of dimensions and arrays."""

    def __init__(self, group: Group, parallel: Mapping[str, Axis], ways: Ways) -> None:
        self.group = group
        self.ways = ways
        self.arrays: dict[str, Known] = {}
        self._axes: dict[str, Axis] = {}
        self._stored: set[str] = set()  # coordinates that need not be looked up any more
        self.parallel = parallel
        for name, axis in parallel.items():
            if self._check(name, axis.values):
                self._stored.add(name)

    # ------------------------------------------------------------------ coordinates

    def _open(self, name: str) -> Array | None:
        try:
            return self.group.get_array(name)
        except NotFoundError:
            return None

    def values(self, name: str, array: Array) -> Values:
        """The values of a stored coordinate, times as times."""
        return decoded(as_values(name, array[...]), array.attrs)

    def _check(self, name: str, values: Values) -> bool:
        """True where a coordinate is stored with these values; refuses others. One of which
        nothing was stored yet is none: whoever made it has been stopped, or is about to. But
        where an array has the dimension, its values were stored, and left out as they are all
        zero: earth2studio's class does so."""
        array = self._open(name)
        if array is None:
            return False
        difference = Axis(name, self.values(name, array)).difference(values)
        if difference is not None and array.shape == values.shape:
            if array.nchunks_initialized == 0 and not self._is_used(name):
                return False
            # Its values may have been stored since they were read.
            difference = Axis(name, self.values(name, array)).difference(values)
        if difference is None:
            return True
        raise UsageError(
            f"coordinate {name} is stored with different values: {difference}. Take another "
            "name for the dimension, or another store"
        )

    def _is_used(self, name: str) -> bool:
        """True where an array has a dimension; coordinates are stored before arrays."""
        return any(
            name in (array.dimension_names or ())
            for one, array in self.group.arrays()
            if one != name
        )

    def _axis(self, name: str, values: Values) -> Axis:
        """The axis of a dimension that is written whole."""
        axis = self._axes.get(name)
        if axis is None:
            if self._check(name, values):
                self._stored.add(name)
                self._axes[name] = Axis(name, values)
            return Axis(name, values)  # remembered when it is made
        difference = axis.difference(values)
        if difference is not None:
            raise UsageError(
                f"coordinate {name} has different values: {difference}. Only parallel_coords "
                "can be written in parts"
            )
        return axis

    def _make_coordinate(
        self, name: str, values: Values, numbers: Values, attributes: Mapping[str, Any]
    ) -> None:
        shape, dtype = numbers.shape, numbers.dtype
        try:
            array = self._create(name, shape, dtype, (name,), attributes=attributes)
        except ExistsError:  # somebody else has made it, and may have no values for it yet
            if self._check(name, values):
                return
            array = self.group.get_array(name)
        array.write(numbers, keep_empty=True)  # zeros too: they are values

    def make_coordinates(self, coords: Mapping[str, Values]) -> None:
        """Stores the coordinates of a write that are not there yet, parallel ones whole."""
        missing = []
        for name, values in coords.items():
            whole = self.parallel[name].values if name in self.parallel else values
            if name not in self._stored and not self._check(name, whole):
                is_cf = self.ways.time_encoding == "cf"
                how = encoded(name, whole) if is_cf else (whole, {})
                missing.append((name, whole, *how))
        for coordinate in missing:
            self._make_coordinate(*coordinate)
        for name, values in coords.items():
            self._stored.add(name)
            if name not in self.parallel and name not in self._axes:
                self._axes[name] = Axis(name, values)

    # ------------------------------------------------------------------ places

    def _runs(self, name: str, values: Values) -> list[Run]:
        axis = self.parallel.get(name)
        if axis is not None:
            return axis.runs(values)
        return [Run(0, 0, len(self._axis(name, values)))]

    def region(self, coords: Mapping[str, Any]) -> Region:
        """Where the values of some coordinates lie; refuses those that are not known."""
        given = {name: as_values(name, values) for name, values in coords.items()}
        runs = [self._runs(name, values) for name, values in given.items()]
        shape = tuple(map(len, given.values()))
        boxes = list(_boxes(runs))
        if len(boxes) == 1:
            boxes[0] = boxes[0]._replace(given=None)
        whole = tuple(self.lengths(given).values())
        return Region(given, tuple(given), shape, whole, boxes)

    def places(self, coords: Mapping[str, Any]) -> Iterator[Ints]:
        """The places of single values of some coordinates along the parallel dimensions,
        which are known without asking the store."""
        sides = [
            [run.stored + k for run in axis.runs(as_values(name, coords[name]))
             for k in range(run.length)]
            for name, axis in self.parallel.items()
            if name in coords
        ]
        return product(*sides)

    def has(self, region: Region) -> bool:
        """True where all coordinates of a region are stored."""
        return self._stored.issuperset(region.dims)

    def lengths(self, coords: Mapping[str, Values]) -> dict[str, int]:
        """The shape of an array of these coordinates."""
        return {name: len(self.parallel.get(name, v)) for name, v in coords.items()}

    # ------------------------------------------------------------------ arrays

    def known(self, name: str) -> Known | None:
        """An array that is stored, or None."""
        found = self.arrays.get(name)
        if found is None:
            array = self._open(name)
            if array is not None:
                found = self._remember(name, array)
        return found

    def _remember(self, name: str, array: Array) -> Known:
        names = array.dimension_names or (None,) * array.ndim
        dims = tuple(f"axis {i}" if one is None else one for i, one in enumerate(names))
        known = Known(name, array, dims, array.shape, array.dtype)
        self.arrays[name] = known
        return known

    def layout(self, coords: Mapping[str, Values]) -> tuple[Ints, Ints, Ints | None]:
        """Shape, chunks and shards of arrays that are to be made."""
        lengths = self.lengths(coords)
        chunks = chunks_of(lengths, self.parallel, self.ways.chunked)
        shards = shards_of(lengths, chunks, self.parallel, self.ways.sharded)
        whole = None if shards is None else tuple(shards.values())
        return tuple(lengths.values()), tuple(chunks.values()), whole

    def make(
        self,
        name: str,
        coords: Mapping[str, Values],
        dtype: np.dtype[Any],
        layout: tuple[Ints, Ints, Ints | None],
        attributes: Mapping[str, Any] | None = None,
    ) -> Known:
        """Makes an array; one that somebody else has made meanwhile is taken as it is."""
        shape, chunks, shards = layout
        ways: dict[str, Any] = {}
        if _can_hold(dtype, self.ways.fill_value):
            ways["fill_value"] = self.ways.fill_value
        ways["attributes"] = attributes
        try:
            array = self._create(name, shape, dtype, tuple(coords), chunks, shards, **ways)
        except ExistsError:
            array = self.group.get_array(name)
        return self._remember(name, array)

    def _create(
        self,
        name: str,
        shape: Ints,
        dtype: np.dtype[Any],
        dims: tuple[str, ...],
        chunks: Ints | None = None,
        shards: Ints | None = None,
        **ways: Any,
    ) -> Array:
        return create_array(
            self.group.store,
            path=f"{self.group.path}/{name}".strip("/"),
            shape=shape,
            dtype=dtype,
            chunks=chunks or shape,
            shards=shards,
            compressors=self.ways.codecs,
            dimension_names=dims,
            zarr_format=self.group.zarr_format,
            promise=self.group.promise,
            **ways,
        )

    # ------------------------------------------------------------------ the rest

    def order(self) -> Iterator[str]:
        """Names of the dimensions: those of arrays first, sorted by the arrays' names."""
        found = {name: tuple(a.dimension_names or ()) for name, a in self.group.arrays()}
        seen: dict[str, None] = {}
        for name in sorted(found):
            if found[name] != (name,):
                seen.update(dict.fromkeys(str(one) for one in found[name]))
        seen.update((n, None) for n in sorted(found) if found[n] == (n,) and n not in seen)
        return (name for name in seen if name in found)


def _can_hold(dtype: np.dtype[Any], value: Any) -> bool:
    """True for a value that a type has; NaN is none of whole numbers."""
    if value is None:
        return False
    given = np.asarray(value)
    if dtype.kind in "fc":
        return given.dtype.kind in "biufc"
    with np.errstate(invalid="ignore"):
        return given.dtype.kind in "biuf" and dtype.kind in "biu" and bool(
            given.astype(dtype) == given
        )


def _boxes(runs: Iterable[list[Run]]) -> Iterator[Box]:
    for cell in product(*runs):
        given = tuple(slice(run.given, run.given + run.length) for run in cell)
        yield Box(given, tuple(run.stored for run in cell), tuple(run.length for run in cell))


def check_shape(name: str, region: Region, field: Field) -> None:
    """Refuses a field that has another shape than its coordinates."""
    if field.shape == region.shape:
        return
    if field.ndim != len(region.shape):
        raise UsageError(
            f"{name} has {field.ndim} axes for the {len(region.shape)} dimensions "
            f"{', '.join(region.dims)}"
        )
    for dim, found, wanted in zip(region.dims, field.shape, region.shape):
        if found != wanted:
            raise UsageError(
                f"{name} has {found} values along {dim}, whose coordinate has {wanted}"
            )


def check_place(known: Known, region: Region) -> None:
    """Refuses an array that does not have the dimensions of a region, in any order."""
    if known.dims == region.dims and known.shape == region.whole:
        return
    name = known.name
    if sorted(known.dims) != sorted(region.dims):
        raise UsageError(
            f"{name} has the dimensions {', '.join(known.dims)}, not {', '.join(region.dims)}"
        )
    for dim, length in zip(region.dims, region.whole):
        found = known.shape[known.dims.index(dim)]
        if found != length:
            raise UsageError(f"{name} has {found} values along {dim}, not {length}")


def converted(known: Known, field: Field) -> Field:
    """A field in the type of an array, which must be able to hold all values of its own."""
    if field.dtype == known.dtype:
        return field
    is_safe = np.can_cast(field.dtype, known.dtype, "safe")
    made = recast(field, known.dtype) if is_safe else None
    if made is None or not kept(field, made).all():
        raise UsageError(
            f"{known.name} is stored as {known.dtype}, which cannot hold all values of "
            f"{field.dtype}: convert the field, or add the array with this dtype"
        )
    return made


def parts_of(known: Known, region: Region, field: Field) -> Iterator[Part]:
    """A field cut into boxes of its array, the axes in the array's order."""
    if known.dims == region.dims:
        for given, start, lengths in region.boxes:
            yield Part(known, start, lengths, field if given is None else field[given])
        return
    axes = [region.dims.index(dim) for dim in known.dims]
    for given, start, lengths in region.boxes:
        part = field if given is None else field[given]
        where = tuple(start[axis] for axis in axes), tuple(lengths[axis] for axis in axes)
        yield Part(known, *where, part.transpose(axes))
