"""Stamped pages: plain Python, numba and C agree, and no damage to a page goes unseen."""

import zlib

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flashsim.kernels import BACKENDS, _csim, backend, stamps
from flashsim.kernels.stamps import DAMAGED, FOREIGN, GOOD, OTHER_PAGE, OTHER_SEED, STAMP_BYTES, ZERO, number_and_seed

numbers, seeds = st.integers(0, 2**52), st.integers(0, 2**64 - 1)


def filled(name: str, first: int, seed: int, pages: int = 1) -> np.ndarray:
    block = np.full(pages * STAMP_BYTES, 0xEE, np.uint8)
    backend(name).stamp_fill(block, first, seed)
    return block


def both(block: np.ndarray, first: int, seed: int) -> list[int]:
    """The states, which both back ends have to agree on."""
    c, numba = (backend(name).stamp_check(block, first, seed).tolist() for name in BACKENDS)
    assert c == numba
    return c


@settings(max_examples=25)
@given(numbers, seeds, st.integers(0, 3))
@example(0, 0, 1)
@example(2**64 - 2, 2**64 - 1, 2)
def test_python_numba_and_c_agree(first, seed, pages):
    expected = b"".join(reference.stamp(first + at, seed) for at in range(pages))
    for name in BACKENDS:
        assert filled(name, first, seed, pages).tobytes() == expected
    assert both(np.frombuffer(expected, np.uint8), first, seed) == [GOOD] * pages


@pytest.mark.parametrize(("number", "seed", "checksum"), [
    (0, 0, 0x1027E559621B115C), (5, 7, 0x89004D66A3E77A1E), (2**40, 2**64 - 1, 0x821DD28E52D72B1A),
])  # fmt: skip
def test_the_checksum_is_xxh64(number, seed, checksum):
    """xxhash.xxh64(page[32:], seed=key) of the Python package xxhash 3 gave these."""
    assert int(stamps.words_of(filled("c", number, seed))[0, 3]) == checksum


def test_the_constants_are_those_of_the_header():
    assert [getattr(_csim.lib, f"FS_STAMP_{name}") for name in (
        "GOOD", "ZERO", "FOREIGN", "DAMAGED", "OTHER_SEED", "OTHER_PAGE", "BYTES",
    )] == [GOOD, ZERO, FOREIGN, DAMAGED, OTHER_SEED, OTHER_PAGE, STAMP_BYTES]  # fmt: skip


@settings(max_examples=60)
@given(numbers, seeds, st.integers(0, STAMP_BYTES * 8 - 1))
@example(3, 1, 0)
@example(3, 1, 8 * 8)
@example(3, 1, 16 * 8)
@example(3, 1, 24 * 8)
@example(3, 1, STAMP_BYTES * 8 - 1)
def test_every_flipped_bit_is_seen(number, seed, bit):
    block = filled("c", number, seed)
    block[bit // 8] ^= 1 << bit % 8
    assert both(block, number, seed) == [FOREIGN if bit < 64 else DAMAGED]


@settings(max_examples=40)
@given(numbers, numbers, seeds, seeds)
def test_a_page_of_elsewhere_is_named(number, asked, seed, asked_seed):
    block = filled("c", number, seed)
    expected = OTHER_SEED if seed != asked_seed else OTHER_PAGE if number != asked else GOOD
    assert both(block, asked, asked_seed) == [expected]
    assert number_and_seed(block) == (number, seed)


@pytest.mark.parametrize("sector", range(8))
def test_a_torn_page_is_seen(sector):
    """One 512-byte sector of another target's page, another page, or zeros."""
    for other in (filled("c", 9, 2), filled("c", 8, 1), np.zeros(STAMP_BYTES, np.uint8)):
        block = filled("c", 9, 1)
        block[sector * 512 : (sector + 1) * 512] = other[sector * 512 : (sector + 1) * 512]
        state = both(block, 9, 1)[0]
        assert state == (FOREIGN if sector == 0 and not other.any() else DAMAGED)


def test_zeros_and_other_data_are_told_apart():
    block = np.concatenate([np.zeros(STAMP_BYTES, np.uint8), np.full(STAMP_BYTES, 7, np.uint8), filled("c", 2, 0)])
    late = np.zeros(STAMP_BYTES, np.uint8)
    late[-1] = 1
    assert both(np.concatenate([block, late]), 0, 0) == [ZERO, FOREIGN, GOOD, FOREIGN]


def test_stamps_do_not_compress_and_are_not_alike():
    block = filled("c", 0, 0, 256)
    assert len(zlib.compress(block.tobytes(), 9)) > 0.99 * len(block)
    assert len(np.unique(stamps.words_of(block)[:, 4:])) == 256 * 508  # no word comes twice


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("bad", [
    np.zeros(4095, np.uint8), np.zeros(4096, np.int8), np.zeros(8192, np.uint8)[::2], np.zeros(512, np.uint64),
])  # fmt: skip
def test_other_buffers_are_refused(name, bad):
    with pytest.raises(ValueError, match="stamps are 4096 contiguous uint8"):
        backend(name).stamp_fill(bad, 0, 0)
    with pytest.raises(ValueError, match="stamps are 4096 contiguous uint8"):
        backend(name).stamp_check(bad, 0, 0)
