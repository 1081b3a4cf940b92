"""The figure of a plan: what is not one whole plan is refused, not drawn in part."""

import pytest

from flashsim.errors import DataError
from flashsim.figures.plan import draw

COLUMNS = (
    "corpus,synthetic,label,case,workload,cache_bytes,drive,tokens,references_per_token,shared_per_token,"
    "reads_per_token,reads_per_token_least,reads_per_token_most,gain"
)
ROWS = [
    f"c,False,flat-1M,{case},{workload},65536,ssd,5000,2,1.9,1.5,1.4,1.6,1"
    for workload in ("1 stream", "prefill 2048")
    for case in ("as asked", "half the latency")
]


@pytest.fixture
def plan(tmp_path):
    def written(rows):
        (tmp_path / "plan.csv").write_text("\n".join([COLUMNS, *rows, ""]))
        return tmp_path / "plan.csv"

    return written


def test_a_plan_is_drawn(plan):
    assert all(path.stat().st_size > 5000 for path in draw(plan(ROWS)))


@pytest.mark.parametrize(
    "rows",
    [ROWS[1::2], ROWS[:3], ROWS[1:], ROWS[:2], ROWS[:1], ROWS + ROWS[:1]],
    ids=["as asked by none", "cut in a workload", "as asked by one", "1 workload", "1 row", "a row twice"],
)
def test_rows_of_no_whole_plan_are_refused(plan, rows):
    with pytest.raises(DataError, match=rf"plan\.csv: {len(rows)} rows?, not each case once .* one plan, uncut"):
        draw(plan(rows))
    assert not list(plan(rows).parent.glob("*.svg"))
