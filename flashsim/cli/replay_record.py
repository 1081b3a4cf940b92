"""The files and the tables that ``flashsim replay`` leaves."""

from pathlib import Path

import click

_KIND, _SCHEMA = "replay", 1  # in the JSON beside the CSV


class Record:
    """The files of a run: written anew after each point, so that what is there is whole whenever it ends."""

    def __init__(self, output: Path, inputs: list[Path | str | None], wishes) -> None:
        from flashsim.device.host import virtual_machine
        from flashsim.files import check_result

        check_result(output, _KIND, inputs)
        self.output, self.ended = output, []
        self.facts = {"kind": _KIND, "schema": _SCHEMA, "complete": False, "asked": vars(wishes)}
        self.facts["virtual_machine"] = virtual_machine()

    def keep(self, ended) -> None:
        """Add a point that ended."""
        self.ended.append(ended)
        self._write()

    def close(self) -> None:
        """All of it is there."""
        self.facts["complete"] = True
        self._write()

    def _write(self) -> None:
        from flashsim.files import write_facts, write_text
        from flashsim.studies.ledger import to_csv
        from flashsim.studies.replay import COLUMNS, flag_spread

        flag_spread(self.ended)
        rows = [each.row | {"flags": ";".join(map(str, each.row["flags"]))} for each in self.ended]
        write_text(self.output, to_csv(rows, COLUMNS))
        points = [
            each.row | each.more | {"flags": [flag._asdict() for flag in each.row["flags"]]} for each in self.ended
        ]
        write_facts(self.output, self.facts | {"points": points})

    def show(self) -> None:
        """Print the tables and draw the figure, of whatever is there."""
        from flashsim.cli.replay_print import tables
        from flashsim.figures.fig4b import draw

        for line in tables([each.row for each in self.ended]):
            click.echo(line)
        beside = [self.output.with_suffix(".json"), *draw(self.output)]
        click.echo(f"wrote {self.output}, {', '.join(path.name for path in beside)}", err=True)
