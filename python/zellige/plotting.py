"""Quick looks with matplotlib: a line along one axis, a map over two.

An axis is drawn over the array beside this one that has its name, if there is one. The CF
conventions are followed where values would be wrong without: scale, offset, missing values.
Times of that convention stay numbers with their unit.
"""

from __future__ import annotations

import base64
import importlib
import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from .array import Array
from .errors import UsageError, ZelligeError
from .sketch import axis_names

__all__ = ["plot"]

_MOST = {1: 1_000_000, 2: 1_500}  # elements along an axis of a drawing


class Side(NamedTuple):
    """One axis of what is drawn: where elements lie, and what that means."""

    values: npt.NDArray[Any]
    label: str
    is_measured: bool


# ---------------------------------------------------------------------- what is selected


def _per_axis(array: Array, selection: Any) -> list[Any]:
    """The selection as an integer or a slice for each axis."""
    items = list(selection) if isinstance(selection, tuple) else [selection]
    n_dots = sum(item is Ellipsis for item in items)
    if n_dots > 1 or len(items) - n_dots > array.ndim:
        raise UsageError(f"{selection!r} does not fit an array of {array.ndim} axes")
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    gap = [slice(None)] * (array.ndim - len(items) + n_dots)
    items[at : at + n_dots] = gap
    for item in items:
        if not isinstance(item, slice) and not hasattr(item, "__index__"):
            raise UsageError(f"a plot takes integers and slices, not {item!r}")
    return items


def _thinned(item: slice, n: int, most: int) -> tuple[slice, int]:
    """The slice with so large a step that no more are picked, and how much larger it is."""
    start, stop, step = item.indices(n)
    n_picked = len(range(start, stop, step))
    if n_picked == 0:
        raise UsageError("nothing is selected, so nothing can be drawn")
    every = -(-n_picked // most)
    return slice(start, None if stop < 0 else stop, step * every), every


def _picked(array: Array, selection: Any) -> tuple[list[Any], dict[int, int]]:
    """Per axis what to read; and the axes that are drawn, with what thins them out."""
    items = _per_axis(array, selection)
    drawn = [axis for axis, item in enumerate(items) if isinstance(item, slice)]
    if len(drawn) > 2:
        long = [a for a in drawn if len(range(*items[a].indices(array.shape[a]))) != 1]
        for axis in set(drawn) - set(long):
            items[axis] = items[axis].indices(array.shape[axis])[0]
        drawn = long
    if len(drawn) not in _MOST:
        raise UsageError(
            f"{len(drawn)} axes cannot be drawn: pick 1 or 2, as in plot((0, ...))"
            if drawn
            else "one element cannot be drawn"
        )
    thinning = {}
    for axis in drawn:
        items[axis], thinning[axis] = _thinned(
            items[axis], array.shape[axis], _MOST[len(drawn)]
        )
    return items, thinning


# ---------------------------------------------------------------------- values


def _numbers(array: Array, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Elements as something that can be drawn."""
    kind = values.dtype.kind
    if kind == "c":
        raise UsageError("complex numbers cannot be drawn: plot their parts")
    if kind == "m":
        return np.where(np.isnat(values), np.nan, values.astype("i8").astype("f8"))
    if kind in "biuf":
        return values.astype(np.result_type(values.dtype, "f4"))
    try:
        if kind == "V" and values.dtype.names is None:  # small floats of ml_dtypes
            return values.astype("f4")
    except (TypeError, ValueError):
        pass
    raise UsageError(f"elements of type {array.dtype} cannot be drawn")


def _is_missing(array: Array, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Elements that stand for none: what attributes say, and the fill value unless it is
    zero, which is often a value like others."""
    missing = np.zeros(values.shape, bool)
    if values.dtype.kind not in "iuf":
        return missing
    said: list[Any] = []
    for name in ("_FillValue", "missing_value"):
        value = array.attrs.get(name)
        said += value if isinstance(value, list) else [value]
    marks = [_mark(value) for value in said]
    fill = array.fill_value
    if fill is not None and fill != 0:
        marks.append(float(fill) if values.dtype.kind == "f" else int(fill))
    for mark in marks:
        if mark is not None:
            missing |= values == mark
    return missing


def _mark(said: Any) -> int | float | None:
    """A missing value as attributes tell it; xarray writes floats as base64 in version 3."""
    if isinstance(said, str):
        try:
            said = struct.unpack("<d", base64.b64decode(said, validate=True))[0]
        except (ValueError, struct.error):
            return None
    return said if isinstance(said, (int, float)) else None


def _unpacked(array: Array, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for name, apply in (("scale_factor", np.multiply), ("add_offset", np.add)):
        factor = array.attrs.get(name)
        if isinstance(factor, (int, float)):
            numbers = apply(numbers, factor)
    return numbers


def _masked(array: Array, selection: Any) -> np.ma.MaskedArray[Any, Any]:
    values = np.asarray(array[selection])
    if values.dtype.kind == "M":
        if values.ndim != 1:
            raise UsageError("times can be drawn along one axis only")
        return np.ma.masked_array(values, np.isnat(values))
    missing = _is_missing(array, values)
    numbers = _unpacked(array, _numbers(array, values))
    return np.ma.masked_array(numbers, missing | ~np.isfinite(numbers))


# ---------------------------------------------------------------------- words


def _plain(text: object) -> str:
    """Text in which nothing starts a formula."""
    return str(text).replace("$", r"\$")


def _units(array: Array) -> str:
    units = array.attrs.get("units")
    return _plain(units) if isinstance(units, str) and units != "1" else ""


def _words(array: Array) -> str:
    """What the values are: a name and a unit."""
    attrs, units = array.attrs, _units(array)
    name = attrs.get("long_name") or attrs.get("standard_name") or array.basename or "array"
    return f"{_plain(name)} [{units}]" if units else _plain(name)


def _sibling(array: Array, name: str | None, n: int) -> Array | None:
    """The array beside this one that says where the elements of an axis lie."""
    if not name or "/" in name or name == array.basename:
        return None
    path = f"{array.path.rpartition('/')[0]}/{name}".lstrip("/")
    try:
        found = _core.open_array(Array, array.store, path, 0, True, None, False)
    except ZelligeError:
        return None
    return found if found.shape == (n,) and found.dtype.kind in "iufM" else None


def _side(array: Array, axis: int, item: slice, every: int) -> Side:
    name, n = axis_names(array)[axis], array.shape[axis]
    beside = _sibling(array, name, n)
    thinned = f", one in {every:,}" if every > 1 else ""
    if beside is not None:
        places = _masked(beside, item)
        steps = np.diff(places.data.astype("f8"))
        rises, falls = np.all(steps > 0), np.all(steps < 0)
        if not np.ma.getmaskarray(places).any() and (rises or falls):
            return Side(places.data, _words(beside) + thinned, True)
    label = _plain(name or f"axis {axis}") + thinned
    return Side(np.arange(n)[item], label, False)


def _title(array: Array, items: list[Any]) -> str:
    """The name of the array, and where the axes stand that are not drawn."""
    parts = [_words(array)]
    for axis, item in enumerate(items):
        if isinstance(item, slice):
            continue
        name = axis_names(array)[axis]
        beside = _sibling(array, name, array.shape[axis])
        place = item if beside is None else beside[item]
        parts.append(_plain(f"{name or f'axis {axis}'} = {place}"))
    return ", ".join(parts)


# ---------------------------------------------------------------------- drawings


def _name_axis(axis: Any, side: Side) -> None:
    """Puts a label at an axis of the drawing, and short dates where it is one of dates."""
    axis.set_label_text(side.label)
    if side.values.dtype.kind == "M":
        dates = importlib.import_module("matplotlib.dates")
        axis.set_major_formatter(dates.ConciseDateFormatter(axis.get_major_locator()))


def _line(ax: Any, side: Side, values: np.ma.MaskedArray[Any, Any], style: Any) -> None:
    mask = np.ma.getmaskarray(values)
    ax.plot(side.values, values, **{"linewidth": 1.2, **style})
    if mask.any():  # gaps are hard to see where elements are many
        at = side.values[mask]
        marks = {"color": "0.5", "clip_on": False, "transform": ax.get_xaxis_transform()}
        ax.plot(at, np.zeros(len(at)), "|", label="missing", **marks)
        ax.legend(loc="best", frameon=False)
    _name_axis(ax.xaxis, side)


def _map(
    ax: Any, sides: list[Side], values: np.ma.MaskedArray[Any, Any], label: str, style: Any
) -> None:
    down, across = sides
    # Missing elements are left out: the hatched ground shows.
    ax.patch.set(facecolor="0.92", edgecolor="0.75", hatch="////")
    mesh = ax.pcolormesh(
        across.values,
        down.values,
        values,
        **{"shading": "nearest", "rasterized": True, **style},
    )
    if not down.is_measured:
        ax.invert_yaxis()  # as rows are read
    _name_axis(ax.xaxis, across)
    _name_axis(ax.yaxis, down)
    ax.figure.colorbar(mesh, ax=ax, label=label)


def plot(array: Array, selection: Any, ax: Any, style: dict[str, Any]) -> Any:
    """See :meth:`zellige.Array.plot`."""
    items, thinning = _picked(array, selection)
    if ax is None:
        try:
            pyplot = importlib.import_module("matplotlib.pyplot")
        except ImportError as error:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
        ax = pyplot.subplots(layout="constrained")[1]
    values = _masked(array, tuple(items))
    sides = [_side(array, axis, items[axis], every) for axis, every in thinning.items()]
    if len(sides) == 1:
        _line(ax, sides[0], values, style)
        ax.set_ylabel(_units(array))
    else:
        _map(ax, sides, values, _units(array), style)
    ax.set_title(_title(array, items), fontsize="medium")
    return ax
