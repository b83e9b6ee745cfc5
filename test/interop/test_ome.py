"""Images are what the models that others wrote after OME-Zarr 0.5 take them for."""

import ome_zarr_models
import pytest
import zarr
from zellige import ome

UNITS = {"t": "second", "z": "micrometer", "y": "micrometer", "x": "micrometer"}


@pytest.mark.parametrize(
    "more",
    [
        {"name": "cells", "scale": (0.1, 2, 0.5, 0.5)},
        {"how": "decimate", "translation": (0, 1, 2, 3), "shards": (1, 3, 64, 64)},
    ],
)
def test_models_take_images(tmp_path, more):
    path = tmp_path / "a.zarr"
    ome.create_pyramid(
        path, (2, 3, 64, 48), "u2", "tzyx", 3, chunks=(1, 1, 32, 32), units=UNITS, **more
    )
    image = ome_zarr_models.open_ome_zarr(zarr.open_group(path, mode="r"))
    assert type(image).__module__.startswith("ome_zarr_models.v05")
    (multiscale,) = image.ome_attributes.multiscales
    assert [one.path for one in multiscale.datasets] == ["0", "1", "2"]
    assert [axis.name for axis in multiscale.axes] == ["t", "z", "y", "x"]
    assert multiscale.axes[0].unit == "second"
    scales = [one.coordinateTransformations[0].scale for one in multiscale.datasets]
    first = more.get("scale", (1, 1, 1, 1))
    assert scales == [
        [first[0], first[1], first[2] * 2**k, first[3] * 2**k] for k in range(3)
    ]


def test_models_refuse_what_is_none(tmp_path):
    """Or the test above would say nothing."""
    path = tmp_path / "a.zarr"
    pyramid = ome.create_pyramid(path, (64, 48), "u2", "yx", 2)
    image = dict(pyramid.group.attrs["ome"]["multiscales"][0])
    image["axes"] = image["axes"][:1]
    pyramid.group.attrs["ome"] = {"version": "0.5", "multiscales": [image]}
    with pytest.raises(Exception):
        ome_zarr_models.open_ome_zarr(zarr.open_group(path, mode="r"))
