"""Tables in weights files that gguf and safetensors themselves wrote: bases, formats, pages, and what does not fit."""

import numpy as np
import pytest

from flashsim.errors import DataError, UsageError
from flashsim.layouts import layout
from flashsim.layouts.weights import tensors_of
from flashsim.tokens.stream import TokenStream
from flashsim.trace import trace_ids

gguf = pytest.importorskip("gguf")
safetensors = pytest.importorskip("safetensors.numpy")

OWN = """
name = "own"
[ngrams]
orders = [2, 3]
boundary = "sequence"
missing = "filler"
[hash]
family = "xor-multiply"
multipliers = [[3, 5, 7]]
{layers}
[rows]
addressing = "heads"
heads = 2
sizes = [101, 103, 107, 109{more}]
width = 32
format = "{row_format}"
[placement]
rule = "{rule}"
"""
ROWS = 101 + 103 + 107 + 109


def own(folder, row_format="bf16", rule="packed", layers=1):
    text = OWN.format(
        row_format=row_format, rule=rule, more=", 113, 127, 131, 137" if layers == 2 else "",
        layers="layers = [1, 9]" if layers == 2 else "",
    )  # fmt: skip
    if layers == 2:
        text = text.replace("[[3, 5, 7]]", "[[3, 5, 7], [11, 13, 17]]")
    (folder / "own.toml").write_text(text)
    return str(folder / "own.toml")


@pytest.fixture
def gguf_file(tmp_path):
    """A GGUF with a bf16-free mix of matrices: the table as Q8_0 and as F16, and others."""
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "any")
    numbers = np.random.default_rng(1).standard_normal((ROWS, 32)).astype(np.float32)
    writer.add_tensor("norm", np.ones(7, np.float32))
    writer.add_tensor("half", numbers.astype(np.float16))
    quantised = gguf.quants.quantize(numbers, gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("table", quantised, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("short", numbers[:100].astype(np.float16))
    writer.add_tensor("ints", np.ones((ROWS, 32), np.int32))
    writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file(), writer.close()
    return path, quantised, numbers


def bytes_at(path, offset, count):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(count)


def test_a_gguf_says_where_its_rows_are(gguf_file, tmp_path):
    path, quantised, numbers = gguf_file
    made = layout(own(tmp_path), weights=path, tensor=("table",))
    assert made.spec.rows.format == "q8_0" and made.row_bytes == 34 and made.spec.placement.base % 32 == 0
    row = 333
    assert bytes_at(path, made.spec.placement.base + row * 34, 34) == quantised[row].tobytes()
    half = layout(own(tmp_path), weights=path, tensor=("half",))
    assert bytes_at(path, half.spec.placement.base + row * 64, 64) == numbers.astype(np.float16)[row].tobytes()
    stream = TokenStream(np.arange(50) % 7)
    rows = trace_ids(stream, made, unit="row").tolist()
    pages = [page for row in rows for page in sorted({(made.spec.placement.base + row * 34 + byte) // 4096
                                                      for byte in (0, 33)})]  # fmt: skip
    assert trace_ids(stream, made).tolist() == pages and made.pages * 4096 <= path.stat().st_size + 4095
    assert made.label == f"own-q8_0-base{made.spec.placement.base}" or "q8_0" in made.label


def test_safetensors_begin_behind_their_header(tmp_path):
    path, numbers = tmp_path / "model.safetensors", np.random.default_rng(1).standard_normal((ROWS, 32))
    numbers = numbers.astype(np.float16)
    safetensors.save_file({"a": np.ones(5, np.float32), "table": numbers, "z": np.ones((3, 3))}, path)
    found = tensors_of(path)["table"]
    assert (found.rows, found.width, found.row_format, found.row_bytes) == (ROWS, 32, "fp16", 64)
    made = layout(own(tmp_path), weights=path, tensor=("table",))
    assert bytes_at(path, made.spec.placement.base + 417 * 64, 64) == numbers[417].tobytes()


def test_one_tensor_a_layer_and_a_part(tmp_path):
    path, sizes = tmp_path / "model.safetensors", (ROWS, 113 + 127 + 131 + 137)
    parts = {}
    for layer, rows in enumerate(sizes):
        parts[f"{layer}.weights"] = np.full((rows, 32), layer + 1, np.uint8)
        parts[f"{layer}.scales"] = np.full((rows, 1), 100 + layer, np.uint8)
    safetensors.save_file(parts, path)
    file = own(tmp_path, "fp8-e8m0", "planar", layers=2)
    made = layout(file, weights=path, tensor=("0.weights", "0.scales", "1.weights", "1.scales"))
    weights, scales = made.placed.regions
    for layer in (0, 1):
        assert set(bytes_at(path, weights.starts[layer], sizes[layer] * 32)) == {layer + 1}
        assert set(bytes_at(path, scales.starts[layer], sizes[layer])) == {100 + layer}
    assert made.placed.pages_of(np.array([0, ROWS])).tolist() == [2, 2]
    with pytest.raises(UsageError, match=r"given 3 times for own: give it 1 or 2 or 4 times"):
        layout(file, weights=path, tensor=("0.weights", "0.scales", "1.weights"))
    with pytest.raises(UsageError, match=r"rows of 32 B \(U8\), the scales of own have 1 B"):
        layout(file, weights=path, tensor=("0.weights", "0.weights", "1.weights", "1.scales"))


@pytest.mark.parametrize(("tensor", "message"), [
    (("short",), r"100 rows, own has 420"), (("ints",), r"type I32: rows of 1 known format"),
    (("none",), r"holds 4 matrices: half, table, short, ints"), (("norm",), r"holds 4 matrices"),
    ((), r"and no --base"), (("table", "half"), r"given 2 times for own: give it 1 times"),
])  # fmt: skip
def test_tensors_that_do_not_fit(gguf_file, tmp_path, tensor, message):
    with pytest.raises(UsageError, match=message) as caught:
        layout(own(tmp_path), weights=gguf_file[0], tensor=tensor)
    assert any(letter.isdigit() for letter in str(caught.value))


def test_another_width_or_format(gguf_file, tmp_path):
    file = own(tmp_path)
    with pytest.raises(UsageError, match="32 numbers a row, own has 64"):
        layout(file, width=64, weights=gguf_file[0], tensor=("table",))
    with pytest.raises(UsageError, match="--row-format bf16: table is q8_0"):
        layout(file, row_format="bf16", weights=gguf_file[0], tensor=("table",))


@pytest.mark.parametrize(
    "content", [b"", b"GGUF", b"GGUF" + b"\xff" * 50, b"\x08" + b"\0" * 7 + b"not json", b"x" * 99]
)
def test_files_that_hold_no_weights(tmp_path, content):
    (tmp_path / "broken").write_bytes(content)
    with pytest.raises(DataError, match=f"{len(content)} bytes that are no GGUF or safetensors"):
        layout(own(tmp_path), weights=tmp_path / "broken", tensor=("table",))
    with pytest.raises(UsageError, match="0 files of that name"):
        layout(own(tmp_path), weights=tmp_path / "none", tensor=("table",))


def test_on_the_command_line(flashsim, gguf_file, tmp_path):
    arguments = ["layouts", "show", own(tmp_path), "--weights", gguf_file[0], "--tensor", "table"]
    code, out, err = flashsim(*arguments)
    assert (code, err) == (0, "") and "32 x q8_0 = 34 B" in out
