"""The files and the tables that ``flashsim replay`` leaves."""

from pathlib import Path

import click

from flashsim.cli.figures import drawn

_KIND, _SCHEMA = "replay", 1  # in the JSON beside the CSV


class Record:
    """The files of a run. While it lasts they are NAME.partial.csv and .json, written anew after each point, so that
    an earlier result stays whole and what a killed run leaves is one too."""

    def __init__(self, output: Path, inputs: list[Path | str | None], wishes) -> None:
        from flashsim.device.host import virtual_machine
        from flashsim.files import check_result

        self.output, self.ended = output, []
        self._partial = output.with_name(f"{output.stem}.partial{output.suffix}")
        for path in (output, self._partial):
            check_result(path, _KIND, inputs)
        self.facts = {"kind": _KIND, "schema": _SCHEMA, "complete": False, "asked": vars(wishes)}
        self.facts["virtual_machine"] = virtual_machine()

    def keep(self, ended) -> None:
        """Add a point that ended."""
        self.ended.append(ended)
        self._write(self._partial)

    def close(self, complete: bool) -> None:
        """The run has ended: what was kept is its result, ``complete`` or not."""
        self.facts["complete"] = complete
        self._write(self.output)
        for ending in (".csv", ".json"):
            self._partial.with_suffix(ending).unlink(missing_ok=True)

    def _write(self, path: Path) -> None:
        from flashsim.files import write_facts, write_text
        from flashsim.studies.ledger import to_csv
        from flashsim.studies.replay import COLUMNS, flag_spread

        flag_spread(self.ended)
        rows = [each.row | {"flags": ";".join(map(str, each.row["flags"]))} for each in self.ended]
        write_text(path, to_csv(rows, COLUMNS))
        points = [
            each.row | each.more | {"flags": [flag._asdict() for flag in each.row["flags"]]} for each in self.ended
        ]
        write_facts(path, self.facts | {"points": points})

    def show(self) -> None:
        """Print the tables and draw the figure, of whatever is there."""
        from flashsim.cli.replay_print import tables

        for line in tables([each.row for each in self.ended]):
            click.echo(line)
        beside = [self.output.with_suffix(".json"), *drawn("fig4b", self.output)]
        click.echo(f"wrote {self.output}, {', '.join(path.name for path in beside)}", err=True)
