"""``flashsim corpus vocab-map``: Engram's compressed ids from a tokenizer."""

from pathlib import Path

import click


@click.command("vocab-map")
@click.argument("tokenizer", type=click.Path(path_type=Path), metavar="TOKENIZER.json")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.npy", help="[default: TOKENIZER.vocab-map.npy]"
)
def command(tokenizer: Path, output: Path | None) -> None:
    """Write the map from the ids of a Hugging Face TOKENIZER.json to Engram's compressed ones, for --vocab-map.

    Ids whose texts differ only in case, accents, width or spaces become one. uint32, one a token id.
    """
    import numpy as np

    from flashsim.corpora.vocab_map import compressed_vocabulary
    from flashsim.errors import UsageError
    from flashsim.files import refuse_inputs, replacing

    output = output or tokenizer.with_suffix(".vocab-map.npy")
    if output.suffix != ".npy":
        raise UsageError(f"{output}: the map is 1 .npy file: let -o end in .npy")
    refuse_inputs([output], [tokenizer])
    ids = compressed_vocabulary(tokenizer)
    with replacing(output) as file:
        np.save(file, ids)
    click.echo(f"{output}: {len(ids):,} ids of the tokenizer -> {int(ids.max(initial=0)) + 1:,} compressed ids")
