"""A target that every engine can read."""

import pytest

from tests.kernels.replays import PAGES, stamps_of


@pytest.fixture(scope="module")
def stamped(tmp_path_factory):
    """A file of PAGES stamps, open."""
    path = tmp_path_factory.mktemp("stamped") / "target"
    path.write_bytes(stamps_of(PAGES).tobytes())
    with path.open("rb") as file:
        yield file.fileno()
