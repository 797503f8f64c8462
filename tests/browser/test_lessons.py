"""A lesson as a class walks through it."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from kmviz import lessons
from kmviz.ui import menu
from tests.browser.harness import parameter, parameters, press, settle


def test_choose_reveal_next_and_back(visit):
    page = visit("/")
    page.get_by_role("button", name="What an answer costs").click()
    first, second = lessons.load("cost").parts
    panel = page.locator(".st-key-lesson")
    expect(panel).to_contain_text(first.question)
    parameter(page, "part", "1")
    assert parameters(page).items() >= (first.view | {"lesson": "cost", "part": "1"}).items()
    reveal = panel.get_by_role("button", name="Reveal")
    expect(reveal).to_be_disabled()
    panel.get_by_text(first.choices[2][0]).click()
    expect(reveal).to_be_enabled()
    expect(panel).not_to_contain_text("They crowd along the edges")
    reveal.click()
    expect(panel).to_contain_text("Right.")
    expect(panel).to_contain_text("It keeps 267 of 2,000 points (13%)")

    settle(page)
    press(page, "C", "ArrowLeft")
    expect(panel).to_contain_text("moved on from the view")
    expect(panel).to_contain_text("It keeps 267 of 2,000 points (13%)")
    panel.get_by_role("button", name="Back to the question's view").click()
    expect(panel).not_to_contain_text("moved on from the view")

    panel.get_by_role("button", name="Next").click()
    expect(panel).to_contain_text(second.question)
    parameter(page, "part", "2")
    page.go_back()
    expect(panel).to_contain_text(first.question)
    settle(page)
    panel.get_by_role("button", name="End the lesson").click()
    expect(panel).to_have_count(0)
    settle(page)
    assert "lesson" not in parameters(page)


def test_the_next_lesson_opens_its_own_page(visit):
    view = "&".join(f"{k}={v}" for k, v in lessons.load("cost").parts[1].view.items())
    page = visit(f"/?{view}&lesson=cost&part=2")
    panel = page.locator(".st-key-lesson")
    panel.get_by_role("link", name="Next").click()
    expect(panel).to_contain_text("part 1 of 4", timeout=60_000)
    expect(page.locator("h1").first).to_have_text("Nearest support vectors")
    settle(page)
    expect(panel).not_to_contain_text("moved on from the view")
    assert parameters(page)["w"] == "10"


@pytest.mark.parametrize("slug", [slug for slug in lessons.names() if slug != "cost"])
def test_a_class_goes_on_from_the_first_part_of_a_lesson(visit, slug):
    first, second = lessons.load(slug).parts[:2]
    view = urlencode(first.view | {"lesson": slug, "part": "1"})
    page = visit(f"/{menu.named(first.page).path}?{view}")
    panel = page.locator(".st-key-lesson")
    expect(panel).to_contain_text(plain(first.question))
    answer = plain(max(re.split(r"\{.*?\}", first.answer), key=len)).strip()
    expect(panel).not_to_contain_text(answer)
    panel.get_by_text(next(text for text, is_right in first.choices if is_right)).click()
    panel.get_by_role("button", name="Reveal").click()
    expect(panel).to_contain_text("Right.")
    expect(panel).to_contain_text(answer)
    expect(panel).not_to_contain_text("moved on from the view")
    settle(page)
    panel.get_by_text("Next", exact=True).click()
    expect(panel).to_contain_text(plain(second.question))


def plain(text):
    """Markdown as it reads on the page."""
    return re.sub(r"[*`]", "", text)
