"""Every example in a docstring runs, and everything public has one."""

import doctest
import importlib
import pkgutil
import warnings

import pytest

import kmviz

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(kmviz.__path__, "kmviz.")
    if not found.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.testmod(
            importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
        )
    assert result.failed == 0


@pytest.mark.parametrize("name", [n for n in kmviz.__all__ if callable(getattr(kmviz, n))])
def test_the_public_api_shows_how_it_is_used(name):
    assert ">>>" in (getattr(kmviz, name).__doc__ or "")
