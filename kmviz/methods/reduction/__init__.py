"""Fewer vectors that say nearly the same as a machine's: what several methods build on.

`space` brings a kernel to its simplest form, `objective` holds the distance and its gradient,
`basis` and `search` add one vector, `path` grows machines of every size or takes the closed
solution, `shared` lets several machines share their vectors.
"""
