"""A folder of results of every kind, made once as a user makes them."""

import shutil
from pathlib import Path

import pytest

from tests.report.folders import run

LAYOUTS = ["--layout", "flat,engram,pagegram", "--params", "20M"]


@pytest.fixture(scope="session")
def results(tmp_path_factory, corpus_file) -> Path:
    """A folder of one result of each kind."""
    folder, elsewhere = tmp_path_factory.mktemp("study"), tmp_path_factory.mktemp("elsewhere")
    common = [corpus_file, "--eot", "0", *LAYOUTS]
    run("corpus", "synth", "--tokens", "30k", "-o", elsewhere / "made-up.bin")
    run("sweep-cache", elsewhere / "made-up.bin", *LAYOUTS, "--cache", "64KiB,1MiB", "-o", folder / "sweep.csv")
    run("sweep-cache", *common, "--cache", "64KiB,1MiB", "--policy", "lru,min", "-o", folder / "policies.csv")
    run("curve", *common, "-o", folder / "curve.csv")
    run("curve", *common, "--sample", "0.9", "-o", folder / "sampled.csv")
    run("cold-start", corpus_file, "--eot", "0", "--layout", "engram", "--cache", "1MiB", "--window", "5k",
        "-o", folder / "cold-start.csv")  # fmt: skip
    run("collisions", *common, "-o", folder / "collisions.csv")
    run("plan", *common[:3], "--params", "20M", "--cache", "64KiB", "--device", "pagegram-report",
        "-o", folder / "plan.csv")  # fmt: skip
    trace = elsewhere / "t.npy"
    run("trace", corpus_file, "--eot", "0", "--layout", "engram", "--params", "20M", "-o", trace)
    run("sim", trace, "-o", folder / "sim.csv", "--policy", "lru,sieve")
    run("replay", trace, "--device", "pagegram-report", "--in-flight", "1,4", "--lookups", "200", "--repeat", "2",
        "-o", folder / "replay.csv")  # fmt: skip
    return folder


@pytest.fixture
def study(results, tmp_path) -> Path:
    """A copy of ``results`` to write in."""
    return Path(shutil.copytree(results, tmp_path / "study"))
