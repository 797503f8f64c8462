"""Frozen records of what happened to queries: traces of one, step by step, and readings of many.

A record is all a picture needs: figures read records and never see an estimator. It holds
read-only copies, so that nothing done to it reaches the classifier it came from.

Arrays of a trace over steps have length K + 1: `a[k]` is the paper's value at step k, `a[0]` its
start. Arrays of a reading have one entry for each row that was studied.
"""

from kmviz.traces.anytime import AnytimeReading, AnytimeTrace, Closing
from kmviz.traces.falk import LocalModel, LocalReading, LocalTrace
from kmviz.traces.nsv import NSVReading, NSVTrace
from kmviz.traces.record import Frames, Reading, Record, Trace, stacked
from kmviz.traces.reduced import ReducedReading, ReducedTrace
from kmviz.traces.sums import SumTrace, VoteTrace
from kmviz.traces.svtree import TreeReading, TreeTrace

__all__ = [
    "AnytimeReading",
    "AnytimeTrace",
    "Closing",
    "Frames",
    "LocalModel",
    "LocalReading",
    "LocalTrace",
    "NSVReading",
    "NSVTrace",
    "Reading",
    "Record",
    "ReducedReading",
    "ReducedTrace",
    "SumTrace",
    "Trace",
    "TreeReading",
    "TreeTrace",
    "VoteTrace",
    "stacked",
]
