"""Zellige reads and writes Zarr arrays, versions 2 and 3, at the speed of the machine.

>>> import zellige
>>> array = zellige.open_array("data.zarr")
>>> part = array[0:10, ..., -1]
"""

from __future__ import annotations

from typing import Any

from ._core import build_info, version
from .api import (
    create_array,
    create_group,
    load,
    open,
    open_array,
    open_group,
    save,
    sweep,
)
from .array import Array, read_many, write_many
from .copying import copy
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
from .group import Group, consolidate
from .node import Attributes
from .selection import Blocks, Outer, Points
from .store import LocalStore, MemoryStore, Promise, Store
from .watching import progress

__version__ = version()

#: The name that zarr-python has for it.
consolidate_metadata = consolidate

__all__ = [
    "Array",
    "Attributes",
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
    "Promise",
    "RangeError",
    "Store",
    "StoreError",
    "UnsupportedError",
    "UsageError",
    "ZelligeError",
    "__version__",
    "build_info",
    "consolidate",
    "consolidate_metadata",
    "copy",
    "create_array",
    "create_group",
    "load",
    "open",
    "open_array",
    "open_group",
    "progress",
    "read_many",
    "save",
    "sweep",
    "write_many",
]


def __getattr__(name: str) -> Any:
    """The pipeline of zarr-python, which is not imported before somebody asks for it."""
    if name not in ("ZelligeCodecPipeline", "pipeline_stats", "FallbackError"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import pipeline

    return getattr(pipeline, name)
