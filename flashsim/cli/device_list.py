"""``flashsim device list``: the drives that come with flashsim."""

import click


@click.command()
def command() -> None:
    """List the drives there are, and which are templates."""
    from flashsim.device.mva import bounds
    from flashsim.device.spec import drive_names, load_drive

    for name in drive_names():
        drive = load_drive(name)
        if drive.calibrated:
            limits = bounds(drive)
            what = f"{limits.latency_us:6.1f} us alone, {limits.cap / 1e3:7,.0f} K reads/s at most"
        else:
            what = "template: calibrate it before use"
        click.echo(f"{name:<18} {what:<45} {drive.title}")
