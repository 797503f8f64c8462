"""Fewer vectors that say nearly the same as a machine's: what several methods build on.

`space` brings a kernel to its simplest form, `objective` holds the distance and its gradient,
`basis` and `search` add one vector, `exact` knows the closed solutions, `path` grows machines
of every size, `shared` lets several machines share their vectors.
"""
