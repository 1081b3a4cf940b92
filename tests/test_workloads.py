"""Workloads against plain Python, against the plain trace, and against closed forms."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim import workloads as module
from flashsim.errors import DataError, UsageError
from flashsim.kernels import BACKENDS
from flashsim.layouts import layout
from flashsim.tokens.stream import TokenStream
from flashsim.trace import pieces, trace_ids
from flashsim.workloads import Workload

LAYOUTS = {
    "flat": layout("flat", params="300k"),
    "engram": layout("engram", params="300k", heads=3, orders=(1, 3)),
    "longcat": layout("longcat-flash-lite"),
    "nanogpt": layout("modded-nanogpt"),  # n-grams cross documents; the first token of all stands for another
}


@st.composite
def texts(draw):
    """(stream, documents as [begin, end)), by starts, by an EOT, or cut by nobody."""
    ids = draw(st.lists(st.integers(0, 5), min_size=1, max_size=80))
    kind = draw(st.sampled_from(["starts", "eot", "none"]))
    if kind == "eot":
        starts = [0, *(at + 1 for at, one in enumerate(ids[:-1]) if one == 5)]
        stream = TokenStream(np.array(ids, np.uint16), eot=5)
    else:
        starts = sorted({0, *draw(st.lists(st.integers(0, len(ids) - 1), max_size=8))}) if kind == "starts" else [0]
        stream = TokenStream(np.array(ids, np.uint32), starts=np.array(starts) if kind == "starts" else None)
    return stream, list(zip(starts, [*starts[1:], len(ids)], strict=True))


def all_steps(workload, stream, made, **more):
    """(ids, counts, references, wasted, tokens of each step) of all pieces together."""
    found = [[], [], [], [], []]
    for piece in workload.steps(stream, made, **more):
        for into, array in zip(found, (piece.ids, piece.counts, piece.references, piece.wasted), strict=False):
            into += array.tolist()
        found[4] += np.diff(piece.ends, prepend=0).tolist()
    return found


def ids_of_tokens(stream, made, backend="c"):
    """The ids of each token, from the plain trace."""
    lists = []
    for piece in pieces(stream, made, backend=backend):
        lists += [part.tolist() for part in np.split(piece.ids.copy(), np.cumsum(piece.counts)[:-1])]
    return lists


@settings(max_examples=250)
@given(
    texts(),
    st.sampled_from(list(LAYOUTS)),
    st.integers(1, 5),
    st.none() | st.tuples(st.integers(1, 7), st.floats(0.01, 0.99)),
    st.sampled_from(list(BACKENDS)),
    st.integers(1, 40),
)
def test_streams_are_those_of_plain_python(text, name, streams, prompt, backend, block):
    stream, documents = text
    made, (chunk, share) = LAYOUTS[name], prompt or (0, 0.0)
    workload = Workload(streams, chunk, share)
    if len(documents) < streams:
        if stream.boundary == "none" and stream.starts is None and stream.eot is None:
            cuts = np.unique(np.linspace(0, len(stream), streams + 1).astype(np.int64)).tolist()
            documents = list(pairwise(cuts))
        if len(documents) < streams:
            with pytest.raises(
                UsageError,
                match=f"--streams {streams}: the tokens, tokens 0 to {len(stream)}, have {len(documents)} doc",
            ):
                list(workload.steps(stream, made))
            return
    steps = list(reference.decoded([range(*document) for document in documents], streams, share, chunk))
    order = [token for step in steps for token in step]
    assert sorted(order) == list(range(len(stream)))
    ids_of = ids_of_tokens(stream, made)
    plain, counts = reference.weave(ids_of, order, np.cumsum([len(step) for step in steps]).tolist())
    held, module._BLOCK_IDS = module._BLOCK_IDS, block
    try:
        found = all_steps(workload, stream, made, backend=backend)
        first = len(order) // 3
        last = max(first, 2 * len(order) // 3)
        part = all_steps(workload, stream, made, backend=backend, first=first, last=last)
    finally:
        module._BLOCK_IDS = held
    assert found[0] == plain and found[1] == counts
    assert found[2] == [len(ids_of[token]) for token in order] and not any(found[3])
    assert found[4] == [len(step) for step in steps]
    assert part[1] == counts[first:last] and part[0] == plain[sum(counts[:first]) : sum(counts[:last])]


@settings(max_examples=100)
@given(texts(), st.sampled_from(list(LAYOUTS)), st.integers(1, 30), st.sampled_from(list(BACKENDS)), st.data())
def test_prefill_is_that_of_plain_python(text, name, chunk, backend, data):
    stream, made = text[0], LAYOUTS[name]
    begin = data.draw(st.integers(0, len(stream) - 1))
    end = data.draw(st.integers(begin + 1, len(stream)))
    ends = [*range(chunk, end - begin, chunk), end - begin]
    plain = reference.weave(ids_of_tokens(stream, made)[begin:end], range(end - begin), ends)
    found = all_steps(Workload(0, chunk), stream, made, begin=begin, end=end, backend=backend)
    assert (found[0], found[1], found[4]) == (*plain, np.diff(ends, prepend=0).tolist())


@settings(max_examples=60)
@given(texts(), st.sampled_from(list(LAYOUTS)), st.integers(0, 20), st.integers(1, 40))
def test_one_stream_is_the_plain_trace(text, name, begin, tokens):
    """Of a layout whose tokens read no page twice, one stream is the plain trace to the last id, by either path."""
    stream, made = text[0], LAYOUTS[name]
    begin = min(begin, len(stream) - 1)
    end = min(begin + tokens, len(stream))
    plain = trace_ids(stream, made, begin=begin, end=end).tolist()
    once = [one for ids in ids_of_tokens(stream, made)[begin:end] for one in dict.fromkeys(ids)]
    assert all_steps(Workload(1), stream, made, begin=begin, end=end)[0] == once
    scheduled = [piece.ids for piece in Workload(1)._out_of_order(stream, made, "page", begin, end, 0, "c")]
    assert np.concatenate(scheduled).tolist() == once
    if name == "flat" and len(once) == len(plain):
        assert once == plain


@settings(max_examples=100)
@given(texts(), st.sampled_from(["flat", "longcat"]), st.integers(1, 3), st.integers(1, 4), st.integers(0, 3))
def test_drafts_add_reads_and_take_none(text, name, streams, draft, seed):
    """Right guesses are the text; wrong ones only add what they read, counted with the token before them."""
    stream, documents = text
    if len(documents) < streams:
        return
    made = LAYOUTS[name]
    certain = all_steps(Workload(streams, draft=draft, accept=1.0), stream, made)
    assert not any(certain[3]) and sum(certain[4]) == len(stream)
    assert len(certain[4]) <= -(-max(end - begin for begin, end in documents) // (1 + draft)) * len(documents)
    never = all_steps(Workload(streams, draft=draft, accept=0.0, seed=seed), stream, made)
    plain = all_steps(Workload(streams), stream, made)
    assert never[4] == plain[4]  # no guess is right: a token a step, as without
    at = [np.cumsum([0, *found[1]]) for found in (never, plain)]
    ends = np.cumsum([0, *plain[4]])
    for first, last in pairwise(ends):
        with_drafts, without = (
            set(found[0][sums[first] : sums[last]]) for found, sums in zip((never, plain), at, strict=True)
        )
        assert without <= with_drafts
    assert all(brought >= wasted >= 0 for brought, wasted in zip(never[1], never[3], strict=True))
    assert sum(never[2]) >= sum(plain[2])


def test_what_a_draft_reads():
    """One document 0 1 2 ... of tokens that stand once each: a draft of 2 that is never right reads the n-grams of its
    guesses, which stand elsewhere, after the true tokens."""
    stream, made = TokenStream(np.arange(200, dtype=np.uint16), starts=np.array([0])), LAYOUTS["flat"]
    found = all_steps(Workload(1, draft=2, accept=0.0, seed=1), stream, made)
    position = np.cumsum([0, *found[1]])
    guesses = Counter()
    for token in range(2, 190):
        brought = found[0][position[token] : position[token + 1]]
        wasted = found[3][token]
        assert len(brought) - wasted == len(set(trace_ids(stream, made, begin=token, end=token + 1).tolist()))
        for guess in range(199):  # whose two tokens were guessed?
            text = np.array([*range(token - 1, token + 1), guess, guess + 1], np.uint16)
            drafted = trace_ids(TokenStream(text), made, begin=2).tolist()
            own = brought[: len(brought) - wasted]
            if [one for one in dict.fromkeys(drafted) if one not in own] == brought[len(own) :] and wasted:
                guesses[guess] += 1
    assert sum(guesses.values()) >= 180 and len(guesses) > 50


@pytest.mark.parametrize("accept", [0.3, 0.8])
def test_steps_of_drafts_follow_the_geometric_law(accept):
    """Tokens a step: 1 + a + a^2 + ... + a^draft (Leviathan et al., "Fast inference from transformers via speculative
    decoding", 2023, eq. 1)."""
    tokens, draft = 40_000, 3
    stream = TokenStream(np.random.default_rng(1).integers(0, 50_000, tokens, dtype=np.uint32), starts=np.array([0]))
    steps = all_steps(Workload(1, draft=draft, accept=accept), stream, LAYOUTS["flat"])[4]
    each = sum(accept**k for k in range(draft + 1))
    assert np.mean(steps) == pytest.approx(each, abs=5 * np.std(steps) / np.sqrt(len(steps)))


@pytest.mark.parametrize("streams", [1, 8, 48])
def test_distinct_pages_of_uniform_rows(streams):
    """B streams of n-grams never seen before read N (1 - (1 - 1/N)^(2B)) different pages a step, of N."""
    steps, pages = 400, 200
    rng = np.random.default_rng(streams)
    ids = rng.integers(0, 2**31 - 1, steps * streams, dtype=np.uint32)
    stream = TokenStream(ids, starts=np.arange(streams) * steps)
    made = layout("flat", params=pages // 2 * 2 * 21 * 384, orders=(1, 2))
    each = made.pages / 2  # one table an order
    workload = Workload(streams)
    by_step = np.add.reduceat(*_counts_and_begins(workload, stream, made))
    expected = 2 * each * (1 - (1 - 1 / each) ** streams)
    error = by_step[1:].std() / np.sqrt(len(by_step) - 1)
    assert by_step[1:].mean() == pytest.approx(expected, abs=5 * error + 1e-9)


def test_distinct_pages_of_zipf_copies():
    """B independent copies of a Zipf stream: sum over pages of 1 - (1 - p)^B, two pages a token (orders 1 and 2 hash
    apart, so the pages of one order are drawn by its n-grams' probabilities)."""
    rng, vocabulary, streams, steps = np.random.default_rng(5), 300, 32, 3000
    p = 1 / np.arange(1, vocabulary + 1)
    p /= p.sum()
    ids = rng.choice(vocabulary, streams * steps, p=p).astype(np.uint32)
    stream = TokenStream(ids, starts=np.arange(streams) * steps)
    made = layout("flat", params="8M", orders=(1,))
    by_step = np.add.reduceat(*_counts_and_begins(Workload(streams), stream, made))
    page_of = trace_ids(TokenStream(np.arange(vocabulary, dtype=np.uint32)), made)
    of_page = np.bincount(np.unique(page_of, return_inverse=True)[1], weights=p)
    error = by_step.std() / np.sqrt(len(by_step))
    assert by_step.mean() == pytest.approx((1 - (1 - of_page) ** streams).sum(), abs=5 * error)


def _counts_and_begins(workload, stream, made):
    found = all_steps(workload, stream, made)
    return np.array(found[1]), np.cumsum([0, *found[4][:-1]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"streams": 0}, "--streams 0: take 1 to 65536"),
        ({"streams": 70_000}, "--streams 70000"),
        ({"prefill": 2**21, "streams": 0}, "--prefill 2097152: take 0 to 1048576"),
        ({"prefill": 5}, "--prompt 0 of 1 stream with prefill"),
        ({"prefill": 5, "prompt_share": 1.0}, "--prompt 1 of 1 stream with"),
        ({"prompt_share": 0.5}, "--prompt 0.5: a share of what"),
        ({"streams": 0, "prefill": 8, "draft": 2}, "--draft 2: 0 streams decode"),
        ({"accept": 0.5}, "--accept 0.5: 0 drafts"),
        ({"draft": 65}, "--draft 65: take 0 to 64"),
        ({"draft": 2, "accept": 1.5}, "--accept 1.5: take 0 to 1"),
        ({"draft": 2, "accept": float("nan")}, "--accept nan: take 0 to 1"),
    ],
)
def test_refusals(values, message):
    with pytest.raises(UsageError, match=message):
        Workload(**values)


def test_labels():
    assert [one.label for one in (Workload(1), Workload(0, 2048))] == ["1 stream", "prefill 2048"]
    assert Workload(8, 512, 0.8).label == "8 streams, prefill 512 of 80 %"
    assert Workload(2, draft=4, accept=0.7).label == "2 streams, 4 drafts at 0.7"
    assert Workload(1, draft=1, accept=0.7).label == "1 stream, 1 draft at 0.7"


def test_an_id_out_of_range_is_named():
    stream = TokenStream(np.array([1, 2, 9, 3], np.uint32), starts=np.array([0, 2]), vocab_size=5)
    with pytest.raises(DataError, match="token 2 is 9, outside the vocabulary of 5"):
        list(Workload(2).steps(stream, LAYOUTS["flat"]))
