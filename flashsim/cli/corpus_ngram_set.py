"""``flashsim corpus ngram-set``: the frequent n-grams that a longest-match layout has rows for."""

from pathlib import Path

import click

from flashsim.cli.options import Count, TokenOptions, open_token_file, token_options


@click.command("ngram-set")
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--count", type=Count(), default="1M", show_default=True, help="N-grams to keep.")
@click.option("--largest", type=click.IntRange(2, 16), default=5, show_default=True, help="Tokens of the longest ones.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.npy", help="[default: CORPUS.ngrams.npy]"
)
@token_options
def command(corpus: Path, count: int, largest: int, output: Path | None, token_options: TokenOptions) -> None:
    """Write the most frequent n-grams of the token file CORPUS (2 tokens and more), for --ngram-set.

    Count them on another text than the one that is studied, as a model's set is.
    """
    import numpy as np

    from flashsim.corpora.ngram_set import frequent_ngrams
    from flashsim.errors import UsageError
    from flashsim.files import refuse_inputs, replacing

    if count < 1:
        raise UsageError(f"--count {count}: keep 1 n-gram or more")
    stream = open_token_file(corpus, token_options)
    output = output or Path(f"{stream.name}.ngrams.npy")
    if output.suffix != ".npy":
        raise UsageError(f"{output}: the set is 1 .npy file: let -o end in .npy")
    refuse_inputs([output], [corpus, token_options.documents])
    grams = frequent_ngrams(stream, count, largest)
    with replacing(output) as file:
        np.save(file, grams)
    lengths = np.bincount((grams != 2**32 - 1).sum(axis=1), minlength=largest + 1)[2:]
    told = ", ".join(f"{n:,} of {order} tokens" for order, n in enumerate(lengths, 2))
    click.echo(f"{output}: {len(grams):,} n-grams, {told}; of {len(stream):,} tokens")
