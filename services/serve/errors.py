"""Why `marias serve` cannot run: one family, so that the command line shows the message and not a traceback."""


class CannotServe(Exception):
    """The program cannot run as asked; the message says why and what helps."""
