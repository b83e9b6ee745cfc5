"""Faults of other libraries, from public reports: none is ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(os.environ.get("ZELLIGE_SHARED") or ROOT.parent / "shared") / "cases"


@pytest.mark.parametrize("name", ["reading", "writing"])
def test_cases(name):
    script = CASES / f"{name}.py"
    if not script.is_file():
        pytest.skip("the shared cases are absent")
    command = [sys.executable, script, "--impl", "zellige"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert "zellige: 15 PASS, 0 FAIL, 0 SKIP, 0 CRASH of 15" in output, output
