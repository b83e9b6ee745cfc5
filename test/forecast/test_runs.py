"""The workflows of earth2studio with our class, beside the same with theirs."""

import numpy as np
import pytest
import standins
import zarr
from forecasts import times

standins.install()

from earth2studio import run  # noqa: E402
from earth2studio.io import AsyncZarrBackend as Theirs  # noqa: E402
from earth2studio.io import IOBackend  # noqa: E402

from zellige.forecast import AsyncZarrBackend as Ours  # noqa: E402

N_STEPS = 5
STEPS = np.arange(N_STEPS + 1) * np.timedelta64(6, "h")


def deterministic(io):
    run.deterministic(
        times(3), N_STEPS, standins.Model(), standins.source, io, verbose=False
    )


def diagnostic(io):
    run.diagnostic(
        times(3), N_STEPS, standins.Model(), standins.Speed(), standins.source, io,
        verbose=False,
    )


def ensemble(io):
    run.ensemble(
        times(3), N_STEPS, 6, standins.Model(), standins.source, io, standins.perturbation,
        batch_size=2, verbose=False,
    )


@pytest.mark.parametrize("options", [{}, {"blocking": False, "shard_coords": {"lead_time": 4}}])
@pytest.mark.parametrize("workflow", [deterministic, diagnostic, ensemble])
def test_a_workflow(tmp_path, workflow, options):
    parallel = {"time": times(3), "lead_time": STEPS}
    if workflow is ensemble:
        parallel = {"ensemble": np.arange(6), **parallel}
    stores = []
    for cls in (Theirs, Ours):
        io = cls(str(tmp_path / cls.__module__), parallel, **options)
        assert isinstance(io, IOBackend)
        workflow(io)
        io.close()
        stores.append(zarr.open_group(tmp_path / cls.__module__, use_consolidated=False))
    theirs, ours = stores
    assert sorted(ours) == sorted(theirs)
    for name in theirs:
        assert ours[name].metadata == theirs[name].metadata
        assert np.array_equal(ours[name][...], theirs[name][...])
    last = ours["speed" if workflow is diagnostic else "z500"][..., 0, 0]
    assert len(np.unique(last)) == last.size, "no two steps are the same"
