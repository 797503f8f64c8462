"""A cover tree (A. Beygelzimer, S. Kakade, J. Langford. Cover trees for nearest neighbor. ICML
2006) with base 2, in flat arrays, for Euclidean and for kernel-induced distances.

Each point stands once, at the highest level it enters: `level[p]`, `parent[p]`. C_i is the set of
points of level >= i. Nesting holds by construction; a point of level i lies within 2^(i+1) of its
parent, and points of C_i are more than 2^i apart. With a base under 2 the filter of the insertion
would not see every near point. Points at distance 0 from one that is there hang below it at level
LOWEST.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_strict, part_strict
from kmviz.loops.kernel import POLYNOMIAL, dot, squared_distance, whole_power
from kmviz.loops.sorting import sort_falling

LOWEST = -1100  # 2^-1100 is 0


@compiled_strict
def distance(kind, gamma, coef0, degree, a, own_a, b, own_b):
    """Distance in feature space, sqrt(K(a,a) + K(b,b) - 2 K(a,b)); for linear and RBF kernels the
    Euclidean one, which orders points in the same way (section 3.3)."""
    if kind == POLYNOMIAL:
        value = whole_power(gamma * np.float64(dot(a, b)) + coef0, degree)
        return np.sqrt(max(own_a + own_b - 2.0 * value, 0.0))
    return np.sqrt(np.float64(squared_distance(a, b)))


@part_strict
def _below(gap):
    """The highest level whose 2^level is under the gap."""
    level = np.int64(np.ceil(np.log2(gap))) - 1
    while 2.0 ** (level + 1) < gap:
        level += 1
    while 2.0**level >= gap:
        level -= 1
    return level


@part_strict
def _hang(point, under, at, level, parent, child, sibling):
    """Hang a point under another, children in falling level."""
    level[point], parent[point] = at, under
    before, after = -1, child[under]
    while after >= 0 and level[after] >= at:
        before, after = after, sibling[after]
    sibling[point] = after
    if before < 0:
        child[under] = point
    else:
        sibling[before] = point


@part_strict
def _insert(kind, gamma, coef0, degree, X, own, p, root, tree, near, gaps, cursor):
    """Insert(p, Q_i, i) of the paper as a loop; `near` holds Q_i, `cursor` where each of its
    points' children of the next level begin."""
    level, parent, child, sibling = tree
    near[0], cursor[0] = root, child[root]
    gaps[0] = distance(kind, gamma, coef0, degree, X[p], own[p], X[root], own[root])
    count, at = 1, level[root]
    under, place = root, at - 1
    while True:
        best, following = 0, LOWEST
        for t in range(count):
            if gaps[t] < gaps[best]:
                best = t
            if cursor[t] >= 0:
                following = max(following, level[cursor[t]])
        closest, gap = near[best], gaps[best]
        if gap == 0.0:
            _hang(p, closest, LOWEST, level, parent, child, sibling)
            return
        if gap <= 2.0**at:  # a parent is here; go down to where something new can be met
            at = min(at, max(following, _below(gap)) + 1)
            under, place = closest, at - 1
        known = count
        for t in range(known):  # Q = {Children(q): q in Q_i}, Q_i among them
            c = cursor[t]
            while c >= 0 and level[c] == at - 1:
                near[count], cursor[count] = c, child[c]
                gaps[count] = distance(kind, gamma, coef0, degree, X[p], own[p], X[c], own[c])
                gap = min(gap, gaps[count])
                count += 1
                c = sibling[c]
            cursor[t] = c
        if gap > 2.0**at:  # no parent from here on: the last one found takes it
            _hang(p, under, place, level, parent, child, sibling)
            return
        kept = 0
        for t in range(count):  # Q_(i-1) = {q in Q: d(p, q) <= 2^i}
            if gaps[t] <= 2.0**at:
                near[kept], gaps[kept], cursor[kept] = near[t], gaps[t], cursor[t]
                kept += 1
        count = kept
        at -= 1


@compiled_strict
def build(kind, gamma, coef0, degree, X, own, order, level, parent, child, sibling, reach):
    """Build the tree by inserting points in the given order; the first is the root.

    Fills the arrays (n,): level, parent (-1 at the root), first child and next sibling (-1 where
    there is none), and `reach`, the largest distance to a point below.
    """
    n, root = X.shape[0], order[0]
    widest = 0.0
    for p in range(n):
        parent[p], child[p], sibling[p], reach[p] = -1, -1, -1, 0.0
        gap = distance(kind, gamma, coef0, degree, X[p], own[p], X[root], own[root])
        widest = max(widest, gap)
    level[root] = _below(widest) + 1 if widest > 0.0 else 0
    near, cursor = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    gaps = np.empty(n)
    for s in range(1, n):
        _insert(
            kind, gamma, coef0, degree, X, own, order[s], root, (level, parent, child, sibling),
            near, gaps, cursor,
        )  # fmt: skip
    for p in range(n):
        above = parent[p]
        while above >= 0:
            gap = distance(kind, gamma, coef0, degree, X[p], own[p], X[above], own[above])
            reach[above] = max(reach[above], gap)
            above = parent[above]


@part_strict
def _sift_up(keys, items, place):
    while place > 0:
        above = (place - 1) // 2
        if keys[above] <= keys[place]:
            return
        keys[above], keys[place] = keys[place], keys[above]
        items[above], items[place] = items[place], items[above]
        place = above


@part_strict
def _sift_down(keys, items, size):
    place = 0
    while 2 * place + 1 < size:
        low = 2 * place + 1
        if low + 1 < size and keys[low + 1] < keys[low]:
            low += 1
        if keys[place] <= keys[low]:
            return
        keys[low], keys[place] = keys[place], keys[low]
        items[low], items[place] = items[place], items[low]
        place = low


@part_strict
def _offer(gap, point, found, keys, items):
    """Keep the k nearest: a heap on -distance, so that the farthest is on top."""
    k = items.shape[0]
    if found < k:
        keys[found], items[found] = -gap, point
        _sift_up(keys, items, found)
        return found + 1
    if gap < -keys[0]:
        keys[0], items[0] = -gap, point
        _sift_down(keys, items, k)
    return found


@compiled_strict
def nearest(kind, gamma, coef0, degree, X, own, child, sibling, reach, root, Q, own_q, found, gaps):
    """Find the k nearest points of each query: branch and bound, the most promising node first.

    Fills `found` and `gaps` (n, k), nearest first.
    """
    k = found.shape[1]
    bounds, nodes = np.empty(X.shape[0]), np.empty(X.shape[0], dtype=np.int64)
    keys, met, order = np.empty(k), np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for q in range(Q.shape[0]):
        items = found[q]
        gap = distance(kind, gamma, coef0, degree, Q[q], own_q[q], X[root], own[root])
        have = _offer(gap, root, 0, keys, items)
        bounds[0], nodes[0], size = gap - reach[root], root, 1
        while size > 0:
            if have == k and bounds[0] > -keys[0]:
                break
            node = nodes[0]
            size -= 1
            bounds[0], nodes[0] = bounds[size], nodes[size]
            _sift_down(bounds, nodes, size)
            c = child[node]
            while c >= 0:
                gap = distance(kind, gamma, coef0, degree, Q[q], own_q[q], X[c], own[c])
                have = _offer(gap, c, have, keys, items)
                if child[c] >= 0 and (have < k or gap - reach[c] <= -keys[0]):
                    bounds[size], nodes[size] = gap - reach[c], c
                    _sift_up(bounds, nodes, size)
                    size += 1
                c = sibling[c]
        for t in range(k):
            order[t], met[t] = t, items[t]
        sort_falling(keys, order)
        for t in range(k):
            found[q, t], gaps[q, t] = met[order[t]], -keys[order[t]]


def warm() -> None:
    """Compile for the types in use."""
    for dtype in (np.float32, np.float64):
        X = np.array([[0.0], [1.0], [3.0]], dtype=dtype)
        own, reach = np.ones(3), np.empty(3)
        level, parent, child, sibling = (np.empty(3, dtype=np.int32) for _ in range(4))
        code, order = (POLYNOMIAL, 1.0, 1.0, 1), np.arange(3)
        build(*code, X, own, order, level, parent, child, sibling, reach)
        found, gaps = np.empty((1, 2), dtype=np.int32), np.empty((1, 2))
        nearest(*code, X, own, child, sibling, reach, 0, X[:1], own[:1], found, gaps)
