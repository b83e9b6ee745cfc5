#!/usr/bin/env python3
"""cli_fixtures ZELLIGE: the command line against stores written by others.

Every valid array of the manifest gives its canonical bytes through `cat --raw` and `--npy`
and its shape and first elements through `--json`, every group its members and attributes, and every invalid one its kind of error, in little time and
memory. Stores in one file and pcodec are left out and counted.
"""

import ast
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("ZELLIGE_SHARED", ROOT.parent / "shared"))
FIXTURES = SHARED / "fixtures"
SECONDS = 10
# 64 MiB, and what the program itself takes.
MOST_KIB = (64 + 8) * 1024
# Larger arrays are read as bytes only.
SMALL_BYTES = 1 << 20
PLAIN = {
    "bool",
    "|b1",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "<i1",
    "<i2",
    "<i4",
    "<i8",
    ">i4",
    ">i8",
    "<u2",
    "<u4",
    "<u8",
    "float64",
    "<f8",
    ">f8",
    "string",
}


def status_table():
    """Exit code of each kind, from the table in the header."""
    header = (ROOT / "include/zellige.h").read_text()
    return {
        kind: int(code)
        for kind, code in re.findall(r'X\([A-Z_]+, \d+, "(\w+)", (\d+),', header)
    }


EXIT_CODES = status_table()


class Run:
    """What a command printed, how it ended, what it took."""

    def __init__(self, *arguments, keep=False):
        process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.timed_out = False
        timer = threading.Timer(SECONDS, self._stop, [process])
        timer.start()
        digest, self.n_bytes, kept = hashlib.sha256(), 0, []
        while block := process.stdout.read(1 << 20):
            digest.update(block)
            self.n_bytes += len(block)
            if keep:
                kept.append(block)
        self.sha256, self.output = digest.hexdigest(), b"".join(kept)
        self.errors = process.stderr.read().decode("utf-8", "replace")
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        process.stderr.close()
        self.kib = usage.ru_maxrss
        last = self.errors.splitlines()[-1] if self.errors else ""
        found = re.match(r"zellige: (\w+): .", last)
        self.kind = found[1] if found else None

    def _stop(self, process):
        self.timed_out = True
        process.kill()

    def __str__(self):
        return f"exit {self.code}, {self.errors.strip() or 'no message'}"


def is_skipped(entry):
    """Why an entry is left out, or None."""
    if (FIXTURES / entry["store"]).is_file():
        return "zip"
    return "pcodec" if "pcodec" in entry.get("array", "") else None


def check_raw(zellige, where, entry):
    run = Run(zellige, "cat", "--raw", *where)
    if run.timed_out:
        return f"more than {SECONDS} s"
    if run.code != 0 or run.errors:
        return str(run)
    if run.n_bytes != entry["nbytes"]:
        return f"{run.n_bytes} bytes, expected {entry['nbytes']}"
    return None if run.sha256 == entry["sha256"] else f"other bytes ({entry['dtype']})"


def check_npy(zellige, where, entry):
    """A NumPy file has the shape in its header and the canonical bytes behind it."""
    run = Run(zellige, "cat", "--npy", *where, keep=True)
    if run.kind == "unsupported" and "variable length" in run.errors:
        return None
    if run.code != 0 or run.output[:6] != b"\x93NUMPY":
        return f"--npy: {run}"
    n_length = 2 if run.output[6] == 1 else 4
    start = 8 + n_length + int.from_bytes(run.output[8 : 8 + n_length], "little")
    header = ast.literal_eval(run.output[8 + n_length : start].decode())
    if start % 64 or list(header["shape"]) != entry["shape"] or header["fortran_order"]:
        return f"--npy: header {header}"
    found = hashlib.sha256(run.output[start:]).hexdigest()
    return None if found == entry["sha256"] else f"--npy: other bytes ({header['descr']})"


def flatten(value, shape):
    """The elements of nested lists, which must have the shape."""
    if not shape:
        return [value]
    if not isinstance(value, list) or len(value) != shape[0]:
        raise ValueError("the lists have another shape")
    return [element for item in value for element in flatten(item, shape[1:])]


def check_json(zellige, where, entry):
    """JSON has the shape, and the first elements where they are plain numbers or text."""
    run = Run(zellige, "cat", "--json", *where, keep=True)
    if run.code != 0:
        return f"--json: {run}"
    try:
        found = flatten(json.loads(run.output), entry["shape"])
    except ValueError as error:
        return f"--json: {error}"
    plain = str(entry["dtype"]) in PLAIN
    first = entry.get("first", [])
    if plain and not same(found[: len(first)], first):
        return f"--json: {found[: len(first)]}, expected {first}"
    return None


def check_valid(zellige, entry):
    where = [str(FIXTURES / entry["store"]), entry["array"]]
    failure = check_raw(zellige, where, entry)
    if not failure and entry["nbytes"] < SMALL_BYTES:
        failure = check_npy(zellige, where, entry) or check_json(zellige, where, entry)
    return failure


def check_invalid(zellige, entry):
    run = Run(zellige, "cat", "--raw", str(FIXTURES / entry["store"]), entry["array"])
    if run.timed_out:
        return f"more than {SECONDS} s"
    if run.kib > MOST_KIB:
        return f"{run.kib // 1024} MiB of memory"
    if run.code == 0:
        return None if entry.get("may_read") else f"was read, expected {entry['error']}"
    kinds = [entry["error"], *entry.get("also", [])]
    if run.kind not in kinds:
        return f"expected {' or '.join(kinds)}: {run}"
    expected = EXIT_CODES[run.kind]
    return None if run.code == expected else f"expected exit {expected}: {run}"


def same(a, b):
    """Equal as JSON: NaN is NaN, 1 is not 1.0 and not true."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def check_group(zellige, entry):
    where = [str(FIXTURES / entry["store"]), entry["group"]]
    listed = Run(zellige, "ls", *where, keep=True)
    attributes = Run(zellige, "attrs", *where, keep=True)
    for run in listed, attributes:
        if run.code != 0 or run.errors or run.timed_out:
            return str(run)
    expected = [m["name"] + ("/" if m["kind"] == "group" else "") for m in entry["members"]]
    found = listed.output.decode().splitlines()
    if sorted(found) != sorted(expected):
        return f"members {found}, expected {expected}"
    found = json.loads(attributes.output)
    return None if same(found, entry["attributes"]) else f"attributes {found}"


def check_all(zellige):
    """(name, why it was skipped, why it failed) of each entry."""
    manifest = json.loads((FIXTURES / "manifest.json").read_text())
    groups = json.loads((FIXTURES / "groups.json").read_text())
    jobs = [
        (check_invalid if "error" in entry else check_valid, entry, entry["array"])
        for entry in manifest
    ]
    jobs += [(check_group, entry, entry["group"] + "/") for entry in groups]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = [
            (entry, name, None if is_skipped(entry) else pool.submit(check, zellige, entry))
            for check, entry, name in jobs
        ]
        for entry, name, future in futures:
            where = f"{entry['store']}:{name[:80]}"
            yield where, is_skipped(entry), future.result() if future else None


def main():
    zellige = os.path.abspath(sys.argv[1])
    if not FIXTURES.exists():
        print("no fixtures\n0 passed, 0 failed, 1 skipped\ncounts: 0 0 1")
        return 0
    passed, skipped, failed = 0, {}, 0
    for name, why_not, failure in check_all(zellige):
        if why_not:
            skipped[why_not] = skipped.get(why_not, 0) + 1
        elif failure:
            failed += 1
            print(f"{name}: {failure}")
        else:
            passed += 1
    print("left out:", ", ".join(f"{n} {why}" for why, n in sorted(skipped.items())))
    print(f"{passed} passed, {failed} failed, {sum(skipped.values())} skipped")
    print("counts:", passed, failed, 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
