"""Every part of every lesson, walked through without a browser."""

import re

import pytest

from kmviz import lessons
from kmviz.ui import handout
from kmviz.ui.shell import menu
from tests.pages.helpers import open_page, run

PARTS = [
    pytest.param(slug, number, id=f"{slug}-{number}")
    for slug in lessons.names()
    for number in range(1, len(lessons.load(slug).parts) + 1)
]
BANANA = {"data": "banana", "C": "10", "gamma": "0.5"}


def follow(slug, number, page=None, **changes):
    """Open a part as its link does, or with something changed."""
    part = lessons.load(slug).parts[number - 1]
    view = part.view | {"lesson": slug, "part": str(number)} | changes
    return part, open_page(menu.named(page or part.page).file, **view)


def text(app):
    """All that the panel may have said."""
    found = [*app.markdown, *app.caption, *app.success, *app.warning, *app.info]
    return "\n".join(one.value for one in found)


def answer(app, slug, number, choice):
    """Choose, reveal, and return the answer."""
    app.radio(key=f"lesson_{slug}_{number}").set_value(choice)
    run(app)
    app.button(key=f"lesson_{slug}_{number}_reveal").click()
    run(app)
    return app.sidebar.success[0].value if app.sidebar.success else ""


def first_number(shown):
    return float(re.search(r"-?[\d,]*\.?\d+", shown)[0].replace(",", ""))


@pytest.mark.parametrize(("slug", "number"), PARTS)
def test_a_part_asks_first_and_answers_when_asked(slug, number, monkeypatch):
    part, app = follow(slug, number)
    assert part.question in text(app)
    assert part.look in text(app)
    assert "moved on" not in text(app), "the link shows the view that the question is about"
    assert part.answer[:30] not in text(app)
    assert not app.sidebar.success
    assert app.button(key=f"lesson_{slug}_{number}_reveal").disabled
    assert app.radio(key=f"lesson_{slug}_{number}").value is None
    right = next(k for k, (_, is_right) in enumerate(part.choices) if is_right)
    said = answer(app, slug, number, right)
    figures = app.session_state["kmviz.noted"]
    assert said == part.answered(figures)
    assert part.figures <= set(figures), "every figure quoted is one that the page shows"
    assert "**Right.**" in text(app)
    assert part.checks
    for check in part.checks:
        shown = figures[check.figure]
        assert check.holds(first_number(shown)), f"{check}: the page says {shown}"
    if number == len(lessons.load(slug).parts):
        assert_paper_knows_all_figures(app, slug, monkeypatch)


def assert_paper_knows_all_figures(app, slug, monkeypatch):
    """The handout answers as the pages do, whoever has looked at them."""
    printed = []
    monkeypatch.setattr(handout, "page", lambda *given: printed.append(given[-1]) or "")
    app.button(key="handout").click()
    run(app)
    for part, (_, figures) in zip(lessons.load(slug).parts, printed[0], strict=True):
        assert part.figures <= figures.keys()
        for check in part.checks:
            if check.figure in part.figures:
                assert check.holds(first_number(figures[check.figure]))


def test_a_wrong_choice_is_said_and_the_right_one_marked():
    part, app = follow("cost", 1)
    answer(app, "cost", 1, 0)
    assert "**Not quite.**" in text(app)
    assert f"check_circle:] {part.choices[2][0]}" in text(app)
    assert f"{part.choices[0][0]} *(your choice)*" in text(app)


def test_another_view_is_said_and_the_answer_keeps_the_figures_of_its_own():
    _, app = follow("cost", 1)
    said = answer(app, "cost", 1, 2)
    app.select_slider(key="C").set_value(0.1)
    run(app)
    assert "moved on from the view" in text(app)
    assert app.sidebar.success[0].value == said
    app.select_slider(key="C").set_value(10.0)
    run(app)
    assert "moved on from the view" not in text(app)
    app.selectbox(key="data").set_value("banana")
    run(app)
    assert "moved on from the view" in text(app), "another data set does not end the lesson"
    assert app.query_params["lesson"] == "cost"


def test_an_answer_waits_for_its_view():
    _, app = follow("cost", 1, page="Reduced set", **BANANA)
    assert "moved on from the view" in text(app)
    assert not answer(app, "cost", 1, 2)
    assert "go back to it first" in text(app)


def test_ending_a_lesson_keeps_the_view_and_clears_the_url():
    part, app = follow("cost", 1)
    app.button(key="lesson_end").click()
    run(app)
    assert part.question not in text(app)
    assert not {"lesson", "part"} & set(app.query_params)
    assert app.query_params["data"] == "checkerboard"


@pytest.mark.parametrize(
    "params", [{"lesson": "nonsense"}, {"lesson": ""}, {"part": "2"}, {"lesson": "x", "part": "-1"}]
)
def test_a_lesson_that_does_not_exist_is_none(params):
    app = open_page(**params)
    assert not app.radio
    assert not app.session_state["lesson"]


@pytest.mark.parametrize(("part", "shown"), [("99", 2), ("0", 1), ("two", 1), ("1.5", 1)])
def test_a_part_that_does_not_exist_is_the_nearest_or_the_first(part, shown):
    app = open_page(data="checkerboard", lesson="cost", part=part)
    assert f"part {shown} of 2" in text(app)


def test_start_lists_every_lesson_with_level_and_minutes():
    app = open_page()
    names = {one.proto.label for one in app.get("page_link")} | {one.label for one in app.button}
    for slug in lessons.names():
        lesson = lessons.load(slug)
        assert f"**{lesson.title}**" in names
        said = f"{lesson.level.capitalize()} · {lesson.minutes} minutes"
        assert said in [caption.value for caption in app.caption]


def test_the_next_part_on_the_same_page_is_in_the_url():
    first, app = follow("effort", 1)
    app.button(key="to_effort_2_Next").click()
    run(app)
    second = lessons.load("effort").parts[1]
    assert second.question in text(app)
    assert first.question not in text(app)
    assert app.query_params["part"] == "2"
    assert app.query_params["query"] == second.view["query"]
    assert "moved on" not in text(app)


@pytest.mark.parametrize(("slug", "number"), [("cost", 1), ("effort", 1), ("local", 2)])
def test_a_link_that_says_the_part_alone_opens_its_view(slug, number):
    part = lessons.load(slug).parts[number - 1]
    app = open_page(menu.named(part.page).file, lesson=slug, part=str(number))
    assert part.question in text(app)
    assert "moved on" not in text(app)
    assert app.query_params["data"] == part.view["data"], "and the URL says so from then on"
    elsewhere = open_page(menu.named(part.page).file, lesson=slug, part=str(number), **BANANA)
    assert elsewhere.query_params.get("C") in (None, "10"), "what a link says otherwise holds"
    assert "moved on" in text(elsewhere)
