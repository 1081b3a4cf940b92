"""``flashsim replay check``: would a replay on this target measure the drive?"""

from pathlib import Path

import click

from flashsim.cli.options import Size
from flashsim.cli.progress import Progress
from flashsim.errors import UsageError
from flashsim.units import number_of


@click.command("check")
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="TRACE.npy",
    help="What would be replayed.  [default: every page of the target]",
)  # fmt: skip
@click.option("--base", type=Size(), default="0B", show_default=True, help="Byte of the target that page 0 begins at.")
@click.option("--fold/--no-fold", default=False, help="Take page numbers modulo the pages that the target holds.")
@click.option("--buffered", is_flag=True, help="As for a replay through the page cache, which is not the drive's.")
@click.option("--verify", is_flag=True, help="Read every page of the target, not 1,000, and check its stamp.")
def command(target: Path, trace: Path | None, base: int, fold: bool, buffered: bool, verify: bool) -> None:
    """Say what is known of the file or block device TARGET, and what speaks against a replay on it.

    Nothing is written to it. The exit code is 3 where a replay would be refused, with one line for each reason.
    """
    from flashsim.device.checks import FACT, REFUSE, check, of_stamps
    from flashsim.device.reads import fold_of
    from flashsim.device.target import Target
    from flashsim.device.verify import verify as verified
    from flashsim.studies.replay_reads import touched_pages
    from flashsim.trace import Trace

    pages, page_bytes, modulus = None, 4096, 0
    with Target.open(target, buffered=buffered) as opened:
        if trace is not None:
            read = Trace.open(trace)
            page_bytes, pages = read.facts["unit_bytes"], touched_pages(read)
            modulus = fold_of(opened.size, read.facts["ids_below"], page_bytes, base) if fold else 0
        findings = check(opened, pages=pages, page_bytes=page_bytes, base=base, fold=modulus)
        if verify:
            if opened.seed is None:
                raise UsageError(f"--verify: page 0 of {target} has no stamp: 'flashsim replay prepare' writes them")
            with Progress(opened.size // 4096, "pages", "verify") as bar:
                all_of_it = of_stamps(opened, verified(opened, progress=bar.update))
            findings = [finding for finding in findings if finding.name != "stamps"] + [all_of_it]
    refused = [finding for finding in findings if finding.severity == REFUSE]
    for finding in findings:
        if finding not in refused:
            mark = "" if finding.severity == FACT else finding.severity
            click.echo(f"{mark:<5} {finding.name:<12} {finding.text}")
    for finding in refused:
        click.echo(f"flashsim: error: {finding.text}", err=True)
    if refused:
        raise click.exceptions.Exit(3)
    flags = sum(finding.severity != FACT for finding in findings)
    click.echo(f"{target}: a replay would run; its results have {number_of(flags, 'flag')}")
