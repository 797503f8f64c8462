"""e^x in arithmetic that vectorises, which a call into the C library does not."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_finite


@compiled_finite
def exp32(x):
    """e^x in float32 to 1e-7, in plain arithmetic that vectorises (Cephes' expf); x <= 88."""
    x = max(x, np.float32(-87.0))
    n = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    r = (x - n * np.float32(0.693359375)) - n * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1)
    two_to_n = (np.int32(n) + np.int32(127)) << np.int32(23)
    return p * np.int32(two_to_n).view(np.float32)


@compiled_finite
def exp64(x):
    """e^x in float64 to a few units in the last place, in arithmetic that vectorises; x <= 709."""
    x = max(x, -708.0)
    n = np.floor(x * 1.4426950408889634 + 0.5)
    r = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    two_to_n = (np.int64(np.int32(n)) + np.int64(1023)) << np.int64(52)
    return p * np.int64(two_to_n).view(np.float64)
