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


def test_every_kind_is_drawn_again_and_refuses_the_others(flashsim, corpus_file):
    common = [corpus_file, "--eot", "0", "--layout", "engram", "--params", "20M"]
    made = {
        "fig4a": ["sweep-cache", *common, "--cache", "64KiB,1MiB", "-o", "fig4a.csv"],
        "policies": ["sweep-cache", *common, "--cache", "64KiB,1MiB", "--policy", "lru,min", "-o", "policies.csv"],
        "curve": ["curve", *common, "-o", "curve.csv"],
        "cold-start": ["cold-start", *common, "--cache", "1MiB", "--window", "5k", "-o", "cold-start.csv"],
        "hot-set": ["hot-set", *common, "-o", "hot-set.csv"],
        "collisions": ["collisions", *common, "--layout", "pagegram", "-o", "collisions.csv"],
    }
    for name, command in made.items():
        code, _, err = flashsim(*command)
        assert code == 0, err
        drawn = Path(f"{name}.svg").read_bytes()
        assert flashsim("figures", name, f"{name}.csv", "-o", f"again-{name}.png")[0] == 0
        assert Path(f"again-{name}.svg").read_bytes() == drawn and Path(f"again-{name}.png").is_file()
    for name, other in (
        ("fig4a", "curve"), ("fig4a", "cold-start"), ("policies", "curve"), ("cold-start", "fig4a"),
        ("collisions", "curve"), ("curve", "collisions"), ("hot-set", "curve"),
    ):  # fmt: skip
        code, _, err = flashsim("figures", name, f"{other}.csv")
        assert code == 3 and len(err.splitlines()) == 1
    assert flashsim("curve", *common, "--sample", "0.9", "-o", "sampled.csv")[0] == 0
    assert "SAMPLED, 0.9 of the pages" in Path("sampled.svg").read_text()


def test_a_result_that_fits_no_picture_is_whole_without_one(flashsim, corpus_file, tmp_path):
    sweep = ("sweep-cache", corpus_file, "--eot", 0, "--tokens", "2k", "--cache", "64KiB,1MiB", "-o", "x.csv")
    few = ("--layout", "flat", "--params", "1M", "--policy", "lru,fifo")
    assert flashsim(*sweep, *few)[0] == 0 and Path("x.svg").is_file()
    sizes = ",".join(f"{millions}M" for millions in range(1, 8))
    code, out, err = flashsim(*sweep, "--layout", "flat", "--params", sizes, "--policy", "lru,fifo")
    assert code == 0 and len(out.splitlines()) == 1 + 14 + 2
    assert "note: no figure: x.csv: 7 corpora, layouts and workloads, 6 fit a picture" in err
    assert err.endswith("wrote x.csv, x.json\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.json"]  # none of the earlier result
    code, _, err = flashsim("figures", "policies", "x.csv")
    assert code == 3 and len(err.splitlines()) == 1


def test_policies_under_workloads_have_panels_of_their_own(flashsim, corpus_file):
    sweep = ("sweep-cache", corpus_file, "--eot", 0, "--tokens", "9k", "--cache", "64KiB,1MiB", "-o", "x.csv")
    code, _, err = flashsim(*sweep, "--layout", "flat", "--params", "1M", "--policy", "lru,min", "--streams", "1,4")
    assert code == 0, err
    drawn = Path("x.svg").read_text()
    assert "corpus, flat-1M, 1 stream" in drawn and "corpus, flat-1M, 4 streams" in drawn
