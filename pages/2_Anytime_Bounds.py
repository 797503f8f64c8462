"""Anytime bounds: an interval that closes on f(x), and stops as soon as the sign is certain."""

from kmviz import ui
from kmviz.charts.anytime import bounds
from kmviz.ui import anytime, anytime_views, follow, two
from kmviz.ui.shell import words

problem = ui.frame("Anytime bounds", own=anytime.OWN)
words.intro(
    "Each kernel value narrows an interval *proved* to hold f(x); once it excludes 0 the class is "
    "certain.",
    "query",
    "kernel value",
    "f(x)",
    "L_k, H_k",
    "basis",
    "W",
    "R_k",
)
now = anytime.chosen(problem)
trace, reading, clf = anytime.trace(now), now.study.read(), now.study.classifier()
follow.line(problem, trace, follow.cost(now, reading, clf, problem.query))
step = anytime_views.slider(now)
two.section(anytime.side)
ui.metrics(anytime.metrics(now, reading))
ui.look_for(anytime.look_times(now))
follow.section(now, reading, clf, problem.machine.vectors, anytime.band, "holds f(x)")
anytime_views.large(now, trace)
anytime_views.orderings(now)
ui.take_home(
    problem, estimator=now.estimator, trace=trace.to_frame,
    picture=bounds(trace, [step], problem.query), code=anytime.code(now, step), name="anytime",
)  # fmt: skip
ui.finish()
