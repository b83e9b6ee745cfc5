"""JSON of documents: what Python has, as text for the library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["Document", "object_to_json", "to_json"]

_OPTIONAL = frozenset(("attributes", "consolidated_metadata", "dimension_names"))


class Document(dict[str, Any]):
    """A metadata document: a dictionary whose members can be had as attributes too."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name in _OPTIONAL:
            return None
        raise AttributeError(f"the document has no member {name!r}")

    def to_dict(self) -> dict[str, Any]:
        """A dictionary of its own."""
        return dict(self)


def _plain(value: Any) -> Any:
    """What json does not know: numbers and arrays of numbers of NumPy, other mappings."""
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} is no JSON")


def to_json(value: Any) -> str:
    """A value as JSON. NaN and Infinity stay as Python writes them: the library knows
    whether they were asked for."""
    return json.dumps(value, default=_plain)


def object_to_json(value: Mapping[str, Any] | None) -> str | None:
    """A mapping as a JSON object; None stays None."""
    if value is None:
        return None
    names = dict(value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a name of an attribute is a str, not {name!r}")
    return to_json(names)
