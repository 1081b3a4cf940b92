"""Shared fixtures. A corpus here is a small synthetic token file, made once a session."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import settings

from flashsim.corpora.synth import synthesise
from flashsim.tokens.stream import TokenStream

settings.register_profile("untimed", deadline=None)  # numba compiles in the first example of a fresh clone
settings.load_profile("untimed")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored


@pytest.fixture(scope="session")
def stream() -> TokenStream:
    """300,000 synthetic tokens in documents."""
    ids, starts = synthesise(300_000, 65536, seed=1)
    return TokenStream(ids, starts=starts, boundary="test", synthetic=True)


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory) -> Path:
    """A token file of 60,000 synthetic tokens, raw uint16, EOT id 0, with no JSON beside it."""
    ids, _ = synthesise(60_000, 65536, seed=2)
    path = tmp_path_factory.mktemp("corpus") / "corpus.bin"
    ids.astype(np.uint16).tofile(path)
    return path


@pytest.fixture
def flashsim(tmp_path, monkeypatch):
    """Runs the command line as a user does, in an empty folder: flashsim("trace", ...) -> (code, stdout, stderr)."""
    import flashsim.cli as cli

    monkeypatch.chdir(tmp_path)

    def run(*args) -> tuple[int, str, str]:
        runner = CliRunner()
        with runner.isolation() as streams:
            code = cli.main([os.fspath(arg) if isinstance(arg, Path) else str(arg) for arg in args])
            out, err = streams[0].getvalue().decode(), streams[1].getvalue().decode()
        return code, out, err

    return run
