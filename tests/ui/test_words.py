"""The glossary: one source for app and documentation."""

from pathlib import Path

import pytest

from kmviz.ui.shell import words
from tests.pages.helpers import open_page

ROOT = Path(__file__).resolve().parents[2]


def test_every_symbol_of_the_pages_is_explained():
    known = words.glossary()
    for term in ("f(x)", "β", "g_k", "L_k, H_k", "R_k", "ρ", "k, k'", "kernel value", "m/k"):
        assert known[term].endswith(".")
    assert all(
        words.meaning(figure)
        for figure in ("Mean k", "Fewer kernel evaluations", "Disagreements", "f(x)", "k'")
    )
    assert words.meaning("Accuracy") == ""


def test_the_documentation_shows_the_same_source():
    assert "../kmviz/glossary.md" in (ROOT / "docs/glossary.md").read_text()


@pytest.mark.parametrize(
    "page", [ROOT / "app.py", *sorted(ROOT.glob("pages/[1-5]*.py"))], ids=lambda path: path.stem
)
def test_a_page_explains_its_symbols_beside_its_first_sentence(page):
    helps = [m.proto.help for m in open_page(page.relative_to(ROOT).as_posix()).markdown]
    named = [term for term in words.glossary() if any(f"- **{term}**: " in text for text in helps)]
    assert len(named) >= 3


def test_the_whole_glossary_opens_from_every_page():
    app = open_page("pages/7_Papers.py")
    assert any(words.glossary()["g_k"] in m.value for m in app.sidebar.markdown)
