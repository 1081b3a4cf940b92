"""``flashsim corpus build``: a token file from text."""

from pathlib import Path

import click

from flashsim.corpora.build import build_corpus
from flashsim.corpora.text import DOCUMENT_CHARACTERS
from flashsim.corpora.tokenizers import file_tokenizer, rwkv_tokenizer, trained_bpe
from flashsim.corpora.write import refuse_overwrite
from flashsim.errors import UsageError
from flashsim.units import number_of


@click.command("build")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Token file to write (.bin); a .json goes beside it.",
)
@click.option(
    "--tokenizer",
    metavar="rwkv|FILE",
    help="'rwkv' (RWKV World, 65,536 ids; the default) or a Hugging Face tokenizer.json.",
)
@click.option(
    "--train-bpe",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Train a byte-level BPE of N ids on the text; saved as NAME.tokenizer.json beside the output.",
)
@click.option("--eot", type=int, metavar="ID", help="Id that ends a document, where the tokenizer.json does not tell.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the shuffle by document.")
@click.option(
    "--one-document-a-file",
    is_flag=True,
    help=f"Do not split files over {DOCUMENT_CHARACTERS} characters at paragraphs.",
)
@click.option("--force", is_flag=True, help="Replace a token file that is there already.")
def command(paths, output, tokenizer, train_bpe, eot, seed, one_document_a_file, force) -> None:
    """Build a token file from text: files, folders (walked in sorted order), .gz and .zst.

    A file is a document, documents are shuffled, and each ends with the tokenizer's end-of-text id. Files
    that are not UTF-8 text are counted and skipped. The same text and --seed give the same bytes.
    """
    if tokenizer is not None and train_bpe is not None:
        raise UsageError("--tokenizer and --train-bpe are 2 tokenizers for 1 corpus: give one of them")

    refuse_overwrite(output, force)

    def chosen(documents):
        if train_bpe is not None:
            click.echo(f"training a BPE of {train_bpe} ids on a sample of the text ...", err=True)
            return trained_bpe(documents(), train_bpe, Path(output).with_suffix(".tokenizer.json"), eot)
        return rwkv_tokenizer(eot) if tokenizer in (None, "rwkv") else file_tokenizer(tokenizer, eot)

    limit = None if one_document_a_file else DOCUMENT_CHARACTERS
    facts = build_corpus(paths, output, chosen, seed=seed, document_characters=limit)
    for source in facts["sources"]:
        if skipped := source["skipped_not_text"]:
            click.echo(f"{source['path']}: skipped what is binary or not UTF-8: {number_of(skipped, 'file')}", err=True)
    click.echo(
        f"{output}: {facts['tokens']} tokens in {number_of(facts['documents'], 'document')}, {facts['dtype']}, "
        f"vocabulary {facts['vocabulary']}, EOT {facts['eot']}"
    )
