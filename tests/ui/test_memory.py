"""What a job would take, said and refused before it starts."""

from types import SimpleNamespace

import numpy as np
import pytest

from kmviz.methods.register import METHODS
from kmviz.ui.runtime import memory
from tests.pages.helpers import open_page


def problem(m, n=20_000, d=100):
    data = SimpleNamespace(X_train=np.empty((n, d)))
    return SimpleNamespace(data=data, n_vectors=m, fit_seconds=1.0)


@pytest.mark.parametrize("name", [method.name for method in METHODS if method.icon])
def test_what_the_pages_open_with_is_allowed(name):
    for m, n, d in ((200, 400, 2), (700, 2_000, 784)):
        assert not memory.estimate(problem(m, n, d), name, 2_000).is_too_large


def test_a_basis_of_gigabytes_is_refused_in_words():
    large = problem(15_000)
    needed = memory.estimate(large, "anytime", 2_000)
    assert needed.n_bytes > 15_000**2 * 8
    assert needed.is_too_large
    said = memory.refusal(large, "anytime", needed)
    assert "15,000 support vectors" in said
    assert "would take about 2.1 GB" in said
    assert "one page may take about 1.0 GB" in said


def test_an_estimate_grows_with_the_vectors():
    found = [memory.estimate(problem(m), "anytime", 1_000) for m in (100, 1_000, 10_000)]
    assert [one.n_bytes for one in found] == sorted(one.n_bytes for one in found)
    assert [one.seconds for one in found] == sorted(one.seconds for one in found)


def test_a_page_says_that_its_job_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "MOST_BYTES", 1.0)
    page = open_page("pages/5_Support_Vector_Tree.py", data="two_moons", n="60")
    assert "would take" in page.error[0].value
    assert page.select_slider(key="C") is not None, "the controls are still there"
