"""Many nodes at once, from their metadata documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import _core
from .array import Array
from .create import create_group
from .document import object_to_json, to_json
from .errors import UsageError
from .group import Group
from .layout import key_encoding
from .store import Store, StoreLike, open_place

__all__ = ["create_hierarchy"]


def _document_of(node: Any) -> Mapping[str, Any]:
    """The document of a node: also of an object of zarr-python, or of an array or group."""
    if isinstance(node, (Array, Group)):
        node = node.metadata
    elif hasattr(node, "to_dict"):
        node = node.to_dict()
    if not isinstance(node, Mapping) or node.get("zarr_format") not in (2, 3):
        raise UsageError(f"{node!r} is no metadata document")
    return node


def _is_group(document: Mapping[str, Any]) -> bool:
    if document["zarr_format"] == 3:
        return bool(document.get("node_type") == "group")
    return "shape" not in document


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) else to_json(value)


def _settings_v2(document: Mapping[str, Any]) -> dict[str, Any]:
    codecs = {name: document.get(name) for name in ("filters", "compressor")}
    return {
        "object_shape": tuple(document["chunks"]),
        "data_type": _text(document["dtype"]),
        "fill_value": to_json(document.get("fill_value")),
        "codecs": to_json(codecs),
        "separator": document.get("dimension_separator"),
        "order": document.get("order"),
    }


def _settings_v3(document: Mapping[str, Any]) -> dict[str, Any]:
    names = document.get("dimension_names")
    return {
        "data_type": _text(document["data_type"]),
        "fill_value": to_json(document["fill_value"]),
        "codecs": to_json(document["codecs"]),
        "chunk_grid": to_json(document["chunk_grid"]),
        "chunk_key_encoding": object_to_json(
            key_encoding(document.get("chunk_key_encoding"))
        ),
        "dimension_names": None if names is None else tuple(names),
    }


_NOTHING: dict[str, Any] = {
    "object_shape": None,
    "chunk_shape": None,
    "dimension_names": None,
    "index_location": None,
    "chunk_grid": None,
    "chunk_key_encoding": None,
    "separator": None,
    "order": None,
    "exist_ok": False,
    "like": None,
    "target_chunk_bytes": 0,
    "target_shard_bytes": 0,
    "promise": None,
    "keep_empty": False,
}


def _make(
    store: Store,
    path: str,
    document: Mapping[str, Any],
    overwrite: bool,
    python_tokens: bool,
) -> Any:
    attributes = document.get("attributes") or {}
    version = document["zarr_format"]
    if _is_group(document):
        return create_group(
            store,
            path=path,
            attributes=attributes,
            zarr_format=version,
            overwrite=overwrite,
            exist_ok=not overwrite,
            python_tokens=python_tokens,
        )
    settings = _settings_v2(document) if version == 2 else _settings_v3(document)
    return _core.create_array(
        Array,
        store,
        path,
        **{
            **_NOTHING,
            **settings,
            "zarr_format": version,
            "shape": tuple(document["shape"]),
            "attributes": object_to_json(attributes),
            "overwrite": overwrite,
            "python_tokens": python_tokens,
        },
    )


def create_hierarchy(
    *,
    store: StoreLike,
    nodes: Mapping[str, Any],
    overwrite: bool = False,
    python_tokens: bool = False,
) -> Iterator[tuple[str, Array | Group]]:
    """Makes many nodes: `nodes` are their paths and metadata documents, which may be
    dictionaries, objects of zarr-python, or `metadata` of arrays and groups. Gives the paths
    and nodes as they are made, parents first; groups that are missing above them are made
    too. `overwrite` removes what is at a path that is named; `python_tokens` takes NaN and
    Infinity in attributes.
    """
    opened, above = open_place(store, "", "a")
    documents = {path.strip("/"): _document_of(node) for path, node in nodes.items()}
    for path in sorted(documents, key=lambda path: (path.count("/") if path else -1, path)):
        place = "/".join(filter(None, (above, path)))
        yield path, _make(opened, place, documents[path], overwrite, python_tokens)
