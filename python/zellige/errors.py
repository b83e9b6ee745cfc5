"""Exceptions: one class for each status of the library.

Every class is also the built-in exception that people expect, so that code written for
dictionaries, files or NumPy keeps working. ``kind`` is the word that the command line
prints, ``exit_code`` the one it exits with. The names of zarr-python stand for the classes
that are raised here in the same place.
"""

from __future__ import annotations

from typing import ClassVar

from . import _core

__all__ = [
    "CancelledError",
    "CorruptError",
    "ExistsError",
    "IncompatibleError",
    "LimitError",
    "MetadataError",
    "NoMemoryError",
    "NotFoundError",
    "RangeError",
    "SelectionError",
    "StoreError",
    "UnsupportedError",
    "UsageError",
    "ZelligeError",
]


class ZelligeError(Exception):
    """What every exception of the library is."""

    kind: ClassVar[str] = "unknown"
    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        # KeyError would quote the message, OSError put numbers before it.
        return " ".join(str(part) for part in self.args)


class NoMemoryError(ZelligeError, MemoryError):
    """Memory could not be had."""

    kind = "no_memory"


class UsageError(ZelligeError, ValueError):
    """An argument breaks the documented rules."""

    kind = "usage"


class SelectionError(UsageError, IndexError):
    """A key that selects nothing: of wrong types, or with two meanings."""


class RangeError(ZelligeError, IndexError):
    """A position outside the array."""

    kind = "range"


class UnsupportedError(ZelligeError, ValueError):
    """Well formed, but not known here, or refused."""

    kind = "unsupported"


class LimitError(ZelligeError, ValueError):
    """Obeying would pass a limit."""

    kind = "limit"


class NotFoundError(ZelligeError, KeyError, FileNotFoundError, ValueError):
    """No such key, node or attribute."""

    kind = "not_found"


class ExistsError(ZelligeError, FileExistsError, ValueError):
    """A node is already there."""

    kind = "exists"


class IncompatibleError(ExistsError, TypeError):
    """What is there is not what was required: of another kind, shape or type."""


class StoreError(ZelligeError, OSError):
    """The store failed."""

    kind = "io"


class MetadataError(ZelligeError, ValueError):
    """A document breaks a rule of the format."""

    kind = "metadata"


class CorruptError(ZelligeError, ValueError):
    """Stored bytes do not decode to what the documents say."""

    kind = "corrupt"


class CancelledError(ZelligeError, TimeoutError):
    """The deadline of a call passed."""

    kind = "cancelled"


def _by_status() -> dict[int, type[ZelligeError]]:
    """Pairs the classes with the table of the library."""
    classes = {cls.kind: cls for cls in ZelligeError.__subclasses__()}
    for _, kind, exit_code, _ in _core.STATUS:
        classes[kind].exit_code = exit_code
    return {number: classes[kind] for number, kind, _, _ in _core.STATUS}


_CLASSES = _by_status()


def from_status(status: int, message: str) -> ZelligeError:
    """The exception of a failed call; the binding raises it."""
    return _CLASSES.get(status, ZelligeError)(message)


# ---------------------------------------------------------------------- zarr-python's names

BaseZarrError = ZelligeError
NodeNotFoundError = ArrayNotFoundError = GroupNotFoundError = NotFoundError
ChunkNotFoundError = NotFoundError
ContainsArrayError = ContainsGroupError = ContainsArrayAndGroupError = ExistsError
MetadataValidationError = NodeTypeValidationError = MetadataError
DataTypeValidationError = UnknownCodecError = PickleCodecDisabledError = UnsupportedError
BoundsCheckError = RangeError
ArrayIndexError = NegativeStepError = VindexInvalidSelectionError = SelectionError


class ZarrUserWarning(UserWarning):
    """Something about the data that the caller may want to know."""


class ZarrRuntimeWarning(RuntimeWarning):
    """An argument that has no meaning here."""


class ZarrDeprecationWarning(DeprecationWarning):
    """Never given: for filters of warnings that name it."""


class ZarrFutureWarning(FutureWarning):
    """Never given: for filters of warnings that name it."""


class UnstableSpecificationWarning(ZarrFutureWarning):
    """Never given: for filters of warnings that name it."""
