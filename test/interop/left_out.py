"""What a peer cannot do, and why. Cases that match are not tried; they are counted and
shown at the end of a run. One case of each rule is tried, and has to fail, so that no rule
outlives its reason."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

READS, WRITES, UPDATES = "reads", "writes", "updates"
ALL = READS, WRITES, UPDATES


@dataclass(frozen=True)
class Rule:
    """Cases whose four parts each match one of the patterns."""

    reason: str
    formats: str = "*"
    types: str = "*"
    layouts: str = "*"
    codecs: str = "*"
    does: tuple[str, ...] = (READS, WRITES)
    is_tried: bool = True

    def matches(self, name):
        patterns = self.formats, self.types, self.layouts, self.codecs
        return all(
            any(fnmatchcase(part, pattern) for pattern in choice.split())
            for part, choice in zip(name.split("/"), patterns)
        )


def numcodecs(names):
    return " ".join(f"numcodecs.{name}" for name in names.split())


FILTERS = "base64 delta quantize bitround packbits astype"
MICRO = "int2 int4 uint2 uint4 bfloat16 float4_* float6_* float8_*"
CHECKSUMS = "adler32 crc32 crc32c fletcher32 jenkins_lookup3"
OBJECTS = "json2 msgpack2 categorize"
SHARDED = "sharded index_* nested transposed_inner transposed_outer shard_zstd"

NUMCODECS = (
    Rule("numcodecs has no snappy", "*", "*", "*", "blosc_snappy_*", (WRITES,)),
    Rule("numcodecs has no snappy", "*", "*", "large", "blosc_snappy_*", (READS,)),
    Rule("bitround of numcodecs mixes up F order", "v2", "*", "F", "bitround", (WRITES,)),
)
METADATA = (
    Rule("no such data type", "v3", f"raw complex_* {MICRO}"),
    Rule("no records in records", "v2", "nested"),
    Rule("no objects but texts and byte strings", "v2", "lists"),
    Rule("no objects but texts and byte strings", "v2", codecs=OBJECTS),
    Rule("no such codec", "v3", codecs="bitround packbits* reshape zarrs.squeeze"),
)
ZARR_PYTHON = (
    *METADATA,
    *NUMCODECS,
    Rule("0-d byte strings become arrays", types="bytes", layouts="scalar", does=(WRITES,)),
)
LEFT_OUT = {
    "zarr-python": ZARR_PYTHON,
    "zarr-python-fused": ZARR_PYTHON,
    "zarrs": (
        *METADATA,
        Rule("left to zarr-python: no such data type", types="fixed_* *struct raw_bytes"),
        Rule(
            "left to zarr-python: no such data type",
            "v2",
            "*datetime64 *timedelta64 big_fixed_*",
        ),
        Rule(
            "left to zarr-python: not asked for this type",
            types="string bytes raw datetime64 timedelta64",
            layouts="[!e]*",
        ),
        Rule(
            "left to zarr-python: no such codec",
            "v3",
            codecs=numcodecs(
                f"gzip lzma lz4 zstd blosc delta astype quantize packbits bitround zfpy"
                f" {CHECKSUMS}"
            )
            + " cast_value* scale_offset",
        ),
        Rule(
            "left to zarr-python: no such codec",
            "v2",
            codecs=f"lz4 lzma zstd_checksum {FILTERS} {CHECKSUMS}",
        ),
        Rule("F order is not read", "v2", layouts="F", does=(READS,)),
        Rule("other byte order is not read", "v2", "big_*", "[!e]*", does=(READS,)),
        Rule(
            "exchanges the parts of complex numbers in a part of a big-endian chunk",
            "v3",
            "complex64 complex128",
            codecs="big",
            does=(READS,),
        ),
    ),
    "zarrista": (
        Rule("no such data type", types="fixed_bytes *struct raw_bytes nested lists"),
        Rule("no such data type", "v2", "*datetime64 *timedelta64"),
        Rule(
            "no such codec",
            "v2",
            codecs=f"zlib bz2 lz4 lzma zstd_checksum {FILTERS} {CHECKSUMS} {OBJECTS}",
        ),
        Rule(
            "no such codec",
            "v3",
            codecs=numcodecs(
                f"zlib gzip bz2 lzma lz4 zstd blosc delta astype quantize packbits zfpy"
                f" {CHECKSUMS}"
            )
            + " cast_value* scale_offset",
        ),
        Rule(
            "loses its way in a part of a chunk of transposed texts",
            types="string bytes",
            layouts="transposed transposed_inner F",
            does=(READS,),
        ),
        Rule(
            "loses its way when an element of a transposed shard changes",
            types="bytes",
            layouts="transposed_outer",
            does=(UPDATES,),
        ),
        Rule("takes byte strings for texts", "v2", "bytes", "[!e]*", does=(READS,)),
    ),
    "tensorstore": (
        Rule(
            "no such data type",
            types="string bytes lists *datetime64 *timedelta64 *fixed_utf32"
            " complex_* float6_* float8_e4m3 uint2 uint4",
        ),
        Rule("no such data type", "v3", "fixed_bytes"),
        Rule("wants byte strings as fill values padded", "v2", "fixed_bytes"),
        Rule("no records in records", "v2", "nested"),
        Rule("wants the fill value in base64", "v3", "raw"),
        Rule("raw bytes have an empty type in Python", "v2", "raw"),
        Rule("raw bytes have an empty type in Python", "v3", "raw_bytes", does=(READS,)),
        Rule("dies of its own metadata", "v3", "raw_bytes", does=(WRITES,), is_tried=False),
        Rule(
            "takes the fill value 2 for 2**-63",
            "v3",
            "float8_e8m0fnu",
            "plain sharded index_* nested transposed* keys_* thin",
            does=(READS,),
        ),
        Rule("no rectilinear grid", "v3", layouts="rectilinear"),
        Rule("no codec behind sharding", "v3", layouts="shard_zstd"),
        Rule(
            "no such codec",
            "v3",
            codecs="numcodecs.* bitround packbits* cast_value* scale_offset reshape"
            " zarrs.squeeze",
        ),
        Rule(
            "no filters",
            "v2",
            codecs=f"shuffle fixedscaleoffset {FILTERS} {CHECKSUMS}",
        ),
        Rule("no such compressor", "v2", codecs="lz4 lzma zstd_checksum"),
    ),
    "zarrita": (
        Rule(
            "no such data type",
            types=f"*complex* raw* *datetime64 *timedelta64 *struct {MICRO}",
        ),
        Rule("no such data type", "v3", "bytes fixed_*"),
        Rule("no such data type", "v2", "nested bytes lists"),
        Rule("needs a newer Node", types="*float16", is_tried=False),
        Rule("takes byte strings for UTF-8", "v2", "fixed_bytes", "[!se]*", does=(READS,)),
        Rule("no array without elements", layouts="empty"),
        Rule("no rectilinear grid", "v3", layouts="rectilinear"),
        Rule("looks for the index at the end", "v3", layouts="index_start", does=(READS,)),
        Rule("no sharding in sharding", "v3", layouts="nested", does=(READS,)),
        Rule(
            "no codec around sharding",
            "v3",
            layouts="shard_zstd transposed_outer",
            does=(READS,),
        ),
        Rule(
            "no such codec",
            codecs="*base64 *bz2 *lzma *quantize *astype *categorize *msgpack2 *.squeeze"
            " *.zfpy reshape numcodecs.fixedscaleoffset",
        ),
        Rule("no such codec", "v2", codecs=CHECKSUMS),
        Rule("no such codec", "v3", codecs=numcodecs(CHECKSUMS)),
        Rule("leaves the lists of json2 nested", "v2", codecs="json2", does=(READS,)),
        Rule("writes version 3 only", "v2", does=(WRITES,)),
        Rule("does not write shards", "v3", layouts=SHARDED, does=(WRITES,)),
        Rule("does not write key encoding v2", "v3", layouts="keys_v2", does=(WRITES,)),
        Rule("does not write texts", "v3", "string", does=(WRITES,)),
        Rule(
            "only decodes this codec",
            "v3",
            codecs="crc32c gzip three numcodecs.zlib numcodecs.gzip *bitround *packbits*"
            " cast_value* scale_offset",
            does=(WRITES,),
        ),
        Rule(
            "does not encode transposed",
            "v3",
            layouts="transposed",
            codecs="numcodecs.delta",
            does=(WRITES,),
        ),
    ),
    "numcodecs": (
        Rule("knows version 2 only", "v3"),
        *NUMCODECS,
        Rule("is made to write whole arrays only", does=(UPDATES,)),
    ),
}


def why_not(peer, does, name):
    """The rule that leaves a case out, or None. Who changes a part reads and writes."""
    wanted = set(ALL if does == UPDATES else (does,))
    rules = LEFT_OUT[peer]
    return next((r for r in rules if wanted.intersection(r.does) and r.matches(name)), None)
