"""Nearest support vectors: ask the nearest first, and stop once the answer is settled."""

from kmviz import ui
from kmviz.charts.nsv import trajectory
from kmviz.ui import follow, nsv, nsv_calibration, nsv_views, two
from kmviz.ui.shell import words

problem = ui.frame("Nearest support vectors", own=nsv.OWN)
words.intro(
    "A query asks its nearest support vectors first, and stops once the sum leans further than any "
    "of the other class did.",
    "query",
    "support vector",
    "f(x)",
    "g_k",
    "L_k, H_k",
    "k",
    "window w",
    "linear filter",
)
nsv.draw_controls(problem)
now, chosen = nsv.shown(problem), nsv.choice()
problem = now.problem  # a promise holds rows out, and has a machine of its own
nsv_calibration.say_promise(now)
reading, record = now.study.read(**chosen), nsv.trace(now, chosen)
clf = now.study.classifier(**chosen)
follow.line(problem, record, follow.cost(now, reading, clf, problem.query))
nsv_views.slider(now, record)
two.section(nsv.side)
ui.look_for(nsv.look_effort(now, reading))
follow.section(now, reading, clf, problem.machine.vectors, nsv.band, "undecided region")
nsv_views.neighbors(now, record)
ui.metrics(nsv.metrics(now, reading))
nsv_views.tradeoff(now, reading)
ui.take_home(
    problem, estimator=lambda: now.estimator(**chosen), trace=record.to_frame,
    picture=trajectory(record, problem.query),
    code=now.code(**chosen), name="nsv",
)  # fmt: skip
ui.finish()
