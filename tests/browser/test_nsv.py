"""The Nearest support vectors page as a person meets it."""

from tests.browser.harness import click_point, parameters, press, shown


def test_a_cold_deep_link_a_moved_window_and_a_clicked_query(visit):
    page = visit("/Nearest_Support_Vectors?data=banana&w=4&filter=false")
    assert page.locator("h1").first.inner_text() == "Nearest support vectors"
    assert shown(page, "w") == "4"
    for key in ("effort", "trajectory", "neighbors", "tradeoff"):
        assert page.locator(f".st-key-{key} .main-svg").count() > 0
    press(page, "w", "ArrowRight", times=3)
    assert parameters(page)["w"] == "7"
    click_point(page, "effort", trace=2, point=3)
    chosen = parameters(page)["query"]
    assert page.get_by_text(f"Query {chosen}: step by step").count() == 1
    assert parameters(page)["w"] == "7", "the window survives another query"
