"""Groups: folders of arrays and groups, as mappings from names to members."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from . import _core
from .array import Array
from .create import create_array, create_group
from .errors import MetadataError, NotFoundError, UsageError, ZelligeError
from .report import Report, lines
from .store import Store

__all__ = ["Group"]

_GROUP, _ARRAY = 1, 2


def _reopen(store: Store, path: str, zarr_format: int, read_only: bool) -> Group:
    return _core.open_group(Group, store, path, zarr_format, read_only)


class Group(_core.Group, Mapping[str, "Array | Group"]):
    """A group: ``group["a/b"]`` is a member, iteration gives the names of one level."""

    # ------------------------------------------------------------------ members

    def __getitem__(self, path: str) -> Array | Group:
        return _core.open_member(self, path.strip("/"), Array, Group)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._members(False))

    def __len__(self) -> int:
        return len(self._members(False))

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            return self._kind(path.strip("/")) != 0
        except MetadataError:
            return True  # it is there, though it cannot be opened
        except (NotFoundError, UsageError):
            return False

    def members(self, max_depth: int | None = 0) -> Iterator[tuple[str, Array | Group]]:
        """Paths and members, parents first; `max_depth` None walks all levels.

        A member that cannot be opened is left out with a warning: it must not hide the
        others. Its name is still among the keys, and opening it tells what is wrong.
        """
        for path, _ in self._members(max_depth != 0):
            if max_depth is not None and path.count("/") > max_depth:
                continue
            try:
                yield path, self[path]
            except ZelligeError as error:
                warnings.warn(f"member {path!r} is left out: {error}", stacklevel=2)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of members."""
        found = self._members(max_depth != 0)
        return sum(max_depth is None or path.count("/") <= max_depth for path, _ in found)

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Names and arrays of this level."""
        return ((name, node) for name, node in self.members() if isinstance(node, Array))

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Names and groups of this level."""
        return ((name, node) for name, node in self.members() if isinstance(node, Group))

    def tree(self) -> Report:
        """All levels, drawn as a tree."""
        root: dict[str, Any] = {}
        for path, _ in self._members(True):
            level = root
            for name in path.split("/"):
                level = level.setdefault(name, {})
        return Report("\n".join([self.name, *self._branches(root, "", "")]))

    def _branches(self, level: dict[str, Any], above: str, indent: str) -> Iterator[str]:
        for i, (name, below) in enumerate(level.items()):
            path = f"{above}{name}"
            last = i == len(level) - 1
            yield f"{indent}{'└── ' if last else '├── '}{name}{self._remark(path)}"
            yield from self._branches(
                below, path + "/", indent + ("    " if last else "│   ")
            )

    def _remark(self, path: str) -> str:
        try:
            node = self[path]
        except ZelligeError as error:
            return f" ({error.kind})"
        return f" {node.shape} {node.dtype}" if isinstance(node, Array) else ""

    # ------------------------------------------------------------------ creating

    def _below(self, name: str) -> str:
        name = name.strip("/")
        if not name:
            raise UsageError("a member needs a name")
        if self.read_only:
            raise UsageError('the group was opened for reading only: use mode="r+"')
        return f"{self.path}/{name}" if self.path else name

    def create_array(self, name: str, **keywords: Any) -> Array:
        """Makes an array below the group; see :func:`zellige.create_array`."""
        keywords.setdefault("zarr_format", self.zarr_format)
        return create_array(self.store, path=self._below(name), **keywords)

    def create_group(
        self,
        name: str,
        *,
        attributes: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> Group:
        """Makes a group below this one."""
        return create_group(
            self.store,
            path=self._below(name),
            zarr_format=self.zarr_format,
            attributes=attributes,
            overwrite=overwrite,
        )

    # ------------------------------------------------------------------ facts

    @cached_property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes. To change them, create the group anew."""
        return MappingProxyType(json.loads(self._attributes()))

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata document (version 2: ``.zgroup`` with the attributes added)."""
        document: dict[str, Any] = json.loads(self._metadata())
        return document

    @property
    def name(self) -> str:
        """The path with a slash before it."""
        return "/" + self.path

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def store_path(self) -> str:
        """Store and path in one text."""
        return f"{self.store.root or 'memory:'}/{self.path}".rstrip("/")

    @property
    def info(self) -> Report:
        """A report for people."""
        kinds = [kind for _, kind in self._members(False)]
        return lines(
            [
                ("type", "group"),
                ("store", self.store.root or "memory"),
                ("path", self.name),
                ("zarr format", self.zarr_format),
                ("consolidated", self.is_consolidated),
                ("read only", self.read_only),
                ("arrays", kinds.count(_ARRAY)),
                ("groups", kinds.count(_GROUP)),
                ("attributes", len(self.attrs)),
            ]
        )

    def __repr__(self) -> str:
        return f"<zellige.Group {self.store_path}>"

    def _place(self) -> tuple[Any, ...]:
        return self.store.root or id(self.store), self.path, self.zarr_format

    def __eq__(self, other: object) -> bool:
        return (
            self._place() == other._place() if isinstance(other, Group) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(self._place())

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.store, self.path, self.zarr_format, self.read_only)
