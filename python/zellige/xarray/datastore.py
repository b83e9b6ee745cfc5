"""A group as a data store of xarray: its arrays as variables, read when they are needed.

What this package uses of xarray beside what xarray documents:

- ``xarray.core.indexing``: the kinds of indexers, and the adapter that backends call;
- ``xarray.backends.common.ArrayWriter``: keeps the writes of Dask arrays for the end;
- ``xarray.backends.zarr``, which imports no zarr-python: ``FillValueCoder``,
  ``encode_zarr_variable`` and ``encode_zarr_attr_value``, so that both write the same.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import AbstractDataStore
from xarray.backends.zarr import FillValueCoder
from xarray.core import indexing

from ..api import open_group
from ..array import Array
from ..errors import NotFoundError, UsageError
from ..group import Group
from ..store import StoreLike, open_place
from .encoding import encoding_of
from .lazy import LazyArray

__all__ = ["DIMENSIONS", "ZelligeDataStore", "member", "open_for_reading"]

#: The attribute of version 2 that names dimensions.
DIMENSIONS = "_ARRAY_DIMENSIONS"


def open_for_reading(
    store: StoreLike | Group,
    group: str | None,
    mode: str,
    consolidated: bool | None,
    zarr_format: int | None,
    storage_options: Mapping[str, Any] | None = None,
    keep_empty: bool | None = None,
) -> Group:
    """The group, out of consolidated metadata of the root or of its own where they are."""
    if isinstance(store, Group):
        return member(store, (group or "").strip("/"))
    opened, path = open_place(store, group, mode, storage_options)
    ways: dict[str, Any] = {"zarr_format": zarr_format, "keep_empty": keep_empty}
    if path and consolidated is not False:
        try:
            root = open_group(opened, mode, **ways)
        except NotFoundError:
            root = None
        if root is not None and root.is_consolidated:
            return member(root, path)
    return open_group(opened, mode, path, use_consolidated=consolidated, **ways)


def member(group: Group, path: str) -> Group:
    """A group below another, or that itself."""
    found = group[path] if path else group
    if not isinstance(found, Group):
        raise UsageError(f"{found.name} is an array, not a group")
    return found


# ---------------------------------------------------------------------- dimensions


def _is_of_netcdf(name: str) -> bool:
    return name.lower().startswith("_nc")


def _dimensions_v2(array: Array) -> tuple[str, ...]:
    if DIMENSIONS in array.attrs:
        return tuple(array.attrs[DIMENSIONS])
    netcdf = array.metadata.get("_NCZARR_ARRAY", {})
    if "dimrefs" in netcdf:  # full names, with the groups that they are of
        return tuple(name.rpartition("/")[2] for name in netcdf["dimrefs"])
    raise KeyError(
        f"Zarr object is missing the attribute `{DIMENSIONS}` and the NCZarr metadata, one "
        "of which is needed for xarray to determine variable dimensions: "
        f"{array.store_path}"
    )


def _dimensions(array: Array) -> tuple[Any, ...]:
    if array.zarr_format == 2:
        return _dimensions_v2(array)
    names = array.dimension_names or ()
    if len(names) != array.ndim:
        raise KeyError(
            "Zarr object is missing the `dimension_names` metadata, needed for xarray to "
            f"determine variable dimensions: {array.store_path}"
        )
    return names


# ---------------------------------------------------------------------- variables


def _decoded_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """The `_FillValue` of version 3 as xarray wrote it; what others wrote, as it is."""
    words: Any = {"T": "string", "U": "string", "S": "bytes", "O": "bytes"}
    try:
        return FillValueCoder.decode(value, words.get(dtype.kind, dtype))
    except (TypeError, ValueError, struct.error):
        return value


class ZelligeDataStore(AbstractDataStore):
    """The arrays of a group as variables.

    `fill_is_mask` takes the fill value of an array for a missing value; None does so in
    version 2, where there is no other word for it.
    """

    def __init__(self, group: Group, fill_is_mask: bool | None = None) -> None:
        self.group = group
        self._fill_is_mask = (
            group.zarr_format == 2 if fill_is_mask is None else fill_is_mask
        )
        self._arrays = dict(group.arrays())

    def below(self) -> Iterator[tuple[str, Group]]:
        """Paths and groups of all levels, this one first."""
        yield "", self.group
        for path, member in self.group.members(max_depth=None):
            if isinstance(member, Group):
                yield path, member

    def open_variable(self, name: str) -> xr.Variable:
        array = self._arrays[name]
        dims = _dimensions(array)
        attributes = array.attrs.asdict()
        if array.zarr_format == 2:
            attributes = {
                key: value
                for key, value in attributes.items()
                if key != DIMENSIONS and not _is_of_netcdf(key)
            }
        encoding = encoding_of(array, dims)
        if array.dtype.kind == "T":
            encoding["dtype"] = array.dtype
        if self._fill_is_mask:
            if array.fill_value is not None:
                attributes["_FillValue"] = array.fill_value
        elif array.zarr_format == 3:
            encoding["fill_value"] = array.fill_value
            if "_FillValue" in attributes:
                attributes["_FillValue"] = _decoded_fill(
                    attributes["_FillValue"], array.dtype
                )
        data = indexing.LazilyIndexedArray(LazyArray(array))
        return xr.Variable(dims, data, attributes, encoding)

    def get_variables(self) -> dict[str, xr.Variable]:
        return {name: self.open_variable(name) for name in self._arrays}

    def get_attrs(self) -> dict[str, Any]:
        attributes = self.group.attrs.asdict()
        return {k: v for k, v in attributes.items() if not _is_of_netcdf(k)}

    def get_dimensions(self) -> dict[Hashable, int]:
        lengths: dict[Hashable, int] = {}
        for name, array in self._arrays.items():
            for dim, length in zip(_dimensions(array), array.shape):
                if lengths.setdefault(dim, length) != length:
                    raise ValueError(
                        f"dimension {dim!r} has {length} positions in {name!r}, "
                        f"{lengths[dim]} in others"
                    )
        return lengths
