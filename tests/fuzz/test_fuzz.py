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
