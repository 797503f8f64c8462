"""The Reduced set page in a real browser: cold link, slider, address."""

from tests.browser.harness import parameter, press, shown


def test_a_cold_deep_link_and_a_moved_slider(visit):
    page = visit("/Reduced_Set?data=two_moons&n=150&vectors=6&method=selection")
    assert page.locator("h1").first.inner_text() == "Reduced set"
    for key in ("reduced_vectors", "reduced_error", "boundary"):
        assert page.locator(f".st-key-{key} .main-svg").count() > 0
    assert shown(page, "vectors") == "6"
    press(page, "vectors", "ArrowRight")
    assert parameter(page, "vectors", "7")
    assert parameter(page, "method", "selection")
    assert page.get_by_test_id("stMetricValue").first.inner_text() == "7"
