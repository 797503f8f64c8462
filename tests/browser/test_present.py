"""Presenting by keys."""

from playwright.sync_api import expect

from tests.browser.harness import parameter, parameters, settle

LIVE = "[data-kmviz-live]"


def test_keys_play_turn_reveal_go_on_and_leave(visit):
    view = "data=sketch&height=1&lesson=questions&part=1&present=true"
    page = visit(f"/Support_Vector_Tree?{view}")
    live = page.locator(LIVE).first
    sidebar = page.locator('[data-testid="stSidebar"]')
    expect(live.locator("figure")).to_have_count(1)
    expect(page.locator(".st-key-controls").first).to_be_hidden()
    expect(sidebar.locator(".st-key-data")).to_be_hidden()
    expect(sidebar.get_by_role("button", name="Reveal")).to_be_visible()

    first = live.locator("figure").get_attribute("data-kmviz-view")
    page.keyboard.press("v")
    expect(live.locator("figure")).not_to_have_attribute("data-kmviz-view", first)
    assert live.get_attribute("data-value") == "1"
    page.keyboard.press(" ")
    expect(live).not_to_have_attribute("data-value", "1")
    page.keyboard.press(" ")
    settle(page)
    page.keyboard.press("r")
    expect(sidebar.locator(".st-key-lesson")).to_contain_text("go back to it first")
    settle(page)
    page.keyboard.press("ArrowRight")
    parameter(page, "part", "2")
    settle(page)
    assert parameters(page)["present"] == "true"
    page.keyboard.press("Escape")
    expect(sidebar.locator(".st-key-data")).to_be_visible()
