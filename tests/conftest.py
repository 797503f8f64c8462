"""Which tests are slow, and which share a process.

`make check` leaves the slow ones out, `make test` runs them all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest
from streamlit.components.v2 import manifest_scanner

#: Parts of tests' names: folders, files, tests. Each takes seconds, or starts processes.
SLOW = (
    "tests/browser/",
    "tests/distributed/",
    "tests/evaluation/",
    "tests/papers/",
    "tests/pages/",
    "tests/cli/test_fit_partitioned",
    "tests/cli/test_memory",
    "tests/io/test_saved_models.py",
    "tests/loops/test_warm.py",
    "tests/methods/test_reduced_shared.py",
    "tests/test_packaging.py",
    "scikit_learn_",  # scikit-learn's own checks, hundreds for each estimator
    "test_every_size_is_what_a_fresh_fit_gives",
    "test_examples_run[kmviz.evaluation",
    "test_every_module_with_loops_compiles",
    "test_fit_auto_states_its_promise",
    "test_selection_finds_good_parameters_on_training_data_alone",
    "test_stopped_half_way_it_leaves_nothing_behind",
    "test_the_model_does_not_depend_on_jobs",
    "test_the_promise_is_broken_no_more_often_than_it_says",
    "test_what_is_taken_home_is_what_the_page_shows",
)


#: What takes longest is begun first, so that processes end together.
FIRST = (
    "tests/browser/",
    "tests/cli/test_memory_local.py",
    "tests/test_packaging.py",
    "tests/distributed/",
    "tests/methods/test_rivals.py",
    "tests/pages/test_lessons.py",
    "tests/pages/",
    "tests/test_register.py",
    "tests/evaluation/",
    "tests/papers/",
    "tests/methods/",
    "tests/cli/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow ones, and bring what takes long to the front."""
    for item in items:
        if any(part in item.nodeid for part in SLOW):
            item.add_marker(pytest.mark.slow)
    place = {part: place for place, part in enumerate(FIRST)}
    items.sort(key=lambda item: min((place[p] for p in FIRST if p in item.nodeid), default=99))


@pytest.fixture(scope="session", autouse=True)
def _components_are_looked_for_once() -> Iterator[None]:
    """Streamlit reads about every installed package each time a test runs a page."""
    look = cache(manifest_scanner.scan_component_manifests)
    with patch.object(manifest_scanner, "scan_component_manifests", look):
        yield


#: What runs the tests: a page that a fixture of a whole file ran stands in its place afterwards.
MAIN = sys.modules["__main__"]


@pytest.fixture(autouse=True)
def _a_page_is_not_the_main_module() -> Iterator[None]:
    """Streamlit puts each script that it runs in the place of `__main__` and leaves it there.

    Processes that a later test starts would run that script again, from a file that is gone.
    """
    sys.modules["__main__"] = MAIN
    yield
    sys.modules["__main__"] = MAIN


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run each file in one process, and all files that share a browser and its server in one."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "tests/browser" if file.startswith("tests/browser/") else file

    return Scheduling(config, log)
