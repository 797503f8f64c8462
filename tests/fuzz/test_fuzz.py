"""A few seconds of each category; `make fuzz MINUTES=30` for more."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.cases import CATEGORIES

#: How many cases are tried each time, always the same ones.
EXAMPLES = {"fits": 60, "files": 60, "links": 60, "models": 40}


@pytest.mark.parametrize("category", CATEGORIES)
def test_nothing_breaks(category):
    draw, check = CATEGORIES[category]
    options = settings(
        max_examples=EXAMPLES[category], derandomize=True, database=None, deadline=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    options(given(draw)(check))()


#: What failed once.
FAILED = [
    ("fits", {"d": 2, "C": 1.0, "method": "bagged", "n": 4, "seed": 544, "scale": 1e6, "degree": 1,
              "gamma": 1e4, "kernel": "poly_normalized", "shape": "far_from_0"}),
    ("models", {"model": "knnsvm", "element": 1, "wrong": "flat", "place": 9}),
    ("models", {"model": "nsv", "element": -1, "wrong": "swapped", "place": 16}),
    ("models", {"model": "anytime", "element": -1, "wrong": "none", "place": 3}),
    ("models", {"model": "falk", "element": -1, "wrong": "flat", "place": 16}),
]  # fmt: skip


@pytest.mark.parametrize(("category", "case"), FAILED)
def test_what_failed_once_passes(category, case):
    CATEGORIES[category].check(case)
