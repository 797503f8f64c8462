"""Words and symbols, explained where they stand: one source with the documentation's glossary."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from kmviz.ui import lesson

_SOURCE = Path(__file__).resolve().parents[2] / "glossary.md"
#: The words of the glossary that figures in a line go by.
_FIGURES = {
    "Vectors m": "m",
    "Mean k": "k",
    "Median k": "k",
    "Fewer kernel evaluations": "m/k",
    "With overhead": "m/k",
    "Median": "k",
    "Disagreements": "disagreement",
    "Same answer": "disagreement",
    "By the filter": "linear filter",
    "Mean kernel values": "kernel value",
    "Kernel values": "kernel value",
    "With Bayes threshold": "Bayes threshold",
    "f(x)": "f(x)",
    "k'": "k, k'",
    "ρ": "ρ",
}


@cache
def glossary() -> dict[str, str]:
    """Return every term with its explanation, in the order of the source."""
    blocks = _SOURCE.read_text("utf-8").strip().split("\n\n")
    return dict(block.split("\n: ", 1) for block in blocks)


def meaning(figure: str) -> str:
    """Return what a figure in a line means; empty where its name says it."""
    return glossary()[_FIGURES[figure]] if figure in _FIGURES else ""


def intro(text: str, *terms: str) -> None:
    """Draw a page's first sentence, the terms of its first screen explained by hover or tap.

    While a lesson asks, the sentence would answer: the terms are explained without it.
    """
    shown = ":small[What the words on this page mean]" if lesson.is_asking() else text
    st.container(key="intro").markdown(shown, help=listed(*terms))


def listed(*terms: str) -> str:
    """Return terms with their explanations as a list in Markdown."""
    known = glossary()
    return "\n".join(f"- **{term}**: {known[term]}" for term in terms)


def panel() -> None:
    """Draw the whole glossary, to be opened from any page."""
    with st.popover("Words and symbols", icon=":material/dictionary:", width="stretch"):
        st.markdown(listed(*glossary()))
