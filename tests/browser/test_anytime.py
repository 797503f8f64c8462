"""The Anytime bounds page as a person meets it."""

from playwright.sync_api import expect

from tests.browser.harness import click_spot, clipped, drawn, parameter


def test_a_cold_deep_link_a_moved_step_and_a_clicked_query(visit):
    page = visit("/Anytime_Bounds?data=banana&basis=given&step=4")
    assert page.locator("h1").first.inner_text() == "Anytime bounds"
    live = page.locator('[data-kmviz-live="step"]')
    expect(live).to_have_attribute("data-value", "4")
    for key in ("bounds", "steps", "residuals"):
        assert drawn(page, key).is_visible()
    assert page.locator(".st-key-orderings .main-svg").count() > 0
    for _ in range(3):
        live.locator("input[type=range]").press("ArrowRight")
    expect(live).to_have_attribute("data-value", "7")
    expect(live.locator(".note")).to_contain_text("After 7 kernel evaluations")
    assert parameter(page, "step", "7")
    click_spot(page, "steps", layer=0, point=3)
    chosen = parameter(page, "query")
    expect(page.get_by_text(f"Query {chosen}: the interval that holds f")).to_have_count(1)
    assert parameter(page, "step", "7"), "the step survives another query"
    assert not clipped(page)
