"""Stand-ins for what earth2studio.run imports and does not need: models, data, memory.

The small models here are real as far as the workflows can see.
"""

import sys
from collections import OrderedDict
from types import ModuleType

import numpy as np
import torch
from forecasts import LAT, LON


def fetch_data(source, time, variable, lead_time, **how):
    """The fields of a source, as a tensor with its coordinates."""
    coords = OrderedDict(
        time=time, lead_time=lead_time, variable=np.array(variable), lat=LAT, lon=LON
    )
    return torch.from_numpy(source(coords)), coords


class _Nothing:
    """A context that keeps nothing."""

    exists, write_count = False, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def write(self, **what):
        pass

    def flush(self):
        pass


def _module(name, **members):
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def install():
    """Makes earth2studio.run importable without what is large."""
    _module("earth2studio.data", DataSource=object, ForecastSource=object, fetch_data=fetch_data)
    _module("earth2studio.models")
    _module("earth2studio.models.dx", DiagnosticModel=object)
    _module("earth2studio.models.px", PrognosticModel=object)
    _module("earth2studio.perturbation", Perturbation=object)
    _module(
        "earth2studio.utils.checkpoint",
        Checkpoint=_Nothing, CheckpointSession=_Nothing, NullCheckpoint=_Nothing,
    )


def source(coords):
    """Fields that tell time and variable."""
    n = len(coords["time"]), len(coords["lead_time"]), len(coords["variable"])
    values = np.arange(np.prod(n), dtype="f4").reshape(*n, 1, 1) * 100
    return values + np.arange(48, dtype="f4").reshape(6, 8)


class Model:
    """Adds one with each step of six hours."""

    variable = np.array(["t2m", "z500"])

    def to(self, device):
        return self

    def input_coords(self):
        return OrderedDict(
            batch=np.empty(0),
            time=np.empty(0),
            lead_time=np.array([0], "m8[h]"),
            variable=self.variable,
            lat=LAT,
            lon=LON,
        )

    def output_coords(self, coords):
        return OrderedDict(coords, lead_time=coords["lead_time"] + np.timedelta64(6, "h"))

    def create_iterator(self, x, coords):
        while True:
            yield x, coords
            x, coords = x + 1, self.output_coords(coords)


class Speed:
    """Makes one variable of two."""

    variable = np.array(["speed"])

    def to(self, device):
        return self

    def input_coords(self):
        return OrderedDict(batch=np.empty(0), variable=Model.variable, lat=LAT, lon=LON)

    def output_coords(self, coords):
        return OrderedDict(coords, variable=self.variable)

    def __call__(self, x, coords):
        return x[:, :, :1] + x[:, :, 1:], OrderedDict(coords, variable=self.variable)


def perturbation(x, coords):
    """Each member is a hundred thousandth off."""
    shape = (-1, *[1] * (x.ndim - 1))
    members = torch.from_numpy(np.asarray(coords["ensemble"], "f4")).reshape(shape)
    return x + members * 1e5, coords
