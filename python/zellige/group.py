"""Groups: folders of arrays and groups, as mappings from names to members."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, overload

import numpy as np

from . import _core, making
from .apart import apart_if, on_main_thread
from .array import Array
from .create import create_array, create_group
from .dtype import memory_dtype, told_dtype
from .errors import (
    ExistsError,
    IncompatibleError,
    MetadataError,
    NotFoundError,
    UsageError,
    ZarrUserWarning,
    ZelligeError,
)
from .layout import shape_of
from .node import Node
from .report import Report, lines
from .store import Promise, Store, StoreLike, open_place

__all__ = ["Group", "consolidate"]

_Default = TypeVar("_Default")

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


def _nested(paths: list[str]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for path in paths:
        level = root
        for name in path.split("/"):
            level = level.setdefault(name, {})
    return root


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

    @overload
    def get(self, path: str, default: None = None) -> Array | Group | None: ...
    @overload
    def get(
        self, path: str, default: Array | Group | _Default
    ) -> Array | Group | _Default: ...
    def get(self, path: str, default: Any = None) -> Any:
        """A member, or `default` where there is none."""
        try:
            return self[path]
        except NotFoundError:
            return default

    def get_array(self, path: str) -> Array:
        """A member that is an array; NotFoundError or IncompatibleError."""
        member = self[path]
        if not isinstance(member, Array):
            raise IncompatibleError(f"{member.name} is a group, not an array")
        return member

    def get_group(self, path: str) -> Group:
        """A member that is a group; NotFoundError or IncompatibleError."""
        member = self[path]
        if not isinstance(member, Group):
            raise IncompatibleError(f"{member.name} is an array, not a group")
        return member

    def _within(self, max_depth: int | None) -> list[tuple[str, int]]:
        """Paths and kinds of members down to a depth."""
        return [
            (path, kind)
            for path, kind in self._members(max_depth != 0)
            if max_depth is None or path.count("/") <= max_depth
        ]

    def _opened(self, max_depth: int | None, kind: int = 0) -> Iterator[tuple[str, Any]]:
        for path, found in self._within(max_depth):
            if kind not in (0, found):
                continue
            try:
                yield path, self[path]
            except ZelligeError as error:
                warnings.warn(
                    f"member {path!r} is left out: {error}", ZarrUserWarning, stacklevel=3
                )

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """Paths and members, parents first; `max_depth` None walks all levels.

        A member that cannot be opened is left out with a warning: it must not hide the
        others. Its name is still among the keys, and opening it tells what is wrong.
        """
        if not use_consolidated_for_children and self.is_consolidated:
            fresh = self._fresh()
            return fresh.members(max_depth)
        return tuple(self._opened(max_depth))

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of members."""
        return len(self._within(max_depth))

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Names and arrays of this level."""
        return self._opened(0, _ARRAY)

    def array_keys(self) -> Iterator[str]:
        """Names of the arrays of this level."""
        return (name for name, kind in self._members(False) if kind == _ARRAY)

    def array_values(self) -> Iterator[Array]:
        """Arrays of this level."""
        return (array for _, array in self.arrays())

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Names and groups of this level."""
        return self._opened(0, _GROUP)

    def group_keys(self) -> Iterator[str]:
        """Names of the groups of this level."""
        return (name for name, kind in self._members(False) if kind == _GROUP)

    def group_values(self) -> Iterator[Group]:
        """Groups of this level."""
        return (group for _, group in self.groups())

    def tree(
        self,
        expand: bool | None = None,
        level: int | None = None,
        *,
        max_nodes: int = 500,
        plain: bool = False,
    ) -> Report:
        """The levels down to `level`, drawn as a tree of no more than `max_nodes`. `expand`
        and `plain` have no meaning here: nothing is folded or coloured."""
        from .notebook import Tree

        found = [path for path, _ in self._within(level)]
        lines = [self.name, *self._branches(_nested(found[:max_nodes]), "", "")]
        if len(found) > max_nodes:
            lines.append(f"... and {len(found) - max_nodes} more: see max_nodes")
        tree = Tree("\n".join(lines))
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
        """Makes an array below the group; see :func:`zellige.create_array`. `compressor` is
        one of `compressors`."""
        if "compressor" in keywords:
            keywords["compressors"] = keywords.pop("compressor")
        keywords.setdefault("promise", self.promise)
        if keywords.get("config") is None:
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

    def create(self, name: str, **keywords: Any) -> Array:
        """The same as :func:`create_array`."""
        return self.create_array(name, **keywords)

    def require_array(
        self,
        name: str,
        *,
        shape: Any,
        dtype: Any = None,
        exact: bool = False,
        **keywords: Any,
    ) -> Array:
        """The array of that name, made if it is missing. IncompatibleError where something
        else is there: another shape, or a type that cannot be cast to this one without
        loss; with `exact`, another type."""
        dtype = np.float64 if dtype is None else told_dtype(dtype)
        try:
            return self.create_array(
                name, exist_ok=True, shape=shape, dtype=dtype, **keywords
            )
        except ExistsError as error:
            there = self.get(name)
            if isinstance(there, Array) and there.shape == shape_of(shape):
                wanted = memory_dtype(dtype)
                if not exact and wanted is not None and np.can_cast(there.dtype, wanted):
                    return there
            raise IncompatibleError(str(error)) from None

    def require_group(self, name: str, overwrite: bool = False, **keywords: Any) -> Group:
        """The group of that name, made if it is missing."""
        return self.create_group(
            name, overwrite=overwrite, exist_ok=not overwrite, **keywords
        )

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """The groups of these names, made where they are missing."""
        return tuple(self.require_group(name) for name in names)

    def create_hierarchy(
        self,
        nodes: Mapping[str, Any],
        *,
        overwrite: bool = False,
        python_tokens: bool = False,
    ) -> Iterator[tuple[str, Array | Group]]:
        """Makes many nodes; see :func:`zellige.create_hierarchy`."""
        from .hierarchy import create_hierarchy

        self._writable()
        yield from create_hierarchy(
            store=self.store_path,
            nodes=nodes,
            overwrite=overwrite,
            python_tokens=python_tokens,
        )
        self._changed()

    def __setitem__(self, name: str, value: Any) -> None:
        """Makes an array of the value, in the place of what is there."""
        self.create_array(name, data=value, overwrite=True)

    # ------------------------------------------------------------------ like NumPy's

    def empty(self, *, name: str, shape: Any, **keywords: Any) -> Array:
        """Makes an array of a shape; see :func:`zellige.empty`."""
        return self._make(making.empty, name, shape, keywords)

    def zeros(self, *, name: str, shape: Any, **keywords: Any) -> Array:
        """Makes an array of zeros."""
        return self._make(making.zeros, name, shape, keywords)

    def ones(self, *, name: str, shape: Any, **keywords: Any) -> Array:
        """Makes an array of ones."""
        return self._make(making.ones, name, shape, keywords)

    def full(self, *, name: str, shape: Any, fill_value: Any, **keywords: Any) -> Array:
        """Makes an array of one value."""
        keywords["fill_value"] = fill_value
        return self._make(making.create, name, shape, keywords)

    def empty_like(self, *, name: str, data: Any, **keywords: Any) -> Array:
        """Makes an array like another; see :func:`zellige.empty_like`."""
        return self._make(making.empty_like, name, data, keywords)

    def zeros_like(self, *, name: str, data: Any, **keywords: Any) -> Array:
        """Makes an array of zeros like another."""
        return self._make(making.zeros_like, name, data, keywords)

    def ones_like(self, *, name: str, data: Any, **keywords: Any) -> Array:
        """Makes an array of ones like another."""
        return self._make(making.ones_like, name, data, keywords)

    def full_like(self, *, name: str, data: Any, **keywords: Any) -> Array:
        """Makes an array of one value like another."""
        return self._make(making.full_like, name, data, keywords)

    def _make(self, make: Any, name: str, source: Any, keywords: dict[str, Any]) -> Array:
        keywords.setdefault("zarr_format", self.zarr_format)
        keywords.setdefault("promise", self.promise)
        array: Array = make(source, store=self.store, path=self._below(name), **keywords)
        array._consolidated_in = self._origin
        self._changed()
        return array

    # ------------------------------------------------------------------ other changes

    def __delitem__(self, path: str) -> None:
        """Removes a member and all that lies below it."""
        _core.delete_node(self.store, self._below(path))
        self._changed()

    def move(self, source: str, dest: str) -> None:
        """Gives a member another path in the group, with all that lies below it, in one
        step. Nothing may be there yet."""
        _core.move_node(self.store, self._below(source), self._below(dest))
        self._changed()

    def consolidate(
        self, *, promise: Promise | None = None, python_tokens: bool = False
    ) -> None:
        """Puts a copy of the documents of all members into the document of the group, from
        which it answers then; or puts them there anew. NaN and Infinity in them are no JSON:
        refused, unless `python_tokens` asks for them or that document has some already."""
        self._writable()
        _consolidate(self.store, self.path, promise or self.promise, python_tokens)
        self._reopen(True)
        self._forget()

    def refresh(self) -> None:
        """Takes the document, and consolidated metadata, as they are stored now."""
        self._reopen(self.is_consolidated)
        self._forget()

    # ------------------------------------------------------------------ facts

    def _fresh(self) -> Group:
        """The group without its consolidated metadata."""
        ways = self.read_only, False, self.promise, self.keep_empty
        return _reopen(self.store, self.path, self.zarr_format, *ways)

    def _report(self, max_depth: int | None) -> Report:
        kinds = [kind for _, kind in self._within(max_depth)]
        return lines(
            [
                ("type", "group"),
                ("store", self.store.root or self.store.label),
                ("path", self.name),
                ("zarr format", self.zarr_format),
                ("consolidated", self.is_consolidated),
                ("read only", self.read_only),
                ("arrays", kinds.count(_ARRAY)),
                ("groups", kinds.count(_GROUP)),
                ("attributes", len(self.attrs)),
            ]
        )

    @property
    def info(self) -> Report:
        """A report for people."""
        return self._report(0)

    def info_complete(self) -> Report:
        """The same with the members of all levels."""
        return self._report(None)

    @staticmethod
    def open(store: StoreLike, zarr_format: int | None = None, **keywords: Any) -> Group:
        """Opens a group that is there; see :func:`zellige.open_group`."""
        from .api import open_group

        return open_group(store, "r+", zarr_format=zarr_format, **keywords)

    @staticmethod
    def from_store(
        store: StoreLike,
        *,
        attributes: dict[str, Any] | None = None,
        zarr_format: int = 3,
        overwrite: bool = False,
    ) -> Group:
        """Makes a group; see :func:`zellige.create_group`."""
        return create_group(
            store, attributes=attributes, zarr_format=zarr_format, overwrite=overwrite
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


def _consolidate(
    store: Store, path: str, promise: Promise | None, python_tokens: bool
) -> None:
    """Apart, since documents of many members take long to put together."""
    apart_if(
        on_main_thread(),
        lambda cancel: _core.consolidate(store, path, promise, python_tokens, cancel),
    )


def consolidate(
    store: StoreLike,
    path: str = "",
    *,
    promise: Promise | None = None,
    python_tokens: bool = False,
) -> Group:
    """Writes the consolidated metadata of a group, or writes them anew; returns it.
    `python_tokens` as in :meth:`Group.consolidate`."""
    opened, path = open_place(store, path, "r+")
    _consolidate(opened, path, promise, python_tokens)
    return _core.open_group(Group, opened, path, 0, False, True, promise, False)
