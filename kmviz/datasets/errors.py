"""The error that a user's own table can raise."""


class DataError(ValueError):
    """A table that cannot be used; the message says what is wrong and what to do."""
