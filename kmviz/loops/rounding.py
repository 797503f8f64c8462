"""How far rounding may move a sum, an exponent, a power: docs/guides/error_bounds.md, by number.

Only what loops and NumPy read alike stands here; `kmviz.machines.certified` holds the rest.
"""

from __future__ import annotations

from kmviz.loops.compile import part_strict

#: The unit roundoff u of float32 and float64.
SINGLE, DOUBLE = 2.0**-24, 2.0**-53

#: No more numbers than these are added up in float32 before their sum is put aside (3).
WIDTH = 256

#: Roundings of what goes into a product, and of what is made of it (4, 5).
AROUND = 6

#: An exponential is within so many u of itself (6); an exponent that may be off by more than MOST
#: says nothing, and below it e^x - 1 <= SHARE x.
EXPONENTIAL, MOST, SHARE = 6.0, 0.25, 1.25

#: What underflow may take from a number of float32, twice over (7).
TINY = 2.0**-125

#: What underflow may take from a term in float64, as a share of its weight (7).
LEAST = 1e-290


@part_strict
def gamma_of(n, unit):
    """gamma_n = n u / (1 - n u): how far n roundings may move a number, as a share of it (1)."""
    return n * unit / (1.0 - n * unit) if n * unit < 0.5 else 1e300


@part_strict
def blocks_of(n):
    """How many blocks a sum of n numbers is computed in (3)."""
    return max((n + WIDTH - 1) // WIDTH, 1)


@part_strict
def width_of(n):
    """How many numbers go into each of them (3)."""
    return (n + blocks_of(n) - 1) // blocks_of(n)


@part_strict
def lost_by_sum(n):
    """What a sum of n float32 products in blocks is off by, as a share of its terms (3).

    Up to two numbers may stand beside them, in the one block or in one of their own.
    """
    return gamma_of(width_of(n) + blocks_of(n) + 2 + AROUND, SINGLE)


@part_strict
def lost_beside(n):
    """The same of those two numbers alone (3)."""
    return gamma_of((n if blocks_of(n) == 1 else blocks_of(n)) + 2 + AROUND, SINGLE)


@part_strict
def lost_in_exponent(products, squares, gamma, length, radius):
    """What gamma ||x - z||^2 may be off by, for rows of these lengths (4).

    `products` and `squares` are what x.z, and ||x||^2 + ||z||^2, lose as a share.
    """
    both = length * length + radius * radius
    return gamma * (products * 2.0 * length * radius + squares * both)


@part_strict
def lost_in_base(lost, n, gamma, coef0, length, radius):
    """What gamma x.z + coef0 may be off by, for rows of these lengths, n columns (5, 7)."""
    tiny = TINY * n * (1.0 + radius + gamma * (length + radius))
    return lost * (gamma * length * radius + abs(coef0)) + tiny


@part_strict
def most_radial(lost):
    """The largest radial value that an exponent off by so much may give (8)."""
    return 1.01 + 2.0 * lost


@part_strict
def lost_in_value(is_radial, degree, lost, size, summing):
    """What a kernel value may be off by, as a term of a sum that moves terms by a share (8, 9).

    `size` is what was computed: the value of a radial kernel, else the base of the power; `lost`
    what its exponent or base may be off by.
    """
    if is_radial:
        return SHARE * (lost + EXPONENTIAL * SINGLE + summing) * size if lost <= MOST else 1e300
    most = size + lost
    below = 1.0
    for _ in range(degree - 1):
        below *= most
    return below * (degree * lost + (summing + gamma_of(degree, DOUBLE)) * most)
