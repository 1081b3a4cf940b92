"""The exceptions that flashsim raises on purpose, and the exit code of each.

Every message is one line that holds a number and a way out: the command line prints it behind
``flashsim: error:`` and exits with the class's ``exit_code``.
"""


class FlashsimError(Exception):
    """Base of all; never raised itself."""

    exit_code = 1


class UsageError(FlashsimError):
    """The request cannot be met as asked: a bad option, value, unit or combination."""

    exit_code = 2


class DataError(FlashsimError):
    """A file given as input is not what it is said to be: truncated, of another format, out of range."""

    exit_code = 3


class DriveError(FlashsimError):
    """A file or drive failed while it was read for a measurement."""

    exit_code = 4
