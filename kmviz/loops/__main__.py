"""`python -m kmviz.loops` compiles every loop, so that no query waits for a compiler."""

from kmviz.loops import warm_up

print("compiled:", ", ".join(warm_up()))
