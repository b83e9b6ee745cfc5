"""Where in an existing array the values of a dataset belong, and whether the chunks of a
Dask array may be written there at the same time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import accumulate
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions

from .encoding import Grid

__all__ = ["aligned", "check_alignment", "check_region", "found_region"]

# ---------------------------------------------------------------------- regions


def _find(dim: Hashable, stored: Any, wanted: Any) -> slice:
    """The positions of some values of a coordinate among those that are stored."""
    places = stored.get_indexer(wanted)
    if (places == -1).any():
        raise KeyError(
            f"Not all values of coordinate {dim!r} are stored: region='auto' writes only "
            "where the stored coordinates have the same values"
        )
    if (np.diff(places) != 1).any():
        raise ValueError(
            f"The values of coordinate {dim!r} are stored at non-contiguous indices, which "
            "make no region"
        )
    return slice(int(places[0]), int(places[-1]) + 1)


def found_region(region: Any, dataset: xr.Dataset, store: Any) -> dict[Hashable, slice]:
    """A region with a slice where it says "auto"."""
    if isinstance(region, str) and region == "auto":
        region = dict.fromkeys(dataset.dims, "auto")
    if not isinstance(region, Mapping):
        raise TypeError(f"``region`` must be a dict, got {type(region)}")
    found = dict(region)
    for dim, part in region.items():
        if not (isinstance(part, str) and part == "auto"):
            continue
        if dim in dataset.variables:
            stored = conventions.decode_cf_variable(dim, store.open_variable(dim))
            found[dim] = _find(dim, stored.to_index(), dataset[dim].data)
        else:
            found[dim] = slice(0, dataset.sizes[dim])
    return found


def check_region(region: dict[Hashable, slice], dataset: xr.Dataset) -> None:
    """Raises unless every variable has an axis that the region cuts."""
    for dim, part in region.items():
        if dim not in dataset.dims:
            raise ValueError(
                f"all keys in ``region`` are not in Dataset dimensions, got {list(region)} "
                f"and {list(dataset.dims)}"
            )
        if not isinstance(part, slice):
            raise TypeError(f"all values in ``region`` must be slice objects, got {region}")
        if part.step not in (1, None):
            raise ValueError(f"step on all slices in ``region`` must be 1, got {region}")
    aside = [k for k, v in dataset.variables.items() if not set(region) & set(v.dims)]
    if region and aside:
        raise ValueError(
            "all variables in the dataset to write must have at least one dimension in "
            f"common with ``region``, {list(region)}: write .drop_vars({aside})"
        )


# ---------------------------------------------------------------------- Dask chunks


def _is_edge(position: int, length: int | tuple[int, ...]) -> bool:
    """True where one stored object ends and the next begins."""
    if isinstance(length, tuple):
        return position in {0, *accumulate(length)}
    return position % length == 0


def check_alignment(
    chunks: tuple[tuple[int, ...], ...],
    grid: Grid,
    region: tuple[slice, ...],
    shape: tuple[int, ...],
    may_be_partial: bool,
    name: Hashable,
) -> None:
    """Raises where two Dask chunks fall into one stored object.

    Unless `may_be_partial`, what is stored at the borders of the region must not reach out
    of it either, as another program may be writing beside it.
    """
    for axis, (sizes, length, part) in enumerate(zip(chunks, grid, region)):
        start, stop, _ = part.indices(shape[axis])
        edges = [start + position for position in accumulate(sizes[:-1])]
        if not may_be_partial:
            edges += [start] if stop == shape[axis] else [start, stop]
        bad = next((edge for edge in edges if not _is_edge(edge, length)), None)
        if bad is not None:
            raise ValueError(
                f"Specified Zarr chunks {grid} of the variable named {name!r} would "
                "overlap multiple Dask chunks, or reach out of the region: at "
                f"{bad} of axis {axis}. Rechunk it with chunk(), change "
                "encoding['chunks'], or say align_chunks=True. With safe_chunks=False "
                "nothing is lost as long as all who write are of Zellige."
            )


def _down(position: int, length: int | tuple[int, ...]) -> int:
    if isinstance(length, tuple):
        return max(edge for edge in (0, *accumulate(length)) if edge <= position)
    return position - position % length


def aligned(variable: xr.Variable, grid: Grid, region: tuple[slice, ...]) -> xr.Variable:
    """A variable of Dask whose chunks end where stored objects end."""
    chunks = {}
    for dim, sizes, length, part in zip(variable.dims, variable.chunks or (), grid, region):
        start, whole = part.start or 0, sum(sizes)
        borders = (_down(start + at, length) - start for at in accumulate(sizes[:-1]))
        edges = [0, *sorted({at for at in borders if 0 < at < whole}), whole]
        chunks[dim] = tuple(b - a for a, b in zip(edges, edges[1:]))
    return variable.chunk(chunks)
