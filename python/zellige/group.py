"""Groups: folders of arrays and groups, as mappings from names to members."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from . import _core
from .array import Array
from .create import create_array, create_group
from .errors import MetadataError, NotFoundError, UsageError, ZelligeError
from .node import Node
from .report import Report, lines
from .store import Promise, Store, StoreLike, open_store

__all__ = ["Group", "consolidate"]

_GROUP, _ARRAY = 1, 2


def _reopen(
    store: Store,
    path: str,
    zarr_format: int,
    read_only: bool,
    use_consolidated: bool,
    promise: Promise,
    keep_empty: bool,
) -> Group:
    return _core.open_group(
        Group,
        store,
        path,
        zarr_format,
        read_only,
        use_consolidated,
        promise,
        keep_empty,
    )


class Group(_core.Group, Node, Mapping[str, "Array | Group"]):
    """A group: ``group["a/b"]`` is a member, iteration gives the names of one level.

    Members are as the group was opened: for reading only, with its promise. What is changed
    through a group that answers from consolidated metadata, or through a member of it, is
    changed there too, which walks all that lies below: for many changes open the group with
    ``use_consolidated=False`` and consolidate at the end.
    """

    # ------------------------------------------------------------------ members

    def __getitem__(self, path: str) -> Array | Group:
        member = _core.open_member(self, path.strip("/"), Array, Group)
        if not self.read_only:
            member._consolidated_in = self._origin
        return member

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
        from .notebook import Tree

        root: dict[str, Any] = {}
        for path, _ in self._members(True):
            level = root
            for name in path.split("/"):
                level = level.setdefault(name, {})
        tree = Tree("\n".join([self.name, *self._branches(root, "", "")]))
        tree.group = self
        return tree

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

    # ------------------------------------------------------------------ changing

    @property
    def _origin(self) -> Group | None:
        if self._consolidated_in is not None:
            return self._consolidated_in
        return self if self.is_consolidated else None

    def _changed(self) -> None:
        super()._changed()
        if self._consolidated_in is not None:
            self._reopen(False)

    def _writable(self) -> None:
        if self.read_only:
            raise UsageError('the group was opened for reading only: use mode="r+"')

    def _below(self, name: str) -> str:
        name = name.strip("/")
        if not name:
            raise UsageError("a member needs a name")
        self._writable()
        return f"{self.path}/{name}" if self.path else name

    def create_array(self, name: str, **keywords: Any) -> Array:
        """Makes an array below the group; see :func:`zellige.create_array`."""
        keywords.setdefault("promise", self.promise)
        keywords.setdefault("keep_empty", self.keep_empty)
        if keywords.get("like") is None:
            keywords.setdefault("zarr_format", self.zarr_format)
        array = create_array(self.store, path=self._below(name), **keywords)
        array._consolidated_in = self._origin
        self._changed()
        return array

    def create_group(self, name: str, **keywords: Any) -> Group:
        """Makes a group below this one; see :func:`zellige.create_group`."""
        keywords.setdefault("promise", self.promise)
        keywords.setdefault("keep_empty", self.keep_empty)
        keywords.setdefault("zarr_format", self.zarr_format)
        group = create_group(self.store, path=self._below(name), **keywords)
        group._consolidated_in = self._origin
        self._changed()
        return group

    def require_array(self, name: str, **keywords: Any) -> Array:
        """The array of that name, made if it is missing; ExistsError where something of
        another shape or type is there."""
        return self.create_array(name, exist_ok=True, **keywords)

    def require_group(self, name: str, **keywords: Any) -> Group:
        """The group of that name, made if it is missing."""
        return self.create_group(name, exist_ok=True, **keywords)

    def __delitem__(self, path: str) -> None:
        """Removes a member and all that lies below it."""
        _core.delete_node(self.store, self._below(path))
        self._changed()

    def move(self, source: str, destination: str) -> None:
        """Gives a member another path in the group, with all that lies below it, in one
        step. Nothing may be there yet."""
        _core.move_node(self.store, self._below(source), self._below(destination))
        self._changed()

    def consolidate(self, *, promise: Promise | None = None) -> None:
        """Puts a copy of the documents of all members into the document of the group, from
        which it answers then; or puts them there anew."""
        self._writable()
        _core.consolidate(self.store, self.path, promise or self.promise)
        self._reopen(True)
        self._forget()

    def refresh(self) -> None:
        """Takes the document, and consolidated metadata, as they are stored now."""
        self._reopen(self.is_consolidated)
        self._forget()

    # ------------------------------------------------------------------ facts

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

    def _repr_html_(self) -> str:
        from .notebook import group_html

        return group_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        place = self.store, self.path, self.zarr_format
        ways = self.read_only, self.is_consolidated, self.promise, self.keep_empty
        return _reopen, (*place, *ways)


def consolidate(
    store: StoreLike, path: str = "", *, promise: Promise | None = None
) -> Group:
    """Writes the consolidated metadata of a group, or writes them anew; returns it."""
    opened = open_store(store, "r+")
    path = path.strip("/")
    _core.consolidate(opened, path, promise)
    return _core.open_group(Group, opened, path, 0, False, True, promise, False)
