"""The bytes of a mapping as a store: what `MemoryStore(store_dict)` reads and changes."""

from __future__ import annotations

from collections.abc import MutableMapping
from threading import Lock
from typing import Any

__all__ = ["Mapped", "in_levels"]

_ALWAYS, _IF_ABSENT, _IF_UNCHANGED = range(3)


def _memory(value: Any) -> Any:
    """What has the bytes of a value: also of a buffer of zarr-python."""
    if hasattr(value, "as_numpy_array"):
        value = value.as_numpy_array()
    return memoryview(value).cast("B") if memoryview(value).nbytes else b""


class Mapped:
    """A mapping as the binding calls a store; see python/core/mapping.c."""

    label = "memory"

    def __init__(self, mapping: MutableMapping[str, Any]) -> None:
        self.mapping = mapping
        self._lock = Lock()

    def open(self, key: str) -> tuple[Any, Any] | None:
        value = self.mapping.get(key)
        return None if value is None else (value, _memory(value))

    def change(self, key: str, data: bytes | None, condition: int, seen: Any) -> bool:
        with self._lock:
            there = self.mapping.get(key)
            if condition == _IF_ABSENT and there is not None:
                return False
            if condition == _IF_UNCHANGED and there is not seen:
                return False
            if data is None:
                self.mapping.pop(key, None)
            else:
                self.mapping[key] = self._value(data)
            return True

    def _value(self, data: bytes) -> Any:
        return data

    def names(self, prefix: str, delimited: int) -> list[tuple[str, bool, int]]:
        above = f"{prefix}/" if prefix else ""
        found: dict[str, tuple[str, bool, int]] = {}
        for key, value in list(self.mapping.items()):
            if not key.startswith(above):
                continue
            name = key[len(above) :]
            if delimited and "/" in name:
                name = name.partition("/")[0]
                found[f"{name}/"] = (name, True, 0)
            else:
                found[name] = (name, False, memoryview(_memory(value)).nbytes)
        return [found[name] for name in sorted(found, key=in_levels)]


def in_levels(name: str) -> list[bytes]:
    """Sorts what lies in a folder together, and each level by its bytes."""
    return [part.encode() for part in name.split("/")]
