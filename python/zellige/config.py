"""Settings of the process, by the names that zarr-python gives them.

>>> zellige.config.set({"array.write_empty_chunks": True})
>>> with zellige.config.set({"threading.max_workers": 2}):
...     array[...]

What zarr-python knows and has no meaning here is kept and never looked at; a name that
neither knows is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from . import _core
from .errors import UsageError

__all__ = [
    "ArrayConfig",
    "ArrayConfigLike",
    "Config",
    "ConfigSet",
    "array_config",
    "config",
]

#: Key, default, what it says.
_KEYS: tuple[tuple[str, Any, str], ...] = (
    ("default_zarr_format", 3, "version of what is made: 2 or 3"),
    ("array.order", "C", "order of elements in chunks of version 2: C or F"),
    ("array.write_empty_chunks", False, "chunks of only the fill value are stored too"),
    ("array.read_missing_chunks", True, "what is not stored reads as the fill value"),
    ("array.target_shard_size_bytes", None, 'bytes of a shard where shards="auto"'),
    ("threading.max_workers", None, "most threads of one call; None: one for each core"),
    ("engine.threads", 0, "threads of the engine; 0: one for each core"),
    ("engine.memory_budget", 0, "bytes that pieces in flight may take; 0: 1 GiB"),
    ("engine.index_cache", 0, "bytes for shard indexes; 0: 16 MiB, -1: none"),
    ("engine.chunk_cache", 0, "bytes for decoded chunks; 0: none"),
    *(
        (f"engine.limits.{name}", default, f"{unit}: {meaning}")
        for name, default, unit, meaning in _core.LIMITS
    ),
)
_DEFAULTS = {key: default for key, default, _ in _KEYS}
_OTHERS = (
    "array",
    "async",
    "buffer",
    "codec_pipeline",
    "codecs",
    "json_indent",
    "ndbuffer",
)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "default_zarr_format": lambda value: value in (2, 3),
    "array.order": lambda value: value in ("C", "F"),
    "array.write_empty_chunks": lambda value: isinstance(value, bool),
    "array.read_missing_chunks": lambda value: isinstance(value, bool),
    "array.target_shard_size_bytes": lambda value: value is None or _is_size(value),
    "threading.max_workers": lambda value: value is None or (_is_size(value) and value > 0),
    "engine.index_cache": lambda value: value == -1 or _is_size(value),
}


def _check(key: str, value: Any) -> None:
    if key in _DEFAULTS:
        good = _CHECKS.get(key, _is_size)(value)
        if not good:
            raise UsageError(f"{key} cannot be {value!r}")
    elif key.partition(".")[0] not in _OTHERS:
        raise UsageError(f"there is no setting {key!r}: see zellige.config.pprint()")


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Keys joined by dots, of mappings within mappings."""
    for name, value in values.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


@dataclass(frozen=True)
class ArrayConfig:
    """How an array is used, which is stored nowhere."""

    order: str = "C"
    write_empty_chunks: bool = False
    read_missing_chunks: bool = True

    def keys(self) -> tuple[str, ...]:
        """The names of the settings, so that it goes wherever a dictionary does."""
        return "order", "write_empty_chunks", "read_missing_chunks"

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """The settings by their names."""
        return asdict(self)


class ConfigSet:
    """What was set: as a context manager it takes it back at the end."""

    def __init__(self, owner: Config, before: dict[str, Any]) -> None:
        self._owner = owner
        self._before = before

    def __enter__(self) -> Config:
        return self._owner

    def __exit__(self, *unused: object) -> Literal[False]:
        self._owner._put(self._before)
        return False


class Config:
    """The settings as they are; see :func:`pprint`.

    `array` and `default_zarr_format` hold for what is opened or made afterwards, and
    `threading.max_workers` at once. `engine` holds for stores that are opened afterwards:
    arrays of stores from before and after do not go into one `read_many`.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = dict(_DEFAULTS)
        self.of_arrays = ArrayConfig()  # made once: opening an array has no time for it

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or a dictionary of all that is below it; KeyError without
        either and without a default."""
        if key in self._values:
            return self._values[key]
        below = {
            name[len(key) + 1 :]: value
            for name, value in self._values.items()
            if name.startswith(f"{key}.")
        }
        if not below and default is None:
            raise KeyError(f"nothing is set for {key!r}")
        return below or default

    def set(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> ConfigSet:
        """Sets keys: ``{"array.order": "F"}`` or ``array__order="F"``. As the target of
        ``with`` it takes them back at the end."""
        changes = dict(_flat(values or {}))
        changes.update(_flat({name.replace("__", "."): v for name, v in named.items()}))
        for key, value in changes.items():
            _check(key, value)
        before = dict(self._values)
        self._put({**before, **changes})
        return ConfigSet(self, before)

    def _put(self, values: dict[str, Any]) -> None:
        changed = {
            key for key in values | self._values if values.get(key) != self._values.get(key)
        }
        if any(key.startswith("engine.") for key in changed):
            _core.set_context(
                values["engine.threads"],
                values["engine.memory_budget"],
                values["engine.index_cache"],
                values["engine.chunk_cache"],
                {name: values[f"engine.limits.{name}"] for name, *_ in _core.LIMITS},
            )
        if "threading.max_workers" in changed:
            _core.set_threads(values["threading.max_workers"] or 0)
        self._values = dict(values)
        names = self.of_arrays.keys()
        self.of_arrays = ArrayConfig(**{name: values[f"array.{name}"] for name in names})

    def update(self, values: Mapping[str, Any]) -> None:
        """Sets keys for good."""
        self.set(values)

    def reset(self) -> None:
        """Sets everything to its default."""
        self._put(dict(_DEFAULTS))

    def to_dict(self) -> dict[str, Any]:
        """All keys and their values."""
        return dict(self._values)

    def pprint(self) -> None:
        """Prints the keys that mean something here, their values, and what they say."""
        for key, _, meaning in _KEYS:
            print(f"{key:<32} {self._values[key]!r:<12} {meaning}")


#: The settings of this process.
config = Config()


# ---------------------------------------------------------------------- of one array


ArrayConfigLike = ArrayConfig | Mapping[str, Any] | None
_IGNORED = ("sharding_coalesce_max_gap_bytes", "sharding_coalesce_max_bytes")


def array_config(value: Any = None) -> ArrayConfig:
    """What is left out is as it is set for the process."""
    if value is None or isinstance(value, ArrayConfig):
        return config.of_arrays if value is None else value
    given = dict(value.to_dict() if hasattr(value, "to_dict") else value or {})
    names = config.of_arrays.keys()
    unknown = given.keys() - {*names, *_IGNORED}
    if unknown:
        raise TypeError(f"an array has no setting {sorted(unknown)[0]!r}")
    found = {name: given.get(name, config.of_arrays[name]) for name in names}
    for name, setting in found.items():
        _check(f"array.{name}", setting)
    return ArrayConfig(**found)
