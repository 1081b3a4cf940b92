"""Units: what is written is read back, and whatever is not wholly a number and a unit is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashsim.errors import UsageError
from flashsim.units import exact_bytes, format_bytes, format_count, number_of, parse_bytes, parse_count


@pytest.mark.parametrize(("text", "size"), [
    ("4096B", 4096), ("4KiB", 4096), ("4 KiB", 4096), (" 4KiB ", 4096), ("1.5GiB", 3 * 2**29), ("0.5KiB", 512),
    ("2TiB", 2**41), ("64MiB", 2**26), ("1kB", 1000), ("1KB", 1000), ("2.5MB", 2_500_000), ("1GB", 10**9),
    ("3TB", 3 * 10**12), ("0B", 0), ("8388607TiB", 2**63 - 2**40),
])  # fmt: skip
def test_sizes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(("text", "count"), [
    ("65536", 65536), ("0", 0), ("20k", 20_000), ("20K", 20_000), ("200M", 200_000_000), ("3.2B", 3_200_000_000),
    ("3.2G", 3_200_000_000), ("1T", 10**12), ("0.001k", 1), ("9223372036854775807", 2**63 - 1),
])  # fmt: skip
def test_counts(text, count):
    assert parse_count(text) == count


@pytest.mark.parametrize("text", [
    "", " ", "4", "4K", "4k", "4Kib", "4kib", "4M", "4G", "KiB", "-1B", "-4KiB", "+4KiB", "1.5B", "0.3KiB", ".5KiB",
    "5.KiB", "1GiB/s", "12 parsecs", "1e3B", "1_000B", "1,5GiB", "4  KiB", "4KiB 4KiB", "4KiB\n4KiB", "0x10B", "infB",
    "nanB", "٤KiB", "４KiB", "²B", "8388608TiB",
])  # fmt: skip
def test_what_is_no_size(text):
    with pytest.raises(UsageError, match="write it like 4096B"):
        parse_bytes(text)


@pytest.mark.parametrize("text", [
    "", "k", "-1", "+1", "1.5", "1.0005k", "20MB", "20b", "20m", "4KiB", "1e6", "1_000", "1,000", "0x10", "inf", "nan",
    "٤", "４", "²", "1/2", "20 B B", "9223372036854775808", "9999999999T",
])  # fmt: skip
def test_what_is_no_count(text):
    with pytest.raises(UsageError, match="write it like 20000"):
        parse_count(text)


@given(st.one_of(st.integers(0, 2**63 - 1), st.integers(0, 10**7).map(lambda n: n * 1000), st.integers(0, 10**6)))
def test_a_count_is_read_back_exactly(count):
    assert parse_count(format_count(count)) == count


@given(st.integers(1, 1023), st.sampled_from([0, 10, 20, 30, 40]))
def test_a_whole_number_of_a_unit_is_read_back_exactly(number, log):
    assert parse_bytes(format_bytes(number << log)) == number << log
    assert parse_bytes(format_bytes(1 << log)) == 1 << log


@given(st.integers(0, 2**63 - 1))
def test_a_size_is_written_to_four_digits(size):
    number, unit = format_bytes(size).split()
    assert float(number) * parse_bytes(f"1{unit}") == pytest.approx(size, rel=5.01e-4)
    assert "e" not in number


@given(st.text(max_size=8), st.sampled_from([parse_bytes, parse_count]))
def test_any_text_is_a_whole_number_or_refused(text, parse):
    try:
        value = parse(text)
    except UsageError as error:
        assert any(letter.isdigit() for letter in str(error))
    else:
        assert isinstance(value, int) and 0 <= value < 2**63 and text.isascii() and text.strip()[0].isdigit()


@pytest.mark.parametrize(("size", "text"), [
    (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2**26, "64 MiB"), (133_316_608, "127.1 MiB"),
    (2**30, "1 GiB"), (1000 * 2**30, "1000 GiB"), (2**40 - 1, "1024 GiB"), (20_000 * 2**40, "20000 TiB"),
])  # fmt: skip
def test_sizes_as_people_read_them(size, text):
    assert format_bytes(size) == text


@pytest.mark.parametrize(("count", "text"), [
    (0, "0"), (999, "999"), (1000, "1k"), (65536, "65536"), (200_000_000, "200M"), (3_200_000_000, "3.2B"),
    (20 * 10**9, "20B"), (1_234_000_000, "1.234B"), (12_345_678_901, "12345678901"), (10**12, "1T"),
    (12_345_678_901_000, "12345678.901M"),
])  # fmt: skip
def test_counts_as_they_are_typed(count, text):
    assert format_count(count) == text


@given(st.integers(1, 2**62))
def test_exact_sizes_are_read_back(size):
    assert parse_bytes(exact_bytes(size)) == size and exact_bytes(68 << 10) == "68 KiB"


def test_one_of_many():
    assert [number_of(count, "cell") for count in (0, 1, 2000)] == ["0 cells", "1 cell", "2000 cells"]
    assert [number_of(count, "cell", ",") for count in (1, 2000)] == ["1 cell", "2,000 cells"]
