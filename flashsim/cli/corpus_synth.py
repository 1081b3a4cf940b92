"""``flashsim corpus synth``: a token file from a generator, labelled synthetic."""

import click

from flashsim.corpora.synth import write_synthetic
from flashsim.corpora.write import refuse_overwrite
from flashsim.units import number_of, parse_count


@click.command("synth")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Token file to write (.bin); a .json goes beside it.",
)
@click.option("--tokens", default="1M", show_default=True, metavar="COUNT", help="Tokens to make (20M, 1B ...).")
@click.option("--vocab", default="65536", show_default=True, metavar="COUNT", help="Ids of the vocabulary.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything drawn.")
@click.option(
    "--documents-mean",
    type=float,
    default=800,
    show_default=True,
    metavar="TOKENS",
    help="Mean length of a document.",
)
@click.option("--exponent", type=float, default=1.05, show_default=True, help="Of Zipf's law for the words.")
@click.option("--quoted", type=float, default=0.2, show_default=True, help="Share of tokens that repeat earlier spans.")
@click.option("--force", is_flag=True, help="Replace a token file that is there already.")
def command(output, tokens, vocab, seed, documents_mean, exponent, quoted, force) -> None:
    """Make a synthetic token file: words by Zipf's law, topics, successors, quotations.

    Every table and figure made from it says "synthetic". Id 0 ends each document. The same options give the
    same bytes.
    """
    refuse_overwrite(output, force)
    facts = write_synthetic(
        output,
        parse_count(tokens),
        parse_count(vocab),
        seed,
        documents_mean=documents_mean,
        exponent=exponent,
        quoted=quoted,
    )
    click.echo(
        f"{output}: {facts['tokens']} synthetic tokens in {number_of(facts['documents'], 'document')}, "
        f"{facts['dtype']}, vocabulary {facts['vocabulary']}, EOT {facts['eot']}"
    )
