"""Coordinates: the values along a dimension, compared and found by value.

They are compared as bytes first: that is what a step of a model costs. Only what differs
there is looked at value by value, so that hours equal nanoseconds, and NaN equals NaN.
"""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError, UsageError
from ..source import kept, recast

__all__ = ["Axis", "Run", "Values", "as_values"]

Values = npt.NDArray[Any]
#: Kinds of NumPy that a coordinate may be of: numbers, times and texts.
_KINDS = "biufcmMSU"


class Run(NamedTuple):
    """Values that lie side by side, both where they are given and where they are stored."""

    given: int
    stored: int
    length: int


def as_values(name: str, given: Any) -> Values:
    """A coordinate as it is stored: numbers, times of NumPy or texts along one axis."""
    values = given if isinstance(given, np.ndarray) else np.asarray(given)
    if values.ndim != 1:
        shape = "no axis" if values.ndim == 0 else f"{values.ndim} axes"
        raise UsageError(f"coordinate {name} has {shape}, where it must have one")
    if values.dtype.kind == "O" and len(values) > 0:
        first = values[0]
        if isinstance(first, datetime.datetime):
            return values.astype("datetime64[ns]")
        if isinstance(first, datetime.timedelta):
            return values.astype("timedelta64[ns]")
        if all(isinstance(value, str) for value in values):
            return values.astype(str)
    if values.dtype.kind not in _KINDS:
        raise UnsupportedError(f"coordinate {name} has elements of type {values.dtype}")
    if len(values) == 0:
        raise UsageError(f"coordinate {name} has no values")
    return values


def _missing(values: Values) -> npt.NDArray[np.bool_]:
    """Where there is no value: NaN, or the time that is none."""
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind in "fc":
        return np.isnan(values)
    return np.zeros(values.shape, bool)


def _equal_times(one: Values, other: Values) -> npt.NDArray[np.bool_]:
    """The same one by one, of times of which some are beyond the unit of the others."""

    def same(a: Any, b: Any) -> bool:
        try:
            return bool(a == b) or bool(np.isnat(a) and np.isnat(b))
        except OverflowError:
            return False

    found = [same(a, b) for a, b in np.broadcast(one, other)]
    return np.array(found, bool).reshape(np.broadcast_shapes(one.shape, other.shape))


def _equal(one: Values, other: Values) -> npt.NDArray[np.bool_]:
    """Which values are equal; of types that cannot be compared none is."""
    comparable = "biufc"
    kinds = one.dtype.kind, other.dtype.kind
    if kinds[0] != kinds[1] and not all(kind in comparable for kind in kinds):
        return np.zeros(np.broadcast_shapes(one.shape, other.shape), bool)
    found: npt.NDArray[np.bool_]
    if one.dtype == other.dtype or all(kind in "biu" for kind in kinds):
        found = one == other
    else:  # NumPy compares what the values become in a type for both
        both = np.result_type(one, other)
        made = recast(one, both), recast(other, both)
        if made[0] is None or made[1] is None:
            return _equal_times(one, other)
        found = (made[0] == made[1]) & kept(one, made[0]) & kept(other, made[1])
    return found | (_missing(one) & _missing(other))


class Axis:
    """The values that are stored along a dimension."""

    def __init__(self, name: str, values: Values) -> None:
        self.name = name
        self.values = values.copy()
        self.values.flags.writeable = False
        self._bytes = self.values.tobytes()
        self._places: dict[bytes, int] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def _is_same(self, values: Values) -> bool:
        return values.dtype == self.values.dtype and values.tobytes() == self._bytes

    def difference(self, values: Values) -> str | None:
        """How values differ from these, in words; None where they are the same."""
        if self._is_same(values):
            return None
        if len(values) != len(self):
            return f"{len(values)} values where {len(self)} are stored"
        differs = ~_equal(values, self.values)
        if not differs.any():
            return None
        at = int(np.argmax(differs))
        return f"{values[at]} at {at} where {self.values[at]} is stored"

    # ------------------------------------------------------------------ finding values

    def check_unique(self) -> None:
        """Refuses a value that stands there twice."""
        values, counts = np.unique(self.values, return_counts=True)
        if len(values) != len(self):
            raise UsageError(
                f"parallel_coords: {self.name} has the value {values[counts > 1][0]} twice"
            )

    def _place(self, value: Values) -> int:
        """Where one value is stored."""
        if self._places is None:
            size = self.values.itemsize
            self._places = {
                self._bytes[i * size : (i + 1) * size]: i for i in range(len(self))
            }
        place = -1
        if value.dtype == self.values.dtype:
            place = self._places.get(value.tobytes(), -1)
        if place < 0:
            equal = np.flatnonzero(_equal(self.values, value))
            place = int(equal[0]) if len(equal) > 0 else -1
        if place < 0:
            raise UsageError(
                f"{self.name} has no value {value[0]}: parallel_coords gives it "
                f"{len(self)} from {self.values[0]} to {self.values[-1]}"
            )
        return place

    def runs(self, values: Values) -> list[Run]:
        """Where each of some values is stored; those that follow each other together."""
        if len(values) > 1 and self._is_same(values):
            return [Run(0, 0, len(values))]
        runs = [Run(0, self._place(values[:1]), 1)]
        for i in range(1, len(values)):
            place = self._place(values[i : i + 1])
            given, stored, length = runs[-1]
            if place == stored + length:
                runs[-1] = Run(given, stored, length + 1)
            else:
                runs.append(Run(i, place, 1))
        n_places = len({run.stored + k for run in runs for k in range(run.length)})
        if n_places != len(values):
            raise UsageError(f"{self.name} has a value twice in one write")
        return runs

