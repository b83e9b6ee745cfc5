"""Images in several resolutions, as OME-Zarr 0.5 describes them.

>>> pyramid = zellige.ome.create_pyramid("cells.zarr", (0, 2048, 2048), "u2", "tyx", 4,
...     chunks=(1, 512, 512), shards=(64, 2048, 2048), scale=(0.1, 0.65, 0.65),
...     units={"t": "second", "y": "micrometer", "x": "micrometer"})
>>> with zellige.Writer(pyramid.group) as writer:
...     pyramid.feed(writer)
...     for frame in camera:
...         writer.append("0", frame)

A group holds the arrays of an image from the finest to the coarsest, and attributes that
say so: axes, and for each array the size of its elements and where the first one lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from .array import Array
from .create import create_group
from .errors import ExistsError, UsageError
from .group import Group
from .layout import UNSET, Lengths
from .store import StoreLike

if TYPE_CHECKING:
    from .writer import Writer

__all__ = ["Axes", "How", "Pyramid", "create_pyramid", "multiscales"]

#: Letters ("tczyx"), or names and dictionaries with name, type and unit.
Axes = str | Sequence[str | Mapping[str, Any]]
#: What stands for a window of elements: see :class:`zellige.Writer`.
How = Literal["mean", "min", "max", "decimate"]

VERSION = "0.5"

_TYPES = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
#: Axes are in this order; "" is a type of somebody's own, or none.
_TURNS = {"time": 0, "channel": 1, "": 1, "space": 2}
_PREFIXES = (
    " atto centi deci exa femto giga hecto kilo mega micro milli nano peta pico tera yocto "
    "yotta zepto zetta"
).split(" ")
_UNITS = {
    "space": {
        *(f"{prefix}meter" for prefix in _PREFIXES),
        *("angstrom", "foot", "inch", "mile", "parsec", "yard"),
    },
    "time": {*(f"{prefix}second" for prefix in _PREFIXES), "day", "hour", "minute"},
}


# ---------------------------------------------------------------------- axes


def _axis(axis: str | Mapping[str, Any], units: Mapping[str, str]) -> dict[str, Any]:
    if not isinstance(axis, str):
        if not isinstance(axis.get("name"), str):
            raise UsageError(f"an axis has a name, this one has not: {dict(axis)!r}")
        return dict(axis)
    if axis not in _TYPES:
        raise UsageError(
            f"axis {axis!r}: t, c, z, y and x are known; of another the type is needed, as "
            f'{{"name": {axis!r}, "type": "space"}}'
        )
    made = {"name": axis, "type": _TYPES[axis]}
    if axis in units:
        known = _UNITS.get(made["type"])
        if known is not None and units[axis] not in known:
            raise UsageError(
                f"axis {axis}: {units[axis]!r} is no unit of {made['type']}; "
                f"there are {', '.join(sorted(known))}"
            )
        made["unit"] = units[axis]
    return made


def _axes(axes: Axes, units: Mapping[str, str] | None) -> list[dict[str, Any]]:
    """As dictionaries, by the rules of the specification."""
    units = units or {}
    made = [_axis(axis, units) for axis in axes]
    names = [axis["name"] for axis in made]
    for name in units:
        if name not in names:
            raise UsageError(f"a unit of {name!r}, but the axes are {', '.join(names)}")
    if len(set(names)) < len(names):
        raise UsageError(f"axes have names of their own, not {', '.join(names)}")
    if not 2 <= len(made) <= 5:
        raise UsageError(f"an image has 2 to 5 axes, not {len(made)}")
    types = [str(axis.get("type") or "") for axis in made]
    turns = [_TURNS.get(one, 1) for one in types]
    if turns.count(0) > 1 or turns.count(1) > 1 or not 2 <= turns.count(2) <= 3:
        raise UsageError(
            "an image has 2 or 3 axes of space, and at most one of time and one of "
            f"channels or another type, not {', '.join(t or 'none' for t in types)}"
        )
    if turns != sorted(turns):
        raise UsageError(f"axes are of time, channel, space, in this order, not {types}")
    return made


# ---------------------------------------------------------------------- attributes


def _numbers(what: str, values: Sequence[float], n: int) -> list[float]:
    made = [float(value) for value in values]
    if len(made) != n:
        raise UsageError(f"{what} of {len(made)} numbers for {n} axes")
    if not all(abs(value) < float("inf") for value in made):
        raise UsageError(f"{what}: {made} are not all finite")
    return made


def _transformations(
    scale: Sequence[float], translation: Sequence[float] | None, n: int
) -> list[dict[str, Any]]:
    numbers = _numbers("a scale", scale, n)
    if not all(numbers):
        raise UsageError(f"a scale of 0: {numbers}")
    made: list[dict[str, Any]] = [{"type": "scale", "scale": numbers}]
    if translation is not None:
        numbers = _numbers("a translation", translation, n)
        made.append({"type": "translation", "translation": numbers})
    return made


def multiscales(
    name: str | None,
    axes: Axes,
    scales: Sequence[Sequence[float]],
    *,
    translations: Sequence[Sequence[float] | None] | None = None,
    units: Mapping[str, str] | None = None,
    paths: Sequence[str] | None = None,
    method: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The attributes of the group of an image: ``{"ome": {...}}``.

    `scales` has for each array, the finest first, the size of its elements along each axis;
    `translations` where the middle of its first element lies, or None. `units` are those of
    axes that are named by letters. `paths` are those of the arrays in the group: "0", "1",
    ... if left out. `method` and `metadata` tell how coarser arrays were made.

    What the specification forbids is UsageError. What it asks of the arrays is for the
    caller: their ``dimension_names`` are the names of the axes.
    """
    made = _axes(axes, units)
    if paths is None:
        paths = [str(i) for i in range(len(scales))]
    if translations is None:
        translations = [None] * len(scales)
    if not scales or len(paths) != len(scales) or len(translations) != len(scales):
        raise UsageError(
            f"{len(scales)} scales, {len(translations)} translations, {len(paths)} paths: "
            "each array has one of each, and there is at least one array"
        )
    if len(set(paths)) < len(paths):
        raise UsageError(f"arrays have paths of their own, not {', '.join(paths)}")
    image: dict[str, Any] = {} if name is None else {"name": name}
    image["axes"] = made
    image["datasets"] = [
        {
            "path": path,
            "coordinateTransformations": _transformations(scale, translation, len(made)),
        }
        for path, scale, translation in zip(paths, scales, translations, strict=True)
    ]
    if method is not None:
        image["type"] = method
    if metadata is not None:
        image["metadata"] = dict(metadata)
    return {"ome": {"version": VERSION, "multiscales": [image]}}


# ---------------------------------------------------------------------- arrays


@dataclass(frozen=True)
class Pyramid:
    """An image that was created: its group, and its arrays, the finest first."""

    group: Group
    levels: tuple[Array, ...]
    factors: tuple[int, ...]  # along each axis, from one level to the next
    how: How

    @property
    def names(self) -> tuple[str, ...]:
        """The arrays, as the group and writers of it call them: "0", "1", ..."""
        return tuple(str(i) for i in range(len(self.levels)))

    def feed(self, writer: Writer) -> None:
        """Lets a writer of the group give each level what comes of what is given to the
        level above it. Only "0" is given to then."""
        for fine, coarse in zip(self.names, self.names[1:], strict=False):
            writer.add_coarser(fine, coarse, self.factors, self.how)


def _factors_of(
    factors: Mapping[str, int] | Sequence[int] | None, axes: list[dict[str, Any]]
) -> tuple[int, ...]:
    names = [axis["name"] for axis in axes]
    if factors is None:
        made = [1] * (len(names) - 2) + [2, 2]
    elif isinstance(factors, Mapping):
        for name in factors:
            if name not in names:
                raise UsageError(f"a factor of {name!r}; the axes are {', '.join(names)}")
        made = [int(factors.get(name, 1)) for name in names]
    else:
        made = [int(factor) for factor in factors]
    if len(made) != len(names) or min(made) < 1:
        raise UsageError(f"factors {made}: one for each of {len(names)} axes, at least 1")
    return tuple(made)


def _each(lengths: Lengths, n: int) -> list[int] | None:
    """Plain lengths, one for each axis; None for anything else."""
    if isinstance(lengths, int):
        return [lengths] * n
    if not isinstance(lengths, (list, tuple)) or len(lengths) != n:
        return None
    return [*lengths] if all(isinstance(one, int) for one in lengths) else None


def _clipped(
    chunks: Lengths, shards: Lengths, shape: tuple[int, ...], is_space: list[bool]
) -> tuple[Lengths, Lengths]:
    """Chunks that are no longer than the array is, and shards of whole chunks: in space,
    which does not grow."""
    inner, outer = _each(chunks, len(shape)), _each(shards, len(shape))
    if inner is None:
        return chunks, shards
    for i, length in enumerate(shape):
        if is_space[i] and 0 < length < inner[i]:
            inner[i] = length
            if outer is not None:
                outer[i] = length
    return inner, shards if outer is None else outer


def _group_of(group: Group | StoreLike, overwrite: bool) -> Group:
    if not isinstance(group, Group):
        return create_group(group, zarr_format=3, overwrite=overwrite)
    if group.zarr_format != 3:
        raise UsageError("OME-Zarr 0.5 is of Zarr 3; this group is of version 2")
    if "ome" in group.attrs and not overwrite:
        raise ExistsError(f"{group.store_path} has attributes of OME already")
    return group


def _places(
    n: int,
    factors: tuple[int, ...],
    scale: Sequence[float],
    translation: Sequence[float] | None,
    how: How,
) -> tuple[list[list[float]], list[list[float] | None]]:
    """Size of elements of each level, and the middle of the first one: that of its window,
    or with "decimate" the place of the first element itself."""
    scales: list[list[float]] = []
    translations: list[list[float] | None] = []
    for level in range(n):
        wide = [factor**level for factor in factors]
        scales.append([one * w for one, w in zip(scale, wide, strict=True)])
        if how == "decimate" or level == 0:
            translations.append(None if translation is None else list(translation))
            continue
        first = translation or [0.0] * len(wide)
        pairs = zip(first, scale, wide, strict=True)
        translations.append([at + one * (w - 1) / 2 for at, one, w in pairs])
    return scales, translations


def _create_levels(
    group: Group,
    shape: tuple[int, ...],
    axes: list[dict[str, Any]],
    levels: int | None,
    steps: tuple[int, ...],
    chunks: Lengths,
    shards: Lengths,
    keywords: dict[str, Any],
) -> list[Array]:
    names = [axis["name"] for axis in axes]
    is_space = [axis.get("type") == "space" for axis in axes]
    arrays: list[Array] = []
    while levels is None or len(arrays) < levels:
        inner, outer = _clipped(chunks, shards, shape, is_space)
        array = group.create_array(
            str(len(arrays)),
            shape=shape,
            chunks=inner,
            shards=outer,
            dimension_names=names,
            **keywords,
        )
        arrays.append(array)
        sizes = zip(steps, shape, arrays[0].chunks, strict=True)
        if levels is None and all(step == 1 or n <= chunk for step, n, chunk in sizes):
            break
        shape = tuple(-(-n // step) for n, step in zip(shape, steps, strict=True))
    return arrays


def create_pyramid(
    group: Group | StoreLike,
    shape: Sequence[int],
    dtype: Any,
    axes: Axes,
    levels: int | None = None,
    factors: Mapping[str, int] | Sequence[int] | None = None,
    chunks: Lengths = None,
    shards: Lengths = UNSET,
    *,
    name: str | None = None,
    scale: Sequence[float] | None = None,
    translation: Sequence[float] | None = None,
    units: Mapping[str, str] | None = None,
    how: How = "mean",
    overwrite: bool = False,
    **keywords: Any,
) -> Pyramid:
    """Makes the arrays of an image and the attributes of its group, which is made too where
    a store is given.

    `factors` tell how many elements along each axis become one in the next level: 2 along
    the last two axes, if left out, rounding up. `levels` counts the arrays; without it
    there are as many as it takes until one chunk covers these axes. In space, chunks and
    shards are cut where a level is shorter. `scale`, `translation` and `units` are those of
    the finest level, for :func:`multiscales`. `how` is noted, decides where coarser levels
    lie, and is what :meth:`Pyramid.feed` does. Other keywords go to
    :func:`zellige.create_array`.
    """
    made = _axes(axes, units)
    n_axes = len(made)
    lengths = tuple(int(length) for length in shape)
    steps = _factors_of(factors, made)
    if how not in get_args(How):
        raise UsageError(f"how is one of {', '.join(get_args(How))}, not {how!r}")
    if len(lengths) != n_axes:
        raise UsageError(f"a shape of {len(lengths)} lengths for {n_axes} axes")
    if levels is not None and levels < 1:
        raise UsageError(f"{levels} levels: there is at least one")
    size = _numbers("scale", [1.0] * n_axes if scale is None else scale, n_axes)
    if translation is not None:
        translation = _numbers("translation", translation, n_axes)
    parent = _group_of(group, overwrite)
    keywords |= {"dtype": dtype, "overwrite": overwrite}
    arrays = _create_levels(parent, lengths, made, levels, steps, chunks, shards, keywords)
    scales, translations = _places(len(arrays), steps, size, translation, how)
    named = {axis["name"]: step for axis, step in zip(made, steps, strict=True)}
    attributes = multiscales(
        name,
        made,
        scales,
        translations=translations,
        method=how,
        metadata={"method": "zellige.Writer", "factors": named},
    )
    parent.attrs.update(attributes)
    return Pyramid(parent, tuple(arrays), steps, how)
