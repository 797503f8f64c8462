"""The Support vector tree page as a person meets it."""

from playwright.sync_api import expect

from tests.browser.harness import click_spot, clipped, drawn, parameter

PAGE = "/Support_Vector_Tree"


def test_what_is_under_the_pointer_shows_its_region(visit):
    page = visit(f"{PAGE}?data=banana&height=4&split=exact")
    live = page.locator('[data-kmviz-live="height"]')
    canvas = live.locator('[data-kmviz-view="tree_map"] canvas')
    canvas.scroll_into_view_if_needed()
    before = canvas.screenshot()
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] * 0.8, "y": box["height"] * 0.25})
    tip = live.locator('[data-kmviz-view="tree_map"] .tip')
    expect(tip).to_contain_text("training rows")
    assert canvas.screenshot() != before, "its cells are shaded"


def test_a_cold_deep_link_then_height_point_and_node(visit):
    page = visit(f"{PAGE}?data=banana&height=6&split=exact")
    live = page.locator('[data-kmviz-live="height"]')
    expect(live).to_have_attribute("data-value", "6")
    for key in ("tree_map", "tree_path", "tree_heights"):
        assert drawn(page, key).is_visible()

    live.locator("input[type=range]").press("ArrowLeft")
    expect(live).to_have_attribute("data-value", "5")
    assert parameter(page, "height", "5")

    click_spot(page, "tree_map", layer=6, point=30)
    chosen = parameter(page, "query")
    expect(page.get_by_text(f"Query {chosen}", exact=True).first).to_be_visible()

    click_spot(page, "tree_path", layer=2, point=1)
    assert parameter(page, "node", "1")
    expect(page.get_by_text("Node 1:")).to_have_count(1)
    assert parameter(page, "query", chosen)
    assert not clipped(page)
