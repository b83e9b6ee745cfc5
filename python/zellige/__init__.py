"""Zellige reads and writes Zarr arrays, versions 2 and 3, at the speed of the machine.

>>> import zellige
>>> array = zellige.open_array("data.zarr")
>>> part = array[0:10, ..., -1]
"""

from __future__ import annotations

from ._core import build_info, version
from .api import create_array, create_group, load, open, open_array, open_group, save
from .array import Array, read_many
from .errors import (
    CancelledError,
    CorruptError,
    ExistsError,
    LimitError,
    MetadataError,
    NoMemoryError,
    NotFoundError,
    RangeError,
    StoreError,
    UnsupportedError,
    UsageError,
    ZelligeError,
)
from .group import Group
from .selection import Blocks, Outer, Points
from .store import LocalStore, MemoryStore, Store

__version__ = version()

__all__ = [
    "Array",
    "Blocks",
    "CancelledError",
    "CorruptError",
    "ExistsError",
    "Group",
    "LimitError",
    "LocalStore",
    "MemoryStore",
    "MetadataError",
    "NoMemoryError",
    "NotFoundError",
    "Outer",
    "Points",
    "RangeError",
    "Store",
    "StoreError",
    "UnsupportedError",
    "UsageError",
    "ZelligeError",
    "__version__",
    "build_info",
    "create_array",
    "create_group",
    "load",
    "open",
    "open_array",
    "open_group",
    "read_many",
    "save",
]
