"""``flashsim corpus info``: what a token file holds, and whether it can stand for real text."""

import dataclasses
import json
from pathlib import Path

import click

from flashsim.cli.options import Count, TokenOptions, open_token_file, token_options

_COLUMNS = {
    "positions": 14,
    "distinct": 14,
    "entropy": 10,
    "top 1": 7,
    "top 100": 7,
    "top 10,000": 10,
}  # width


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@token_options
@click.option("--tokens", type=Count(), help="Look at the first COUNT tokens only.  [default: all]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(file: Path, token_options: TokenOptions, tokens: int | None, as_json: bool) -> None:
    """Count the documents, tokens, bigrams and trigrams of the token file FILE, and warn of traps.

    FILE is raw uint16 or uint32, llm.c, .npy (each also as .zst), or one of a Megatron pair or its prefix.
    N-grams are counted within documents, exactly.
    """
    from flashsim.tokens.info import describe

    if tokens == 0:
        raise click.BadParameter("0 tokens hold nothing to count: give at least 1", param_hint="--tokens")
    info = describe(open_token_file(file, token_options), tokens)
    click.echo(json.dumps(dataclasses.asdict(info), indent=1) if as_json else "\n".join(_table(info)))
    for warning in info.warnings:
        click.echo(f"warning: {warning}", err=True)


def _table(info):
    """Lines of the aligned table of a TokenInfo."""
    of_file = f" of {info.tokens_in_file:,}" if info.tokens < info.tokens_in_file else ""
    facts = {
        "file": f"{info.name} ({info.format}, {info.dtype}{', synthetic' if info.synthetic else ''})",
        "tokens": f"{info.tokens:,}{of_file}",
        "documents": f"{info.documents:,}, {info.mean_document_tokens:,.1f} tokens each on average",
        "boundary": info.boundary,
        "vocabulary": "unknown" if info.vocab_size is None else f"{info.vocab_size:,}",
        "largest id": f"{info.largest_id:,}",
    }
    for name, value in facts.items():
        yield f"{name:<10}  {value}"
    yield ""
    yield f"{'':<10}" + "".join(f"  {title:>{width}}" for title, width in _COLUMNS.items())
    for name in ("unigrams", "bigrams", "trigrams"):
        row = getattr(info, name)
        shares = (f"{share:.2%}" for share in (row.top_1, row.top_100, row.top_10000))
        cells = (f"{row.positions:,}", f"{row.distinct:,}", f"{row.entropy_bits:.2f} bits", *shares)
        yield f"{name:<10}" + "".join(
            f"  {cell:>{width}}" for cell, width in zip(cells, _COLUMNS.values(), strict=True)
        )
