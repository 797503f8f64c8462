"""A data set drawn by hand, and its link opened by somebody else."""

from playwright.sync_api import expect

from tests.browser.harness import parameter, parameters, settle

BOARD = "[data-kmviz-sketch]"


def press(page, *places):
    """Press at the first of these places (shares of the board), move along, let go."""
    box = page.locator(f"{BOARD} canvas").bounding_box()
    spots = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places]
    page.mouse.move(*spots[0])
    page.mouse.down()
    for spot in spots[1:]:
        page.mouse.move(*spot, steps=4)
    page.mouse.up()


def state(page, what):
    return page.locator(BOARD).evaluate(f"(board) => board.kmviz.{what}()")


def choose(page, name):
    page.locator(BOARD).get_by_role("button", name=name, exact=True).click()


def test_points_drawn_by_mouse_make_a_machine_and_a_link(visit):
    page = visit("/?data=sketch")
    board = page.locator(BOARD)
    choose(page, "Clear")
    expect(page.get_by_text("Draw at least 5 points of each class")).to_be_visible()
    for k in range(6):
        press(page, (0.1 + 0.06 * k, 0.8))
    choose(page, "●")
    choose(page, "Brush")
    press(page, (0.6, 0.2), (0.9, 0.3))
    expect(page.locator('[data-kmviz-view="boundary"]')).to_be_visible()
    settle(page)
    labels = [label for _, _, label in state(page, "points")]
    assert labels.count(1) == 6
    assert labels.count(-1) >= 8

    choose(page, "Points")
    count = len(labels)
    press(page, (0.1, 0.8), (0.2, 0.5))
    settle(page)
    assert len(state(page, "points")) == count, "a point was dragged, none was added"
    choose(page, "Erase")
    press(page, (0.2, 0.5))
    expect(board).to_have_attribute("data-kmviz-sketch", str(count - 1))
    choose(page, "Undo")
    expect(board).to_have_attribute("data-kmviz-sketch", str(count))
    settle(page)

    assert len(parameter(page, "drawn")) == 3 * count + 1
    line, view = state(page, "line"), parameters(page)
    assert len(line) > 20
    query = "&".join(f"{name}={value}" for name, value in view.items())
    other = visit(f"/?{query}")
    assert state(other, "line") == line, "the same boundary, in a session that knows nothing"
    assert sorted(state(other, "points")) == sorted(state(page, "points"))

    choose(other, "Paint a region")
    press(other, (0.5, 0.1), (0.8, 0.5), (0.5, 0.9))
    expect(other.locator(BOARD)).to_have_attribute("data-kmviz-sketch", "200")
    settle(other)
    assert parameters(other)["drawn"].startswith("~"), "a region, from which 200 points are drawn"
