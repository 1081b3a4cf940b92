"""Options that say who asks for tokens, shared by ``trace``, ``curve`` and ``sweep-cache``."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import click

from flashsim.cli.layout_options import Listed
from flashsim.errors import UsageError
from flashsim.units import parse_count


@dataclass(frozen=True)
class WorkloadOptions:
    """The command line's workloads, as given."""

    streams: tuple[int, ...] | None
    prefill: tuple[int, ...] | None
    prompt: float | None
    draft: int
    accept: float

    def made(self) -> list:
        """A :class:`flashsim.workloads.Workload` for each number of streams, and each chunk; with a prompt, for each
        pair of them. None = the text as it stands, each token by itself. Raises UsageError."""
        from flashsim.workloads import CHUNK_MAX, Workload

        if 0 in (self.prefill or ()):
            raise UsageError(f"--prefill 0: take chunks of 1 to {CHUNK_MAX} tokens, or leave it out")
        if self.prompt is None:
            if not self.streams and (self.draft or self.accept):
                raise UsageError(f"--draft {self.draft}, --accept {self.accept:g}: 0 streams decode: give --streams")
            made = [Workload(n, draft=self.draft, accept=self.accept) for n in self.streams or ()]
            made += [Workload(0, chunk) for chunk in self.prefill or ()]
        else:
            made = [
                Workload(n, chunk, self.prompt, self.draft, self.accept)
                for n in self.streams or (1,)
                for chunk in self.prefill or (2048,)
            ]
        return made or [None]

    def one(self):
        """The only workload, or None. Raises UsageError where there are several."""
        made = self.made()
        if len(made) > 1:
            raise UsageError(f"{len(made)} workloads, a trace is of 1: give one number of streams, or one chunk")
        return made[0]


def workload_options(command: Callable) -> Callable:
    """Add the options of a workload to a command, which gets them as one :class:`WorkloadOptions`, ``workload``."""

    @click.option(
        "--streams", type=Listed("N,...", parse_count),
        help="Documents decoded side by side, a token of each in a step; a page is read once a step.  "
        "[default: the text as it stands]",
    )  # fmt: skip
    @click.option(
        "--prefill", type=Listed("N,...", parse_count),
        help="Tokens of a chunk of prefill, which is a step of its own.",
    )  # fmt: skip
    @click.option(
        "--prompt", type=float, metavar="SHARE",
        help="The share of each document that is prefilled before --streams decode the rest.",
    )  # fmt: skip
    @click.option(
        "--draft", type=click.IntRange(0), default=0, show_default=True,
        help="Tokens that a stream guesses in each step (speculative decoding).",
    )  # fmt: skip
    @click.option(
        "--accept", type=float, default=0.0, show_default=True,
        help="Probability that a guess is right, if those before it were.",
    )  # fmt: skip
    @functools.wraps(command)
    def with_workload(*args, streams, prefill, prompt, draft, accept, **kwargs):
        return command(*args, workload=WorkloadOptions(streams, prefill, prompt, draft, accept), **kwargs)

    return with_workload
