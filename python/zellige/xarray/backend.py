"""The entry point ``xarray.backends``: ``xr.open_dataset(store, engine="zellige")``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import xarray as xr
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint

from ..group import Group
from ..store import Store
from .datastore import ZelligeDataStore, open_for_reading

__all__ = ["ZelligeBackendEntrypoint", "expanded"]

_DOCUMENTS = ("zarr.json", ".zgroup", ".zmetadata")


def expanded(store: Any) -> Any:
    """A store; the ``~`` of a path is the home of its user."""
    is_path = isinstance(store, (str, os.PathLike))
    return os.path.expanduser(store) if is_path else store


class ZelligeBackendEntrypoint(BackendEntrypoint):
    """Opens what is stored in Zarr, versions 2 and 3, with the engine of Zellige."""

    description = "Open Zarr groups with the engine of Zellige"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        if isinstance(filename_or_obj, (Store, Group)):
            return True
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        path = os.path.expanduser(os.fspath(filename_or_obj)).rstrip("/")
        return path.endswith(".zarr") or any(
            os.path.isfile(os.path.join(path, name)) for name in _DOCUMENTS
        )

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Any = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> xr.Dataset:
        """Called by :func:`xarray.open_dataset`; see the guide for what it takes."""
        store = ZelligeDataStore(
            open_for_reading(
                expanded(filename_or_obj),
                group,
                mode,
                consolidated,
                zarr_format,
                storage_options,
            ),
            use_zarr_fill_value_as_mask,
        )
        return StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Any = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> dict[str, xr.Dataset]:
        """A dataset for each group at and below `group`, by its path below it."""
        root = open_for_reading(
            expanded(filename_or_obj),
            group,
            mode,
            consolidated,
            zarr_format,
            storage_options,
        )
        return {
            f"/{path}": self.open_dataset(
                below,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
                use_zarr_fill_value_as_mask=use_zarr_fill_value_as_mask,
            )
            for path, below in ZelligeDataStore(root).below()
        }

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Any = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> xr.DataTree:
        """Called by :func:`xarray.open_datatree`."""
        groups = self.open_groups_as_dict(
            filename_or_obj,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
            group=group,
            mode=mode,
            consolidated=consolidated,
            storage_options=storage_options,
            zarr_format=zarr_format,
            use_zarr_fill_value_as_mask=use_zarr_fill_value_as_mask,
        )
        return xr.DataTree.from_dict(groups)
