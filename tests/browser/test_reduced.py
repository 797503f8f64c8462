"""The Reduced set page in a real browser: cold link, slider, stopping."""

from tests.browser.harness import settle


def test_a_cold_link_draws_every_chart(visit):
    page = visit("/Reduced_Set?data=two_moons&n=150&vectors=6&method=incremental")
    for key in ("reduced_vectors", "reduced_error", "boundary"):
        page.locator(f".st-key-{key} .js-plotly-plot").wait_for()
    assert page.get_by_test_id("stMetricValue").first.inner_text() == "6"


def test_the_slider_moves_the_mark_and_the_address(visit):
    page = visit("/Reduced_Set?data=two_moons&n=150&vectors=6&method=selection")
    thumb = page.locator(".st-key-vectors [role=slider]")
    thumb.focus()
    thumb.press("ArrowRight")
    settle(page)
    assert page.get_by_test_id("stMetricValue").first.inner_text() == "7"
    assert "vectors=7" in page.url
    assert "method=selection" in page.url
