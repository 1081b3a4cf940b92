"""``flashsim`` and ``python -m flashsim``. Nothing slow is imported before an interrupt can be told."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from flashsim.cli import main as run

        return run()
    except KeyboardInterrupt:  # while it is imported; the command line tells the others itself
        print("flashsim: error: interrupted before it began (0 files written): run it again", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
