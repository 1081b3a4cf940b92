"""What curves and plans found, in words, as their JSON has it."""

import pytest

from flashsim.report.answers import answers
from flashsim.report.page import page
from flashsim.report.results import read_folder
from tests.report.folders import put


def cache(reads, size):
    return {"reads_per_token": reads, "cache_bytes": size, "capacity_pages": size and size // 4096}


def curve(**more):
    return {"corpus": "c", "label": "flat", "workload": "plain", "targets": [cache(1.0, 3 << 20)]} | more


def test_caches_of_a_curve():
    targets = [cache(1.5, 0), cache(0.25, 1 << 30), cache(0.1, None)]
    told = list(answers({"kind": "curve", "curves": [curve(targets=targets, knee=cache(0.98765, 2 << 20)), curve()]}))
    assert told == [
        "c flat: 1.5 reads/token without a cache; 0.25 reads/token with 1 GiB; 0.1 reads/token out of reach; "
        "knee at 0.9877 reads/token with 2 MiB",
        "c flat: 1 reads/token with 3 MiB",
    ]  # fmt: skip
    none = answers({"kind": "curve", "curves": [curve(knee=None)]})
    assert list(none) == [told[1] + "; no knee"]
    saved = [{"cache_bytes": 1 << octave, "saved_reads_per_token": octave / 10} for octave in range(13, 21)]
    more = curve(targets=[cache(0.1, None)], first_touches_per_token=0.25, doublings=saved)
    assert list(answers({"kind": "curve", "curves": [more]}))[1:] == [
        "out of reach: first touches alone are 0.25; a longer text has fewer",
        "a doubling of the cache saves, in reads/token: 1.500 to 32 KiB, 1.600 to 64 KiB, 1.700 to 128 KiB, "
        "1.800 to 256 KiB, 1.900 to 512 KiB, 2.000 to 1 MiB",
    ]  # fmt: skip
    two = answers({"kind": "curve", "curves": [curve(), curve(workload="8 streams")]})
    assert [line.partition(":")[0] for line in two] == ["c flat plain", "c flat 8 streams"]


def test_what_binds_a_plan():
    def load(reads, tokens_per_s, *binds):
        names = ("what", "case", "gain")
        return {"reads_per_token": reads, "tokens_per_s": tokens_per_s,
                "binds": [dict(zip(names, bound, strict=True)) for bound in binds]}  # fmt: skip

    loads = {
        "1 stream": load(1.5, 1e4, ("latency", "half the latency", 1.625), ("IOPS", "2 x the drive's reads/s", 1.6)),
        "8 streams": load(1.5, 2e4, ("queue depth", "2 x in flight", 1.02)),
        "prefill 32": load(0.25, 2e4, ("RAM", "2 x the cache", None)), "prefill 64": load(0.0, None),
    }  # fmt: skip
    slack = [{"layer": 1, "needed_us": 490.0, "mean_us": 100.0, "p99_us": 120.0, "wait_us": 0.0},
             {"layer": 2, "needed_us": 100.0, "mean_us": 350.0, "p99_us": 500.0, "wait_us": 250.0},
             {"layer": 3, "needed_us": 1.0, "mean_us": 0.0, "p99_us": 0.0, "wait_us": 0.0}]  # fmt: skip
    facts = {"kind": "plan", "loads": loads, "slack": slack, "compute_us": 1000.0, "stall_us": 250.0}
    assert list(answers(facts)) == [
        "1 stream: 1.5 reads/token, at most 10,000 tokens/s; latency and IOPS bind (half the latency: 1.62 x, "
        "2 x the drive's reads/s: 1.60 x)",
        "8 streams: 1.5 reads/token, at most 20,000 tokens/s; nothing binds alone (2 x in flight: 1.02 x at most)",
        "prefill 32: 0.25 reads/token, at most 20,000 tokens/s; RAM binds (2 x the cache: nothing is read)",
        "prefill 64: 0 reads/token; too little is read for anything of the drive to bind",
        "1 stream, 1,000.0 tokens/s without a drive, 800.0 with it, 1,200 reads/s: the drive costs 20 %",
        "layer 1: needed 0.49 ms after the token is known, there after 0.10 ms (p99 0.12): slack +0.39 ms",
        "layer 2: needed 0.10 ms after the token is known, there after 0.35 ms (p99 0.50): slack -0.25 ms",
        "layer 3: nothing to read",
    ]


@pytest.mark.parametrize("facts", [
    {"kind": "curve"}, {"kind": "curve", "curves": [1]}, {"kind": "curve", "curves": [curve(targets=[{}])]},
    {"kind": "plan", "loads": []}, {"kind": "plan", "loads": {"a": {}}}, {"kind": "plan", "loads": {}, "slack": [1]},
    {"kind": "replay", "loads": {"a": {"reads_per_token": 1.0, "tokens_per_s": None, "binds": []}}},
])  # fmt: skip
def test_other_forms_say_nothing(facts):
    assert list(answers(facts)) == []


def test_they_are_on_the_page_as_text(tmp_path):
    put(tmp_path, "a", kind="curve", curves=[curve(label="<b>")])
    assert "<li>c &lt;b&gt;: 1 reads/token with 3 MiB</li>" in page(read_folder(tmp_path))


def test_every_curve_and_plan_has_them(results):
    found = {result.name: list(answers(result.facts)) for result in read_folder(results).results}
    assert {name for name, lines in found.items() if lines} == {"curve", "sampled", "plan"}
    assert len([line for line in found["curve"] if "no knee" in line]) == len(found["sampled"]) == 3
    assert len(found["plan"]) >= 3
