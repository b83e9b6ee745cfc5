"""What arrays and groups have in common: a place in a store, a document, attributes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from . import _core
from .config import ArrayConfig, ArrayConfigLike, array_config
from .document import Document, object_to_json
from .errors import ZelligeError
from .store import Promise, StorePath

if TYPE_CHECKING:
    from .group import Group

__all__ = ["Attributes", "Node"]


class Attributes(MutableMapping[str, Any]):
    """The attributes of a node, as they were when it was opened and as they are changed here.

    Each change is made at once to the document that is stored, and touches no other part of
    it: attributes that others set meanwhile stay. What is inside a value is not watched:
    ``attrs["list"].append(1)`` changes nothing that is stored.
    """

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getitem__(self, name: str) -> Any:
        return self._node._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._node._values)

    def __len__(self) -> int:
        return len(self._node._values)

    def __setitem__(self, name: str, value: Any) -> None:
        self._node.update_attributes({name: value})

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._node.update_attributes(remove=(name,))

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Sets several, in one atomic change."""
        self._node.update_attributes({**dict(other), **named})

    def put(self, values: Mapping[str, Any]) -> None:
        """Sets these and removes all others, in one atomic change."""
        self._node.update_attributes(values, replace=True)

    def clear(self) -> None:
        """Removes all, in one atomic change."""
        self.put({})

    def asdict(self) -> dict[str, Any]:
        """All of them as a dictionary of its own."""
        return dict(self._node._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._node._values!r})"


class Node(_core.Node):
    """An array or a group."""

    #: The group in whose consolidated metadata this node was found, if it may be changed.
    _consolidated_in: Group | None = None

    # ------------------------------------------------------------------ documents

    @cached_property
    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self._attributes())
        return values

    @cached_property
    def metadata(self) -> Document:
        """The metadata document. That of version 2 (``.zarray``, ``.zgroup``) has the
        attributes added."""
        document = Document(json.loads(self._metadata()))
        if self._values or "attributes" in document:
            document["attributes"] = self._values
        return document

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping that can be changed."""
        return Attributes(self)

    def update_attributes(
        self,
        new_attributes: Mapping[str, Any] | None = None,
        *,
        remove: Iterable[str] = (),
        replace: bool = False,
        python_tokens: bool = False,
        promise: Promise | None = None,
    ) -> Self:
        """Removes attributes and sets others, in one atomic change; see :attr:`attrs`.
        Returns the node itself.

        `replace` removes all that are not given. NaN and Infinity are no JSON and are
        refused, unless `python_tokens` asks for them: Python reads them, others may not.
        """
        names = tuple(remove)
        text = object_to_json(new_attributes)
        removed = tuple(name.encode("utf-8", "surrogatepass") for name in names)
        _core.set_attributes(self, text, removed, replace, python_tokens, promise)
        kept = {} if replace else self._values
        kept = {name: value for name, value in kept.items() if name not in names}
        if text is not None:
            kept.update(json.loads(text))
        self.__dict__["_values"] = kept
        self.__dict__.pop("metadata", None)
        self._changed()
        return self

    def _forget(self) -> None:
        """What was read of the documents before they changed."""
        for name in ("_values", "metadata"):
            self.__dict__.pop(name, None)

    @property
    def _origin(self) -> Group | None:
        """The group whose consolidated metadata are to show a change of this node."""
        return self._consolidated_in

    def _changed(self) -> None:
        """Keeps consolidated metadata true that this node was found in."""
        origin = self._origin
        if origin is None:
            return
        try:
            origin.consolidate(python_tokens=True)  # whoever wrote them asked for them
        except ZelligeError as error:
            error.add_note("The change is made; consolidated metadata do not show it.")
            raise

    # ------------------------------------------------------------------ place

    @property
    def name(self) -> str:
        """The path with a slash before it."""
        return "/" + self.path

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def store_path(self) -> StorePath:
        """Store and path in one text, which can be opened."""
        return StorePath(self.store, self.path)

    # ------------------------------------------------------------------ use

    @property
    def config(self) -> ArrayConfig:
        """How it is used, which is stored nowhere."""
        return ArrayConfig(self._order, self.keep_empty, not self.missing_is_error)

    def with_config(self, config: ArrayConfigLike) -> Self:
        """The same node, used in another way: ``{"write_empty_chunks": True}``. What is
        left out is as it is set for the process."""
        use = array_config(config)
        other = self._with_ways(use.write_empty_chunks, not use.read_missing_chunks)
        other._consolidated_in = self._consolidated_in
        return other

    @property
    def _order(self) -> str:
        order: str = self.metadata.get("order", "C")
        return order

    def _place(self) -> tuple[Any, ...]:
        return self.store.root or id(self.store), self.path, self.zarr_format

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._place() == other._place()

    def __hash__(self) -> int:
        return hash(self._place())
