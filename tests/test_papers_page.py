"""docs/papers.md names a place for every numbered item of the papers, and every name exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from pydoc import locate

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "papers.md"

#: What each paper numbers: kind -> how many there are.
ITEMS = {
    "Nearest support vectors": {"eq": 11, "figure": 3, "table": 3},
    "Anytime bounds": {"eq": 26, "table": 2},
    "Virtual support vectors and the reduced set": {"eq": 8, "table": 3},
    "FaLK-SVM": {"eq": 15, "definition": 5, "algorithm": 2, "table": 7, "figure": 8},
    "Support vector trees": {"eq": 7, "problem": 2, "definition": 3, "algorithm": 5, "table": 1},
}


@cache
def rows(paper: str) -> list[list[str]]:
    section = PAGE.read_text().split(f"## {paper}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def numbers(item: str, kind: str) -> set[int]:
    """Return the numbers that "eqs. 4 to 6, algorithm 1" gives a kind."""
    found: set[int] = set()
    for part in item.split(","):
        match = re.fullmatch(rf"\s*{kind}s?\.? (\d+)(?: (to|and) (\d+))?", part)
        if match:
            first, word, last = match.groups()
            found |= {int(first)} if word is None else set(range(int(first), int(last) + 1))
    return found


@pytest.mark.parametrize("paper", ITEMS)
def test_every_numbered_item_has_its_line(paper: str) -> None:
    for kind, count in ITEMS[paper].items():
        named = set().union(*(numbers(item, kind) for item, *_ in rows(paper)))
        assert named == set(range(1, count + 1)), kind


@pytest.mark.parametrize("paper", ITEMS)
def test_every_line_says_where_or_why_not(paper: str) -> None:
    for item, where, remark in rows(paper):
        assert re.search(r"`kmviz[\w.]+`", where) or (where == "not here" and remark), item


def test_every_name_exists() -> None:
    named = set(re.findall(r"`(kmviz[\w.]+)`", PAGE.read_text()))
    assert len(named) > 50
    assert [name for name in sorted(named) if locate(name) is None] == []
