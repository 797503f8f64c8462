"""What a live slider sends: packed and read back, small, and refused where it does not fit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from kmviz.charts import Axis, Band, Chart, Heat, Images, Line, Points, Rule, theme, wire
from kmviz.charts.wire import numbers, words

P, N = 7, 50


def sent(view, positions=P):
    """A view as the browser finds it."""
    return wire.unpack(wire.pack(wire.spec(view, positions)))


def chart(*layers, **options):
    return Chart(key="effort", layers=layers, alt="Steps of each query.", **options)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([True, False]), "u1"),
        (np.array([0, 255]), "u1"),
        (np.array([-1, 127]), "i1"),
        (np.array([0, 60_000]), "u2"),
        (np.array([-300, 300]), "i2"),
        (np.array([0, 70_000]), "i4"),
        (np.array([0, 2**40]), "f4"),
        (np.array([0.5, np.nan]), "f4"),
    ],
)
def test_numbers_take_the_smallest_kind_that_holds_them(values, kind):
    column = numbers(values, 1, P, "x")
    assert column["data"].dtype == np.dtype(kind)
    np.testing.assert_array_equal(wire.at(column, 3), values.astype(kind))


def test_a_column_for_each_position_reads_back_at_each():
    rng = np.random.default_rng(0)
    stacked = rng.integers(0, 1000, (P, N))
    ragged = [rng.normal(size=k) for k in range(P)]
    view = sent(chart(Points(x=rng.normal(size=N), y=stacked), Line(x=ragged, y=ragged)))
    points, line = view["layers"]
    for i in range(P):
        np.testing.assert_array_equal(wire.at(points["y"], i), stacked[i])
        np.testing.assert_array_equal(wire.at(line["x"], i), ragged[i].astype("f4"))
    assert points["y"]["data"].dtype == np.uint16
    np.testing.assert_array_equal(wire.at(points["x"], 0), wire.at(points["x"], P - 1))


def test_rows_that_repeat_and_arrays_that_are_equal_are_stored_once():
    rows = np.repeat(np.random.default_rng(0).normal(size=(2, N)), (3, 4), axis=0)
    column = numbers(rows, 1, P, "y")
    assert len(column["data"]) == 2 * N
    np.testing.assert_array_equal(column["index"], [0, 0, 0, 1, 1, 1, 1])
    band = Band(x=np.arange(N), low=rows, high=rows)
    once = len(wire.pack(wire.spec(chart(Line(x=np.arange(N), y=rows)), P)))
    assert len(wire.pack(wire.spec(chart(Line(x=np.arange(N), y=rows), band), P))) < once + 1_000


def test_the_arrays_of_a_whole_slider_are_small():
    rng = np.random.default_rng(0)
    steps, agrees = rng.integers(1, 850, (101, 2_000)), rng.random((101, 2_000)) > 0.1
    view = chart(Points(x=rng.normal(size=2_000), y=steps, group=agrees, hover={"steps": steps}))
    assert len(wire.pack(wire.spec(view, 101))) < 101 * 2_000 * 3 + 20_000


def test_words_are_stored_once_and_read_back():
    column = words([["a", "b"], ["b"], []], 1, 3, "captions")
    assert column["words"] == ["a", "b"]
    assert [wire.at(column, i) for i in range(3)] == [["a", "b"], ["b"], []]
    assert wire.at(words("same", 0, P, "title"), 5) == ["same"]
    assert wire.at(words([str(i) for i in range(P)], 0, P, "title"), 5) == ["5"]


def test_arrays_lie_where_a_browser_can_read_them_in_place():
    blob = wire.pack(wire.spec(chart(Points(x=np.arange(3), y=np.arange(3.0))), 1))
    length = int.from_bytes(blob[:4], "little")
    header = json.loads(blob[4 : 4 + length])
    assert (4 + length) % 8 == 0
    assert header["layers"][0]["y"]["data"]["begins"] % 8 == 0
    assert header["layers"][0]["x"]["data"]["array"] == "u1"


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (Points(x=np.zeros(N), y=np.zeros((P + 1, N))), "Points: y has 8 positions.* 7"),
        (Line(x=np.zeros((2, 2, 2)), y=np.zeros(2)), "Line: x has 3 axes: give 1"),
        (Line(x=[np.zeros(2)] * 3, y=np.zeros(2)), "Line: x has 3 positions"),
        (Rule(x=np.zeros(3)), "Rule: x has 3 positions"),
        (Rule(x=0.0, text=["a", "b"]), "Rule: text has 2 positions"),
    ],
)
def test_a_column_that_does_not_fit_the_slider_is_refused_by_name(layer, message):
    with pytest.raises(ValueError, match=message):
        wire.spec(chart(layer), P)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int8, bool])
def test_whole_numbers_of_a_map_are_sent_as_they_are(kind):
    values = np.random.default_rng(0).integers(-120, 120, (P, 6, 5)).astype(kind)
    (heat,) = sent(chart(Heat(values=values, x=np.arange(5), y=np.arange(6))))["layers"]
    for i in range(P):
        np.testing.assert_array_equal(heat["levels"][wire.at(heat["values"], i)], values[i].ravel())
    assert heat["values"]["data"].dtype == np.uint8
    assert heat["shades"].min() == 0
    assert heat["shades"].max() == 1


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("kind", [float, int])
def test_many_values_of_a_map_are_the_nearest_of_its_levels(log, kind):
    values = np.random.default_rng(0).uniform(1, 5_000, (P, 60, 60)).astype(kind)
    view = chart(Heat(values=values, x=np.arange(60), y=np.arange(60), log=log))
    (heat,) = sent(view)["layers"]
    scale = np.log if log else np.asarray
    levels = scale(heat["levels"].astype(float))
    assert len(levels) == 255
    away = np.abs(levels[wire.at(heat["values"], 2)] - scale(values[2].ravel()))
    np.testing.assert_allclose(away.max(), np.diff(levels).max() / 2, rtol=0.05)


def test_a_cell_without_a_value_has_no_level_and_one_beyond_the_range_the_last():
    values = np.array([[np.nan, 0.0], [5.0, 1.0]])
    view = chart(Heat(values=values, x=[0, 1], y=[0, 1], range=(0, 2)))
    (heat,) = sent(view)["layers"]
    np.testing.assert_array_equal(wire.at(heat["values"], 0), [255, 0, 254, 127])
    assert len(heat["levels"]) == 255


def test_a_diverging_map_has_its_middle_at_nothing():
    values = np.array([[-1.0, 0.0], [3.0, 1.0]])
    (heat,) = sent(chart(Heat(values=values, x=[0, 1], y=[0, 1], scale="diverging")))["layers"]
    assert heat["range"] == [-3.0, 3.0]
    assert heat["shades"][np.abs(heat["levels"]).argmin()] == pytest.approx(0.5)


def test_axes_span_all_positions_unless_a_range_is_given_or_a_layer_is_left_out():
    y = np.arange(P)[:, None] * np.ones(N)
    wild = Line(x=np.arange(2), y=np.array([-1e6, 1e6]), fits=False)
    view = sent(chart(Points(x=np.arange(N), y=y), wild, x=Axis("x", (0, 10))))
    assert view["x"]["range"] == [0, 10]
    low, high = view["y"]["range"]
    assert -1 < low < 0
    assert P - 1 < high < P
    logged = sent(chart(Points(x=[1, 100], y=[0, 10]), y=Axis("k", log=True)))
    assert logged["y"]["range"][0] > 0


def test_colours_are_the_names_of_the_themes_slots():
    view = sent(chart(Line(x=[0, 1], y=[0, 1], color=theme.COLORS[3])))
    assert view["layers"][0]["color"] == "categorical 3"
    with pytest.raises(ValueError, match="must be one of"):
        wire.spec(chart(Line(x=[0, 1], y=[0, 1], color="red")), P)


def test_images_are_bytes_cut_from_one_bank():
    bank = np.linspace(-1, 3, 4 * 6).reshape(2, 3, 4)
    view = sent(
        Images(
            key="neighbors", alt="a", bank=bank, shown=[[0], [1, 0]], captions=[["a"], ["b", "c"]],
            scale="diverging",
        ),
        positions=2,
    )  # fmt: skip
    assert view["shape"] == [3, 4]
    assert view["bank"].dtype == np.uint8
    assert view["bank"][-1] == 254
    assert abs(int(view["bank"][0]) - 254 / 3) < 1, "nothing is in the middle, at 127"
    np.testing.assert_array_equal(wire.at(view["shown"], 1), [1, 0])
    assert wire.at(view["captions"], 1) == ["b", "c"]
    with pytest.raises(ValueError, match="bank has 2 axes"):
        wire.spec(Images(key="k", alt="a", bank=bank[0], shown=[0]), 1)


def page():
    import numpy as np
    import streamlit as st

    from kmviz.charts import Chart, Points
    from kmviz.ui import pictures

    view = Chart(
        key="effort", alt="a", layers=[Points(x=np.arange(4), y=np.arange(12).reshape(3, 4))]
    )
    given = st.session_state.get("w", 4)
    st.text(
        pictures.show("w", "Window w", (0, 4, 9), given, [view], numbers={"k": ["1", "2", "3"]})
    )


def test_a_page_sends_the_slider_apart_from_its_arrays():
    at = AppTest.from_function(page).run()
    assert not at.exception
    protos = [element.proto for element in at.get("bidi_component")]
    before = {proto.id: proto.bytes for proto in protos if proto.bytes}
    assert at.text[0].value == "4"
    at.session_state["w"] = 9
    at.run()
    protos = [element.proto for element in at.get("bidi_component")]
    assert {proto.id: proto.bytes for proto in protos if proto.bytes} == before
    stand = json.loads(protos[-1].mixed.json or protos[-1].json)
    assert stand["position"] == 2
    assert len(stand["parts"]) == 2
    assert len(protos[-1].SerializeToString()) < 2_000
    effort = wire.unpack(
        next(b for name, b in before.items() if name.endswith("live_w_effort"))[16:]
    )
    np.testing.assert_array_equal(wire.at(effort["layers"][0]["y"], 2), [8, 9, 10, 11])


def test_a_value_between_two_of_the_slider_stands_at_the_nearest():
    at = AppTest.from_function(page)
    at.session_state["w"] = 8
    at.run()
    assert at.text[0].value == "9"


def test_on_a_map_lines_and_silent_points_do_not_answer_for_what_lies_below():
    line, points = (
        Line(x=[0, 1], y=[0, 1], name="boundary"),
        Points(x=[0, 1], y=[1, 0]),
    )
    flat, upright = (
        wire.spec(Chart(key="map", alt="A map.", equal=equal, layers=[line, points]), 1)["layers"]
        for equal in (True, False)
    )
    assert "names" not in flat[0], "which is what makes a layer one that can be pointed at"
    assert not any("hover" in layer for layer in flat)
    assert flat[1]["silent"], "it would say no more than its name"
    assert all(set(layer["hover"]) == {""} for layer in upright)
