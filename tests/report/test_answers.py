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
    assert list(answers({"kind": "curve", "curves": [curve(knee=None)]})) == told[1:]
    two = answers({"kind": "curve", "curves": [curve(), curve(workload="8 streams")]})
    assert [line.partition(":")[0] for line in two] == ["c flat plain", "c flat 8 streams"]


def test_what_binds_a_plan():
    binds = {
        "1 stream": {"what": "latency", "case": "half the latency", "gain": 1.625},
        "8 streams": {"what": "queue depth", "case": "2 x in flight", "gain": 1.02},
        "prefill 64": {"what": "RAM", "case": "2 x the cache", "gain": None},
    }  # fmt: skip
    slack = [{"layer": 1, "needed_us": 490.0, "mean_us": 100.0, "p99_us": 120.0},
             {"layer": 2, "needed_us": 100.0, "mean_us": 350.0, "p99_us": 500.0},
             {"layer": 3, "needed_us": 1.0, "mean_us": 0.0, "p99_us": 0.0}]  # fmt: skip
    facts = {"kind": "plan", "binds": binds, "slack": slack, "compute_us": 1000.0, "stall_us": 250.0}
    assert list(answers(facts)) == [
        "1 stream: latency binds (half the latency: 1.62 x)",
        "8 streams: nothing binds alone (2 x in flight buys most, 1.02 x)",
        "prefill 64: nothing is read, so nothing of the drive binds",
        "1 stream, 1,000.0 tokens/s without a drive, 800.0 with it: the drive costs 20 %",
        "layer 1: needed 0.49 ms after the token is known, there after 0.10 ms (p99 0.12): slack +0.39 ms",
        "layer 2: needed 0.10 ms after the token is known, there after 0.35 ms (p99 0.50): slack -0.25 ms",
        "layer 3: nothing to read",
    ]


@pytest.mark.parametrize("facts", [
    {"kind": "curve"}, {"kind": "curve", "curves": [1]}, {"kind": "curve", "curves": [curve(targets=[{}])]},
    {"kind": "plan", "binds": []}, {"kind": "plan", "binds": {"a": {}}}, {"kind": "plan", "binds": {}, "slack": [1]},
    {"kind": "replay", "binds": {"a": {"case": "b", "gain": 2.0}}},
])  # fmt: skip
def test_other_forms_say_nothing(facts):
    assert list(answers(facts)) == []


def test_they_are_on_the_page_as_text(tmp_path):
    put(tmp_path, "a", kind="curve", curves=[curve(label="<b>")])
    assert "<li>c &lt;b&gt;: 1 reads/token with 3 MiB</li>" in page(read_folder(tmp_path))


def test_every_curve_and_plan_has_them(results):
    found = {result.name: list(answers(result.facts)) for result in read_folder(results).results}
    assert {name for name, lines in found.items() if lines} == {"curve", "sampled", "plan"}
    assert len(found["curve"]) == len(found["sampled"]) == 3
    assert len(found["plan"]) >= 3
