"""The peers: each writes an array as a document says, changes parts of it, and reads it."""

import base64
import json
import shutil
import subprocess
from functools import cached_property
from pathlib import Path

import numpy as np
import tensorstore
import zarr
import zarrista
from edits import (
    BACKWARDS,
    BLOCKS,
    BOX,
    ELEMENT,
    KINDS,
    MASK,
    OUTER,
    POINTS,
    REPEATED,
    STEPS,
    apply,
)
from version_2 import Numcodecs
from zarrista.store import FilesystemStore

ROOT = Path(__file__).resolve().parents[2]


class ZarrPython:
    """zarr-python, through one of its pipelines, which must do all of the work itself."""

    def __init__(self, pipeline, kinds=frozenset(KINDS) - {BACKWARDS, REPEATED}):
        self.kinds = kinds
        self.config = {
            "codec_pipeline.path": pipeline,
            "codec_pipeline.strict": True,
            "array.rectilinear_chunks": True,
        }

    def write(self, folder, document, data):
        folder.mkdir(parents=True)
        name = "zarr.json" if document["zarr_format"] == 3 else ".zarray"
        (folder / name).write_text(json.dumps(document))
        with zarr.config.set(self.config):
            array = zarr.open_array(folder, mode="r+")
            array = array.update_attributes({"by": "zarr-python"})  # in its own words
            array[...] = data if data.ndim else data[()]

    def update(self, folder, edits, memory):
        with zarr.config.set(self.config):
            array = zarr.open_array(folder, mode="r+")
            for edit in edits:
                apply(array, edit.boxed())

    def read(self, folder, memory):
        with zarr.config.set(self.config):
            array = zarr.open_array(folder, mode="r")
            return np.asarray(array[...], array.dtype)


class TensorStore:
    """tensorstore. Records are read and written a field at a time."""

    @staticmethod
    def open(folder, zarr_format, **more):
        spec = {
            "driver": "zarr" if zarr_format == 2 else "zarr3",
            "kvstore": {"driver": "file", "path": f"{folder}/"},
            "context": {"file_io_sync": False},
            **more,
        }
        return tensorstore.open(spec, open=True, create="metadata" in more).result()

    def write(self, folder, document, data):
        for name in data.dtype.names or [None]:
            field = {"field": name} if name else {}
            array = self.open(folder, document["zarr_format"], metadata=document, **field)
            part = data[name] if name else data
            array.write(part.astype(array.dtype.numpy_dtype)).result()

    kinds = frozenset({BOX, STEPS, BACKWARDS, ELEMENT, OUTER, POINTS, MASK})

    @staticmethod
    def ended(part):
        """A range whose end is said: with steps back it may take one too many otherwise."""
        stop = -1 if part.step < 0 and part.stop is None else part.stop
        return slice(part.start, stop, part.step)

    def update(self, folder, edits, memory):
        zarr_format = 3 if (folder / "zarr.json").exists() else 2
        fields = [{"field": name} for name in memory.names or ()] or [{}]
        arrays = [(f, self.open(folder, zarr_format, **f)) for f in fields]
        for edit in edits:
            for field, array in arrays:
                value = edit.value[field["field"]] if field else edit.value
                if edit.kind == BACKWARDS:
                    place = array[tuple(map(self.ended, edit.key))]
                elif edit.kind == OUTER:
                    place = array.oindex[edit.key]
                elif edit.kind in (POINTS, MASK):
                    place = array.vindex[edit.key]
                else:
                    place = array[edit.key]
                place = place[tensorstore.d[:].translate_to[0]]
                place.write(value.astype(array.dtype.numpy_dtype)).result()

    def read(self, folder, memory):
        zarr_format = 3 if (folder / "zarr.json").exists() else 2
        if memory.names is None:
            return self.open(folder, zarr_format).read().result()
        parts = {
            n: self.open(folder, zarr_format, field=n).read().result() for n in memory.names
        }
        found = np.empty(parts[memory.names[0]].shape, memory)
        for name, part in parts.items():
            found[name] = part
        return found


class Zarrista:
    """zarrista, and so zarrs, by their bytes: NumPy does not have all of their types."""

    def write(self, folder, document, data):
        folder.mkdir(parents=True)
        array = zarrista.Array.from_metadata(document, FilesystemStore(folder))
        array.store_metadata()
        array.store_array_subset(..., self.packed(data))

    kinds = frozenset({BOX, ELEMENT})
    is_read_by_all = False  # names of codecs stand where others want objects

    def update(self, folder, edits, memory):
        array = zarrista.Array.open(FilesystemStore(folder))
        for edit in edits:
            array.store_array_subset(edit.key, self.packed(edit.value))

    @staticmethod
    def packed(data):
        offsets = None
        if data.dtype == object:
            items = [v.encode() if isinstance(v, str) else v for v in data.flat]
            data, offsets = b"".join(items), np.cumsum([0, *map(len, items)]).tolist()
        else:
            data = data.astype(data.dtype.newbyteorder("=")).tobytes()
        return zarrista.ArrayBytes(data, offsets=offsets)

    def read(self, folder, memory):
        found = zarrista.Array.open(FilesystemStore(folder)).retrieve_array_subset(...)
        if memory == object:
            return found.to_numpy()
        native = memory.newbyteorder("=")
        return np.frombuffer(found.buffer(), native).reshape(found.shape)


class Zarrita:
    """zarrita in Node, which answers lines; npm puts what it needs below build/."""

    @cached_property
    def worker(self):
        source, folder = Path(__file__).parent / "zarrita", ROOT / "build/interop/zarrita"
        shutil.copytree(source, folder, dirs_exist_ok=True)
        npm = "npm install --silent --no-audit --no-fund --no-package-lock --prefer-offline"
        subprocess.run(npm.split(), cwd=folder, check=True)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        return subprocess.Popen(["node", "worker.mjs"], cwd=folder, **pipes)

    def ask(self, **question):
        self.worker.stdin.write(json.dumps(question) + "\n")
        self.worker.stdin.flush()
        answer = json.loads(self.worker.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    @staticmethod
    def packed(data):
        if data.dtype == object:
            return {"list": data.ravel().tolist()}
        return {"bytes": base64.b64encode(data.tobytes()).decode()}

    def write(self, folder, document, data):
        self.ask(write=str(folder), document=document, values=self.packed(data))

    kinds = frozenset({BOX, STEPS})

    def update(self, folder, edits, memory):
        for edit in edits:
            key = [[part.start, part.stop, part.step] for part in edit.key]
            self.ask(update=str(folder), key=key, values=self.packed(edit.value))

    def read(self, folder, memory):
        answer = self.ask(read=str(folder))
        if "list" in answer:
            found = np.array([*answer["list"], None], object)[:-1]
        else:
            found = np.frombuffer(
                base64.b64decode(answer["bytes"]), memory.newbyteorder("<")
            )
        return found.reshape(answer["shape"])


PEERS = {
    "zarr-python": ZarrPython("zarr.core.codec_pipeline.BatchedCodecPipeline"),
    "zarr-python-fused": ZarrPython("zarr.core.codec_pipeline.FusedCodecPipeline"),
    "zarrs": ZarrPython("zarrs.ZarrsCodecPipeline", frozenset({BOX, ELEMENT, BLOCKS})),
    "zarrista": Zarrista(),
    "tensorstore": TensorStore(),
    "zarrita": Zarrita(),
    "numcodecs": Numcodecs(),
}
