"""Sorting in place of what compiled code brings along for it, which takes seconds to compile."""

from __future__ import annotations

from kmviz.loops.compile import part_strict

#: The size from which a list is worth more than one passage.
LARGE = 64


@part_strict
def is_before(score, a, b):
    """Whether a's score is the higher one; equal ones stand in the order of their numbers."""
    return score[a] > score[b] or (score[a] == score[b] and a < b)


@part_strict
def sort_falling(score, members):
    """Sort members by falling score (D. L. Shell's method; small lists by plain insertion)."""
    n, gap = members.shape[0], 1
    while n > LARGE and 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for j in range(gap, n):
            i, slot = members[j], j
            while slot >= gap and is_before(score, i, members[slot - gap]):
                members[slot] = members[slot - gap]
                slot -= gap
            members[slot] = i
        gap //= 3


@part_strict
def select(values, place):
    """The value that a sort would put at a place (C. A. R. Hoare's method); reorders `values`."""
    low, high = 0, values.shape[0] - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return values[place]
    return values[place]
