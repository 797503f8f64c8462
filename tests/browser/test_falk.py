"""The Local models page as a person meets it."""

import re

from playwright.sync_api import expect

from tests.browser.harness import click_spot, clipped, drawn, parameter, settle


def test_a_cold_deep_link_a_moved_k_and_a_clicked_query(visit):
    page = visit("/Local_Models?data=banana&k=40&kp=10")
    assert page.locator("h1").first.inner_text() == "Local models"
    live = page.locator('[data-kmviz-live="k"]')
    expect(live).to_have_attribute("data-value", "40")
    expect(page.get_by_label("k'", exact=True)).to_have_value("10")
    for key in ("local_map", "local_sweep"):
        assert drawn(page, key).is_visible()
    live.locator("input[type=range]").press("ArrowRight")
    expect(live).to_have_attribute("data-value", "60")
    assert parameter(page, "k", "60")
    settle(page)
    assert parameter(page, "kp", "10")
    click_spot(page, "effort_map", layer=4, point=30)
    chosen = parameter(page, "query")
    expect(page.get_by_text(f"Query {chosen}").first).to_be_visible()
    assert parameter(page, "k", "60"), "k survives another query"
    assert not clipped(page)
    canvas = live.locator('[data-kmviz-view="local_map"] canvas')
    canvas.scroll_into_view_if_needed()
    canvas.hover()
    tip = live.locator('[data-kmviz-view="local_map"] .tip')
    expect(tip).to_contain_text("60 points")  # who answers, whatever line is near
    canvas.click()
    expect(page).not_to_have_url(re.compile(f"query={chosen}(&|$)"))
