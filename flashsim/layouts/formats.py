"""Row formats: how many bytes a row of ``width`` numbers takes on the drive."""

from typing import NamedTuple

from flashsim.errors import UsageError


class RowFormat(NamedTuple):
    """bits: of one number. overhead_bytes: of a row, such as its scale."""

    bits: int
    overhead_bytes: int
    about: str


FORMATS = {
    "nf4": RowFormat(4, 2, "4-bit NF4 and one fp16 scale a row (PageGram report, section 3.3)"),
    "int8": RowFormat(8, 2, "int8 and one fp16 scale a row"),
    "fp8": RowFormat(8, 0, "fp8, no scale in the row"),
    "fp16": RowFormat(16, 0, "IEEE half"),
    "bf16": RowFormat(16, 0, "bfloat16"),
    "fp32": RowFormat(32, 0, "IEEE single"),
}


def row_bytes(format_name: str, width: int) -> int:
    """Bytes of a row of ``width`` numbers. Raises UsageError for an unknown format or one that leaves half a byte."""
    if format_name not in FORMATS:
        raise UsageError(f"{format_name!r} is none of the {len(FORMATS)} row formats: {', '.join(FORMATS)}")
    row_format = FORMATS[format_name]
    if width * row_format.bits % 8:
        raise UsageError(
            f"a row of {width} {format_name} numbers is {width * row_format.bits} bits, not whole bytes: "
            f"choose a width that is a multiple of {8 // row_format.bits}"
        )
    return width * row_format.bits // 8 + row_format.overhead_bytes
