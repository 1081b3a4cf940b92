"""A whole plan of each published table, beside one pass of the text through the table's addresses."""

from flashsim import layout
from flashsim.device.model import load_drive
from flashsim.layouts import load_spec
from flashsim.studies.plan import Wishes, other_layouts, plan
from flashsim.trace import pieces
from tests.bench.measure import interleaved

NAMES = (
    "deepseek-v4.1", "engram-27b", "qwen3.8-flash-next", "longcat-2.0", "longcat-flash-lite", "over-encoding",
    "modded-nanogpt", "gemma-3n", "engram", "flat", "pagegram",
)  # fmt: skip


def plans(stream, tokens: int, rounds: int) -> None:
    """CPU seconds; 1 GiB of cache, and all that ``flashsim plan`` holds beside."""
    tokens, drive = min(tokens, len(stream)), load_drive("pcie4-consumer")
    print("| layout | plan, CPU s (most) | one pass | x a pass |\n|---|---|---|---|")
    for name in NAMES:
        raw = {"raw_ids": True} if load_spec(name).vocabulary.mapped else {}
        made = layout(name, **raw)
        others = other_layouts(made, lambda name=name, raw=raw, **changed: layout(name, **raw | changed))
        others |= {"pagegram": layout("pagegram", params=made.params)}
        taken = interleaved(
            max(1, rounds // 3),
            plan=lambda made=made, others=others: plan(stream, made, drive, Wishes(1 << 30, others=others), end=tokens),
            one=lambda made=made: [None for _ in pieces(stream, made, end=tokens)],
        )
        seconds, once = taken["plan"], taken["one"]
        ratio = seconds.median / once.median
        print(f"| {name} | {seconds.median:.1f} ({max(seconds.seconds):.1f}) | {once.median:.1f} | {ratio:.1f} |",
              flush=True)  # fmt: skip
