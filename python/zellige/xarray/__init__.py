"""Zellige for xarray: reads with ``engine="zellige"``, writes with :func:`to_zarr`.

>>> import xarray as xr
>>> from zellige.xarray import to_zarr
>>> dataset = xr.open_dataset("data.zarr", engine="zellige", chunks={})
>>> to_zarr(dataset, "copy.zarr")

Only this package imports xarray, which takes the engine from the entry point
``xarray.backends``. zarr-python is not needed.
"""

from __future__ import annotations

from .backend import ZelligeBackendEntrypoint
from .datastore import ZelligeDataStore
from .writing import to_zarr

__all__ = ["ZelligeBackendEntrypoint", "ZelligeDataStore", "to_zarr"]
