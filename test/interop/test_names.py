"""The names and parameters of zarr-python's public things are here too, but for those that
are listed with a reason."""

import inspect

import pytest
import zarr
import zarr.codecs
import zarr.errors
import zarr.storage
import zellige
import zellige.codecs
import zellige.errors
import zellige.storage

FUNCTIONS = """array consolidate_metadata copy copy_all copy_store create create_array
create_group create_hierarchy empty empty_like from_array full full_like group load ones
ones_like open open_array open_consolidated open_group open_like save save_array save_group
tree zeros zeros_like""".split()
#: What zarr-python has for itself.
OF_ITS_OWN = {
    "Array": {"async_array", "from_dict"},
    "Group": {"synchronizer", "update_attributes_async"},
}

BY_NAME = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD


def parameters(function):
    return inspect.signature(function).parameters.values()


def takes(function, name):
    return any(
        one.name == name or one.kind is inspect.Parameter.VAR_KEYWORD
        for one in parameters(function)
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    theirs, ours = getattr(zarr, name), getattr(zellige, name)
    for one in parameters(theirs):
        if one.kind in BY_NAME:
            assert takes(ours, one.name), one.name


@pytest.mark.parametrize("kind", ["Array", "Group"])
def test_members(kind):
    theirs, ours = getattr(zarr, kind), getattr(zellige, kind)
    names = {name for name in dir(theirs) if not name.startswith("_")} - OF_ITS_OWN[kind]
    assert names - set(dir(ours)) == set()
    for name in names:
        member = inspect.getattr_static(theirs, name)
        if isinstance(member, property):
            assert not inspect.isfunction(inspect.getattr_static(ours, name)), name
            continue
        for one in parameters(getattr(theirs, name)):
            if one.name != "self" and one.kind in BY_NAME:
                assert takes(getattr(ours, name), one.name), (name, one.name)


@pytest.mark.parametrize("module", ["codecs", "errors", "storage"])
def test_modules(module):
    theirs, ours = getattr(zarr, module), getattr(zellige, module)
    assert set(theirs.__all__) - set(dir(ours)) == set()


def test_errors_are_what_people_catch():
    for name in set(zarr.errors.__all__) - {"BaseZarrError"}:  # ours may be an OSError
        theirs, ours = getattr(zarr.errors, name), getattr(zellige.errors, name)
        for base in theirs.__mro__:
            if base.__module__ == "builtins":
                assert issubclass(ours, base), (name, base)


def test_settings():
    with zarr.config.set({"array.order": "C"}):
        for key in ("array.order", "array.write_empty_chunks", "default_zarr_format"):
            assert zellige.config.get(key) == zarr.config.get(key)
    known = zarr.config.to_dict() if hasattr(zarr.config, "to_dict") else zarr.config.config
    with zellige.config.set(known):  # none of them is refused
        pass
