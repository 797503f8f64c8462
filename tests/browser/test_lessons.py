"""A lesson as a class walks through it."""

import re
from urllib.parse import urlencode

from playwright.sync_api import expect

from kmviz import lessons
from kmviz.ui.shell import menu
from tests.browser.harness import parameter, parameters, press, settle


def test_choose_reveal_next_and_back(visit):
    page = visit("/")
    page.get_by_role("button", name="7 lessons").click()
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


def test_a_hasty_class_walks_through_the_lessons(visit):
    """Three of them: the others have the same panel, and tests/pages opens every part of each."""
    walk = [
        (slug, *one)
        for slug in lessons.names()[:3]
        for one in enumerate(lessons.load(slug).parts, 1)
    ]
    page = visit(address_of(*walk[0]), rest=False)
    panel = page.locator(".st-key-lesson")
    for slug, number, part in walk:
        lesson = lessons.load(slug)
        expect(panel).to_contain_text(f"{lesson.title} · part {number} of {len(lesson.parts)}")
        expect(panel).to_contain_text(plain(part.question))
        answer = plain(max(re.split(r"\{.*?\}", part.answer), key=len)).strip()
        expect(panel).not_to_contain_text(answer)
        panel.get_by_text(next(text for text, is_right in part.choices if is_right)).click()
        panel.get_by_role("button", name="Reveal").click()
        expect(panel).to_contain_text("Right.")
        if part.view["data"] != "mnist":  # which takes a while; nobody waits for it here
            expect(panel).to_contain_text(answer)
            expect(panel).not_to_contain_text("moved on from the view")
        if (slug, number) != walk[-1][:2]:
            panel.get_by_text("Next", exact=True).first.click()  # another is on its way out
    expect(page.locator("h1").first).to_have_text("Anytime bounds")
    parameter(page, "part", "2")


def address_of(slug, number, part):
    """The link to a part."""
    view = urlencode(part.view | {"lesson": slug, "part": number})
    return f"/{menu.named(part.page).path}?{view}"


def plain(text):
    """Markdown as it reads on the page."""
    return re.sub(r"[*`]", "", text)
