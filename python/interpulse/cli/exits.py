"""Exit codes, and the error that only the command line raises."""

INTERNAL = 1
"""A bug of interpulse."""
USER_ERROR = 2
"""A mistake in the arguments, the configuration, a trace or a file."""
INTERRUPTED = 130
"""Ctrl-C: 128 + SIGINT, as shells count."""


class UserError(Exception):
    """Something that the user can mend; the message is the whole explanation."""
