"""What commands say of document boundaries: n-grams of some layouts cross them whatever marks them."""

import pytest

LEAKS = ("--layout", "engram-demo", "--raw-ids")
CLIPS = ("--layout", "flat", "--params", "1M")
NONE_NOTED = "0 document boundaries: n-grams cross them; --eot ID marks them\n"
RULE = "n-grams of engram-demo cross documents by the layout's own rule"
COMMANDS = {
    "sweep-cache": ("--cache", "64KiB"), "curve": (), "hot-set": (), "cold-start": ("--window", "5k"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_the_note_before_a_run(flashsim, corpus_file, command):
    for layouts, note in (
        (CLIPS, NONE_NOTED),
        (LEAKS, f"0 document boundaries: {RULE}\n"),
        (CLIPS + LEAKS, NONE_NOTED),
    ):
        code, _, err = flashsim(command, corpus_file, *COMMANDS[command], *layouts, "-o", "x.csv")
        assert code == 0 and note in err
    for marked in (("--eot", "0"), ("--eot", "none")):
        code, _, err = flashsim(command, corpus_file, *COMMANDS[command], *LEAKS, *marked, "-o", "x.csv")
        assert code == 0 and "boundaries" not in err


def test_the_line_after_it(flashsim, corpus_file):
    def line(*sources):
        code, out, err = flashsim("sweep-cache", *sources, "--cache", "64KiB", "-o", "x.csv")
        assert code == 0, err
        return out.splitlines()[-1]

    assert line(corpus_file, *CLIPS, "--eot", 0) == "boundary: --eot 0"
    assert line(corpus_file, *LEAKS, "--eot", 0) == line(corpus_file, *CLIPS, *LEAKS, "--eot", 0)
    assert line(corpus_file, *LEAKS, "--eot", 0) == f"boundary: --eot 0; {RULE}"
    assert flashsim("trace", corpus_file, *LEAKS, "--eot", 0, "-o", "t.npy")[0] == 0
    assert line("t.npy") == f"boundary: --eot 0; {RULE}"
    assert line("t.npy", corpus_file, *CLIPS, "--eot", 0) == f"boundary: corpus --eot 0; {RULE}; corpus --eot 0"
