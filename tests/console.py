"""The commands that a page of documentation shows, and running them as its reader would."""

import re
import shlex
from collections.abc import Callable, Iterable


def commands_of(page: str) -> list[str]:
    """What follows each `$ ` in the console blocks of a page, in its order."""
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def run_all(commands: Iterable[str], flashsim: Callable) -> None:
    """Run commands of flashsim one after another with the fixture of that name: each ends well, prints something, and
    leaves the results of those before it alone."""
    results: dict[str, str] = {}
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "flashsim", command
        if arguments[0] == "replay" and "--target" in arguments:
            arguments += _buffered(arguments[arguments.index("--target") + 1])
        elif arguments[:2] == ["replay", "check"]:
            arguments += _buffered(arguments[2])
        code, out, err = flashsim(*arguments)
        assert code == 0, (command, err)
        assert out.strip(), command
        for csv in re.findall(r"^wrote .*?(\S+\.csv)\b", err, re.MULTILINE):
            assert csv not in results, (results.get(csv), command)
            results[csv] = command


def _buffered(path: str) -> list[str]:
    """What a replay of that target needs where the file system has no direct I/O."""
    from flashsim.device.target import Target

    with Target.open(path) as target:
        return ["--buffered"] if target.direct.refusal else []
