"""Tests beside earth2studio, in an environment of its own: see tools/forecast.

Torch may be the small stand-in of the shared folder.
"""

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("ZELLIGE_SHARED") or ROOT.parent / "shared")

sys.path.insert(0, str(ROOT / "test" / "python"))
if importlib.util.find_spec("torch") is None:
    sys.path.insert(0, str(SHARED / "bench" / "torch_standin"))
