"""A bar on stderr, which knows what to say where an interrupt ends the work."""

from collections.abc import Callable
from typing import Any


def _nothing() -> str:
    return "nothing of it was written: run it again"


class Progress:
    """A context in which ``update`` is told how many of ``total`` ``unit`` (a plural, such as "tokens") were done.

    kept: says what an interrupted run leaves, and how to go on. look: more of tqdm's arguments. Raises
    KeyboardInterrupt with all of that in its message where one comes.
    """

    def __init__(
        self, total: int, unit: str, desc: str | None = None, *, kept: Callable[[], str] = _nothing, **look: Any
    ) -> None:
        from tqdm import tqdm

        self._total, self._unit, self._kept, self._done = total, unit, kept, 0
        self._bar = tqdm(total=total, unit=f" {unit}", desc=desc, disable=None, **{"unit_scale": True} | look)
        self.clear = self._bar.clear

    def update(self, count: int = 1) -> None:
        self._done += count  # tqdm counts nothing off a terminal
        self._bar.update(count)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._bar.close()
        if kind is KeyboardInterrupt:
            done = f"interrupted after {self._done:,} of {self._total:,} {self._unit}"
            raise KeyboardInterrupt(f"{done}; {self._kept()}") from None
