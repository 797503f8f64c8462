"""Data drawn by hand, without a browser."""

import json

import numpy as np
import pytest

from kmviz.datasets.drawing import CELLS, Drawing, read_drawing, start, write_drawing
from kmviz.ui import sketch
from tests.pages.helpers import metric, open_page, run

SQUARE = "AABAICAQDAYEBAF.gIBoIDgQEgYFoYG"  # five points in one corner, five in the other
TREE = "pages/5_Support_Vector_Tree.py"


def sent(app):
    """What the board was sent."""
    found = [c.proto for c in app.get("bidi_component") if c.proto.id.endswith("sketch_board")]
    assert len(found) == 1
    return json.loads(found[0].mixed.json or found[0].json)


def test_a_link_with_points_trains_a_machine_on_them():
    app = open_page(data="sketch", drawn=SQUARE)
    assert metric(app, "Training rows") == "10"
    drawing, told = read_drawing(SQUARE), sent(app)
    np.testing.assert_array_equal(np.array(told["points"])[:, :2], drawing.places)
    assert len(told["vectors"]) == int(metric(app, "Support vectors"))
    assert told["line"], "the boundary is drawn on the board"
    assert app.query_params["drawn"] == SQUARE
    lines = next(c.value for c in app.code if "SVC(" in c.value)
    names: dict = {}
    exec(lines, names)
    assert len(names["svc"].support_) == int(metric(app, "Support vectors"))


@pytest.mark.parametrize("drawn", ["", "x", "AAA", "A.B", "~AAA", "%00", "." * 9, "A" * 5000])
def test_a_malformed_drawing_is_the_one_to_start_from(drawn):
    app = open_page(data="sketch", drawn=drawn)
    assert metric(app, "Training rows") == str(len(start().labels))
    assert not app.error
    assert not app.info


@pytest.mark.parametrize("file", ["app.py", TREE])
@pytest.mark.parametrize("drawn", [".", "AAAAICAQDAYEBAF."])
def test_too_little_to_learn_from_is_said_and_the_board_stays(file, drawn):
    app = open_page(file, data="sketch", drawn=drawn)
    assert "at least 5 points of each class" in app.info[0].value
    assert sent(app)["line"] == []
    assert not app.get("plotly_chart")


def test_a_machine_that_cannot_be_trained_leaves_the_board():
    app = open_page(data="sketch", kernel="poly", gamma=10_000, degree=12)
    assert "smaller gamma" in app.error[0].value
    assert sent(app)["points"]


def test_a_painted_region_takes_rows_and_noise():
    cells = np.zeros((CELLS, CELLS), bool)
    cells[8:24, 8:24] = True
    text = write_drawing(Drawing(np.empty((0, 2), int), np.empty(0, int), cells))
    app = open_page(TREE, data="sketch", drawn=text, n="60", noise="0.1")
    told = sent(app)
    assert told["cells"].count("1") == 256
    assert len(told["sample"]) == 60
    assert app.number_input(key="noise").value == 0.1


def test_the_drawing_is_there_again_after_another_data_set():
    app = open_page(data="sketch")
    assert "noise" not in {box.key for box in app.number_input}
    app.session_state["kmviz.drawing"] = SQUARE
    app.selectbox(key="data").set_value("banana")
    run(app)
    assert "drawn" not in app.query_params
    app.button(key="draw").click()
    run(app)
    assert app.query_params["drawn"] == SQUARE


def test_what_the_browser_tells_is_brought_onto_the_board():
    told = sketch.read({"points": [[-4, 700, 5], [3, 4, -1]], "cells": None})
    assert told.places.tolist() == [[0, 511], [3, 4]]
    assert told.labels.tolist() == [1, -1]
