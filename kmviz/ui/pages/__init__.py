"""What differs from page to page: words and the order of pictures, no machinery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kmviz.charts import Chart, Images
from kmviz.ui import pictures
from kmviz.ui.follow import Ends
from kmviz.views.fitted import MethodView
from kmviz.views.problem import Problem


@dataclass(frozen=True, eq=False)
class Live:
    """What follows a page's slider, from where it stands to what is drawn."""

    positions: tuple[Any, ...]
    here: Any
    charts: Callable[[], list[Chart | Images]]  # with the arrays of all positions
    numbers: Mapping[str, str | Sequence[str]]  # a text for all positions, or one for each
    note: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class MethodPage:
    """A method's page: its words, and what it makes of the values of its controls."""

    title: str  # in the menu
    own: tuple[str, ...]  # its own choices, by URL parameter
    sentence: str
    terms: tuple[str, ...]  # words of the glossary
    slider: str  # the URL parameter that the slider edits
    label: str
    help: str
    draw_controls: Callable[[Problem], None]
    view: Callable[[Problem, Mapping[str, Any]], MethodView]
    live: Callable[[MethodView], Live]
    picture: Callable[[MethodView], Chart | Images]  # stands for a view: beside another, in a file
    own_part: Callable[[MethodView], None]
    notice: Callable[[MethodView], None] | None = None  # drawn before any number
    hint: Callable[[MethodView], str] | None = None
    ends: Ends | None = None  # around partial sums
    ends_name: str = ""
    vectors: Callable[[MethodView], NDArray[Any]] = lambda at: at.now.problem.machine.vectors
    click: Callable[[str, int], None] = pictures.pick
    more_numbers: Callable[[MethodView], list[tuple[str, str, str]]] | None = None  # with help
    code: Callable[[MethodView], str] = lambda at: at.now.code(**at.choice)

    def figures(self, at: MethodView) -> dict[str, str]:
        """Return the figures under the slider where it stands."""
        live = self.live(at)
        k = live.positions.index(live.here)
        here = {n: t if isinstance(t, str) else t[k] for n, t in live.numbers.items()}
        more = self.more_numbers(at) if self.more_numbers else []
        return here | {name: text for name, text, _ in more}
