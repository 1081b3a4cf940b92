"""The command line: one file a command, each "options in, one call, print out".

Results go to stdout, everything else to stderr. Commands are imported when they are called for, so that
``flashsim --help`` does not wait for pandas, numba and matplotlib.
"""

import importlib
import os
import signal
import sys
import time
from contextlib import suppress

import click

from flashsim.errors import FlashsimError

_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # before click 8.2 it prints the help itself

# command -> (module under flashsim.cli, one line of help)
COMMANDS = {
    "corpus": ("corpus", "Token files: look into one, build one from text, synthesise one."),
    "layouts": ("layouts", "List the table layouts, or show one in figures."),
    "trace": ("trace", "Write the page reads of a token file through a layout."),
    "export": ("export", "Write a trace for libCacheSim, fio, or as text."),
    "sim": ("sim", "Misses of page caches over a trace that another tool made."),
    "sweep-cache": ("sweep_cache", "Reads/token against the size of the page cache (Fig. 4a), by policy."),
    "curve": ("curve", "Reads/token at every cache size, and the RAM for a target."),
    "cold-start": ("cold_start", "How long a cache takes to warm up, and runs that start warm."),
    "hot-set": ("hot_set", "Which pages take most reads, and whether they stay the same."),
    "collisions": ("collisions", "What n-grams that collide share: rows, and heads (Table 3)."),
    "plan": ("plan", "Will this drive do, what binds, and what would help?"),
    "replay": ("replay", "Lookups/s of a drive by reads in flight, measured or modelled."),
    "device": ("device", "Models of drives: list them, show one, calibrate one."),
    "figures": ("figures", "Draw a figure again from its CSV."),
    "report": ("report", "The results of a folder as one HTML page."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported on use; ``table`` maps a name to (module, help)."""

    def __init__(self, *args, table: dict[str, tuple[str, str]], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._table:
            return None
        return importlib.import_module(f"flashsim.cli.{self._table[name][0]}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._table.items()])


@click.command(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="flashsim")
def cli() -> None:
    """How many flash pages a token costs when a language model's N-gram memory lives on SSD."""


def main(args: list[str] | None = None) -> int:
    """Run the command line and return its exit code; what goes wrong ends in one line on stderr."""
    began = time.monotonic()
    for stream in ("stdout", "stderr"):  # closed by the caller: nobody reads
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, "w"))  # noqa: SIM115 - for good
    with suppress(ValueError):  # not the main thread: then signals are somebody else's
        for stop in (signal.SIGTERM, signal.SIGHUP):  # end as Ctrl-C does, so that no half-made file stays
            signal.signal(stop, signal.default_int_handler)
    try:
        # not cli.main(), which would deal with an interrupt and a closed pipe in its own way
        with cli.make_context("flashsim", sys.argv[1:] if args is None else list(args)) as context:
            cli.invoke(context)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as error:  # after --help and --version
        return error.exit_code
    except FlashsimError as error:
        return _fail(str(error), error.exit_code)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "flashsim"
        if isinstance(error, _NO_ARGUMENTS):  # its message is the help
            click.echo(error.format_message(), err=True)
            return 2
        return _fail(f"{error.format_message().rstrip('.')} (exit code 2): see '{command} --help'", 2)
    except click.ClickException as error:
        return _fail(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort) as error:
        if sys.stderr.isatty():
            click.echo(err=True)  # off the line of "^C" and the progress bar
        stands = "files finished by then stand, the one in work was not written: run it again"
        return _fail(str(error) or f"interrupted after {time.monotonic() - began:.1f} s; {stands}", 130)
    except BrokenPipeError:  # `flashsim ... | head`: nothing is wrong, nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (RecursionError, OverflowError, UnicodeError) as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        return _fail(f"1 value or file given is beyond what can be handled ({what}): check the last one you changed", 1)
    except MemoryError as error:
        return _fail(f"out of memory ({error}): take a smaller table, fewer capacities, or --unit page", 1)
    except OSError as error:
        return _fail(f"{error.filename or 'input/output'}: {error.strerror} (errno {error.errno})", 1)


def _fail(message: str, code: int) -> int:
    click.echo(f"flashsim: error: {' '.join(message.split())}", err=True)
    return code
