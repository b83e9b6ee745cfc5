"""Changes of parts of an array: the same for a model in NumPy and for who is tried."""

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

# What a change picks. A peer has the set of those that it can ask for.
BOX = "box"  # whole ranges
STEPS = "steps"  # ranges with steps forward
BACKWARDS = "backwards"  # with steps in both directions
ELEMENT = "element"
OUTER = "outer"  # lists and masks of each axis by itself
POINTS = "points"
REPEATED = "repeated"  # points, most of them twice
MASK = "mask"  # of the whole array
BLOCKS = "blocks"
KINDS = (BACKWARDS, BLOCKS, POINTS, STEPS, MASK, REPEATED, OUTER, ELEMENT, BOX)


@dataclass(frozen=True)
class Edit:
    kind: str
    key: Any
    place: Any  # in the model
    value: Any  # an array, without axes for an element

    def boxed(self):
        """An element as a box of one, where there are axes: zarr-python makes arrays of
        single byte strings."""
        if self.value.ndim:
            return self
        value = self.value.reshape([1] * len(self.place)) if self.place else self.value[()]
        return replace(self, key=self.place, value=value)


def _box(rng, shape, steps):
    key = []
    for n in shape:
        start, stop = sorted(int(i) for i in rng.integers(0, n + 1, 2))
        start, stop = (start, stop) if start < stop else (0, n)
        step = int(rng.choice(steps))
        if step < 0:  # written so that it ends at None, not at -1
            start, stop = stop - 1, start - 1 if start else None
        key.append(slice(start, stop, step))
    return tuple(key)


def _outer(rng, shape):
    """In order and once each, as zarr-python wants them. One axis by a mask."""
    lists = [np.flatnonzero(rng.random(n) < 0.5) for n in shape]
    lists = [found if found.size else np.arange(n) for found, n in zip(lists, shape)]
    key = list(lists)
    if key:
        key[-1] = np.isin(np.arange(shape[-1]), lists[-1])
    return tuple(key), np.ix_(*lists)


def _block(rng, sizes):
    """A block, and the elements that it has."""
    key = tuple(int(rng.integers(len(parts))) for parts in sizes)
    edges = [[0, *accumulate(parts)] for parts in sizes]
    return key, tuple(slice(e[i], e[i + 1]) for e, i in zip(edges, key))


def _picked(kind, rng, shape, sizes):
    """A key, and the place that it means."""
    if kind == BLOCKS:
        return _block(rng, sizes)
    if kind == OUTER:
        return _outer(rng, shape)
    if kind == ELEMENT:
        key = tuple(int(rng.integers(n)) for n in shape)
        return key, tuple(slice(i, i + 1) for i in key)
    if kind in (POINTS, REPEATED):
        n = int(np.prod(shape))
        places = rng.choice(n, min(n, 20), replace=False)
        if kind == REPEATED:
            places = rng.choice(places[:8], 20)
        key = np.unravel_index(places, shape)
        return key, key
    if kind == MASK:
        mask = rng.random(shape) < 0.3
        return mask, mask
    steps = {BOX: [1], STEPS: [1, 2, 3], BACKWARDS: [-1, -2, -3, 2]}[kind]
    key = _box(rng, shape, steps)
    return key, key


def edits(rng, kinds, model, sizes, source):
    """One of each kind, done to the model as they are given out. Their values are elements
    of the source."""
    if not model.size:
        kinds = ()
    elif not model.shape:
        kinds = [kind for kind in kinds if kind in (BOX, ELEMENT)]
    for kind in [kind for kind in KINDS if kind in kinds]:
        key, place = _picked(kind, rng, model.shape, sizes)
        picked = rng.integers(0, source.size, model[place].size if model.shape else 1)
        value = source.ravel()[picked].reshape(model[place].shape if model.shape else ())
        if kind == ELEMENT:
            value = value.reshape(())
        yield _done(model, Edit(kind, key, place, value))


def _done(model, edit):
    place = edit.place if model.shape else ...
    model[place] = edit.value.reshape(model[place].shape)
    return edit


def erased(rng, model, sizes, empty):
    """A block that is made what it would be if it were not stored."""
    key, place = _block(rng, sizes)
    value = np.empty(model[place].shape, model.dtype)
    value[...] = empty
    return _done(model, Edit(BLOCKS, key, place, value))


def apply(array, edit):
    """To an array of Zellige or zarr-python."""
    if edit.kind == OUTER:
        array.oindex[edit.key] = edit.value
    elif edit.kind in (POINTS, REPEATED, MASK):
        array.vindex[edit.key] = edit.value
    elif edit.kind == BLOCKS:
        array.blocks[edit.key] = edit.value
    else:
        array[edit.key] = edit.value
