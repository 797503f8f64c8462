"""Two settings side by side: A, which was kept, and B, the present one, for the same query.

A stands in the URL (`a=w~10,order~exact`), so that a link opens both. What it does not name is as
it is now: data and query are always the same, and a link may name a single choice. Both sides are
read from their studies and drawn by the figures of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from kmviz.charts import Chart
from kmviz.charts.chart import on_one_scale
from kmviz.ui import lesson, pictures
from kmviz.ui.runtime.problem import load_chosen, trained
from kmviz.ui.shell import url
from kmviz.views import openings
from kmviz.views.controls import CONTROLS, SHARED, setting, setting_text
from kmviz.views.fitted import MethodView
from kmviz.views.prepare import literal
from kmviz.views.problem import Problem

#: Choices of a page that no setting holds: the other setting, and what is looked at.
_BESIDE = ("a", "node", "removed")


def buttons() -> None:
    """Draw what keeps the present setting, and what lets it go."""
    st.button(
        "Keep as A", key="keep_a", icon=":material/splitscreen_left:", on_click=_keep,
        help="Keeps this setting. Then move any control: A and what you see now (B) stand side by "
        "side below the pictures, for the same query.",
    )  # fmt: skip
    if st.session_state["a"]:
        st.button("Drop A", key="drop_a", on_click=url.put, kwargs={"a": ""})
        st.caption("A and B stand below the pictures", width="content")


def _keep() -> None:
    url.put(a=setting_text({name: st.session_state[name] for name in compared()}))


def compared() -> tuple[str, ...]:
    """Return the choices that A holds: the page's own, and those of the machine."""
    own = (name for name in url.names() if name not in (*SHARED, *_BESIDE))
    return (*own, *openings.MACHINE)


def section(
    view: Callable[[Problem, Mapping[str, Any]], MethodView], picture: Callable[[MethodView], Any]
) -> None:
    """Draw A and B, where A was kept.

    Parameters
    ----------
    view, picture : what the page makes of given choices, and the picture that stands for it
    """
    text = st.session_state["a"]
    if not text:
        return
    present = {name: st.session_state[name] for name in url.names()}
    said = present | setting(text)
    changes = _changes(said, present)
    st.subheader("A and B: two settings, the same query", anchor=False)
    if not changes:
        st.caption("A is kept, and is what you see now. Move a control: B will stand beside it.")
        return
    data, both = load_chosen(), {}
    for name, chosen in (("A", said), ("B", present)):
        try:
            both[name] = view(trained(data, chosen), chosen)
        except ValueError as error:
            st.warning(f"{name} cannot be shown here: {literal(str(error))}")
            return
    for name, one in both.items():
        lesson.note(f"{name}: this query", f"{one.cost():,}")
    st.markdown(f"From A to B: {'; '.join(changes)}.\n\n{_table(both)}")
    drawn = [picture(one) for one in both.values()]
    pictures.still(*_beside(drawn), columns=2)


def _beside(drawn: list[Any]) -> list[Any]:
    """Return the pictures of A and B, on the same scale."""
    ranged = on_one_scale(drawn) if isinstance(drawn[0], Chart) else drawn
    return [
        replace(one, key=f"side_{name.lower()}", title=f"{name}: {one.title}")
        for name, one in zip("AB", ranged)
    ]


def _changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the choices that differ, in words."""
    return [
        f"{CONTROLS[n].label} **{CONTROLS[n].spoken(first[n])}** → "
        f"**{CONTROLS[n].spoken(second[n])}**"
        for n in compared()
        if first[n] != second[n]
    ]


def _table(both: Mapping[str, MethodView]) -> str:
    """Return what came of each setting, for the query and for all queries."""
    columns = [_figures(one) for one in both.values()]
    lines = [
        "| | " + " | ".join(columns[0]) + " |",
        "|---" * (1 + len(columns[0])) + "|",
        *(
            f"| **{name}** | " + " | ".join(column.values()) + " |"
            for name, column in zip(both, columns)
        ),
    ]
    return "\n".join(lines)


def _figures(at: MethodView) -> dict[str, str]:
    now, reading, problem = at.now, at.reading, at.now.problem
    found = now.figures(reading)
    return {
        f"Query {problem.query}: kernel values": f"{at.cost():,}",
        "answer": problem.names[int(at.trace.output > 0)],
        "output": f"{at.trace.output:.3g}",
        "All queries: mean k": f"{found['steps_mean']:,.1f} of {problem.n_vectors:,}",
        "m/k": f"{found['speedup']:,.1f}x",
        "unlike the exact SVM": f"{found['differ']:,} of {len(now.rows):,}",
        "accuracy": f"{found['accuracy']:.1%}",
    }
