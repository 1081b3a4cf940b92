"""Where documents end, and for whose n-grams that counts: a note before a run, and the last line after it. And a note
where the tokens are another tokenizer's than the layout's model has."""

from collections.abc import Iterable
from dataclasses import replace

import click


def note_boundaries(stream, layouts: Iterable) -> None:
    """Tell on stderr that nobody said where documents of ``stream`` end, and what follows for these ``layouts``."""
    if stream.boundary != "none":
        return
    names = [layout.name for layout in layouts if not layout.across_documents]
    follows = "n-grams cross them; --eot ID marks them" if names else _by_rule(layout.name for layout in layouts)
    click.echo(f"note: {stream.path}: 0 document boundaries: {follows}", err=True)


def note_vocabulary(stream, layouts: Iterable):
    """Tell on stderr whether ``stream`` has another vocabulary than the models of some ``layouts``, as far as both are
    known; return the stream, with that among what is uncertain about it."""
    from flashsim.layouts.vocabulary import ids_elsewhere

    if stream.vocab_size is None:
        return stream
    told = {layout.name: ids_elsewhere(layout.spec, stream.vocab_size) for layout in layouts}
    models = [f"{name}'s model has {ids}" for name, ids in told.items() if ids]
    if not models:
        return stream
    note = (
        f"{stream.vocab_size:,} ids, {', '.join(models)}: another tokenizer, other n-grams; figures of the layout on "
        "this text, not of the model"
    )
    click.echo(f"note: {stream.path}: {note}", err=True)
    return replace(stream, uncertain=(*stream.uncertain, note))


def boundary_of(source, layouts: Iterable) -> str:
    """What ends a document of ``source``, a stream for these ``layouts`` or a trace, which has its own; and which
    layouts' n-grams reach past it."""
    from flashsim.trace import Trace

    if isinstance(source, Trace):
        boundary, spec = source.facts["source"].get("boundary") or "not known", source.facts["layout"]["spec"]
        across = [spec["name"]] if spec["ngrams"].get("boundary") == "sequence" else []
    else:
        boundary, across = source.boundary, [layout.name for layout in layouts if layout.across_documents]
    return f"{boundary}; {_by_rule(across)}" if across else boundary


def boundaries(opened: list, layouts: list) -> str:
    """:func:`boundary_of` all sources, by name where they differ."""
    from flashsim.trace import Trace

    names = [source.facts["source"]["name"] if isinstance(source, Trace) else source.name for source in opened]
    told = [boundary_of(source, layouts) for source in opened]
    if len(set(told)) == 1:
        return told[0]
    return "; ".join(dict.fromkeys(f"{name} {boundary}" for name, boundary in zip(names, told, strict=True)))


def _by_rule(names: Iterable[str]) -> str:
    return f"n-grams of {', '.join(dict.fromkeys(names))} cross documents by the layout's own rule"
