"""Where an axis has its ticks, and what they say."""

from __future__ import annotations

import math


def ticks(
    low: float, high: float, most: float, log: bool = False, whole: bool = False
) -> list[tuple[float, str]]:
    """Return round values of a range with their words, in about `most` steps.

    Parameters
    ----------
    log : powers of ten, with 2 and 5 of each where there is room; less than a decade has ticks as
        on a linear axis
    whole : whether there is nothing between two whole numbers
    """
    if not 1e-300 < high - low < math.inf:
        return []  # nothing to tell apart
    if log and high >= 10 * low:
        return [(value, written(value)) for value in _powers(low, high, most)]
    rough = (high - low) / max(2.0, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough * 0.999)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, written(k * step)) for k in range(first, last + 1)]


def _powers(low: float, high: float, most: float) -> list[float]:
    decades = math.log10(high / low)
    digits = (1, 2, 5) if 3 * decades <= most else (1,)
    stride = math.ceil(decades / most)
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1, stride)
    values = [digit * 10.0**power for power in powers for digit in digits]
    return [value for value in values if low * 0.999 <= value <= high * 1.001]


def written(value: float) -> str:
    """Return a number as it stands on an axis."""
    text = f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
    return text.replace("-", "−") if value else "0"  # a minus sign, as wide as a digit
