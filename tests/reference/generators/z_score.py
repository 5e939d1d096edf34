"""z-score.json: the z score of a loss over the ten logged values before it, which the page, the monitor of training runs
and the experiment on early warning compute each: null where there are fewer values, or all of them are equal.

Mean and variance (with 9 degrees of freedom) are sums of fractions.
"""

import math
from fractions import Fraction

WINDOW = 10
LOSSES = ["4", "4.2", "4.1", "3.9", "4", "4.1", "3.9", "4", "4.2", "4.1", "5", *10 * ["4"], "4.5"]


def score(losses):
    *past, own = losses[-WINDOW - 1 :]
    if len(past) < WINDOW:
        return None
    past = [Fraction(loss) for loss in past]
    mean = sum(past) / WINDOW
    variance = sum((loss - mean) ** 2 for loss in past) / (WINDOW - 1)
    return float(Fraction(own) - mean) / math.sqrt(variance) if variance else None


def generate():
    return {
        "losses": [float(loss) for loss in LOSSES],
        "scores": [score(LOSSES[: at + 1]) for at in range(len(LOSSES))],
    }
