"""The words that codecs take for a choice, as zarr-python has them: texts with a name."""

from __future__ import annotations

from enum import Enum

__all__ = [
    "BloscCname",
    "BloscShuffle",
    "Endian",
    "ShardingCodecIndexLocation",
    "SubchunkWriteOrder",
]


class BloscCname(str, Enum):
    """Compressors inside Blosc."""

    lz4 = "lz4"
    lz4hc = "lz4hc"
    blosclz = "blosclz"
    zstd = "zstd"
    snappy = "snappy"
    zlib = "zlib"


class BloscShuffle(str, Enum):
    """What Blosc does with bytes before it compresses them."""

    noshuffle = "noshuffle"
    shuffle = "shuffle"
    bitshuffle = "bitshuffle"

    @classmethod
    def from_int(cls, number: int) -> BloscShuffle:
        """The choice that numcodecs writes as a number."""
        return list(cls)[number]


class Endian(str, Enum):
    """Byte orders."""

    big = "big"
    little = "little"


class ShardingCodecIndexLocation(str, Enum):
    """Where the index of a shard lies."""

    start = "start"
    end = "end"


class SubchunkWriteOrder(str, Enum):
    """In which order inner chunks lie in a shard."""

    morton = "morton"
    unordered = "unordered"
    lexicographic = "lexicographic"
    colexicographic = "colexicographic"
