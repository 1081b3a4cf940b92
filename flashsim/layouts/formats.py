"""Row formats: how many bytes a row of ``width`` numbers takes on the drive, and which parts they are."""

from typing import NamedTuple

from flashsim.errors import UsageError


class Part(NamedTuple):
    """One part of a row: ``bytes`` for every ``block`` numbers; block 0 = once a row."""

    name: str
    block: int
    bytes: int


class RowFormat(NamedTuple):
    """parts: in the order in which they lie in a row. A format of one part cannot be taken apart (planar)."""

    parts: tuple[Part, ...]
    about: str


def _mlx(bits: int, group: int) -> RowFormat:
    """MLX affine quantisation: packed numbers, a 16-bit scale and a 16-bit bias for each group."""
    parts = (Part("weights", 8, bits), Part("scales", group, 2), Part("biases", group, 2))
    return RowFormat(parts, f"MLX affine, {bits} bits, groups of {group}")


def _one(block: int, size: int, about: str) -> RowFormat:
    return RowFormat((Part("weights", block, size),), about)


# GGUF block sizes: ggml's type traits (numbers a block, bytes a block).
FORMATS = {
    "nf4": RowFormat(
        (Part("weights", 2, 1), Part("scales", 0, 2)),
        "4-bit NF4 and one fp16 scale a row (PageGram report, section 3.3)",
    ),
    "int8": RowFormat((Part("weights", 1, 1), Part("scales", 0, 2)), "int8 and one fp16 scale a row"),
    "fp8": _one(1, 1, "fp8, no scale in the row"),
    "fp8-e8m0": RowFormat(
        (Part("weights", 1, 1), Part("scales", 32, 1)), "fp8 and an e8m0 scale for 32 numbers (OCP MX)"
    ),
    "fp16": _one(1, 2, "IEEE half"),
    "bf16": _one(1, 2, "bfloat16"),
    "fp32": _one(1, 4, "IEEE single"),
    "mxfp4": RowFormat((Part("weights", 2, 1), Part("scales", 32, 1)), "fp4 and an e8m0 scale for 32 numbers (OCP MX)"),
    "q8_0": _one(32, 34, "GGUF Q8_0"),
    "q4_0": _one(32, 18, "GGUF Q4_0"),
    "iq4_nl": _one(32, 18, "GGUF IQ4_NL"),
    "q4_k": _one(256, 144, "GGUF Q4_K"),
    "iq4_xs": _one(256, 136, "GGUF IQ4_XS"),
    "q2_k": _one(256, 84, "GGUF Q2_K"),
    "mlx-4bit-g32": _mlx(4, 32),
    "mlx-4bit-g64": _mlx(4, 64),
    "mlx-8bit-g32": _mlx(8, 32),
    "mlx-8bit-g64": _mlx(8, 64),
}


def part_bytes(format_name: str, width: int) -> dict[str, int]:
    """Bytes of each part of a row of ``width`` numbers. Raises UsageError for an unknown format, or one whose blocks
    do not divide the width."""
    if format_name not in FORMATS:
        raise UsageError(f"{format_name!r} is none of the {len(FORMATS)} row formats: {', '.join(FORMATS)}")
    parts = FORMATS[format_name].parts
    block = max(part.block for part in parts)
    if width % block:
        raise UsageError(
            f"a row of {width} numbers is not whole blocks of {block} ({format_name}): choose a width that is a "
            f"multiple of {block}, or another format"
        )
    return {part.name: width // part.block * part.bytes if part.block else part.bytes for part in parts}


def row_bytes(format_name: str, width: int) -> int:
    """Bytes of a row of ``width`` numbers, all parts together. Raises UsageError as :func:`part_bytes` does."""
    return sum(part_bytes(format_name, width).values())
