"""Lesson files: all of them read, and what is wrong with one is said with its line."""

import pytest

from kmviz import lessons

GOOD = """---
title: A lesson
level: first look
minutes: 5
---

## A part
page: Start
view: data=banana&C=1.0
check: Support vectors > 10

### Question
Why?

### Choices
- [x] Because
- [ ] Why not

### Look
Here.

### Answer
There are {Support vectors}.
"""


@pytest.mark.parametrize("slug", lessons.names())
def test_every_lesson_reads(slug):
    lesson = lessons.load(slug)
    assert lesson.title
    assert lesson.minutes > 0
    assert lesson.parts
    for part in lesson.parts:
        assert part.view
        assert sum(right for _, right in part.choices) == 1


def test_there_are_lessons_for_a_class():
    assert len(lessons.names()) >= 7
    assert 40 <= sum(lessons.load(slug).minutes for slug in lessons.names()) <= 60


def test_a_lesson_is_read_whole():
    lesson = lessons.parse(GOOD, "good")
    (part,) = lesson.parts
    assert part.page == "Start"
    assert part.view == {"data": "banana", "C": "1.0"}
    assert part.choices == (("Because", True), ("Why not", False))
    assert part.figures == {"Support vectors"}
    assert part.answered({"Support vectors": "94"}) == "There are 94."
    assert part.checks[0].holds(11)
    assert not part.checks[0].holds(10)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("---\ntitle", "title", "line 1: a lesson begins with"),
        ("minutes: 5", "minutes: soon", "minutes is 'soon'"),
        ("level: first look", "level: hard", "level is 'hard'"),
        ("title: A lesson\n", "", "does not say 'title'"),
        ("page: Start\n", "", "does not say 'page"),
        ("- [ ] Why not", "- Why not", "a choice reads"),
        ("- [x] Because", "- [ ] Because", "one that is right"),
        ("### Look", "### See", "line 19: expected '### Look'"),
        ("check: Support vectors > 10", "check: many", "line 10: a check reads"),
        ("### Answer\nThere are {Support vectors}.", "### Answer", "'Answer' is empty"),
    ],
)
def test_a_bad_lesson_is_refused_with_line_and_reason(old, new, said):
    with pytest.raises(lessons.LessonError, match=r"bad, line \d+: ") as caught:
        lessons.parse(GOOD.replace(old, new), "bad")
    assert said in str(caught.value)


def test_an_unknown_lesson_is_refused():
    with pytest.raises(lessons.LessonError, match="there are cost, effort"):
        lessons.load("nonsense")
