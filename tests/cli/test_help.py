"""Help: every command and option explains itself, and asking for it imports nothing heavy."""

import subprocess
import sys

import click
import pytest

from flashsim.cli import COMMANDS, cli

HEAVY = ("numpy", "pandas", "numba", "matplotlib", "tokenizers", "zstandard", "flashsim.kernels._csim")


def walk(command, path=()):
    """(path, command) of every command and group below ``command``, itself included."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), (*path, name))


TREE = dict(walk(cli))


def test_the_tree():
    assert {path[0] for path in TREE if len(path) == 1} == set(COMMANDS)
    assert {("trace",), ("sweep-cache",), ("layouts", "show"), ("figures", "fig4a"), ("corpus", "info")} <= set(TREE)


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_every_command_and_option_has_help(flashsim, path):
    command = TREE[path]
    assert command.help and command.help[0].isupper() and command.help.rstrip()[-1] in ".)"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help and parameter.help.strip(), parameter.name
    code, out, err = flashsim(*path, "--help")
    assert (code, err) == (0, "") and f"flashsim{''.join(f' {name}' for name in path)} [" in out
    # a line for each option and command below
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert max(parameter.opts, key=len) in out
    for below in getattr(command, "_table", {}):
        assert f"\n  {below}" in out


@pytest.mark.parametrize("path", [path for path, command in TREE.items() if isinstance(command, click.Group) and path])
def test_a_groups_help_is_the_one_line_that_its_parent_shows(path):
    if len(path) == 1:
        assert TREE[path].get_short_help_str(200) == COMMANDS[path[0]][1]


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], ["corpus", "--help"], ["bogus"]])
def test_help_imports_nothing_heavy(arguments):
    script = (
        "import sys; from flashsim.cli import main; code = main(sys.argv[1:]); "
        f"print([name for name in {HEAVY} if name in sys.modules]); sys.exit(code)"
    )
    ran = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "[]", ran.stderr
    assert ran.returncode == (2 if arguments == ["bogus"] else 0)


@pytest.mark.parametrize("arguments", [[], ["corpus"], ["figures"]])
def test_a_group_alone_shows_its_help_on_stderr(flashsim, arguments):
    code, out, err = flashsim(*arguments)
    assert (code, out) == (2, "") and err.startswith("Usage: flashsim") and len(err.splitlines()) > 5


def test_version(flashsim):
    code, out, _ = flashsim("--version")
    assert code == 0 and out.startswith("flashsim") and out.split()[-1].count(".") == 2
