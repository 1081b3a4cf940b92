"""Whose token comes next: streams that decode side by side, prompts in chunks, drafts that are thrown away.

Tokens are handed out in *segments*: tokens [body, body + length) of the text, to be hashed as what follows the tokens
before ``lead_end``, but none before ``clip``. An accepted token's body is its own place; a wrong draft's is elsewhere.
"""

import numpy as np
from numba import njit

from flashsim.kernels.nb.address import mix13

POSITION, END, PROMPT_END, CLIP = range(4)  # of a slot, which holds one stream's document
LEAD_END, SEGMENT_CLIP, BODY, LENGTH = range(4)  # of a segment
DOCUMENT, DRAWS, IDLE = range(3)  # of the cursor: the next one to be taken; numbers drawn; slots that are done
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(inline="always")
def _draw(cursor, seed):
    cursor[DRAWS] += 1
    return mix13(np.uint64(seed) + np.uint64(cursor[DRAWS]) * _GOLDEN)


@njit(inline="always")
def _hand_out(segment, segments, at, of, place, wrong, wasted):
    of[at], place[at], wasted[at] = segment, segments[segment, LENGTH], wrong
    segments[segment, LENGTH] += 1
    return at + 1


@njit(inline="always")
def _refill(slots, current, cursor, documents, prompt_share):
    """Give the next documents to slots at the end of theirs; where none is left, those behind move up. Returns how many
    slots are active: idle ones cost nothing from then on."""
    active = 0
    for slot in range(len(slots) - cursor[IDLE]):
        if slots[slot, POSITION] < slots[slot, END]:
            if active < slot:
                slots[active], current[active] = slots[slot], current[slot]
        elif cursor[DOCUMENT] < len(documents):
            begin, end, clip = documents[cursor[DOCUMENT]]
            cursor[DOCUMENT] += 1
            slots[active] = begin, end, begin + int(prompt_share * (end - begin)), clip
            current[active] = -1
        else:
            continue
        active += 1
    cursor[IDLE] = len(slots) - active
    return active


@njit(cache=True, nogil=True)
def schedule(
    slots, cursor, documents, prompt_share, chunk, draft, accept, seed, segments, of, place, wasted, step_ends
):  # fmt: skip
    """Hand out whole steps while the arrays have room; return (tokens, steps, segments), all 0 at the end.

    slots: int64, shape (streams, 4), zeroed at first. cursor: int64, shape (3,), likewise. documents: int64, shape
    (documents, 3), increasing [begin, end), none empty, and clip of each, taken in order by whichever slot is free.
    prompt_share: below 1, of each document, prefilled in steps of ``chunk`` tokens before it is decoded. draft: tokens
    guessed in every step of a stream; each is right with probability ``accept`` if those before it were. Outputs:
    segments int64, shape (room, 4); of, place int32: the segment and the place in it of each token; wasted bool: drafts
    that were wrong; step_ends int64: in tokens. ``room`` must be at least streams * (1 + draft), and chunk.
    """
    room, at, steps, count = len(of), 0, 0, 0
    low, high = documents[0, 0], documents[-1, 1]
    current = np.full(len(slots), -1, np.int64)  # the segment that each slot's next token goes to
    prompt = active = 0  # the first slot that is in its prompt, ``active`` where none is
    while True:
        if prompt == active:  # only decoding ends documents
            prompt, active = 0, _refill(slots, current, cursor, documents, prompt_share)
        while prompt < active and slots[prompt, POSITION] >= slots[prompt, PROMPT_END]:
            prompt += 1
        decoding = prompt == active
        if not active or (active * (1 + draft) if decoding else chunk) > room - at:
            return at, steps, count
        for slot in range(active) if decoding else range(prompt, prompt + 1):
            position, end = slots[slot, POSITION], slots[slot, END]
            if current[slot] < 0:
                segments[count] = position, slots[slot, CLIP], position, 0
                current[slot] = count
                count += 1
            right = 0
            if not decoding:
                taken = min(chunk, slots[slot, PROMPT_END] - position)
            else:
                while right < draft and (_draw(cursor, seed) >> np.uint64(11)) * 2.0**-53 < accept:
                    right += 1
                taken = min(1 + right, end - position)
            for _ in range(taken):
                at = _hand_out(current[slot], segments, at, of, place, False, wasted)
            slots[slot, POSITION] = position + taken
            wrong = draft - right if decoding else 0
            if wrong:
                elsewhere = low + np.int64(_draw(cursor, seed) % np.uint64(max(high - low - wrong + 1, 1)))
                segments[count] = position + taken, slots[slot, CLIP], elsewhere, 0
                for _ in range(min(wrong, high - elsewhere)):
                    at = _hand_out(count, segments, at, of, place, True, wasted)
                count += segments[count, LENGTH] > 0
        step_ends[steps] = at
        steps += 1


@njit(cache=True, nogil=True)
def feed(segments, context, positions, firsts, starts):
    """Where in the text the tokens of ``segments`` lie, each after the ``context`` tokens that it follows.

    positions: int64, receives them. firsts: int64, one a segment: where in positions its body begins. starts: int64,
    likewise: where in positions a clip is met. Returns (positions, starts) written.
    """
    at, met = 0, 0
    for segment in range(len(segments)):
        lead_end, clip, body, length = segments[segment]
        lead = max(clip, lead_end - context)
        if lead == clip:
            starts[met] = at
            met += 1
        for position in range(lead, lead_end):
            positions[at] = position
            at += 1
        firsts[segment] = at
        for position in range(body, body + length):
            positions[at] = position
            at += 1
    return at, met
