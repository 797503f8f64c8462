"""The live slider in a real browser: what is drawn is what Python said, and nobody waits for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from kmviz.charts import live
from tests.browser.harness import parameter, serve, settle
from tests.browser.live_demo.arrays import SIDE, WINDOWS, arrays


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the demo page instead of the app's."""
    log = tmp_path_factory.mktemp("demo") / "log.txt"
    with serve(log, "tests/browser/live_demo/demo.py") as address:
        yield address


class Traffic:
    """What goes over the websockets of a page."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.received: list[int] = []

    def watch(self, page: Page) -> None:
        page.on("websocket", self._listen)

    def _listen(self, socket) -> None:
        socket.on("framesent", lambda frame: self.sent.append(frame))
        socket.on("framereceived", lambda frame: self.received.append(len(frame)))

    def clear(self) -> None:
        self.sent.clear()
        self.received.clear()


def root(page: Page) -> Locator:
    return page.locator('[data-kmviz-live="w"]')


def at_value(page: Page, value: int) -> None:
    expect(root(page)).to_have_attribute("data-value", str(value))


def drawn(page: Page, view: str, layer: int, name: str) -> np.ndarray:
    """The numbers of one array that a layer shows now."""
    script = "(root, [view, layer, name]) => Array.from(root.kmviz.drawn(view)[layer][name])"
    return np.array(root(page).evaluate(script, [view, layer, name]), dtype=float)


def press(page: Page, key: str, times: int = 1) -> None:
    for _ in range(times):
        root(page).locator("input").press(key)


@pytest.fixture
def watched(visit: Callable[..., Page]) -> tuple[Page, Traffic]:
    """The demo page with its traffic watched from the first message on."""
    traffic = Traffic()
    page = visit("/?w=10", before=traffic.watch)
    at_value(page, 10)
    return page, traffic


VIEWS = ("effort", "trajectory", "effort_map", "histogram", "neighbors", "tree_path")


@pytest.mark.parametrize("w", [0, 60])
def test_what_is_drawn_is_what_python_said_at_the_value_of_the_url(visit, w):
    page, a = visit(f"/?w={w}"), arrays()
    at_value(page, w)
    i = WINDOWS.index(w)
    expect(root(page).get_by_role("slider", name="Window w")).to_have_value(str(w))
    np.testing.assert_array_equal(drawn(page, "effort", 0, "y"), a.steps[i])
    np.testing.assert_array_equal(drawn(page, "effort", 0, "x"), a.exact.astype("f4"))
    np.testing.assert_array_equal(drawn(page, "effort", 0, "group"), a.agrees[i])
    np.testing.assert_array_equal(drawn(page, "trajectory", 1, "y"), a.low[i].astype("f4"))
    np.testing.assert_array_equal(drawn(page, "effort_map", 0, "values"), a.map[i].ravel())
    np.testing.assert_array_equal(drawn(page, "effort_map", 2, "x"), a.rings[i][:, 0].astype("f4"))
    np.testing.assert_array_equal(drawn(page, "histogram", 0, "y"), a.counts[i])
    assert len(drawn(page, "neighbors", 0, "shown")) == 1 + i % len(a.bank)
    expect(root(page).locator(".numbers")).to_contain_text(f"{a.steps[i].mean():.1f}")
    expect(root(page).locator(".numbers")).to_contain_text(f"{SIDE} x {SIDE}")
    for key in VIEWS:
        image = root(page).locator(f'[data-kmviz-view="{key}"]').get_by_role("img")
        assert len(image.get_attribute("aria-label")) > 10, "each view says what it shows"


def test_a_drag_sends_nothing_until_it_is_released_and_then_one_message(watched):
    page, traffic = watched
    slider = root(page).locator("input").bounding_box()
    middle = slider["y"] + slider["height"] / 2
    page.mouse.move(slider["x"] + slider["width"] * 10 / 60, middle)
    page.mouse.down()
    traffic.clear()
    seen = set()
    for part in np.linspace(0.2, 0.5, 12):
        page.mouse.move(slider["x"] + slider["width"] * part, middle)
        page.wait_for_timeout(40)
        value = int(root(page).get_attribute("data-value"))
        steps = drawn(page, "effort", 0, "y")
        np.testing.assert_array_equal(steps, arrays().steps[WINDOWS.index(value)])
        seen.add(value)
    page.wait_for_timeout(400)
    assert len(seen) > 8, "it moves while it is dragged"
    assert traffic.sent == [], "and says nothing"
    page.mouse.up()
    last = root(page).get_attribute("data-value")
    expect(page.get_by_text(f"Python heard {last}")).to_be_visible()
    settle(page)
    assert len(traffic.sent) == 1
    assert sum(traffic.received) < 30_000, "the arrays are not sent again"
    parameter(page, "w", last)
    at_value(page, int(last))


def test_keys_move_it_and_a_burst_of_them_is_one_message(watched):
    page, traffic = watched
    traffic.clear()
    press(page, "ArrowRight", times=5)
    at_value(page, 15)
    expect(page.get_by_text("Python heard 15")).to_be_visible()
    assert len(traffic.sent) == 1
    press(page, "End")
    at_value(page, 60)


def test_moves_that_follow_one_another_are_never_pulled_back(watched):
    page, _ = watched
    root(page).evaluate(
        """(root) => { root.seen = [];
            new MutationObserver(() => root.seen.push(Number(root.dataset.value)))
                .observe(root, { attributes: true, attributeFilter: ["data-value"] }); }"""
    )
    for _ in range(12):
        press(page, "ArrowRight")
        page.wait_for_timeout(270)  # about as long as a slider rests before Python hears of it
    at_value(page, 22)
    expect(page.get_by_text("Python heard 22")).to_be_visible()
    seen = root(page).evaluate("(root) => root.seen")
    assert seen == sorted(seen), "each answer came while the next move was on its way"


def test_python_can_move_it_too(watched):
    page, traffic = watched
    press(page, "ArrowRight", times=2)
    expect(page.get_by_text("Python heard 12")).to_be_visible()
    traffic.clear()
    page.get_by_role("button", name="Back to three").click()
    at_value(page, 3)
    np.testing.assert_array_equal(drawn(page, "effort", 0, "y"), arrays().steps[3])
    press(page, "ArrowRight")
    expect(page.get_by_text("Python heard 4 ")).to_be_visible()


def test_the_back_button_moves_it_back(watched):
    page, _ = watched
    press(page, "ArrowRight", times=4)
    parameter(page, "w", "14")
    press(page, "ArrowRight", times=4)
    parameter(page, "w", "18")
    page.go_back()
    at_value(page, 14)
    np.testing.assert_array_equal(drawn(page, "effort", 0, "y"), arrays().steps[14])
    expect(page.get_by_text("Python heard 14")).to_be_visible()


def test_one_that_comes_back_later_stands_where_python_says_and_still_speaks(watched):
    page, _ = watched
    press(page, "ArrowRight", times=3)
    expect(page.get_by_text("Python heard 13")).to_be_visible()
    page.get_by_text("Hide").click()
    expect(root(page)).to_have_count(0)
    settle(page)  # what stood below has moved up
    page.get_by_role("button", name="Back to three").click()
    parameter(page, "w", "3")
    page.get_by_text("Hide").click()
    at_value(page, 3)
    press(page, "ArrowRight")
    expect(page.get_by_text("Python heard 4 ")).to_be_visible()
    at_value(page, 4)


def test_a_crowd_of_points_is_drawn_as_pixels_and_still_answers(visit):
    page, a = visit("/?w=20&n=6000"), arrays(6_000)
    at_value(page, 20)
    np.testing.assert_array_equal(drawn(page, "effort", 0, "y"), a.steps[20])
    k = int(np.argmax(np.where(a.exact < 3, a.exact, 0)))
    place = root(page).evaluate("(root, k) => root.kmviz.place('effort', 0, k)", k)
    pixel = root(page).evaluate(
        """(root, [x, y]) => {
            const canvas = root.querySelector('[data-kmviz-view="effort"] canvas');
            const box = canvas.getBoundingClientRect(), ratio = devicePixelRatio;
            return [...canvas.getContext("2d")
                .getImageData((x - box.x) * ratio, (y - box.y) * ratio, 1, 1).data]; }""",
        place,
    )
    red, green, blue, alpha = pixel
    assert alpha > 150
    assert blue > green > red, "the first colour of the theme"
    page.mouse.move(*place)
    expect(root(page).locator('[data-kmviz-view="effort"] .tip')).to_contain_text(f"query {k:,}")


def test_a_click_on_a_point_reports_its_row_and_the_star_follows(watched):
    page, traffic = watched
    steps = arrays().steps[10]
    alone = int(np.argmax(np.abs(np.where(np.abs(arrays().exact) < 3, arrays().exact, 0))))
    place = root(page).evaluate("(root, k) => root.kmviz.place('effort', 0, k)", alone)
    page.mouse.move(*place)
    tip = root(page).locator('[data-kmviz-view="effort"] .tip')
    expect(tip).to_contain_text(f"query {alone:,}")
    expect(tip).to_contain_text(f"steps {steps[alone]}")
    traffic.clear()
    page.mouse.click(*place)
    expect(page.get_by_text(f"('effort', {alone})")).to_be_visible()
    at_value(page, 10)
    root(page).evaluate(
        "async (root, k) => { while (root.kmviz.drawn('effort')[0].picked !== k) "
        "await new Promise(requestAnimationFrame); }",
        alone,
    )
    expect(root(page).locator(".numbers")).to_contain_text(f"Query{alone}")
    assert len(traffic.sent) == 1
    assert sum(traffic.received) < 30_000, "points, which did not change, are not sent again"


def test_play_steps_through_the_positions_and_stops(watched):
    page, traffic = watched
    traffic.clear()
    root(page).get_by_role("button", name="Play Window w").click()
    expect(root(page)).to_have_attribute("data-value", re.compile(r"1[6-9]|[2-5]\d"))
    assert traffic.sent == []
    root(page).get_by_role("button", name="Pause Window w").click()
    stopped = int(root(page).get_attribute("data-value"))
    expect(page.get_by_text(f"Python heard {stopped}")).to_be_visible()
    assert len(traffic.sent) == 1


def test_whoever_wants_less_motion_gets_large_slow_steps(visit):
    page = visit("/?w=10")
    page.emulate_media(reduced_motion="reduce")
    root(page).get_by_role("button", name="Play Window w").click()
    at_value(page, 15)
    at_value(page, 20)
    root(page).get_by_role("button", name="Pause Window w").click()


def test_a_legend_entry_hides_its_points_and_stays_hidden_after_a_move(watched):
    page, _ = watched
    entry = root(page).get_by_role("button", name="boundary")
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "false")
    assert drawn(page, "effort_map", 2, "x").size == 0
    press(page, "ArrowRight")
    expect(page.get_by_text("Python heard 11")).to_be_visible()
    assert drawn(page, "effort_map", 2, "x").size == 0


COLORS = """(root, key) => {
    const canvas = root.querySelector(`[data-kmviz-view="${key}"] canvas`);
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const found = new Set();
    for (let k = 0; k < pixels.length; k += 4)
        if (pixels[k + 3] === 255) found.add([pixels[k], pixels[k + 1], pixels[k + 2]].join());
    return [...found];
}"""


@pytest.mark.parametrize(("dark", "ink"), [(False, "28,36,48"), (True, "232,236,242")])
def test_colours_follow_the_theme(visit, dark, ink):
    page = visit("/?w=10", dark=dark)
    at_value(page, 10)
    assert ink in root(page).evaluate(COLORS, "trajectory")


def test_on_a_phone_views_stand_in_one_column_and_nothing_is_cut(visit):
    page = visit("/?w=10")
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)
    at_value(page, 10)
    boxes = [view.bounding_box() for view in root(page).locator("canvas").all()]
    assert len(boxes) == 6
    for above, below in pairwise(boxes):
        assert below["y"] >= above["y"] + above["height"]
    for box in [*boxes, root(page).locator("input").bounding_box()]:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    said, bar = (root(page).locator(part).first.bounding_box() for part in ("output", "input"))
    assert said["y"] < bar["y"] + bar["height"], "the value stands beside the slider"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1400, "height": 1000})


def test_the_pointer_over_a_map_shows_who_answers_there(watched):
    page, _ = watched
    box = root(page).locator('[data-kmviz-view="effort_map"] canvas').bounding_box()
    tip = root(page).locator('[data-kmviz-view="effort_map"] .tip')
    before = root(page).evaluate(COLORS, "effort_map")
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 30)
    expect(tip).to_have_text("model 3 answers here")
    assert root(page).evaluate(COLORS, "effort_map") != before, "its circle is drawn"
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 30)
    expect(page.get_by_text("('effort_map', 3)")).to_be_visible()
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()


TICKS = """(page, [source, axis, most]) => new Function(
    `${source}; return ticksOf(${JSON.stringify(axis)}, ${most})`)()"""


@pytest.fixture
def ticks(watched) -> Callable[..., list[tuple[float, str]]]:
    """Ticks that the canvas has for a range, in about so many steps."""
    page, _ = watched

    def found(low: float, high: float, most: float = 4.5, **axis: bool):
        said = [live.source("axes"), {"range": [low, high], **axis}, most]
        return [tuple(tick) for tick in root(page).evaluate(TICKS, said)]

    return found


def test_an_axis_of_a_third_of_the_page_says_its_scale(ticks):
    for low, high in [(-4.4, 4.6), (-0.9, 0.8), (3, 7), (0, 48), (-2.6, 2.4), (1e-7, 3e-7)]:
        values = [value for value, _ in ticks(low, high)]
        assert 2 <= len(values) <= 6
        assert all(low <= value <= high for value in values)
        assert f"{values[1] - values[0]:.0e}"[0] in "125"


def test_a_logarithmic_axis_has_powers_of_ten_or_round_numbers(ticks):
    for ends, most, words in [
        ((0.9, 230), 4.5, ["1", "10", "100"]),
        ((1, 100), 7, ["1", "2", "5", "10", "20", "50", "100"]),
        ((1, 1e9), 4.5, ["1", "100", "10,000", "1,000,000", "100,000,000"]),
        ((230, 440), 4.5, ["250", "300", "350", "400"]),
    ]:
        assert [word for _, word in ticks(*ends, most, log=True)] == words


def test_an_axis_that_counts_has_no_tick_between_two_whole_numbers(ticks):
    assert [word for _, word in ticks(-0.03, 1.05, whole=True)] == ["0", "1"]
    assert len(ticks(-0.03, 1.05)) > 2
    assert [word for _, word in ticks(0, 40, whole=True)] == ["0", "10", "20", "30", "40"]
    assert ticks(-3.2, 12_345, whole=True)[0] == (0, "0")


def test_a_range_that_cannot_be_told_apart_has_no_ticks(ticks):
    for ends in [(1.0, 1.0), (0.0, 1e-320), (-1e308, 1e308)]:
        assert ticks(*ends) == []
    assert ticks(0.0, 1.0, hidden=True) == []


def test_numbers_have_a_minus_sign_as_wide_as_a_digit(ticks):
    assert "−2.5" in [word for _, word in ticks(-2.6, -1.4)]
    assert (0, "0") in ticks(-1, 1)
    assert [word for _, word in ticks(0, 30_000)][1] == "10,000"


def test_a_picture_is_drawn_large_at_the_position_that_is_seen(watched):
    page, _ = watched
    press(page, "ArrowRight", times=3)
    expect(page.get_by_text("Python heard 13")).to_be_visible()
    assert page.locator(".js-plotly-plot").count() == 0, "nothing before it is asked for"
    root(page).get_by_role("button", name="Enlarge trajectory").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(dialog.get_by_text(f"stops at {arrays().stop[13]}")).to_be_visible()
    expect(dialog.get_by_role("button", name="Picture (HTML)")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    at_value(page, 13)


def test_a_query_pointed_at_in_one_picture_is_ringed_in_the_others(visit):
    page = visit("/?w=10")
    ringed = "(root) => ['effort_map', 'tree_path', 'effort'].map((key) => root.kmviz.ringed(key))"
    before = root(page).evaluate(COLORS, "effort_map")
    assert root(page).evaluate(ringed) == [None, None, None]
    page.mouse.move(*root(page).evaluate("(root) => root.kmviz.place('effort', 0, 5)"))
    on_map, on_tree, itself = root(page).evaluate(ringed)
    assert on_map == on_tree is not None
    assert itself is None, "what is pointed at needs no ring"
    assert drawn(page, "effort_map", 4, "id")[on_map] == on_map
    assert root(page).evaluate(COLORS, "effort_map") != before
    page.mouse.move(5, 5)
    assert root(page).evaluate(ringed) == [None, None, None]
