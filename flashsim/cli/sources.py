"""What ``sweep-cache``, ``curve`` and their kin run: token files through layouts, and traces."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import click

from flashsim.cli.boundaries import note_boundaries, note_vocabulary
from flashsim.cli.layout_options import Listed, backend, layout_values
from flashsim.cli.options import Count, TokenOptions, open_token_file, token_options
from flashsim.errors import UsageError
from flashsim.units import number_of, parse_count

# The report's experiment (PageGram report, Fig. 4a).
LAYOUTS, PARAMS = ("flat", "engram", "pagegram"), ("3.2B", "10B", "20B")


@dataclass(frozen=True)
class Sources:
    """The command line's token files, traces, layouts and the part of them to run."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    slots: tuple[int, ...] | None
    params: tuple[int, ...] | None
    values: dict
    token_options: TokenOptions
    skip: int
    tokens: int | None
    default_params: tuple[str, ...]

    def open(self) -> tuple[list, list]:
        """(streams and traces, layouts); the demo corpus where no file was named. Raises UsageError or DataError."""
        from flashsim.tokens.stream import TokenStream
        from flashsim.trace import Trace
        from flashsim.trace_files import facts_beside, without_parts

        layouts, paths = self._layouts(), without_parts(self.paths)
        if not paths:
            from flashsim.corpora.demo import demo_corpus

            paths = [demo_corpus()]
        opened = [
            Trace.open(path) if facts_beside(path) else open_token_file(path, self.token_options) for path in paths
        ]
        streams = [source for source in opened if isinstance(source, TokenStream)]
        given = [self.names or None, self.slots, self.params, *self.values.values(), *self.token_options]
        if not streams and any(value is not None for value in given):
            raise UsageError(
                f"each source ({len(opened)}) is a trace, which has its layout and tokens already: give --layout, its "
                "values and the options of token files to `trace`"
            )
        for stream in streams:
            note_boundaries(stream, layouts)
        opened = [note_vocabulary(one, layouts) if isinstance(one, TokenStream) else one for one in opened]
        return opened, layouts if streams else []

    def check_output(self, csv: Path, kind: str, *more: Path | None) -> None:
        """See :func:`flashsim.files.check_result`; ``more``: files that are read besides."""
        from flashsim.files import check_result

        layouts = [Path(name) for name in self.names if name.endswith(".toml")]
        values = [self.values[name] for name in ("vocab_map", "ngram_set", "weights")]
        check_result(csv, kind, [*self.paths, *layouts, self.token_options.documents, *values, *more])

    def facts(self, opened: list, layouts: list) -> dict:
        """What a result has to say of what was run."""
        from flashsim.files import sha256_of
        from flashsim.tokens.stream import TokenStream
        from flashsim.trace import layout_facts, source_facts

        return {
            "skip": self.skip,
            "tokens": self.tokens,
            "layouts": [layout_facts(made) for made in layouts],
            "sources": [
                source_facts(source)
                if isinstance(source, TokenStream)
                else {"trace": str(source.path), "sha256": sha256_of(source.path)} | source.facts
                for source in opened
            ],
        }

    def _layouts(self) -> list:
        """Every layout at every size in every row format; ``slots`` multiply those that have buckets."""
        from flashsim.layouts import layout, load_spec

        names = self.names or LAYOUTS
        specs = {name: load_spec(name) for name in names}
        has_slots = [name for name in specs if specs[name].rows.slots is not None]
        if self.slots and not has_slots:
            raise UsageError(
                f"--S {self.slots[0]}: none of the {number_of(len(names), 'layout')} has buckets: add --layout pagegram"
            )
        taken = {name: _taken_by(spec, self.values["placement"]) for name, spec in specs.items()}
        for option in sorted(_OF_SOME):
            if self.values[option] is not None and not any(option in options for options in taken.values()):
                written = "--" + option.replace("_", "-")
                raise UsageError(
                    f"{written}: none of the {number_of(len(names), 'layout')} takes it, "
                    "1 that does is enough: leave it out"
                )
        if self.params and all(spec.fixed for spec in specs.values()):
            raise UsageError(f"--params {self.params[0]}: each layout ({len(names)}) has the rows that it was "
                             "published with: leave it out")  # fmt: skip
        sizes, made = self.params or [parse_count(size) for size in self.default_params], []
        asked = self.values["row_format"]
        formats = (None,) if asked is None else [row_format.strip() for row_format in asked.split(",")]
        for at, size in enumerate(sizes):
            for name in names:
                spec = specs[name]
                if spec.fixed and at:
                    continue  # it has one size
                values = self.values | dict.fromkeys(_OF_SOME - taken[name])
                slots = self.slots if self.slots and name in has_slots else (None,)
                for row_format, S in product(formats, slots):
                    params = None if spec.fixed else size
                    made.append(layout(name, S=S, params=params, **values | {"row_format": row_format}))
        return made


_OF_SOME = {"vocab_map", "raw_ids", "ngram_set", "resident"}  # options that the layouts of a sweep need not all take


def _taken_by(spec, placement: str | None) -> set[str]:
    """Of ``_OF_SOME``, those that a layout takes. placement: in place of its own."""
    mapped = {"vocab_map", "raw_ids"} if spec.vocabulary.mapped else set()
    parts = {"resident"} if (placement or spec.placement.rule) == "planar" else set()
    return mapped | parts | ({"ngram_set"} if spec.hash.family == "longest-match" else set())


def sources(default_params: tuple[str, ...] = PARAMS) -> Callable:
    """Add SOURCES, the layout lists, the token options, --tokens, --skip and --backend; the command gets the first ones
    as one :class:`Sources`, ``sources``, and ``backend``. default_params: table sizes where --params is not given."""

    def decorate(command: Callable) -> Callable:
        @click.argument("paths", metavar="[SOURCES]...", nargs=-1, type=click.Path(path_type=Path))
        @click.option(
            "--layout", "names", type=Listed("NAME,...", str), multiple=True, help=f"[default: {','.join(LAYOUTS)}]"
        )
        @click.option("--S", "slots", type=Listed("S,...", parse_count), help="Slots a head in a bucket.  [default: 4]")
        @click.option(
            "--params",
            type=Listed("COUNT,...", parse_count),
            help=f"Parameters of the table.  [default: {','.join(default_params)}]",
        )
        @layout_values
        @click.option("--tokens", type=Count(), help="Tokens to run.  [default: all]")
        @click.option("--skip", type=Count(), default=0, show_default=True, help="Tokens to leave out at the start.")
        @token_options
        @backend
        @functools.wraps(command)
        def with_sources(paths, names, slots, params, values, tokens, skip, token_options, **kwargs):
            flat = tuple(name for group in names for name in group)
            made = Sources(paths, flat, slots, params, values, token_options, skip, tokens, default_params)
            return command(sources=made, **kwargs)

        return with_sources

    return decorate
