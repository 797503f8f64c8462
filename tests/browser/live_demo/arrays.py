"""What the demo page draws: made from a seed, so that a test can make it again."""

from functools import cache
from types import SimpleNamespace

import numpy as np

WINDOWS = range(61)
QUERIES, VECTORS, SIDE = 2_000, 200, 100


@cache
def arrays(queries: int = QUERIES) -> SimpleNamespace:
    """Return arrays with the position as first axis, as a study stacks them."""
    rng = np.random.default_rng(0)
    w = np.arange(len(WINDOWS))[:, None]
    exact = rng.normal(size=queries)
    steps = np.clip(VECTORS * np.exp(-np.abs(exact) * 60 / (20 + w)), 1, VECTORS).astype(int)
    k = np.arange(VECTORS + 1)
    high = 3 * np.exp(-k / (20 + 2 * w))
    walk = np.cumsum(rng.normal(scale=0.1, size=VECTORS + 1)) + k / 90
    stop = np.argmax(np.append(np.abs(walk)[:-1] > high[:, :-1], np.ones_like(w), axis=1), axis=1)
    grid = np.linspace(-2, 2, SIDE)
    away = np.abs(np.hypot(*np.meshgrid(grid, grid)) - 1)
    turn = np.linspace(0, 2 * np.pi, 80)
    radius = 0.4 + w[:, :, None] / 50
    rings = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    spots = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
    edges = np.linspace(0, VECTORS, 26)
    return SimpleNamespace(
        exact=exact,
        steps=steps,
        agrees=rng.random((len(w), queries)) > 0.02 * np.exp(-w / 10),
        low=-high,
        high=high,
        walk=walk,
        stop=stop,
        grid=grid,
        map=np.clip(VECTORS * np.exp(-away * 60 / (20 + w[:, :, None])), 1, None).astype(int),
        rings=list(rings),
        spots=spots,
        owner=(grid > 0)[None, :] + 2 * (grid > 0)[:, None],
        centres=(edges[1:] + edges[:-1]) / 2,
        counts=np.array([np.histogram(row, edges)[0] for row in steps]),
        bank=rng.random((12, 8, 8)),
    )
