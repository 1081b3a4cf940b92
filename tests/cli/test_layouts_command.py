"""flashsim layouts: the list, and one layout in figures."""

from flashsim.layouts import load_spec, preset_names


def shown(out):
    """The facts of ``layouts show`` as a dict."""
    return {line[:22].strip(): line[23:].strip() for line in out.splitlines()}


def test_list(flashsim):
    code, out, err = flashsim("layouts")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == preset_names()
    assert sum("PageGram report" in line for line in out.splitlines()) == 3
    assert [line.split()[0] for line in out.splitlines() if "UNCERTAIN" in line] == [
        name for name in preset_names() if load_spec(name).uncertain
    ]


def test_show_the_reports_pagegram(flashsim):
    code, out, err = flashsim("layouts", "show", "pagegram", "--params", "200M")
    assert (code, err) == (0, "")
    facts = shown(out)
    assert facts["layout"].startswith("pagegram-S4-200M: ")
    assert "buckets an order (primes) 48,823, 48,821\n" in out
    assert facts["bucket"] == "32 rows, 1,088 B" and facts["buckets a page"] == "3" and facts["rows a page"] == "96"
    assert facts["row"] == "64 x nf4 = 34 B" and facts["reads/token, no cache"] == "2"
    assert facts["padding"] == "20.3% of the table" and facts["pages"] == "32,548"
    assert facts["table"] == "133,316,608 B = 127.1 MiB" and facts["parameters"].startswith("199,974,912 (-0.0125%")


def test_a_last_page_that_is_not_full_counts_as_a_page(flashsim):
    facts = shown(flashsim("layouts", "show", "pagegram", "--params", "10B")[1])
    assert facts["rows a page"] == "96"  # 95.99998 on average


def test_show_the_others(flashsim):
    flat = shown(flashsim("layouts", "show", "flat", "--params", "200M")[1])
    assert (
        flat["rows"] == "520,832; a token reads 2"
        and flat["rows a page"] == "21"
        and flat["row"] == "384 x nf4 = 194 B"
    )
    out = flashsim("layouts", "show", "engram", "--params", "200M")[1]
    engram = shown(out)
    assert engram["reads/token, no cache"] == "16" and engram["rows a page"] == "120"
    assert "bucket" not in engram and out.count("195,") == 16
    wide = shown(flashsim("layouts", "show", "pagegram", "--S", "60", "--params", "200M")[1])
    assert wide["pages a bucket"] == "4" and wide["reads/token, no cache"] == "8" and wide["rows a page"] == "120"


def test_every_option_reaches_the_layout(flashsim):
    code, out, _ = flashsim(
        "layouts", "show", "pagegram", "--params", "1M", "--S", 2, "--heads", 4, "--width", 32, "--orders", "1,2,3",
        "--row-format", "fp16", "--seed", 9, "--page", "8KiB",
    )  # fmt: skip
    facts = shown(out)
    assert code == 0
    assert facts["layout"].startswith("pagegram-S2-1M-K4-w32-n1+2+3-fp16-seed9-page8192: ")
    assert facts["n-grams"].startswith("orders 1, 2, 3;") and facts["hash"] == "mix64, seed 9"
    assert facts["bucket"] == "8 rows, 512 B" and facts["page"].startswith("8 KiB") and facts["heads (K)"] == "4"


def test_own_file(flashsim, tmp_path):
    (tmp_path / "own.toml").write_text(
        'name = "own"\n[ngrams]\norders = [4]\n[rows]\naddressing = "whole"\nparams = "1M"\n'
        'width = 10\nformat = "fp32"\n'
    )
    code, out, _ = flashsim("layouts", "show", "own.toml")
    assert code == 0 and "own-1M" in out and "10 x fp32 = 40 B" in out and "none given" in out
