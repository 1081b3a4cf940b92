"""Stamped pages, the numbers that ``csim/csim.h`` gives them. What a stamp holds is said in ``csim/stamp.h``."""

import numpy as np

STAMP_BYTES = 4096
GOOD, ZERO, FOREIGN, DAMAGED, OTHER_SEED, OTHER_PAGE = range(6)  # FS_STAMP_...


def words_of(block: np.ndarray) -> np.ndarray:
    """``block`` (uint8, contiguous, 8-byte aligned, whole stamps) as uint64, shape (stamps, 512). Raises ValueError."""
    if block.dtype != np.uint8 or not block.flags.c_contiguous or block.size % STAMP_BYTES:
        raise ValueError(f"stamps are {STAMP_BYTES} contiguous uint8 each, got {block.dtype} of shape {block.shape}")
    return block.reshape(-1, STAMP_BYTES).view(np.uint64)


def number_and_seed(page: np.ndarray) -> tuple[int, int]:
    """What the stamp ``page`` says of itself; worth something only where its state is GOOD or OTHER_..."""
    words = words_of(page)[0]
    return int(words[1]), int(words[2])
