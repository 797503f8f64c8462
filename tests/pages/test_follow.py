"""A query followed on every page of a method, beside an easy and a hard one."""

from types import SimpleNamespace

import numpy as np
import pytest

from kmviz.charts import wire
from kmviz.methods.register import METHODS
from kmviz.ui import follow
from tests.pages.helpers import live_arrays, open_page

PAGES = sorted({one.page for one in METHODS if one.icon})
VIEW = {"data": "sketch", "query": "3"}


def said(app):
    return next(m.value for m in app.markdown if m.value.startswith(":small[★"))


@pytest.fixture(scope="module", params=PAGES)
def app(request):
    return open_page(request.param, **VIEW)


def test_class_answer_cost_and_the_reason_stand_in_one_line(app):
    text = said(app)
    assert text.startswith(":small[★ **Query 3**: truly ")
    assert "kernel values. " in text
    reason = text.split("kernel values. ")[1]
    assert any(letter.isdigit() for letter in reason), "the reason comes with its numbers"


def test_every_walk_is_played_from_its_start_to_its_answer(app):
    for key in ("query", "easy", "hard"):
        layers = live_arrays(app, "follow", f"walk_{key}")["layers"]
        line = next(layer for layer in layers if layer["kind"] == "line")
        first, last = (wire.at(line["x"], k) for k in (0, len(line["x"]["index"]) - 1))
        assert list(first) == [0]
        np.testing.assert_array_equal(last, np.arange(len(last)))
        asked = live_arrays(app, "follow", f"asked_{key}")["layers"][1]
        assert len(wire.at(asked["x"], len(line["x"]["index"]) - 1)) <= len(last) - 1
        assert len(wire.at(asked["x"], 0)) == 0


def test_the_easy_query_takes_no_more_than_the_hard_one(app):
    lengths = []
    for key in ("easy", "hard"):
        layers = live_arrays(app, "follow", f"walk_{key}")["layers"]
        line = next(layer for layer in layers if layer["kind"] == "line")
        lengths.append(len(wire.at(line["x"], len(line["x"]["index"]) - 1)))
    assert lengths[0] <= lengths[1]


def test_the_axis_of_vectors_used_counts(app):
    for key in ("query", "easy", "hard"):
        axis = live_arrays(app, "follow", f"walk_{key}")["x"]
        assert axis["whole"]
        assert axis["range"][0] < 0 < axis["range"][1]


@pytest.mark.parametrize(
    ("stops", "words"),
    [
        ((7, 7, 7), "Each was answered after 7 vectors"),
        (
            (0, 1, 7),
            "before the first vector.  The easy one was answered after 1 vector.  The hard",
        ),
    ],
)
def test_what_is_said_of_all_walks_is_said_once(stops, words):
    walks = [
        follow.Walk(key, 0, SimpleNamespace(stop=stop))
        for key, stop in zip(("query", "easy", "hard"), stops)
    ]
    assert words in follow._note(walks, max(stops))
