"""Where the shared data is, and stores that are written by hand, byte for byte."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def shared_folder():
    """The data shared beside the repository, or None."""
    folder = Path(os.environ.get("ZELLIGE_SHARED") or ROOT.parent / "shared")
    return folder if (folder / "fixtures" / "manifest.json").is_file() else None


@pytest.fixture(scope="session")
def fixtures():
    folder = shared_folder()
    if folder is None:
        pytest.skip("the shared fixtures are absent")
    return folder / "fixtures"


# ---------------------------------------------------------------------- stores by hand


def _pieces(data, chunk, fill):
    """(grid position, block padded with the fill value) in C order of the grid."""
    grid = [-(-n // c) for n, c in zip(data.shape, chunk)]
    for index in np.ndindex(*grid):
        block = np.full(chunk, fill, data.dtype)
        part = data[tuple(slice(i * c, i * c + c) for i, c in zip(index, chunk))]
        block[tuple(slice(0, n) for n in part.shape)] = part
        yield index, block


def _shard(block, inner, fill):
    """Inner chunks one after another, then the index; those of only fill are left out."""
    body, index = b"", []
    for _, piece in _pieces(block, inner, fill):
        if (piece == fill).all():
            index += [2**64 - 1, 2**64 - 1]
        else:
            index += [len(body), piece.nbytes]
            body += piece.tobytes()
    return body + struct.pack(f"<{len(index)}Q", *index)


def write_v3(folder, data, chunks, inner=None, fill=0, data_type=None, skip=(), **extra):
    """An uncompressed array of version 3, with shards where `inner` is given."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plain = {"name": "bytes", "configuration": {"endian": "little"}}
    codecs = [plain]
    if inner is not None:
        configuration = {
            "chunk_shape": list(inner),
            "codecs": [plain],
            "index_codecs": [plain],
        }
        codecs = [{"name": "sharding_indexed", "configuration": configuration}]
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(data.shape),
        "data_type": data_type or data.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill,
        "codecs": codecs,
        **extra,
    }
    (folder / "zarr.json").write_text(json.dumps(document))
    for index, block in _pieces(data, chunks, fill):
        if index in skip:
            continue
        key = folder.joinpath("c", *map(str, index))
        key.parent.mkdir(parents=True, exist_ok=True)
        key.write_bytes(block.tobytes() if inner is None else _shard(block, inner, fill))
    return str(folder)


def write_v2(folder, data, chunks, fill=0, attributes=None, **extra):
    """An uncompressed array of version 2."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "zarr_format": 2,
        "shape": list(data.shape),
        "chunks": list(chunks),
        "dtype": data.dtype.str if data.dtype.names is None else data.dtype.descr,
        "compressor": None,
        "fill_value": fill,
        "order": "C",
        "filters": None,
        **extra,
    }
    (folder / ".zarray").write_text(json.dumps(document))
    if attributes is not None:
        (folder / ".zattrs").write_text(json.dumps(attributes))
    for index, block in _pieces(data, chunks, np.zeros((), data.dtype)[()]):
        (folder / ".".join(map(str, index))).write_bytes(block.tobytes())
    return str(folder)


def write_group(folder, **attributes):
    """A group of version 3."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    document = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    (folder / "zarr.json").write_text(json.dumps(document))
    return str(folder)


def same(found, wanted):
    """Type, shape and every element are the same."""
    assert type(found) is type(wanted), (type(found), type(wanted))
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert np.array_equal(found, wanted)
