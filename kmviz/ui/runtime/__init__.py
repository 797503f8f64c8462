"""Slow jobs and what is cached of them."""
