"""The golden stores of others: valid arrays give their sums, broken ones their kinds."""

import base64
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import zellige
from conftest import shared_folder


def entries():
    folder = shared_folder()
    if folder is None:
        return []
    return json.loads((folder / "fixtures" / "manifest.json").read_text())


def identify(entry):
    return f"{entry['store']}:{entry['array']}"


def excluded(fixtures, entry):
    """Why an entry is not for this version, or None."""
    if (fixtures / entry["store"]).is_file():
        return "zip"
    return "pcodec" if "pcodec" in entry["tests"] or "pcodec" in entry["array"] else None


# ---------------------------------------------------------------------- canonical bytes


def little(array):
    """Elements one after another, each part little-endian."""
    if array.dtype.names is not None:
        columns = [
            np.frombuffer(little(np.ascontiguousarray(array[name])), "u1").reshape(
                array.size, -1 if array.size else 0
            )
            for name in array.dtype.names
        ]
        return np.concatenate(columns, axis=1).tobytes() if array.size else b""
    if array.dtype.kind in "biufcmMU" and sys.byteorder == "big":
        array = array.byteswap()
    return array.tobytes()


def json_text(text):
    plain = {
        '"': '\\"',
        "\\": "\\\\",
        "\b": "\\b",
        "\t": "\\t",
        "\n": "\\n",
        "\f": "\\f",
        "\r": "\\r",
    }
    return (
        '"'
        + "".join(plain.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text)
        + '"'
    )


def canonical(array):
    found = np.asarray(array[...])
    if found.dtype.kind not in "OT":
        return little(np.ascontiguousarray(found))
    items = []
    for item in found.ravel().tolist() if found.dtype.kind == "T" else found.ravel():
        if isinstance(item, str):
            items.append(json_text(item))
        else:
            raw = item if isinstance(item, bytes) else item.tobytes()
            items.append('"' + base64.b64encode(raw).decode() + '"')
    return ("[" + ",".join(items) + "]").encode("utf-8", "surrogatepass")


def strict(value):
    """JSON text with NaN and infinities as strings, as the manifest has them."""
    text = json.dumps(value)
    return json.dumps(json.loads(text, parse_constant=str))


# ---------------------------------------------------------------------- tests


@pytest.mark.parametrize("entry", [e for e in entries() if "sha256" in e], ids=identify)
def test_valid(fixtures, entry):
    why = excluded(fixtures, entry)
    if why == "zip":
        return  # counted by test_exclusions
    if why == "pcodec":
        with pytest.raises(zellige.UnsupportedError, match="pcodec"):
            zellige.open_array(fixtures / entry["store"], path=entry["array"])[...]
        return
    array = zellige.open_array(fixtures / entry["store"], path=entry["array"])
    assert list(array.shape) == entry["shape"]
    assert array.zarr_format == entry["zarr_format"]
    raw = canonical(array)
    assert hashlib.sha256(raw).hexdigest() == entry["sha256"]
    if "dimension_names" in entry:
        assert list(array.dimension_names or []) == list(entry["dimension_names"] or [])
    if "attributes" in entry:
        assert strict(dict(array.attrs)) == json.dumps(entry["attributes"])


class Memory:
    """The most memory that a block took beyond what was there, in MiB (Linux only)."""

    def __enter__(self):
        try:
            Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
            self.before = self.status("VmRSS")
        except OSError:
            self.before = None
        return self

    def __exit__(self, *_):
        self.peak = (
            0 if self.before is None else (self.status("VmHWM") - self.before) / 1024
        )

    @staticmethod
    def status(name):
        text = Path("/proc/self/status").read_text()
        return int(text.split(name + ":")[1].split()[0])


@pytest.mark.parametrize("entry", [e for e in entries() if "error" in e], ids=identify)
def test_invalid(fixtures, entry):
    if excluded(fixtures, entry) is not None:
        return
    with Memory() as memory:
        refuses(fixtures, entry)
    assert memory.peak < 64


def refuses(fixtures, entry):
    kinds = {entry["error"], *entry.get("also", [])}
    try:
        array = zellige.open_array(fixtures / entry["store"], path=entry["array"])
        if entry["when"] == "open" and not entry.get("may_read"):
            pytest.fail(f"it opened; {entry['why']}")
        array[...]
    except zellige.ZelligeError as error:
        assert error.kind in kinds, f"{error.kind}: {error}; {entry['why']}"
        assert str(error)
    else:
        assert entry.get("may_read"), f"it was read; {entry['why']}"


def test_exclusions(fixtures, record_property):
    """What the tests above leave out, by name and number."""
    left = [excluded(fixtures, entry) for entry in entries()]
    counts = {why: left.count(why) for why in ("zip", "pcodec")}
    record_property("excluded", counts)
    assert counts["zip"] == 36 + 18


def test_groups(fixtures):
    for entry in json.loads((fixtures / "groups.json").read_text()):
        if (fixtures / entry["store"]).is_file():
            continue
        group = zellige.open_group(fixtures / entry["store"], path=entry["group"])
        kinds = {1: "group", 2: "array"}
        found = [{"name": n, "kind": kinds.get(k)} for n, k in group._members(False)]
        key = lambda member: member["name"]  # noqa: E731
        assert sorted(found, key=key) == sorted(entry["members"], key=key), entry
        assert strict(dict(group.attrs)) == json.dumps(entry["attributes"])
        assert group.zarr_format == entry["zarr_format"]
