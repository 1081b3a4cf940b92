"""The picture of a curve: its y axis begins near the data where all of it is above 1 read a token, else at 0."""

import re

import pandas as pd
import pytest

from flashsim.figures.curve import draw


def marks(folder, reads, **more):
    """What is written at the y axis for a curve of ``reads`` reads/token."""
    table = pd.DataFrame({"cache_bytes": [1 << 20 << at for at in range(len(reads))], "reads_per_token": reads})
    names = {"corpus": "c", "synthetic": False, "label": "flat", "workload": "plain", "tokens": 10, "reads": 160}
    table.assign(**names, **more).to_csv(folder / "a.csv", index=False)
    svg = draw(folder / "a.csv")[0].read_text()
    return [float(text) for text in re.findall(r"<text[^>]*>([\d.]+)</text>", svg)]


@pytest.mark.parametrize(("reads", "more", "shown"), [
    ([16, 8, 2.5], {}, [4, 8, 16]),
    ([16, 8, 1.5], {}, [2, 4, 8, 16]),
    ([16, 8, 0.5], {}, [0, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 8, 16]),
    ([16, 8, 2.5], {"sample_rate": 0.1, "reads_per_token_error": 0.9}, [2, 4, 8, 16]),  # the band is seen whole
])  # fmt: skip
def test_the_axis_of_reads(tmp_path, reads, more, shown):
    assert marks(tmp_path, reads, **more) == shown
