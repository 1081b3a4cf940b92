"""Figures that README.md and docs/questions.md state are those of the runs in reports/record."""

import re
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[1]
README, QUESTIONS = (ROOT / "README.md").read_text(), (ROOT / "docs/questions.md").read_text()
RECORD = ROOT / "reports/record"


def _as_written(value: float, cell: str) -> str:
    """``value`` with as many digits as ``cell`` has."""
    decimals = len(cell.partition(".")[2])
    return f"{value:,.{decimals}f}"


def test_the_table_of_layouts_is_that_of_the_record():
    table = pd.read_csv(RECORD / "presets.csv")
    by_name = {
        "deepseek-v4.1, scales in RAM (5.7 GiB)": "deepseek-v4.1-ram-scales-raw-ids", "flat, 20 B": "flat-20B",
        "engram, 20 B": "engram-20B", "pagegram S=4, 20 B": "pagegram-S4-20B",
    }  # fmt: skip
    raw = {"engram-demo", "engram-27b", "deepseek-v4.1"}
    rows = re.findall(r"^\| ([^|]*?) \| ([\d.]+) GiB \| [^|]* B[^|]*\| (.*) \|$", README, re.MULTILINE)
    assert len(rows) == 14 == table["label"].nunique()
    for name, size, cells in rows:
        label = by_name.get(name, f"{name}-raw-ids" if name in raw else name)
        lines = table[table["label"] == label].sort_values("cache_bytes")
        reads = [lines["reads"].iloc[0] / lines["tokens"].iloc[0], *lines["reads_per_token"]]
        assert size == f"{lines['table_bytes'].iloc[0] / 2**30:.1f}", name
        assert cells.split(" | ") == [_as_written(*pair) for pair in zip(reads, cells.split(" | "), strict=True)], name


def test_the_replay_table_is_that_of_the_record():
    table = pd.read_csv(RECORD / "replay.csv")
    rates = table.groupby(["layout", "cache_bytes", "in_flight"])["lookups_per_s"].median()
    (text,) = re.findall(r"^\| lookups/s, reads in flight .*?\n\n", README, re.MULTILINE | re.DOTALL)
    depths, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text.strip().splitlines() if "---" not in line
    )
    depths, cache, seen = [int(depth) for depth in depths[1:]], 0, []
    for name, *cells in rows:
        cache = 1 << 30 if name.startswith("with 1 GiB") else cache
        seen.append(name)
        for depth, cell in zip(depths, cells, strict=True):
            by_layout = {layout: rates[layout, cache, depth] for layout in ("flat", "engram", "pagegram")}
            name = name.removeprefix("with 1 GiB of cache: ").removesuffix(" S=4")
            value = by_layout["pagegram"] / by_layout["engram"] if "/" in name else by_layout[name]
            assert cell == _as_written(value, cell), (name, depth)
    assert len(seen) == 7


def test_the_policy_table_is_that_of_the_record():
    """reads/token and shares of the gap in the README, from the CSV that its figure is of."""
    table = pd.read_csv(RECORD / "policies.csv").set_index(["layout", "policy", "cache_bytes"])
    reads = table["reads_per_token"]
    rows = re.findall(r"^\| (lru|s3fifo|slru|arc|min)(?:: the bound)? \| (.*) \|$", README, re.MULTILINE)
    assert len(rows) == 5
    columns = [(layout, mib << 20) for layout in ("pagegram", "engram") for mib in (256, 1024, 4096)]
    for policy, cells in rows:
        for (layout, size), cell in zip(columns, cells.split(" | "), strict=True):
            assert cell == f"{reads[layout, policy, size]:.{len(cell.split('.')[1])}f}", (policy, layout, size)
    claimed = re.search(r"closes (\d+) % of the gap .*?MiB, (\d+) % at 1 GiB, and\s+(\d+) % with", README, re.DOTALL)
    for (layout, mib), share in zip(
        (("pagegram", 256), ("pagegram", 1024), ("engram", 1024)), claimed.groups(), strict=True
    ):
        lru, best, least = (reads[layout, policy, mib << 20] for policy in ("lru", "s3fifo", "min"))
        assert int(share) == round(100 * (lru - best) / (lru - least))


PLANS = pd.read_csv(RECORD / "plans.csv").set_index(["run", "case", "workload"])
LOADS = ("1 stream", "8 streams", "prefill 2048")


def test_the_plan_in_the_readme_is_that_of_the_record():
    """The pages, rates and gains of each line of the screen."""
    (screen,) = re.findall(r"```text\n(deepseek-v4.*?)```", README, re.DOTALL)
    plan, lines = PLANS.loc["plan"], screen.splitlines()
    for load in LOADS:
        asked = plan.loc["as asked", load]
        pages = [asked[f"{stage}_per_token"] for stage in ("references", "shared", "reads")]
        rates = [asked["tokens_per_s"], asked["tokens_per_s"] * pages[2], asked["mb_per_s"]]
        (shown,) = (line for line in lines if line.startswith(f"{load} "))
        cells = shown.removeprefix(load).split()
        assert cells == [_as_written(*pair) for pair in
                         zip([*pages, asked["bytes_per_token"] / 1024, *rates], cells, strict=True)]  # fmt: skip
    for case in plan.index.unique("case").drop("as asked"):
        (shown,) = (line for line in lines if re.match(rf"  {re.escape(case)}( \(\d+ GiB\))? ", line))
        assert shown.split()[-3:] == [f"{plan.loc[case, load]['gain']:.2f}" for load in LOADS], case


def test_the_plans_of_the_questions_are_those_of_the_record():
    for run, plan in PLANS.groupby("run"):
        command = "flashsim plan tokens.bin --layout deepseek-v4.1" if run == "plan" else f"-o reports/{run}.csv"
        text = QUESTIONS[QUESTIONS.index(command) :]
        text = text[: text.find("\n## ") if "\n## " in text else None].replace("\n", " ")
        stream, prefill = (plan.loc[run, "as asked", load] for load in ("1 stream", "prefill 2048"))
        assert f"{stream['reads_per_token']:.3g} " in text, run
        assert f"{stream['tokens_per_s']:,.0f} tokens/s" in text and f"{prefill['tokens_per_s']:,.0f}" in text, run


def test_the_drives_of_the_readme_are_those_of_the_record():
    """Reads of a step over those of its busiest drive, without a cache and behind 1 GiB."""
    table = pd.read_csv(RECORD / "drives.csv").set_index("shard")
    without = table["references"] / table["steps"] / table["no_cache_step_reads_busiest"]
    behind = table["step_reads"] / table["step_reads_busiest"]
    found = re.search(r"by ([\d.]+) without a cache, and by\s+([\d.]+) behind .*?evenly without a cache \(([\d.]+)\)"
                      r".*?with (\d+) % of the reads each \(([\d.]+)\).*?stay even \(([\d.]+)\)", README,
                      re.DOTALL)  # fmt: skip
    values = (without["page"], behind["page"], without["rows"], 100 * table["busiest_share"]["rows"], behind["rows"],
              behind["robin"])  # fmt: skip
    assert [_as_written(*pair) for pair in zip(values, found.groups(), strict=True)] == list(found.groups())
    assert behind["head"] == behind["rows"]


def test_the_hot_set_of_the_readme_is_that_of_the_record():
    """The fewest pages that take half of the reads."""
    table = pd.read_csv(RECORD / "hot_set.csv")
    half = table[table["read_share"] >= 0.5].groupby(["layout", "orders"])["hottest_bytes"].min()
    found = re.search(
        r"go to ([\d.]+) GiB .*? to ([\d.]+) GiB.*?in\s+(\d+) MiB\).*?\(([\d.]+) GiB\)", README, re.DOTALL
    )
    values = (half["pagegram", "2+3"] / 2**30, half["engram", "2+3"] / 2**30, half["pagegram", "2"] / 2**20,
              half["pagegram", "3"] / 2**30)  # fmt: skip
    assert [_as_written(*pair) for pair in zip(values, found.groups(), strict=True)] == list(found.groups())
