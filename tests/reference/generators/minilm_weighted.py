"""minilm-weighted.json: spectra of MiniLM's heads in the metric of tokens, from d x d matrices.

A = C^(1/2) W C^(1/2), W = W_Q W_K^T / sqrt(d_h), with the symmetric root of C from its eigenvectors: singular
values by LAPACK's dgesdd, those that need not be zero. C is once the covariance of the token embeddings,
scaled to the trace d (W then without 1/sqrt(d_h)), once that of the content tokens of each layer on the
sequences of minilm-without-text.json, around their mean. "content" quantities take C around the means by
position, smoothed. What is measured there is of the T x T logits themselves.
"""

import numpy as np

from minilm import MiniLM
from minilm_without_text import draw, smoothed

SHARE = 0.9
LISTED = (0, 1, 2, 15, 31)  # of the singular values
CONTENT = slice(1, -1)


def root(covariance):
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def components(singular_values):
    squares = np.sort(singular_values**2)[::-1]
    return int(np.searchsorted(np.cumsum(squares) / squares.sum(), SHARE - 1e-12) + 1)


def covariance(tokens):
    centred = tokens - tokens.mean(axis=0)
    return centred.T @ centred / len(tokens)


def spectrum(w, half, rank):
    a = half @ w @ half
    singular_values = np.linalg.svd(a, compute_uv=False)[:rank]
    return {
        "trace": np.trace(a),
        "spread": np.linalg.norm(a),
        "components": components(singular_values),
        "symmetric_share": np.linalg.norm((a + a.T) / 2) ** 2 / np.linalg.norm(a) ** 2,
        "singular_values": singular_values[list(LISTED)],
    }


def on_embeddings(model):
    c = covariance(model.tensor("embeddings.word_embeddings.weight"))
    half = root(c * model.width / np.trace(c))
    rows = []
    for layer in range(model.layers):
        for head in range(model.heads):
            query, key = model.factors(layer, head)
            found = spectrum(query @ key.T, half, model.head_width)
            rows.append({"layer": layer, "head": head, **found})
    return rows


def on_tokens(model, ids):
    rows = []
    states = np.stack([model.embed(passage) for passage in ids])
    for layer in range(model.layers):
        content = states[:, CONTENT].reshape(-1, model.width)
        half = root(covariance(content))
        apart = (states - smoothed(states.mean(axis=0)))[:, CONTENT].reshape(-1, model.width)
        half_content = root(covariance(apart))
        mean, first = content.mean(axis=0), states[:, 0].mean(axis=0)
        logits = np.stack([model.logits(layer, x) for x in states])
        for head in range(model.heads):
            query, key = model.factors(layer, head)
            w = query @ key.T / np.sqrt(model.head_width)
            bias = [
                model.at(layer, f"attention.self.{kind}.bias").reshape(model.heads, -1)[head]
                for kind in ("query", "key")
            ]
            queries, keys = states @ query + bias[0], states @ key + bias[1]
            largest = [np.linalg.norm(x, axis=-1).max() for x in (queries, keys)]
            content_logits = logits[:, head, CONTENT, CONTENT]
            bare = [
                x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
                for x in content_logits
            ]
            left = half_content @ w @ half_content
            row = {
                "layer": layer,
                "head": head,
                **spectrum(w, half, model.head_width),
                "trace_content": np.trace(left),
                "spread_content": np.linalg.norm(left),
                "sink_gap": (mean @ query + bias[0]) @ key.T @ (first - mean)
                / np.sqrt(model.head_width),
                "logit_bound": largest[0] * largest[1] / np.sqrt(model.head_width),
                "logit_components": np.mean(
                    [components(np.linalg.svd(x, compute_uv=False)) for x in bare]
                ),
                "largest_logit": np.abs(logits[:, head]).max(),
            }
            rows.append(row)
        states = np.stack([model.layer(layer, x)[0] for x in states])
    return rows


def generate():
    model = MiniLM()
    ids = draw(model)
    return {"listed": LISTED, "ids": ids, "embeddings": on_embeddings(model), "tokens": on_tokens(model, ids)}
