"""The Reduced set page in a real browser: cold link, slider, address."""

from playwright.sync_api import expect

from tests.browser.harness import clipped, drawn, parameter, settle


def test_a_cold_deep_link_and_a_moved_slider(visit):
    page = visit("/Reduced_Set?data=two_moons&n=150&vectors=6&method=selection")
    assert page.locator("h1").first.inner_text() == "Reduced set"
    for key in ("reduced_vectors", "reduced_error", "boundary"):
        assert drawn(page, key).is_visible()
    live = page.locator('[data-kmviz-live="vectors"]')
    expect(live).to_have_attribute("data-value", "6")
    live.locator("input[type=range]").press("ArrowRight")
    expect(live).to_have_attribute("data-value", "7")
    assert parameter(page, "vectors", "7")
    assert parameter(page, "method", "selection")
    settle(page)
    expect(live.locator(".numbers")).to_contain_text("Vectors7")
    assert not clipped(page)


def test_the_boundary_and_the_vectors_follow_the_slider(visit):
    page = visit("/Reduced_Set?data=two_moons&n=150&vectors=3")
    live = page.locator('[data-kmviz-live="vectors"]')
    expect(live).to_have_attribute("data-value", "3")
    script = "(root, [layer, name]) => Array.from(root.kmviz.drawn('boundary')[layer][name])"
    before = live.evaluate(script, [1, "x"])
    assert len(live.evaluate(script, [2, "x"])) == 3
    live.locator("input[type=range]").press("ArrowLeft")
    expect(live).to_have_attribute("data-value", "2")
    assert len(live.evaluate(script, [2, "x"])) == 2
    assert live.evaluate(script, [1, "x"]) != before


def test_a_machine_of_one_vector_has_nothing_to_slide(visit):
    page = visit("/Reduced_Set?data=two_moons&n=150&kernel=linear&vectors=9")
    expect(page.locator('[data-kmviz-live="vectors"]')).to_have_attribute("data-value", "1")
