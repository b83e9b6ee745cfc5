"""What `import zellige` brings in, counted: time would depend on the machine."""

import subprocess
import sys

COUNT = """
import sys
import numpy
before = set(sys.modules)
import zellige
print(*sorted(set(sys.modules) - before))
"""


def test_import_is_light():
    said = subprocess.run(
        [sys.executable, "-c", COUNT], check=True, text=True, capture_output=True
    )
    added = said.stdout.split()
    ours = [name for name in added if name.partition(".")[0] == "zellige"]
    others = set(added) - set(ours)
    tops = {name.partition(".")[0] for name in others}
    assert "zellige._core" in ours
    assert tops <= sys.stdlib_module_names | {"numpy"}, "NumPy is all that it may need"
    # The standard library has slow ones too.
    assert not tops & {
        "asyncio",
        "concurrent",
        "email",
        "http",
        "logging",
        "ssl",
        "unittest",
    }
    assert len(ours) <= 32 and len(others) <= 24, (len(ours), sorted(others))
