"""flashsim figures: the same picture again, from the CSV alone."""

from pathlib import Path


def test_the_same_figure_from_the_csv_alone(flashsim, corpus_file, tmp_path):
    swept = flashsim("sweep-cache", corpus_file, "--params", "1M", "--cache", "64KiB,1MiB", "--eot", 0, "-o", "x.csv")
    assert swept[0] == 0
    drawn = Path("x.svg").read_bytes()
    for path in tmp_path.iterdir():
        if path.suffix != ".csv":
            path.unlink()
    code, out, err = flashsim("figures", "fig4a", "x.csv")
    assert (code, out, err) == (0, "x.svg\nx.png\n", "")
    assert Path("x.svg").read_bytes() == drawn and Path("x.png").stat().st_size > 10_000
    code, out, _ = flashsim("figures", "fig4a", "x.csv", "-o", "new/name.v2")
    assert (code, out) == (0, "new/name.v2.svg\nnew/name.v2.png\n") and Path("new/name.v2.svg").read_bytes() == drawn
