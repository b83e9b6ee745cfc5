"""Version 2 as its specification says, over the codecs of numcodecs: a peer for what all
others left behind when they went to version 3."""

import base64
import json

import numcodecs
import numpy as np


def fill_element(document, memory):
    """The fill value as an element."""
    value = document["fill_value"]
    if {"id": "vlen-bytes"} in (document["filters"] or []):
        return base64.b64decode(value)
    if memory.kind in "SV":
        raw = base64.b64decode(value)
        return np.frombuffer(raw.ljust(memory.itemsize, b"\0"), memory)[0]
    if memory.kind == "c":
        return complex(*map(float, value))
    if memory.kind == "f":
        return float(value)
    if memory.kind in "mM":
        return np.array(value, memory if value == "NaT" else "i8").astype(memory)
    return value


class Numcodecs:
    @staticmethod
    def codecs(document):
        """In the order of encoding."""
        configurations = [*(document["filters"] or []), document["compressor"]]
        return [numcodecs.get_codec(c) for c in configurations if c is not None]

    @staticmethod
    def chunks(document):
        """Keys, and where their elements belong."""
        shape, chunk = document["shape"], document["chunks"]
        for index in np.ndindex(*(-(-n // c) for n, c in zip(shape, chunk))):
            key = document["dimension_separator"].join(map(str, index)) or "0"
            yield key, (*(slice(i * c, i * c + c) for i, c in zip(index, chunk)), ...)

    def write(self, folder, document, data):
        folder.mkdir(parents=True)
        (folder / ".zarray").write_text(json.dumps(document))
        for key, place in self.chunks(document):
            part = data[place]
            chunk = np.empty(document["chunks"], data.dtype, document["order"])
            chunk.fill(data.flat[0])
            chunk[(*map(slice, part.shape), ...)] = part
            for codec in self.codecs(document):
                chunk = codec.encode(chunk)
            (folder / key).parent.mkdir(exist_ok=True, parents=True)
            (folder / key).write_bytes(numcodecs.compat.ensure_bytes(chunk))

    def read(self, folder, memory):
        document = json.loads((folder / ".zarray").read_text())
        found = np.empty(document["shape"], memory)
        found[...] = fill_element(document, memory)
        for key, place in self.chunks(document):
            if (folder / key).exists():
                chunk = (folder / key).read_bytes()
                for codec in reversed(self.codecs(document)):
                    chunk = codec.decode(chunk)
                if memory != object:
                    chunk = np.frombuffer(numcodecs.compat.ensure_bytes(chunk), memory)
                chunk = chunk.reshape(document["chunks"], order=document["order"])
                part = found[place]
                part[...] = chunk[(*map(slice, part.shape), ...)]
        return found
