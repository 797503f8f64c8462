"""The Nearest support vectors page as a person meets it."""

from playwright.sync_api import expect

from tests.browser.harness import click_spot, clipped, drawn, parameter


def test_a_cold_deep_link_a_moved_window_and_a_clicked_query(visit):
    page = visit("/Nearest_Support_Vectors?data=banana&w=4&filter=false")
    assert page.locator("h1").first.inner_text() == "Nearest support vectors"
    live = page.locator('[data-kmviz-live="w"]')
    expect(live).to_have_attribute("data-value", "4")
    for key in ("effort", "trajectory", "neighbors"):
        assert drawn(page, key).is_visible()
    assert page.locator(".st-key-tradeoff .main-svg").count() > 0
    for _ in range(3):
        live.locator("input[type=range]").press("ArrowRight")
    expect(live).to_have_attribute("data-value", "7")
    assert parameter(page, "w", "7")
    click_spot(page, "effort", layer=1, point=3)
    chosen = parameter(page, "query")
    expect(page.get_by_text(f"Query {chosen}: the support vectors it used")).to_have_count(1)
    assert parameter(page, "w", "7"), "the window survives another query"
    assert not clipped(page)
    page.set_viewport_size({"width": 390, "height": 844})
    row = page.locator(".st-key-controls [data-testid=stHorizontalBlock]")
    assert "gradient" in row.evaluate("row => getComputedStyle(row).maskImage"), "more to the right"
    last = row.locator("> *").last
    row.evaluate("row => row.scrollTo(row.scrollWidth, 0)")
    end = last.bounding_box()
    assert end["x"] + end["width"] < 390 - 40, "the last control can be moved clear of the arrow"
    page.set_viewport_size({"width": 1400, "height": 1000})
