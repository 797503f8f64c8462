"""The Local models page as a person meets it."""

from playwright.sync_api import expect

from tests.browser.harness import click_point, parameter, press, shown


def test_a_cold_deep_link_a_moved_k_and_a_clicked_query(visit):
    page = visit("/Local_Models?data=banana&k=40&kp=10")
    assert page.locator("h1").first.inner_text() == "Local models"
    assert (shown(page, "k"), shown(page, "kp")) == ("40", "10")
    for key in ("local_map", "local_sweep"):
        assert page.locator(f".st-key-{key} .main-svg").count() > 0
    press(page, "k", "ArrowRight", times=2)
    assert parameter(page, "k", "42")
    assert parameter(page, "kp", "10")
    layer = page.evaluate(
        """() => document.querySelector('.st-key-local_map .js-plotly-plot')
                 .data.findIndex(t => t.name === 'queries')"""
    )
    click_point(page, "local_map", trace=layer, point=30)
    chosen = parameter(page, "query")
    expect(page.get_by_text(f"Query {chosen} ")).to_have_count(1)
    assert parameter(page, "k", "42"), "k survives another query"
