#!/usr/bin/env python3
"""Faults that users reported of writing, those of them that a pipeline decides."""

import os
import subprocess
import sys
from pathlib import Path

import harness
from zarr_peer import NEEDS

pipeline = harness.asked(__doc__)
shared = Path(os.environ.get("ZELLIGE_SHARED", harness.ROOT.parent / "shared"))
cases = shared / "cases" / "writing.py"
if not cases.exists():
    print(f"no {cases}")
    print("counts: 0 0 1")
    sys.exit()
options = "--impl", f"pipeline:{harness.PIPELINES[pipeline]}", "--layer", "engine"
python = harness.environment("zarr", NEEDS)
found = subprocess.run([python, cases, *options], capture_output=True, text=True)
print(found.stdout, found.stderr)
lines = found.stdout.splitlines()
n = {
    word: sum(line.startswith(word) for line in lines)
    for word in ("PASS", "FAIL", "CRASH", "SKIP")
}
bad = n["FAIL"] + n["CRASH"] + n["SKIP"]
print(f"reported_writes with {pipeline}: {n['PASS']} passed, {bad} failed")
print(f"counts: {n['PASS']} {bad} 0")
sys.exit(bool(bad) or n["PASS"] < 9)
