# SPDX-License-Identifier: MIT
"""How far results are from their references, as src/verification/measures.ts and gates/unit-compare.ts judge it."""

import array
import math


def doubles(data):
    values = array.array("d")
    values.frombytes(data)
    return values


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def argmax(values):
    """The lowest index of the largest."""
    best = 0
    for index, value in enumerate(values):
        if value > values[best]:
            best = index
    return best


def show(value):
    """A figure as the report holds it: JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else str(value)


def distance(wanted, got):
    """{maxAbs, at, errors, squares, notFinite} of two rows; NaN never passes."""
    errors = squares = worst = 0.0
    at = 0
    for index, (left, right) in enumerate(zip(wanted, got)):
        difference = abs(left - right)
        if not difference < math.inf:
            return {"maxAbs": math.nan, "at": index, "errors": math.nan, "squares": 1.0, "notFinite": index}
        errors += difference * difference
        squares += left * left
        if difference > worst:
            worst, at = difference, index
    return {"maxAbs": worst, "at": at, "errors": errors, "squares": squares, "notFinite": None}


def nmse(parts):
    errors = sum(part["errors"] for part in parts)
    squares = sum(part["squares"] for part in parts)
    return 0.0 if errors == 0 else errors / squares if squares > 0 else math.inf


def cosine(wanted, got):
    dot = left = right = 0.0
    for a, b in zip(wanted, got):
        dot += a * b
        left += a * a
        right += b * b
    if left == 0:
        return 1.0
    return dot / math.sqrt(left * right) if right > 0 else 0.0


def divergence(wanted, got):
    """KL divergence of softmax(got) from softmax(wanted), in nats; NaN where a logit is not finite."""
    left, right = _log_normaliser(wanted), _log_normaliser(got)
    total = 0.0
    for a, b in zip(wanted, got):
        log_left = a - left
        total += math.exp(log_left) * (log_left - (b - right))
    return max(0.0, total) if math.isfinite(total) else math.nan


def _log_normaliser(values):
    highest = max(values)
    return highest + math.log(sum(math.exp(value - highest) for value in values)) if math.isfinite(highest) else math.nan


def first_difference(left, right):
    """(row, element, left, right) where two lists of f32 rows, as bytes, part in any bit; None where they don't."""
    if len(left) != len(right):
        return (min(len(left), len(right)), -1, len(left), len(right))
    for row, (a, b) in enumerate(zip(left, right)):
        if a == b:
            continue
        if len(a) != len(b):
            return (row, -1, len(a), len(b))
        for at in range(0, len(a), 4):
            if a[at : at + 4] != b[at : at + 4]:
                values = [array.array("f", part[at : at + 4])[0] for part in (a, b)]
                return (row, at // 4, show(values[0]), show(values[1]))
    return None
