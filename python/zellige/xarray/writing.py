"""Writes datasets and trees of xarray: the engine's own ``to_zarr``."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from inspect import signature
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends.common import AbstractWritableDataStore, ArrayWriter
from xarray.backends.zarr import (
    FillValueCoder,
    encode_zarr_attr_value,
    encode_zarr_variable,
)

from ..api import open_group
from ..array import Array
from ..document import object_to_json
from ..errors import NotFoundError, UsageError
from ..group import Group, consolidate
from ..store import Store, StoreLike
from .backend import expanded
from .datastore import DIMENSIONS, ZelligeDataStore, member, open_for_reading
from .encoding import Grid, array_settings, asked_grid, grid_of, with_grid_document
from .regions import aligned, check_alignment, check_region, found_region

__all__ = ["to_zarr"]

_NO_NAME = "__values__"  # of a variable whose name is None
_Encoded = tuple[dict[Any, Any], dict[Any, Any]]
_new_writer: Any = ArrayWriter  # xarray has no types for these
_encode_variable: Any = encode_zarr_variable
_encode_attribute: Any = encode_zarr_attr_value
# Texts of variable length stay so, in version 2 too; older xarray has nothing else.
_AS_VERSION_3: dict[str, Any] = (
    {"zarr_format": 3} if "zarr_format" in signature(_encode_variable).parameters else {}
)
_MODES = ("w", "w-", "a", "a-", "r+")


class _Writer(ZelligeDataStore, AbstractWritableDataStore):
    """A group that takes variables: makes their arrays, hands their values to a writer."""

    def __init__(
        self,
        group: Group,
        mode: str,
        append_dim: Hashable | None,
        region: Any,
        safe_chunks: bool,
        align_chunks: bool,
        keep_empty: bool | None,
    ) -> None:
        super().__init__(group)
        self._mode = mode
        self._append_dim = append_dim
        self._region = region
        self._is_checked = safe_chunks and not align_chunks
        self._is_aligned = align_chunks
        self._keep_empty = keep_empty

    # ------------------------------------------------------------------ what is there

    def prepare(self, dataset: xr.Dataset, encoding: Mapping[Hashable, Any]) -> xr.Dataset:
        """What of a dataset is to be written, after the region is found and checked."""
        known = [name for name in self._arrays if name in encoding]
        if known and self._mode in ("a", "a-", "r+"):
            raise ValueError(f"variables {known} already exist, but encoding was provided")
        if self._region is None:
            return dataset
        self._region = found_region(self._region, dataset, self)
        check_region(self._region, dataset)
        if self._append_dim in self._region:
            raise ValueError(
                "cannot list the same dimension in both ``append_dim`` and ``region``, got "
                f"{self._append_dim!r} in both"
            )
        return dataset.drop_vars(dataset.indexes)  # they stay as they are

    def _check_names(self, variables: Mapping[Hashable, xr.Variable]) -> None:
        missing = [name for name in variables if _key(name) not in self._arrays]
        if self._mode == "r+" and missing:
            raise ValueError(
                f"dataset contains non-pre-existing variables {missing}, which mode 'r+' "
                "does not make: say mode='a'"
            )
        dim = self._append_dim
        if dim is not None and dim not in self._arrays:
            dims = self.get_dimensions()
            if dim not in dims:
                raise ValueError(
                    f"append_dim={dim!r} does not match any existing dataset dimensions "
                    f"{dims}"
                )

    def _encoded_as_stored(
        self, variables: Mapping[Hashable, xr.Variable]
    ) -> dict[Hashable, xr.Variable]:
        """Variables that are there already, in the encoding that they have there."""
        stored, _, _ = conventions.decode_cf_variables(
            {name: self.open_variable(_key(name)) for name in variables}, {}
        )
        alike = {}
        for name, variable in variables.items():
            _check_dtype(name, stored[name], variable)
            alike[name] = variable.copy(deep=False)
            alike[name].encoding = stored[name].encoding
        alike, _ = self.encode(alike, {})
        return {
            name: self._fitted(name, variable, stored[name])
            for name, variable in alike.items()
        }

    def _fitted(
        self, name: Hashable, variable: xr.Variable, stored: xr.Variable
    ) -> xr.Variable:
        """A variable with its axes in the order of what is stored, if it fits there."""
        if set(variable.dims) != set(stored.dims):
            raise ValueError(
                f"variable {name!r} already exists with different dimension names "
                f"{stored.dims} != {variable.dims}"
            )
        room = {
            dim: len(range(*self._part(dim).indices(length)))
            for dim, length in stored.sizes.items()
        }
        needed = dict(variable.sizes)
        for sizes in (room, needed):
            sizes.pop(self._append_dim, None)
        if room != needed:
            raise ValueError(
                f"variable {name!r} already exists with different dimension sizes: {room} "
                f"!= {needed}. Only append_dim changes sizes, and region writes a part."
            )
        return variable.transpose(*stored.dims)

    def _part(self, dim: Hashable) -> slice:
        part: slice = (self._region or {}).get(dim, slice(None))
        return part

    # ------------------------------------------------------------------ what xarray calls

    def encode_variable(self, v: xr.Variable, name: Any = None) -> xr.Variable:
        # As for version 3: texts of variable length stay so, which version 2 has too.
        encoded: xr.Variable = _encode_variable(v, name=name, **_AS_VERSION_3)
        return encoded

    def encode_attribute(self, a: Any) -> Any:
        return _encode_attribute(a)

    def encode(self, variables: Any, attributes: Any) -> _Encoded:
        encode: Any = super().encode
        encoded: _Encoded = encode(variables, attributes)
        return encoded

    def store(
        self,
        variables: Mapping[Hashable, xr.Variable],
        attributes: Mapping[str, Any],
        check_encoding_set: Any = frozenset(),
        writer: Any = None,
        unlimited_dims: Any = None,
    ) -> None:
        """Makes or finds the array of each variable, and gives both to the writer."""
        self._check_names(variables)
        old = {k: v for k, v in variables.items() if _key(k) in self._arrays}
        new = {k: v for k, v in variables.items() if k not in old}
        encoded, attributes = self.encode(new, attributes)
        encoded.update(self._encoded_as_stored(old))
        if self._mode != "r+":
            attributes = _checked(attributes)
            self.group.update_attributes(attributes, replace=True, python_tokens=True)
        writer = _new_writer() if writer is None else writer
        for name, variable in encoded.items():
            if name not in old:
                self._add_new(writer, name, variable, name in check_encoding_set)
            elif self._mode != "a-" or self._append_dim in (None, *variable.dims):
                self._add_old(writer, name, variable)

    # ------------------------------------------------------------------ arrays

    def _in_place(
        self,
        name: Hashable,
        variable: xr.Variable,
        grid: Grid | None,
        region: tuple[slice, ...],
        shape: tuple[int, ...],
    ) -> xr.Variable:
        """A variable that may be written as its Dask chunks are."""
        if variable.chunks is None or grid is None:
            return variable
        if self._is_aligned:
            return aligned(variable, grid, region)
        if self._is_checked:
            is_shared = self._mode == "r+"
            check_alignment(variable.chunks, grid, region, shape, not is_shared, name)
        return variable

    def _add_new(
        self, writer: Any, name: Hashable, variable: xr.Variable, is_asked: bool
    ) -> None:
        settings = array_settings(variable, name, self.group.zarr_format, is_asked)
        region = tuple(self._part(dim) for dim in variable.dims)
        variable = self._in_place(
            name, variable, asked_grid(settings), region, variable.shape
        )
        array = self._make(name, variable, with_grid_document(settings, name))
        writer.add(variable.data, array, region)

    def _add_old(self, writer: Any, name: Hashable, variable: xr.Variable) -> None:
        array = self._arrays[_key(name)]
        shape = list(array.shape)
        parts = [self._part(dim) for dim in variable.dims]
        if self._append_dim in variable.dims:
            axis = variable.dims.index(self._append_dim)
            parts[axis] = slice(shape[axis], None)
            shape[axis] += variable.shape[axis]
        variable = self._in_place(
            name, variable, grid_of(array), tuple(parts), tuple(shape)
        )
        if tuple(shape) != array.shape:
            array.resize(shape)
        writer.add(variable.data, array, tuple(parts))

    def _fill_value(self, variable: xr.Variable, attributes: dict[str, Any]) -> Any:
        """The fill value of a new array; takes it out of the attributes of version 2."""
        missing = attributes.pop("_FillValue", None)
        if self._fill_is_mask:
            return missing
        if missing is not None:
            attributes["_FillValue"] = FillValueCoder.encode(missing, variable.dtype)
        fill = variable.encoding.get("fill_value")
        # xarray takes what was never written for missing, where there is a word for it.
        return np.nan if fill is None and variable.dtype.kind == "f" else fill

    def _make(
        self, name: Hashable, variable: xr.Variable, settings: dict[str, Any]
    ) -> Array:
        attributes = dict(variable.attrs)
        settings["fill_value"] = self._fill_value(variable, attributes)
        attributes = {k: self.encode_attribute(v) for k, v in attributes.items()}
        if self.group.zarr_format == 2:
            attributes[DIMENSIONS] = list(variable.dims)
        else:
            settings["dimension_names"] = variable.dims
        keep_empty = settings.pop("write_empty_chunks", None)
        if None not in (keep_empty, self._keep_empty) and keep_empty != self._keep_empty:
            raise ValueError(
                f"write_empty_chunks is {keep_empty} in the encoding of {name!r} and "
                f"{self._keep_empty} in the call"
            )
        return self.group.create_array(
            _key(name),
            shape=variable.shape,
            dtype=_element_type(variable.dtype),
            attributes=_checked(attributes),
            python_tokens=True,
            keep_empty=self._keep_empty if keep_empty is None else keep_empty,
            **settings,
        )


def _key(name: Hashable) -> str:
    return _NO_NAME if name is None else str(name)


def _element_type(dtype: np.dtype[Any]) -> Any:
    """What xarray marks arrays of objects with, or the type itself."""
    marks: Mapping[str, Any] = dtype.metadata or {}
    return marks.get("element_type", dtype)


def _checked(attributes: dict[str, Any]) -> dict[str, Any]:
    try:
        object_to_json(attributes)
    except TypeError as error:
        raise TypeError(f"Invalid attribute in Dataset.attrs. {error}") from error
    return attributes


def _check_dtype(name: Hashable, stored: xr.Variable, variable: xr.Variable) -> None:
    """Raises where values would be cut: texts of a fixed length, records."""
    old, new = stored.dtype, variable.dtype
    if new.kind not in "biufcMmO" and old.kind not in "OT" and new != old:
        raise ValueError(
            f"Mismatched dtypes for variable {name!r}: {old} is stored, {new} is written"
        )


# ---------------------------------------------------------------------- the function


def _mode(mode: str | None, append_dim: Hashable | None, region: Any) -> str:
    if mode is None:
        mode = "a" if append_dim is not None else "r+" if region is not None else "w-"
    if mode not in _MODES:
        raise ValueError(f"mode {mode!r} is none of {', '.join(_MODES)}")
    if append_dim is not None and mode not in ("a", "a-"):
        raise ValueError("cannot set append_dim unless mode='a' or mode=None")
    if region is not None and mode not in ("a", "a-", "r+"):
        raise ValueError(
            "cannot set region unless mode='a', mode='a-', mode='r+' or mode=None"
        )
    return mode


def _check_names(dataset: xr.Dataset) -> None:
    for name in dataset.variables:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a variable is a string or None, not {name!r}")
        if name == "":
            raise ValueError("Invalid name '': string must be length 1 or greater")


def _opened(
    store: Any,
    group: str | None,
    mode: str,
    consolidated: bool | None,
    zarr_format: int | None,
    storage_options: Any,
    keep_empty: bool | None,
) -> Group:
    """The group to write to. Where only values change, as it is consolidated; else as the
    store has it, and it is consolidated once at the end."""
    if mode == "r+":
        return open_for_reading(
            store, group, mode, consolidated, zarr_format, storage_options, keep_empty
        )
    return open_group(
        store,
        "a" if mode == "a-" else mode,
        group,
        zarr_format=zarr_format,
        storage_options=storage_options,
        use_consolidated=False,
        keep_empty=keep_empty,
    )


def _required(group: Group, path: str) -> Group:
    is_missing = path != "" and path not in group
    return group.require_group(path) if is_missing else member(group, path)


def _is_consolidated(store: Store) -> bool:
    try:
        return open_group(store, "r").is_consolidated
    except NotFoundError:
        return False


def _nodes(
    data: xr.Dataset | xr.DataArray | xr.DataTree, encoding: Any, inherit: bool
) -> Iterator[tuple[str, xr.Dataset, Mapping[Hashable, Any]]]:
    """The datasets to write, the paths of their groups, and what is asked of each."""
    if isinstance(data, xr.Dataset):
        yield "", data, encoding
        return
    if isinstance(data, xr.DataArray):
        yield "", _as_dataset(data), encoding
        return
    unknown = set(encoding) - set(data.groups)
    if unknown:
        raise ValueError(f"unexpected encoding group name(s) provided: {unknown}")
    for path, node in data.subtree_with_keys:
        is_root = node is data
        dataset = node.to_dataset(inherit=inherit or is_root)
        yield "" if is_root else path, dataset, encoding.get(node.path, {})


def _as_dataset(array: xr.DataArray) -> xr.Dataset:
    """As :func:`xarray.open_dataarray` wants it."""
    if array.name is not None and array.name not in {*array.coords, *array.dims}:
        return array.to_dataset()
    dataset = array.to_dataset(name="__xarray_dataarray_variable__")
    if array.name is not None:
        dataset.attrs["__xarray_dataarray_name__"] = array.name
    return dataset


def to_zarr(
    data: xr.Dataset | xr.DataArray | xr.DataTree,
    store: StoreLike,
    mode: str | None = None,
    group: str | None = None,
    encoding: Mapping[Any, Any] | None = None,
    *,
    compute: bool = True,
    consolidated: bool | None = None,
    append_dim: Hashable | None = None,
    region: Mapping[Any, Any] | str | None = None,
    safe_chunks: bool = True,
    align_chunks: bool = False,
    storage_options: Any = None,
    zarr_format: int | None = None,
    write_empty_chunks: bool | None = None,
    chunkmanager_store_kwargs: dict[str, Any] | None = None,
    write_inherited_coords: bool = False,
) -> Any:
    """Writes a dataset, an array or a tree as ``to_zarr`` of xarray does, with its words.

    Returns the group, or with ``compute=False`` a delayed object of Dask that writes the
    values of Dask arrays; all else is written at once.

    Dask writes chunks in parallel. Two of them in one stored chunk or shard are refused
    unless ``safe_chunks=False``, as in xarray; nothing is lost then, as long as all who
    write are of Zellige. ``align_chunks`` rechunks them so that none is shared.
    """
    mode = _mode(mode, append_dim, region)
    if isinstance(data, xr.DataTree) and append_dim is not None:
        raise UsageError("append_dim does not go with trees")
    nodes = list(_nodes(data, encoding or {}, write_inherited_coords))
    for _, dataset, _ in nodes:
        _check_names(dataset)
    opened = _opened(
        expanded(store),
        group,
        mode,
        consolidated,
        zarr_format,
        storage_options,
        write_empty_chunks,
    )
    writer = _new_writer()
    for path, dataset, asked in nodes:
        target = _Writer(
            _required(opened, path),
            mode,
            append_dim,
            region,
            safe_chunks,
            align_chunks,
            write_empty_chunks,
        )
        dataset = target.prepare(dataset, asked)
        dataset.dump_to_store(target, writer=writer, encoding=asked)
    if mode != "r+" and (consolidated is not False or _is_consolidated(opened.store)):
        consolidate(opened.store, python_tokens=True)
    writes = writer.sync(
        compute=compute, chunkmanager_store_kwargs=chunkmanager_store_kwargs
    )
    if compute:
        return opened
    from dask.delayed import delayed

    return delayed(_nothing)(writes)


def _nothing(_: Any) -> None:
    """What a delayed writing gives."""
