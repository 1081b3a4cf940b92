"""``flashsim replay engines``: the ways to send reads."""

import click


@click.command()
def command() -> None:
    """List the ways to send reads, and why one cannot be used here."""
    from flashsim.device.engines import engines

    for engine in engines():
        click.echo(f"{engine.name:<10} {'available' if engine.available else engine.reason}")
