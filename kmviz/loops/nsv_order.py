"""Nearest support vectors: which vector comes next, found only as far as it is needed.

Scores are dealt into buckets, and a bucket is sorted when the walk comes to it: most walks stop
long before the end.
"""

from __future__ import annotations

from kmviz.loops.compile import compiled, part
from kmviz.loops.sorting import is_before, sort_falling

NEAREST, TUG_OF_WAR, EXACT = 0, 1, 2

#: Buckets that scores are dealt into.
BUCKETS = 512


@part
def bucket_of(distance, scale, last):
    """The bucket of a score so far below the best; the first where that is not a number."""
    place = distance * scale
    if not place > 0.0:
        return 0
    return last if place >= last else int(place)


@compiled
def deal(members, score, order, ends):
    """Deal the members into buckets of falling score: a sort that is finished only as needed.

    `order` takes the members bucket by bucket, `ends` where each bucket ends.
    """
    ends[:] = 0
    if members.shape[0] == 0:
        return
    low, high = score[members[0]], score[members[0]]
    for i in members:
        low, high = min(low, score[i]), max(high, score[i])
    last = ends.shape[0] - 1
    scale = last / (high - low) if high > low else 0.0
    for i in members:
        ends[bucket_of(high - score[i], scale, last)] += 1
    start = 0
    for b in range(last + 1):
        start, ends[b] = start + ends[b], start
    for i in members:
        b = bucket_of(high - score[i], scale, last)
        order[ends[b]] = i
        ends[b] += 1


@compiled
def settle(score, order, ends, bucket):
    """Sort the next bucket that is not empty; return where it ends and the bucket after it."""
    start = ends[bucket - 1] if bucket else 0
    while ends[bucket] == start:
        bucket += 1
    sort_falling(score, order[start : ends[bucket]])
    return ends[bucket], bucket + 1


@part
def pulls_up(first, second, score, beta, up, down):
    """Tug of war (4.2): does `first`, a positive vector, leave the sums of beta more equal?"""
    after_up = abs(up + beta[first] - down)
    after_down = abs(up - down + beta[second])
    if after_up == after_down:
        return is_before(score, first, second)
    return after_up < after_down
