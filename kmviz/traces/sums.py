"""Queries that are answered by a sum or a vote taken to its end."""

from __future__ import annotations

from dataclasses import dataclass

from kmviz.traces.record import Floats, Ints, Trace


@dataclass(frozen=True, eq=False)
class SumTrace(Trace):
    """A sum over vectors, taken one after the other and to its end.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        The sum after k vectors, minus the bias; `partial[0]` is -b.
    index : array of shape (K + 1,)
        Which vector of the machine step k touched; -1 at the start.
    value : array of shape (K + 1,)
        Its kernel value; 0 at the start.
    """

    partial: Floats
    index: Ints
    value: Floats


@dataclass(frozen=True, eq=False)
class VoteTrace(Trace):
    """Machines that vote, one after the other.

    `exact` is the output of their mean, which is no part of the vote.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        Votes for minus votes against after k machines, as a share of all K.
    value : array of shape (K + 1,)
        Output of machine k; 0 at the start.
    vote : array of shape (K + 1,)
        Its vote, +1 or -1; 0 at the start.
    """

    partial: Floats
    value: Floats
    vote: Floats
