"""A drawing of how an array is cut into chunks, as SVG inside a page.

The last axis goes to the right, the one before it down, the one before that into the depth;
others stand below it in words. Thin lines are chunks, thick ones shards; the first chunk is filled.
Nothing here reads or lists a store, nor counts chunks one by one where they are many.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .array import Array

__all__ = ["axis_names", "clean", "sketch"]

_LONGEST, _SHORTEST = 170.0, 34.0
_CLOSEST = 4.0  # lines nearer to each other than this would be a blot
_SLANT = 0.42  # of an axis that goes into the depth, to the right and up
_LETTER = 6.2

# What is not seen, or turns the direction of the text around it.
_HIDDEN = dict.fromkeys(
    [*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x202A, 0x202F)]
    + [*range(0x2066, 0x206A)],
    "\N{REPLACEMENT CHARACTER}",
)

Point = tuple[float, float]


def clean(value: object, most: int = 80) -> str:
    """Any text so that it can stand in a page, cut to so many characters."""
    text = str(value)
    if len(text) > most:
        text = text[: most - 1] + "…"
    # JSON may hold halves of surrogate pairs, which no page can.
    text = text.encode("utf-8", "backslashreplace").decode()
    return html.escape(text.translate(_HIDDEN))


def axis_names(array: Array) -> tuple[str | None, ...]:
    """Names of the axes; those of version 2 stand in an attribute of xarray."""
    names: Any = array.dimension_names
    if names is None:
        names = array.attrs.get("_ARRAY_DIMENSIONS")
        fits = isinstance(names, list) and len(names) == array.ndim
        if not fits or not all(isinstance(name, str) for name in names):
            return (None,) * array.ndim
    return tuple(name or None for name in names)


class Axis(NamedTuple):
    """An axis to draw: lengths in points; None for lines that would be too close."""

    label: str
    length: float
    chunk: float
    chunks: list[float] | None
    shards: list[float] | None


def _lines(n: int, step: int, length: float) -> list[float] | None:
    """Where an axis of n elements is cut into pieces of that many."""
    if step <= 0 or step >= n:
        return []
    if length * step / n < _CLOSEST:
        return None
    return [length * at / n for at in range(step, n, step)]


def _uneven_lines(array: Array, axis: int, length: float) -> list[float] | None:
    if array._grid_shape[axis] > length / _CLOSEST:
        return None
    cuts, at = [], 0
    for edge in array._edges(axis)[:-1]:
        at += edge
        cuts.append(length * at / array.shape[axis])
    return cuts


def _axis_label(name: str | None, n: int) -> str:
    if not name:
        return f"{n:,}"
    return f"{name if len(name) <= 16 else name[:15] + '…'} {n:,}"


def _axis(array: Array, axis: int, length: float, name: str | None) -> Axis:
    n, step, outer = array.shape[axis], array._chunk_shape[axis], array._object_shape[axis]
    if array._is_rectilinear:
        shards = _uneven_lines(array, axis, length)
        chunks = _lines(n, step, length) if array._is_sharded else shards
        step = step if array._is_sharded else array._edges(axis)[0] if shards else n
    else:
        shards = _lines(n, outer, length)
        chunks = _lines(n, step, length)
    label = _axis_label(name, n)
    chunk = max(2.5, length * min(1.0, step / n))
    return Axis(label, length, chunk, chunks, shards if array._is_sharded else [])


def _drawn_axes(array: Array) -> list[Axis]:
    names = axis_names(array)
    shown = range(max(0, array.ndim - 3), array.ndim)
    longest = max(array.shape[axis] for axis in shown)
    lengths = [max(_SHORTEST, _LONGEST * array.shape[axis] / longest) for axis in shown]
    return [_axis(array, axis, length, names[axis]) for axis, length in zip(shown, lengths)]


class _Canvas:
    """Parts of a drawing, and how far they reach."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.left, self.top, self.right, self.bottom = -6.0, 0.0, 0.0, 0.0

    def _reach(self, x: float, y: float) -> None:
        self.left, self.right = min(self.left, x), max(self.right, x)
        self.top, self.bottom = min(self.top, y), max(self.bottom, y)

    def path(self, lines: list[list[Point]], style: str) -> None:
        """Several lines through points."""
        if not lines:
            return
        for point in (point for line in lines for point in line):
            self._reach(*point)
        d = "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in line) for line in lines)
        self.parts.append(f'<path d="{d}" {style}/>')

    def text(self, x: float, y: float, text: str, anchor: str, turn: bool = False) -> None:
        length = _LETTER * len(text)
        before = length / 2 if anchor == "middle" else 0.0
        for along in (-before, length - before):
            self._reach(*((x, y + along) if turn else (x + along, y)))
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{clean(text)}</text>'
        )

    def svg(self) -> str:
        x, y = self.left - 12, self.top - 4
        width, height = self.right + 4 - x, self.bottom + 6 - y
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
            f'height="{height:.0f}" viewBox="{x:.0f} {y:.0f} {width:.0f} {height:.0f}" '
            'role="img" aria-label="how the array is cut into chunks" font-size="11" '
            f'fill="currentColor">{"".join(self.parts)}</svg>'
        )


class _Face(NamedTuple):
    """A side of the array: a corner, and two axes with their directions."""

    corner: Point
    one: Axis
    along: Point
    two: Axis
    down: Point

    def _at(self, a: float, b: float) -> Point:
        x, y = self.corner
        return (
            x + a * self.along[0] + b * self.down[0],
            y + a * self.along[1] + b * self.down[1],
        )

    def _area(self, a: float, b: float) -> list[Point]:
        corners = (0, 0), (a, 0), (a, b), (0, b), (0, 0)
        return [self._at(*corner) for corner in corners]

    def _grid(self, one: list[float] | None, two: list[float] | None) -> list[list[Point]]:
        a, b = self.one.length, self.two.length
        lines = [[self._at(cut, 0), self._at(cut, b)] for cut in one or ()]
        return lines + [[self._at(0, cut), self._at(a, cut)] for cut in two or ()]

    def draw(self, canvas: _Canvas, shade: float, has_first_chunk: bool) -> None:
        one, two = self.one, self.two
        outline = self._area(one.length, two.length)
        # Where there are too many lines to draw, the tiles are dense.
        shade += 0.12 * (one.chunks is None) + 0.12 * (two.chunks is None)
        canvas.path([outline], f'fill="#1f90a0" fill-opacity="{shade:.2f}"')
        if has_first_chunk:
            first = self._area(one.chunk, two.chunk)
            canvas.path([first], 'fill="#e2733d" fill-opacity=".9"')
        line = 'fill="none" stroke="currentColor"'
        thin = f'{line} stroke-width=".6" stroke-opacity=".5"'
        thick = f'{line} stroke-width="1.4" stroke-opacity=".9"'
        canvas.path(self._grid(one.chunks, two.chunks), thin)
        canvas.path(self._grid(one.shards, two.shards), thick)
        canvas.path([outline], thick)


def sketch(array: Array) -> str:
    """The drawing; nothing for arrays without axes or without elements."""
    if array.ndim == 0 or array.size == 0:
        return ""
    axes = _drawn_axes(array)
    across = axes[-1]
    down = axes[-2] if array.ndim > 1 else Axis("", 28.0, 28.0, [], [])
    canvas = _Canvas()
    if array.ndim > 2:
        depth, slanted = axes[0], (_SLANT, -_SLANT)
        _Face((0, 0), across, (1, 0), depth, slanted).draw(canvas, 0.10, True)
        is_whole = across.chunk >= across.length
        beside = _Face((across.length, 0), depth, slanted, down, (0, 1))
        beside.draw(canvas, 0.28, is_whole)
        middle = depth.length * _SLANT / 2
        x, y = across.length + middle + 6, down.length - middle + 10
        canvas.text(x, y, depth.label, "start")
    _Face((0, 0), across, (1, 0), down, (0, 1)).draw(canvas, 0.18, True)
    canvas.text(across.length / 2, down.length + 14, across.label, "middle")
    if array.ndim > 1:
        canvas.text(-6, down.length / 2, down.label, "middle", turn=True)
    others = list(zip(axis_names(array), array.shape))[:-3]
    if others:
        text = " × ".join(_axis_label(name, n) for name, n in others)
        canvas.text(0, down.length + 32, "× " + text, "start")
    return canvas.svg()
