# The one error that the bootstrap reports: a sentence for the person at the terminal.
# Raised by every step, caught in main.py.


class Failure(Exception):
    """A step cannot be done; the message says what to do about it."""
