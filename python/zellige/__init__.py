"""Zellige reads and writes Zarr arrays, versions 2 and 3, at the speed of the machine.

>>> import zellige
>>> array = zellige.open_array("data.zarr")
>>> part = array[0:10, ..., -1]

Its names are those of zarr-python: ``import zellige as zarr`` carries common scripts.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from . import errors, storage
from ._core import build_info, version
from .api import (
    consolidate_metadata,
    group,
    load,
    open,
    open_array,
    open_consolidated,
    open_group,
    open_like,
    save,
    save_array,
    save_group,
    sweep,
    tree,
)
from .array import Array, read_many, write_many
from .config import ArrayConfig, config
from .copying import copy, copy_all, copy_store, from_array
from .create import create_array, create_group
from .errors import (
    CancelledError,
    CorruptError,
    ExistsError,
    IncompatibleError,
    LimitError,
    MetadataError,
    NoMemoryError,
    NotFoundError,
    RangeError,
    SelectionError,
    StoreError,
    UnsupportedError,
    UsageError,
    ZelligeError,
)
from .group import Group, consolidate
from .hierarchy import create_hierarchy
from .making import (
    array,
    create,
    empty,
    empty_like,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from .node import Attributes
from .report import print_debug_info
from .selection import Blocks, Outer, Points
from .store import LocalStore, MemoryStore, Promise, Store, StorePath
from .watching import progress

if TYPE_CHECKING:
    from . import codecs, ome
    from . import xarray as xarray
    from .pipeline import FallbackError as FallbackError
    from .pipeline import ZelligeCodecPipeline as ZelligeCodecPipeline
    from .pipeline import pipeline_stats as pipeline_stats
    from .waiting import read_each
    from .writer import Ticket, Writer

__version__ = version()

__all__ = [
    "Array",
    "ArrayConfig",
    "Attributes",
    "Blocks",
    "CancelledError",
    "CorruptError",
    "ExistsError",
    "Group",
    "IncompatibleError",
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
    "SelectionError",
    "Store",
    "StoreError",
    "StorePath",
    "Ticket",
    "UnsupportedError",
    "UsageError",
    "Writer",
    "ZelligeError",
    "__version__",
    "array",
    "build_info",
    "config",
    "codecs",
    "consolidate",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "errors",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "ome",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "print_debug_info",
    "progress",
    "read_each",
    "read_many",
    "save",
    "save_array",
    "save_group",
    "storage",
    "sweep",
    "tree",
    "write_many",
    "zeros",
    "zeros_like",
]


#: Where to find what is not imported before somebody asks for it.
_LATER = {
    "FallbackError": "pipeline",
    "Ticket": "writer",
    "Writer": "writer",
    "ZelligeCodecPipeline": "pipeline",
    "pipeline_stats": "pipeline",
    "read_each": "waiting",  # which brings asyncio
}


def _without_pipeline(error: Exception) -> Any:
    """What stands in where zarr-python is not as the codec pipeline knows it. zarr-python
    loads the class for everybody's first array, so it fails only where it is chosen."""

    def refuse(*unused: Any, **also_unused: Any) -> NoReturn:
        raise ImportError(f"zellige has no codec pipeline for this zarr: {error}") from error

    made = ("__init__", "from_codecs", "from_array_metadata_and_store")
    members = {"__module__": __name__, **dict.fromkeys(made, staticmethod(refuse))}
    return type("ZelligeCodecPipeline", (), members)


def _later(name: str) -> Any:
    if name in ("codecs", "ome", "xarray"):
        return import_module(f".{name}", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    except Exception as error:
        if name != "ZelligeCodecPipeline" or "zarr" not in sys.modules:
            raise
        return _without_pipeline(error)


if not TYPE_CHECKING:  # which would take any name then
    __getattr__ = _later
